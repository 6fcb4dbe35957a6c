"""``gate``: a run against a baseline, for agents in CI."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from logtriage._lib.printable import counted
from logtriage.cli.bar import loaded_runs
from logtriage.cli.console import emit, note
from logtriage.cli.figures import Cells, Figures
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import SealFile, Shown, argument, flag, option, seal_in
from logtriage.cli.reporting import note_splits, note_unfinished
from logtriage.cli.screens import number
from logtriage.evaluation import Check, Margins, Verdict, check_drawn_alike, gate_runs
from logtriage.evaluation.compare import pairing_notes
from logtriage.evaluation.gate import LEAST
from logtriage.report.text import NO_FIGURE

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
    run: Annotated[Path, argument("RUN", "The directory of the new run.")],
    base: Annotated[Path, argument("BASE", "The directory of the baseline.")],
    *,
    margin: Annotated[float, option("X", "How much lower the mean grade may be.")] = _DEFAULT.grade,
    mis_paged_margin: Annotated[
        float, option("X", "How much higher the share of mis-pages may be.")
    ] = _DEFAULT.mis_paged,
    false_alarm_margin: Annotated[
        float, option("X", "How much higher the share of false alarms may be.")
    ] = _DEFAULT.false_alarm,
    lenient: Annotated[bool, flag("Pass checks that are undecided.", "--lenient")] = False,
    policy: Annotated[
        str | None, option("POLICY", "The policy of RUN, where the two names differ.")
    ] = None,
    base_policy: Annotated[str | None, option("POLICY", "The policy of BASE.")] = None,
    seal_file: SealFile = None,
    shown: Shown,
) -> None:
    """Check in CI that a run is no worse than a baseline.

    Exit with 1 if that is not shown. Mean grade, mis-pages and false alarms are compared incident
    by incident. Each passes if its 95 % interval rules out a loss of the margin or more. An
    incident that the baseline has graded and the run has not fails the gate, and so does an agent
    that only the baseline has. Of several attempts at an incident the mean counts. With --lenient,
    only what is shown to be worse fails.
    """
    margins = Margins(margin, mis_paged_margin, false_alarm_margin)
    check_drawn_alike(run, base)
    new, old = loaded_runs([run, base], seal_in(seal_file))
    checks = gate_runs(new, old, margins, policy=policy, base_policy=base_policy)
    if shown.as_json:
        for check in checks:
            emit(check)
    else:
        figures = Figures()
        figures.put(map(_cells, checks), names=2)
        if shown.legend:
            figures.legend()
    note_splits(new, old, "RUN", "BASE")
    if policy is None and base_policy is None:
        for line in pairing_notes(new, old, "RUN", "BASE"):
            note(line, "yellow")
    note_unfinished(new, "RUN: ")
    note_unfinished(old, "BASE: ")
    failing = {Verdict.WORSE} if lenient else {Verdict.WORSE, Verdict.UNDECIDED}
    failed = [check for check in checks if check.verdict in failing]
    for check in failed:
        note(f"{_whose(check)}: {_NAMES[check.measure]}: {reason_of(check)}", "red")
    if failed:
        raise typer.Exit(SOME_BAD)


def _whose(check: Check) -> str:
    if check.policy == check.base_policy:
        return check.policy
    return f"{check.policy} against {check.base_policy}"


def reason_of(check: Check) -> str:
    """Why a check did not pass."""
    if check.difference is None:
        lost = f"{check.run:g} of {counted(check.incidents, 'incident')}"
        return f"{lost} graded in the baseline have no grade, or lack that of an attempt"
    difference = f"{check.difference:+.3f} over {counted(check.incidents, 'incident')}"
    reason = f"{check.verdict}: {difference}, margin {check.margin:g}"
    if check.verdict is not Verdict.UNDECIDED:
        return reason
    few = check.measure == "grade" and check.incidents < LEAST
    return f"{reason}; play {f'at least {LEAST} of them' if few else 'more of them'}"


def _cells(check: Check) -> Cells:
    compared = check.difference is not None  # else the check counts unscored episodes, or nothing
    counted_lost = NO_FIGURE if check.run is None else f"{check.run:g}"
    return {
        "policy": _whose(check),
        "measure": _NAMES[check.measure],
        "incidents": str(check.incidents),
        "base": number(check.base) if compared else NO_FIGURE,
        "run": number(check.run) if compared else counted_lost,
        "run - base [95 % interval]": f"{check.difference:+.3f}" if compared else NO_FIGURE,
        "margin": f"{check.margin:g}" if compared else NO_FIGURE,
        "verdict": Text(str(check.verdict), _STYLES[check.verdict]),
    }
