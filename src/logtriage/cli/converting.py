"""``convert``: conversations recorded by other frameworks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final

import typer

from logtriage._lib.printable import counted
from logtriage._lib.unread import kinds_of
from logtriage.cli import options
from logtriage.cli.bar import Bar
from logtriage.cli.console import MOST_ALIKE, BadLines, emit, note
from logtriage.cli.group import SOME_BAD
from logtriage.cli.options import argument, flag, option
from logtriage.codec import unstructure_transcript
from logtriage.conversations.convert import convert_files
from logtriage.conversations.wires import Style
from logtriage.errors import TranscriptError
from logtriage.transcript import COMPLETED

_COUNTED: Final = (
    *("converted", "bad", "beginnings", "wholes", "joined"),
    *("left_out", "unchecked", "actions", "partly", "unscored", "open"),
)


def convert(
    files: Annotated[
        list[str], argument("FILE", "JSON lines or a document, also gzipped; - is stdin.")
    ],
    *,
    incident: Annotated[
        str | None,
        option(
            "PATH|ID",
            "Where a row keeps the incident id, such as metadata.incident; or the id itself.",
        ),
    ] = None,
    messages: Annotated[
        str | None, option("PATH", "Where a row keeps the conversation, such as trace.messages.")
    ] = None,
    style: Annotated[
        Style, flag("How the agent acts: by tool calls, in text, or by a plan.")
    ] = Style.AUTO,
    other_tool: Annotated[
        list[str] | None,
        option("NAME", "A tool of the harness that is no action. May be repeated."),
    ] = None,
    sources: options.Sources,
) -> None:
    """Turn conversations from other frameworks into transcripts.

    Transcripts go to stdout, one a line. A row that cannot be converted is reported with its
    file, its line and the reason, and the others are converted. Where a row shows screens, its
    calls are held against them. Rows that are the beginning of another row are left out, and
    rows that name the conversation that they are a part of are joined.
    """
    incidents = sources.incidents  # a mistake in the options is said first
    counts = dict.fromkeys(_COUNTED, 0)
    unread: list[str] = []
    bad = BadLines()

    def report(error: TranscriptError) -> None:
        counts["bad"] += 1
        bad.tell(error)

    def leave_out(parts: list[str], whole: str) -> None:
        keep = "" if counts["beginnings"] else " (another 'attempt' in each keeps both)"
        counts["beginnings"] += len(parts)
        counts["wholes"] += 1
        if counts["wholes"] <= MOST_ALIKE:
            places = ", ".join(dict.fromkeys(parts))
            note(f"{places}: left out; {whole} stands for the attempt{keep}", "dim")

    with Bar("converting", "rows", kept="; the rest is not converted") as bar:
        bar.show(0, total=None)
        for reading in convert_files(
            options.sources_in(files),
            incident_at=incident,
            messages_at=messages,
            style=style,
            other_tools=other_tool or (),
            resolve=incidents,
            on_error=report,
            on_beginnings=leave_out,
        ):
            counts["converted"] += 1
            counts["joined"] += reading.rows - 1
            counts["partly"] += reading.partly_counted
            counts["left_out"] += reading.left_out
            counts["unchecked"] += not reading.is_checked
            counts["open"] += reading.screens is not None and not reading.is_closed
            counts["unscored"] += reading.transcript.status != COMPLETED
            counts["actions"] += len(reading.transcript.actions)
            unread += reading.unread
            emit(unstructure_transcript(reading.transcript))
            bar.show(counts["converted"] + counts["bad"], total=None)
    bad.end()
    for text in _summary(counts, unread):
        note(text, "dim")
    if counts["bad"]:
        raise typer.Exit(SOME_BAD)


def _summary(counts: Mapping[str, int], unread: Sequence[str]) -> Iterator[str]:
    beginnings, unchecked = counted(counts["beginnings"], "row"), counts["unchecked"]
    yield (
        f"{counts['converted']} converted; {counted(counts['bad'], 'bad row')}"
        + (f"; {beginnings} of the same attempts left out" if counts["beginnings"] else "")
        + (f"; {counted(counts['joined'], 'row')} joined to others" if counts["joined"] else "")
        + (f"; {counts['open']} with the incident open at the end" if counts["open"] else "")
        + (f"; {counts['unscored']} will be unscored" if counts["unscored"] else "")
        + (f"; {unchecked} without a screen to check it by" if unchecked else "")
    )
    if counts["partly"]:
        whose = counted(counts["partly"], "conversation")
        yield f"{whose} with tokens or costs of some requests only: these were left out"
    if counts["left_out"]:
        left_out = counted(counts["left_out"], "call")
        was = "it was" if counts["left_out"] == 1 else "they were"
        yield f"{left_out} left out: no screen shows that {was} carried out"
    if unread:
        yield f"{len(unread)} of {counts['actions']} replies and calls could not be read:"
        yield from (f"  {count}: {reason}" for count, reason in kinds_of(unread))
        if any(reason.startswith("unknown tool") for reason in unread):
            yield "each of them costs a tick; --other-tool NAME leaves out a tool that is no action"
