"""``grade``: transcripts from anywhere."""

import sys
from pathlib import Path
from typing import IO, Annotated

import typer
from rich.console import Console
from rich.text import Text

from logtriage.cli.console import emit, fail, note, results
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import Bundle, Json, SealFile, seal_in
from logtriage.cli.screens import number
from logtriage.errors import TranscriptError
from logtriage.grading import Grade, grade_jsonl, grade_to_json, rubric_named


def grade(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="JSONL transcripts; - is stdin.")
    ],
    rubric: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Another rubric than that of each incident's task: an id, or module:name of "
            "yours, which imports (and so runs) a module.",
        ),
    ] = None,
    bundle: Bundle = None,
    seal_file: SealFile = None,
    as_json: Json = False,
) -> None:
    """Grade transcripts, one JSON object a line, as a stream.

    A line that cannot be graded is reported with file, line and reason, and the others
    are graded.
    """
    from logtriage.evaluation import Incidents

    chosen = None if rubric is None else rubric_named(rubric)
    incidents = Incidents.of(bundle, seal_in(seal_file))
    console, scores, unscored, bad = results(), [], 0, 0
    seals: set[str] = set()

    def report(error: TranscriptError) -> None:
        nonlocal bad
        bad += 1
        fail(error)

    for name in files:
        source: Path | IO[bytes] = sys.stdin.buffer if name == "-" else Path(name)
        for graded in grade_jsonl(source, chosen, resolve=incidents, on_error=report):
            if graded.score is None:
                unscored += 1
            else:
                scores.append(graded.score)
            if graded.seal is not None:
                seals.add(graded.seal)
            if as_json:
                emit(grade_to_json(graded))
            else:
                _print(console, graded)
    mean = f", mean {number(sum(scores) / len(scores))}" if scores else ""
    note(f"{len(scores)} graded{mean}; {unscored} unscored; {bad} bad lines", "dim")
    for seal in seals:
        note(f"seal {seal}", "dim")
    if bad or unscored:
        raise typer.Exit(SOME_BAD)


def _print(console: Console, graded: Grade) -> None:
    line = Text.assemble(
        (number(graded.score).rjust(5), "bold"),
        f"  {graded.incident}",
        (f"  {graded.agent}" if graded.agent else "", "cyan"),
    )
    if graded.score is None:
        line.append(f"  unscored: {graded.cause}", "yellow")
    for one in graded.criteria:
        line.append(f"  {one.name} {number(one.score, 2)}", "dim")
    for discount in graded.discounts:
        line.append(f"  {discount.name} x {number(discount.factor)}", "yellow")
    if graded.gate is not None:
        line.append(f"  {graded.gate}: {graded.gate_reason}", "red")
    console.print(line, soft_wrap=True)
