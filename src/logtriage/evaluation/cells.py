"""The transcripts of a cell in its file: read, mended, added to, replaced.

Every line ends with its line break and stands where the plan has its incident.
"""

import os
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from logtriage._lib.files import MAX_LINE, TOO_LONG, numbered_lines, open_here, replacing
from logtriage._lib.printable import spelled
from logtriage.codec import decode_transcript
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.evaluation.spec import Cell
from logtriage.transcript import Transcript

TRANSCRIPTS: Final = "transcripts"
_SLUG: Final = 40
#: What the line of every transcript begins with.
_BEGINNING: Final = b'{"'


def slug(name: str) -> str:
    """A file name for a policy or task, unique to its name."""
    short = re.sub(r"[^A-Za-z0-9._]+", "-", name)[:_SLUG].strip("-.")
    if short == name:
        return name
    return f"{short}-{blake2b(name.encode(), digest_size=4).hexdigest()}"


def transcripts_path(directory: Path, cell: Cell) -> Path:
    """Where the transcripts of a cell are kept."""
    return directory / TRANSCRIPTS / f"{slug(cell.policy)}--{slug(cell.task)}.jsonl"


def refuse_link(path: Path) -> None:
    """Refuse to go where a link leads."""
    if path.is_symlink():
        raise InvalidInput(f"{path}: a link; a run writes only into its own directory")


def mend(directory: Path, cell: Cell) -> tuple[Transcript, ...]:
    """The transcripts of a cell so far; a torn last line is cut off.

    Nothing is cut off unless this run wrote every line before it, and it begins like a transcript.
    """
    path = transcripts_path(directory, cell)
    refuse_link(path)
    kept = read_cell(directory, cell)
    if not path.exists():
        return kept
    with os.fdopen(open_here(path, os.O_RDWR), "r+b") as file:
        whole = sum(len(line) for line in whole_lines(file))
        file.seek(whole)
        torn = file.read(MAX_LINE + 1)
        if not torn:
            return kept
        if len(torn) > MAX_LINE or not _BEGINNING.startswith(torn[: len(_BEGINNING)]):
            raise TranscriptError(
                "no beginning of a transcript; remove the line to play its episode again",
                source=str(path),
                line=len(kept) + 1,
            )
        file.truncate(whole)
    return kept


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file that have their line break; a torn last line is left out."""
    for number, line in numbered_lines(file):
        if line is None:
            raise TranscriptError(TOO_LONG, source=str(file.name), line=number)
        if line.endswith(b"\n"):
            yield line


def append_lines(path: Path, lines: bytes) -> None:
    """Add lines to a file, which is made if it is not there, and must not be a link."""
    descriptor = open_here(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with os.fdopen(descriptor, "ab") as file:
        file.write(lines)


def append(directory: Path, cell: Cell, lines: bytes) -> None:
    """Add transcripts, each a line with its line break, to those of a cell."""
    append_lines(transcripts_path(directory, cell), lines)


def replace(directory: Path, cell: Cell, lines: bytes) -> None:
    """Replace the transcripts of the same incidents, all at once."""
    new = {decode_transcript(line).incident: line for line in lines.splitlines(keepends=True)}
    path = transcripts_path(directory, cell)
    with path.open("rb") as old, replacing(path) as file:
        for line in whole_lines(old):
            file.write(new.get(decode_transcript(line).incident, line))


def read_cell(directory: Path, cell: Cell) -> tuple[Transcript, ...]:
    """The transcripts of a cell so far, checked against the plan."""
    path = transcripts_path(directory, cell)
    if not path.exists():
        return ()
    with path.open("rb") as file:
        return tuple(
            _read_line(line, number, cell, path)
            for number, line in enumerate(whole_lines(file), start=1)
        )


def _read_line(line: bytes, number: int, cell: Cell, path: Path) -> Transcript:
    try:
        transcript = decode_transcript(line)
        if number > len(cell.ids):
            raise TranscriptError(f"one more than the {len(cell.ids)} episodes of this run")
        for field, got, expected in (
            ("incident", transcript.incident, cell.ids[number - 1]),
            ("agent", transcript.agent, spelled(cell.policy)),
        ):
            if got != expected:
                raise TranscriptError(f"{field}: expected {expected!r}, got {got!r}")
    except TranscriptError as error:
        raise TranscriptError(error.reason, source=str(path), line=number) from None
    return transcript
