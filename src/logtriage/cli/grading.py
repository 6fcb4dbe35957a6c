"""``grade``: transcripts from anywhere."""

import sys
from pathlib import Path
from typing import IO, Annotated

import typer
from rich.console import Console
from rich.text import Text

from logtriage.cli.console import emit, fail, note, results
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import (
    Bundle,
    Json,
    OfWorld,
    OwnSplit,
    SealFile,
    role_split,
    seal_in,
    world_in,
)
from logtriage.cli.screens import number
from logtriage.errors import TranscriptError
from logtriage.grading import Grade, grade_jsonl, grade_to_json, rubric_named
from logtriage.roles.splits import splits_with


def grade(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Transcripts, one a line; - is stdin.")
    ],
    rubric: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Grade by this rubric, not by that of each task: an id, or module:name of "
            "yours, which imports (and so runs) a module.",
        ),
    ] = None,
    bundle: Bundle = None,
    seal_file: SealFile = None,
    of_world: OfWorld = None,
    split_roles: OwnSplit = None,
    as_json: Json = False,
) -> None:
    """Grade transcripts, one JSON object a line.

    A line that cannot be graded is reported with its file, its number and the reason, and the
    other lines are graded.
    """
    from logtriage.evaluation import Incidents
    from logtriage.evaluation.statistics import bound_of

    chosen = None if rubric is None else rubric_named(rubric)
    incidents = Incidents.of(bundle, seal_in(seal_file), world_in(of_world))
    splits = splits_with(role_split(split_roles))
    console, scores, unscored, bad = results(), [], 0, 0
    seals: set[str] = set()

    def report(error: TranscriptError) -> None:
        nonlocal bad
        bad += 1
        fail(error)

    for name in files:
        source: Path | IO[bytes] = sys.stdin.buffer if name == "-" else Path(name)
        for graded in grade_jsonl(
            source, chosen, resolve=incidents, splits=splits, on_error=report
        ):
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
    if scores and (unscored or bad):
        bound = bound_of(scores, len(scores) + unscored + bad)
        mean += f" ({number(bound)} with what is unscored or bad as 0)"
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
    for criterion in graded.criteria:
        line.append(f"  {criterion.name} {number(criterion.score, 2)}", "dim")
    for discount in graded.discounts:
        line.append(f"  {discount.name} x {number(discount.factor)}", "yellow")
    if (path := graded.impact) is not None:
        exact = "exact roots" if path.exact_roots else "roots not exact"
        line.append(
            f"  path F1 {number(path.node_f1)} nodes {number(path.edge_f1)} edges, {exact}", "cyan"
        )
    if graded.gate is not None:
        line.append(f"  {graded.gate}: {graded.gate_reason}", "red")
    console.print(line, soft_wrap=True)
