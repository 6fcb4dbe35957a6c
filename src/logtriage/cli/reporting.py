"""``compare`` and ``report``: figures of runs."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from logtriage.cli.console import emit, note, results
from logtriage.cli.options import (
    Bases,
    Beliefs,
    ExplainWorst,
    Json,
    Legend,
    LuckAdjusted,
    RunDirectory,
    SealFile,
    seal_in,
)
from logtriage.errors import InvalidInput

if TYPE_CHECKING:
    from logtriage.evaluation import LoadedRun, Row


def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The directory of a run.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Another run, or the same.")],
    policy_a: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="The policy of run A, where the two names differ."),
    ] = None,
    policy_b: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="The policy of run B."),
    ] = None,
    seal_file: SealFile = None,
    luck_adjusted: LuckAdjusted = False,
    legend: Legend = False,
    as_json: Json = False,
) -> None:
    """Compare two runs, incident by incident.

    Incidents that are graded in both runs count. Differences are B - A, with a paired bootstrap
    interval. Grades by different rubrics are not compared, nor are runs with different seals.
    """
    from logtriage.cli.tables import print_comparisons
    from logtriage.evaluation import check_drawn_alike, compare_runs, load_run
    from logtriage.evaluation.compare import run_names

    check_drawn_alike(run_a, run_b)
    seal = seal_in(seal_file)
    a, b = load_run(run_a, seal=seal), load_run(run_b, seal=seal)
    compared = compare_runs(a, b, policy_a=policy_a, policy_b=policy_b)
    if as_json:
        for pair in compared:
            emit(attrs.asdict(pair))
    else:
        print_comparisons(
            results(),
            compared,
            run_names([run_a, run_b]),
            legend=legend,
            luck_adjusted=luck_adjusted,
        )
    if a.manifest.spec.role_split != b.manifest.spec.role_split:
        note(f"A is of {_players(a)}, B of {_players(b)}", "yellow")
    for comparison in compared:
        if comparison.only_a or comparison.only_b:
            policies = (
                comparison.policy_a
                if comparison.policy_a == comparison.policy_b
                else f"{comparison.policy_a}, {comparison.policy_b}"
            )
            note(
                f"{comparison.task} ({policies}): {comparison.shared} incidents shared; "
                f"left out: {comparison.only_a} only in A, {comparison.only_b} only in B",
                "yellow",
            )


def _players(run: "LoadedRun") -> str:
    split = run.manifest.spec.role_split
    return "single agents" if split is None else f"teams ({split.name}: {', '.join(split.names)})"


def report(
    run: RunDirectory,
    out: Annotated[
        Path | None, typer.Argument(metavar="OUT", help="The page; RUN/report.html if not given.")
    ] = None,
    bases: Bases = None,
    html: Annotated[bool, typer.Option("--html", help="Write a self-contained page.")] = False,
    show: Annotated[
        bool, typer.Option("--open", help="Write the page and open it in a browser.")
    ] = False,
    beliefs: Beliefs = None,
    explain: ExplainWorst = None,
    seal_file: SealFile = None,
    luck_adjusted: LuckAdjusted = False,
    legend: Legend = False,
    as_json: Json = False,
) -> None:
    """Show the figures of a run, or write its HTML page.

    The page is that of the replay command: figures, plots, and every episode tick by tick.
    """
    from logtriage.evaluation import load_run, summarise

    if html or show:
        if as_json:
            raise InvalidInput("--json prints figures; --html and --open write a page")
        from logtriage.report import write_replay

        page = run / "report.html" if out is None else out
        seal = seal_in(seal_file)
        write_replay(run, page, bases=bases or (), beliefs=beliefs, explain=explain, seal=seal)
        note(f"wrote {page}")
        if show:
            webbrowser.open(page.resolve().as_uri())
        return
    if beliefs is not None or explain is not None or bases:
        raise InvalidInput("--base, --beliefs and --explain go with --html")
    if out is not None:
        raise InvalidInput(f"{out}: a page is written with --html")
    loaded = load_run(run, seal=seal_in(seal_file))
    put_rows(summarise(loaded), as_json=as_json, legend=legend, luck_adjusted=luck_adjusted)
    if not loaded.complete:
        note("this run is not finished: the same eval command resumes it", "yellow")


def put_rows(rows: "tuple[Row, ...]", *, as_json: bool, legend: bool, luck_adjusted: bool) -> None:
    """Print the figures of a run, as tables or as a JSON object per line."""
    if as_json:
        for row in rows:
            emit(attrs.asdict(row))
        return
    from logtriage.cli.tables import print_rows

    print_rows(results(), rows, legend=legend, luck_adjusted=luck_adjusted)
