"""The files of a cell (a policy and a task): one transcript, or one explanation, a line.

Every line ends with its line break. While a run is played, lines stand in the order in which they
came; at its end, in the order of the plan.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final

from logtriage._lib.files import MAX_LINE, TOO_LONG, numbered_lines, open_here, replacing
from logtriage._lib.printable import spelled
from logtriage.codec import decode_transcript
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.evaluation.spec import Cell
from logtriage.transcript import COMPLETED, Transcript

#: The folders of a run that hold lines of cells.
TRANSCRIPTS: Final = "transcripts"
EXPLANATIONS: Final = "explanations"
#: The file of a run of shifts.
SHIFTS: Final = "shifts.jsonl"
#: Fails for a record that lacks one of these fields.
_check_shift: Final = itemgetter("shift", "policy", "error", "actions", "grade", "forward_all")
#: The journal of open episodes (:class:`UnderWay`).
UNDER_WAY: Final = ".under-way.jsonl"
_SLUG: Final = 40
#: The first bytes of every line.
_BEGINNING: Final = b'{"'


def slug(name: str) -> str:
    """A file name for a policy or task, unique to its name."""
    short = re.sub(r"[^A-Za-z0-9._]+", "-", name)[:_SLUG].strip("-.")
    if short == name:
        return name
    return f"{short}-{blake2b(name.encode(), digest_size=4).hexdigest()}"


def cell_path(directory: Path, folder: str, cell: Cell) -> Path:
    """The file of a cell in a folder of a run: :data:`TRANSCRIPTS` or :data:`EXPLANATIONS`."""
    return directory / folder / f"{slug(cell.policy)}--{slug(cell.task)}.jsonl"


def refuse_link(path: Path) -> None:
    """Raise InvalidInput if a path is a symbolic link."""
    if path.is_symlink():
        raise InvalidInput(f"{path}: a link; a run writes only into its own directory")


def mend(path: Path) -> None:
    """Cut off a torn last line; TranscriptError if it does not begin like a line of a run."""
    refuse_link(path.parent)
    refuse_link(path)
    if not path.exists():
        return
    with os.fdopen(open_here(path, os.O_RDWR), "r+b") as file:
        lines = list(_whole_lines(file))
        whole = sum(map(len, lines))
        file.seek(whole)
        torn = file.read(MAX_LINE + 1)
        if not torn:
            return
        if len(torn) > MAX_LINE or not _BEGINNING.startswith(torn[: len(_BEGINNING)]):
            raise TranscriptError(
                "no beginning of a transcript; remove the line to play its episode again",
                source=str(path),
                line=len(lines) + 1,
            )
        file.truncate(whole)


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    for number, line in numbered_lines(file):
        if line is None:
            raise TranscriptError(TOO_LONG, source=str(file.name), line=number)
        if line.endswith(b"\n"):
            yield line


def read_lines(path: Path) -> list[bytes]:
    """The lines of a file without a torn last line; none if there is no file."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        return list(_whole_lines(file))


def shifts_file(run: Path) -> Path:
    """The file of a run of shifts: ``run`` itself if it is a file, else that of the directory."""
    return run if run.is_file() else run / SHIFTS


def read_shifts(file: Path) -> list[dict[str, Any]]:
    """The records of a file of shifts; an InvalidInput names a line that is none."""
    records = []
    for at, line in enumerate(read_lines(file), start=1):
        try:
            records.append(json.loads(line))
            _check_shift(records[-1])
        except (ValueError, KeyError, TypeError):
            why = "no record of a shift; logtriage grade FILE --out DIR makes a run of transcripts"
            raise InvalidInput(f"{file}:{at}: {why}") from None
    return records


def append(path: Path, lines: bytes) -> None:
    """Append lines to a file, which is made if it is not there, and must not be a link."""
    path.parent.mkdir(exist_ok=True)
    descriptor = open_here(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with os.fdopen(descriptor, "ab") as file:
        file.write(lines)


def put_in_order(path: Path, ids: Iterable[str]) -> None:
    """Sort the lines of a cell's file in the order of ``ids``; keep each incident's last line."""
    lines = read_lines(path)
    last = {json.loads(line)["incident"]: line for line in lines}
    ordered = [last[incident] for incident in ids if incident in last]
    if ordered != lines:
        with replacing(path) as file:
            file.writelines(ordered)


def read_cell(directory: Path, cell: Cell) -> tuple[Transcript, ...]:
    """The transcripts of a cell so far, in the order of the plan; incidents and agent are checked.

    An unscored episode may have been played again: the later transcript counts.
    """
    path, ids = cell_path(directory, TRANSCRIPTS, cell), frozenset(cell.ids)
    agent = spelled(cell.policy)
    kept: dict[str, Transcript] = {}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            transcript = decode_transcript(line)
            if transcript.incident not in ids:
                raise TranscriptError(f"incident: none of this run: {transcript.incident!r}")
            if transcript.agent != agent:
                raise TranscriptError(f"agent: expected {agent!r}, got {transcript.agent!r}")
            before = kept.get(transcript.incident)
            if before is not None and before.status == COMPLETED:
                raise TranscriptError(f"incident: a second time: {transcript.incident!r}")
        except TranscriptError as error:
            raise TranscriptError(error.reason, source=str(path), line=number) from None
        kept[transcript.incident] = transcript
    return tuple(kept[incident] for incident in cell.ids if incident in kept)


class UnderWay:
    """A journal on disk of a run's open episodes, by name.

    ``left`` has the actions of episodes that another process left open. Every action is on the disk
    before it is answered, so a process that dies loses one action at most. The hidden file is
    deleted when no episode is open.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / UNDER_WAY
        refuse_link(self._path)
        mend(self._path)
        self.left: dict[str, list[Any]] = {}
        for number, line in enumerate(read_lines(self._path), start=1):
            try:
                row = json.loads(line)
                self.left.setdefault(row["episode"], []).extend(row["done"])
            except (ValueError, KeyError, TypeError):
                why = "no line of a journal of open episodes"
                raise TranscriptError(why, source=str(self._path), line=number) from None
        self._open: set[str] = set()

    def add(self, name: str, *done: Any) -> None:
        """Write down actions that an episode is about to take; without any, that it begins."""
        self._open.add(name)
        append(self._path, f"{json.dumps({'episode': name, 'done': done})}\n".encode())

    def close(self, name: str) -> None:
        """Forget an episode, whose transcript is kept elsewhere."""
        self._open.discard(name)
        self.left.pop(name, None)
        if not self._open and not self.left:
            self._path.unlink(missing_ok=True)
