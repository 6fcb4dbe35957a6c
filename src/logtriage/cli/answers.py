"""``answers``: sheets of agents that have tools of their own, on recorded incidents."""

from pathlib import Path
from typing import Annotated

import typer

from logtriage._lib.printable import counted
from logtriage.actions import FAULT_CATEGORIES
from logtriage.cli import options
from logtriage.cli.bar import Bar, loaded_runs
from logtriage.cli.console import fail, note
from logtriage.cli.group import SOME_BAD, UNUSABLE
from logtriage.cli.options import argument, option
from logtriage.cli.reporting import put_run
from logtriage.errors import listed_first
from logtriage.evaluation.answers import grade_answers, records_of
from logtriage.evaluation.sheets import NOTHING, SheetError
from logtriage.evaluation.sheets import template as write_template
from logtriage.recorded import SHIPPED


def template(
    source: Annotated[
        str,
        argument(
            "BUNDLE_OR_TASK", "A bundle, or shipped incidents: recorded, recorded_models, petshop."
        ),
    ],
    out: Annotated[Path, argument("OUT", "The sheet: CSV, or JSONL if named .jsonl.")],
) -> None:
    """Write an empty answer sheet: a row for each recorded incident. It replaces no file."""
    ids = list(records_of(source))
    write_template(ids, out)
    note(
        f"wrote {out}: {counted(len(ids), 'row')}. Each needs a root_cause (a service, or "
        f"{NOTHING}) or a yes as handed_over; without a fault_class "
        f"({', '.join(FAULT_CATEGORIES)}) part of the grade is lost where a class is recorded; "
        "other columns may stay empty"
    )


def grade(
    sheet: Annotated[Path, argument("FILE", "The filled sheet.")],
    out: Annotated[Path, option("DIR", "Keep the run here, for report, compare, gate.")],
    *,
    agent: Annotated[str, option("NAME", "The name of the agent in the run.")] = "agent",
    bundle: options.Bundle = None,
    fresh: options.Fresh = False,
    money: options.Money,
    shown: options.Shown,
) -> None:
    """Grade an answer sheet: make a run of it, and show its figures.

    Several rows for each incident are repeats. Beside the answers stand always handing over, and
    always giving the commonest answer. A sheet with a mistake is not graded: of each wrong row the
    first mistake is named, with its line and column.
    """
    prices = money.prices
    sources = SHIPPED if bundle is None else (str(bundle),)
    try:
        with Bar("grading", "answers"):
            graded = grade_answers(sheet, list(map(records_of, sources)), out, agent, fresh=fresh)
    except SheetError as error:
        for mistake in error.mistakes:
            fail(mistake)
        raise typer.Exit(UNUSABLE) from None
    (loaded,) = loaded_runs([out])
    put_run(loaded, prices, shown)
    if graded.repeats > 1:
        note(f"{graded.repeats} rows for each incident: the repeats of one agent", "dim")
    if graded.ungraded:
        note(f"not graded on these incidents: {', '.join(graded.ungraded)}", "yellow")
    note(f"transcripts and summary: {out}; confidences: logtriage calibration {out}", "dim")
    if graded.missing:
        count = counted(len(graded.missing), "incident")
        note(f"no row, and no grade: {count} ({listed_first(graded.missing)})", "yellow")
        raise typer.Exit(SOME_BAD)
