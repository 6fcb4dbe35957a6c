"""``convert``: conversations recorded by other frameworks."""

import sys
from pathlib import Path
from typing import IO, Annotated

import typer

from logtriage.cli.console import emit, fail, note
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import Bundle, OfWorld, SealFile, seal_in, world_in
from logtriage.codec import unstructure_transcript
from logtriage.conversations.convert import convert_file
from logtriage.conversations.wires import Style
from logtriage.errors import TranscriptError


def convert(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="JSON lines, or a .json document; - is stdin."),
    ],
    incident: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Where a row keeps the incident id, such as metadata.incident."
        ),
    ] = None,
    style: Annotated[
        Style, typer.Option(help="How the agent acts: by tool calls, in text, or by a plan.")
    ] = Style.AUTO,
    other_tool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A tool of the harness that is no action. May be repeated."
        ),
    ] = None,
    bundle: Bundle = None,
    seal_file: SealFile = None,
    of_world: OfWorld = None,
) -> None:
    """Turn conversations from other frameworks into transcripts.

    Transcripts go to stdout, one a line. A row that cannot be converted is reported with its
    file, its line and the reason, and the others are converted.
    """
    from logtriage.evaluation import Incidents

    incidents = Incidents.of(bundle, seal_in(seal_file), world_in(of_world))
    converted = bad = 0

    def report(error: TranscriptError) -> None:
        nonlocal bad
        bad += 1
        fail(error)

    for name in files:
        source: Path | IO[bytes] = sys.stdin.buffer if name == "-" else Path(name)
        for transcript in convert_file(
            source,
            incident_at=incident,
            style=style,
            other_tools=other_tool or (),
            resolve=incidents,
            on_error=report,
        ):
            converted += 1
            emit(unstructure_transcript(transcript))
    note(f"{converted} converted; {bad} bad rows", "dim")
    if bad:
        raise typer.Exit(SOME_BAD)
