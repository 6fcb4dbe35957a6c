"""``gate``: a run against a baseline, for agents in CI."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage.cli.completion import complete_player
from logtriage.cli.console import emit, note, results
from logtriage.cli.figures import Cell, Figures
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import Json, Legend, SealFile, seal_in
from logtriage.cli.screens import NO_FIGURE, number, signed
from logtriage.evaluation import Check, Margins, Verdict
from logtriage.evaluation.gate import LEAST

_NAMES: Final = {
    "unscored": "unscored",
    "grade": "mean grade",
    "mis_paged": "mis-paged",
    "false_alarm": "false alarms",
}
_STYLES: Final = {
    Verdict.NO_WORSE: "green",
    Verdict.WORSE: "bold red",
    Verdict.UNDECIDED: "yellow",
    Verdict.UNMEASURED: "dim",
}
_DEFAULT: Final = Margins()


def gate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of the new run.")],
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The directory of the baseline.")],
    margin: Annotated[
        float, typer.Option(metavar="X", help="How much lower the mean grade may be.")
    ] = _DEFAULT.grade,
    mis_paged_margin: Annotated[
        float, typer.Option(metavar="X", help="How much higher the share of mis-pages may be.")
    ] = _DEFAULT.mis_paged,
    false_alarm_margin: Annotated[
        float, typer.Option(metavar="X", help="How much higher the share of false alarms may be.")
    ] = _DEFAULT.false_alarm,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Pass checks that are undecided.")
    ] = False,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="The policy of RUN, where the two names differ.",
            autocompletion=complete_player,
        ),
    ] = None,
    base_policy: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="The policy of BASE.", autocompletion=complete_player),
    ] = None,
    seal_file: SealFile = None,
    legend: Legend = False,
    as_json: Json = False,
) -> None:
    """Check that a run is no worse than a baseline; exit with 1 if that is not shown.

    Mean grade, mis-pages and false alarms are compared incident by incident. Each passes if
    its 95 % interval rules out a loss of the margin or more. An incident that the baseline has
    graded and the run has not fails the gate. With --lenient, only what is shown to be worse
    fails.
    """
    from logtriage.evaluation import check_drawn_alike, gate_runs, load_run

    margins = Margins(margin, mis_paged_margin, false_alarm_margin)
    check_drawn_alike(run, base)
    seal = seal_in(seal_file)
    checks = gate_runs(
        load_run(run, seal=seal),
        load_run(base, seal=seal),
        margins,
        policy=policy,
        base_policy=base_policy,
    )
    if as_json:
        for one in checks:
            emit(one.to_json())
    else:
        _print(checks, legend=legend)
    failed = [one for one in checks if _fails(one, lenient=lenient)]
    for one in failed:
        note(f"{_whose(one)}: {_NAMES[one.measure]}: {reason_of(one)}", "red")
    if failed:
        raise typer.Exit(SOME_BAD)


def _fails(one: Check, *, lenient: bool) -> bool:
    return one.verdict is Verdict.WORSE or (one.verdict is Verdict.UNDECIDED and not lenient)


def _whose(one: Check) -> str:
    if one.policy == one.base_policy:
        return spelled(one.policy)
    return f"{spelled(one.policy)} against {spelled(one.base_policy)}"


def reason_of(one: Check) -> str:
    """Why a check did not pass."""
    if one.difference is None:
        return f"{one.run or 0:g} of {one.incidents} incidents graded in the baseline have no grade"
    found = one.difference
    interval = f"{signed(found.mean)} [{signed(found.low)}, {signed(found.high)}]"
    count = f"{one.incidents} incident{'' if one.incidents == 1 else 's'}"
    told = f"{one.verdict}: {interval} over {count}, margin {one.margin:g}"
    if one.verdict is not Verdict.UNDECIDED:
        return told
    few = one.measure == "grade" and one.incidents < LEAST
    return f"{told}; play {f'at least {LEAST} of them' if few else 'more of them'}"


def _print(checks: Sequence[Check], *, legend: bool) -> None:
    figures = Figures(results())

    def cells(_: bool) -> list[list[Cell]]:
        return [
            [
                Text(_whose(one)),
                Text(_NAMES[one.measure]),
                *_values(one),
                Text(str(one.verdict), _STYLES[one.verdict]),
            ]
            for one in checks
        ]

    titles = ("policy", "measure", "incidents", "base", "run", "run - base [95 % interval]")
    figures.put([*titles, "margin", "verdict"], cells, names=2)
    if legend:
        figures.legend()


def _values(one: Check) -> list[str]:
    if one.difference is None:
        return [str(one.incidents), NO_FIGURE, number(one.run), NO_FIGURE, NO_FIGURE]
    found = one.difference
    interval = f"{signed(found.mean)} [{signed(found.low)}, {signed(found.high)}]"
    return [str(one.incidents), number(one.base), number(one.run), interval, f"{one.margin:g}"]
