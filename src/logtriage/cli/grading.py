"""``grade``: transcripts from anywhere."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from logtriage.cli import options
from logtriage.cli.bar import Bar
from logtriage.cli.console import BadLines, emit, note, results
from logtriage.cli.group import SOME_BAD, UNUSABLE
from logtriage.cli.options import argument, flag, option
from logtriage.cli.screens import number
from logtriage.cli.tallies import Tally
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.evaluation import keep_run
from logtriage.evaluation.graded_files import grade_files
from logtriage.evaluation.keeping import check_unused
from logtriage.grading import Graded, grade_to_json, rubric_named
from logtriage.roles.splits import ROLE_SPLITS, splits_with
from logtriage.transcript import COMPLETED, Transcript


def grade(
    files: Annotated[
        list[str], argument("FILE", "Transcripts, one a line, also gzipped; - is stdin.")
    ],
    *,
    rubric: Annotated[
        str | None,
        option(
            "ID",
            "Grade by this rubric, not by that of each task (not with --out): an id, or "
            "module:name of yours, which imports (and so runs) a module.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "RUN",
            "Also make a run of the transcripts in this directory, for report, compare, "
            "gate, calibration and replay.",
        ),
    ] = None,
    fresh: options.Fresh = False,
    strict: Annotated[
        bool, flag("Exit with 1 if an action could not be read.", "--strict")
    ] = False,
    found_in: options.Sources,
    split_roles: Annotated[
        str | None,
        option(
            "FILE",
            "A role split of your own, for transcripts that name it. Built-in splits are known: "
            f"{', '.join(ROLE_SPLITS)}.",
            "--split-roles",
        ),
    ] = None,
    work: options.Work,
    as_json: options.Json = False,
) -> None:
    """Grade transcripts, one JSON object a line, and sum them up beside always handing over.

    A line that cannot be graded is reported with its file, its number and the reason, and the
    other lines are graded. With --json, the last line is the summary.
    """
    if out is not None and rubric is not None:
        raise InvalidInput("--rubric: a run is graded by the rubric of each task; leave out --out")
    if rubric is not None:
        rubric_named(rubric)  # before anything is read
    if out is not None:
        check_unused(out, fresh=fresh)
    incidents = found_in.incidents
    own = options.role_split(split_roles)
    console, tally, bad = results(), Tally(), BadLines()
    lacks_fields = no_json = False
    kept: list[Transcript] = []
    sources = options.sources_in(files)
    for source in sources:
        if isinstance(source, Path):
            source.stat()  # a missing file is said before anything is read
    lost = "" if out is None else f", and {out} is not made"
    with (
        work.workers() as workers,
        Bar(
            "grading", "lines", lambda: f"by {workers}", kept=f"; the rest is not graded{lost}"
        ) as bar,
        closing(
            grade_files(sources, incidents, rubric=rubric, role_split=own, jobs=workers)
        ) as every,
    ):
        bar.show(0, total=None)
        for graded in every:
            if isinstance(graded, TranscriptError):
                tally.bad += 1
                # The words are those of a decoder: a missing field, and a line that is no JSON.
                lacks_fields |= "got nothing" in graded.reason
                no_json |= "JSON" in graded.reason
                bad.tell(graded)
            else:
                tally.add(graded.grade, graded.worth)
                if out is not None:
                    kept.append(graded.transcript)
                if as_json:
                    emit(grade_to_json(graded.grade))
                else:
                    _print(console, graded.grade)
            bar.show(tally.lines, total=None)
    bad.end()
    if as_json:
        emit({"summary": tally.to_json()})
    for line in tally.summary():
        note(line, "dim")
    if lacks_fields and tally.bad == tally.lines:
        note("conversations become transcripts so: logtriage convert FILE | logtriage grade -")
    if tally.bad == tally.lines:
        if no_json:
            note("nothing was graded; a file of transcripts has one JSON object a line")
        raise typer.Exit(UNUSABLE)
    if out is not None and kept:
        keep_run(kept, out, incidents, splits_with(own), left_out=tally.bad, fresh=fresh)
        note(f"run in {out}", "dim")
    if tally.bad or tally.unscored or (strict and tally.unread):
        raise typer.Exit(SOME_BAD)


def _print(console: Console, graded: Graded) -> None:
    line = Text.assemble(
        (number(graded.score).rjust(5), "bold"),
        f"  {graded.incident}",
        (f"  {graded.agent}" if graded.agent else "", "cyan"),
    )
    if graded.score is None:
        line.append(f"  unscored: its status is {graded.cause!r}, not {COMPLETED!r}", "yellow")
    for criterion in graded.criteria:
        line.append(f"  {criterion.name} {number(criterion.score, 2)}", "dim")
    for discount in graded.discounts if graded.gate is None else ():
        line.append(f"  {discount.name} x {number(discount.factor)}", "yellow")
    if (path := graded.impact) is not None:
        exact = "exact roots" if path.exact_roots else "roots not exact"
        line.append(
            f"  path F1 {number(path.node_f1)} nodes {number(path.edge_f1)} edges, {exact}", "cyan"
        )
    if graded.gate is not None:
        line.append(f"  {graded.gate}: {graded.gate_reason}", "red")
    console.print(line, soft_wrap=True)
