"""The ledger of attempts at sealed incidents: one attempt for each key, run and incident.

The ledger is a file of JSON lines that is only appended to, and outlives the server. An
attempt is on the disk before its first screen leaves the server, so neither a crash nor a
restart gives a second one. The ledger also holds the actions played, from which episodes are
graded with reasons once the run is closed.
"""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Self

from logtriage._lib.files import open_here, try_lock
from logtriage.codec import structure_transcript, unstructure_transcript
from logtriage.errors import InvalidInput, LogTriageError, SealError
from logtriage.transcript import Transcript

#: The environment variables of a container: the ledger's path, and the run.
LEDGER_VARIABLE: Final = "LOGTRIAGE_LEDGER"
RUN_VARIABLE: Final = "LOGTRIAGE_RUN"
#: The status of an attempt that nobody finished.
UNFINISHED: Final = "the attempt was not finished"
_RUN: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")
#: The beginning of every line. A broken last line that begins so was cut short by a crash.
_BEGIN: Final = b'{"run": '


def check_run(name: str) -> str:
    """Check and return the name of a run; InvalidInput says what a name may hold."""
    if not _RUN.fullmatch(name):
        raise InvalidInput(
            "run: expected 1 to 100 letters, digits, dots, dashes and underscores, got "
            f"{name!r:.60}"
        )
    return name


class Ledger:
    """The attempts of one run. One process at a time holds a ledger.

    Raises:
        InvalidInput: if the file is not a ledger, naming the line; if another process holds
            it; or for a run that is closed.
        OSError: if the file cannot be opened.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path, self._run = path, check_run(run)
        self._descriptor = _locked(path)
        try:
            rows = [row for row in self._rows() if row["run"] == run]
            if any("closed" in row for row in rows):
                raise InvalidInput(
                    f"run: {run!r} is closed in {path}, and its reasons may be known; choose "
                    "another run"
                )
        except BaseException:
            self.close()
            raise
        self._begun = {(row["seal"], row["incident"]) for row in rows if "incident" in row}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the ledger, so that another process can hold it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def begin(self, incident_id: str, seal: str, world: str | None = None) -> None:
        """Write down that an attempt begins, under the key of the fingerprint ``seal``.

        ``world`` is the fingerprint of the incident's world; None for the default world. SealError
        if the run has had this attempt, or if it cannot be written down.
        """
        if (seal, incident_id) in self._begun:
            raise SealError(
                f"run {self._run!r} has had its attempt at this sealed incident; "
                "each has one for each key and run"
            )
        world_field = {} if world is None else {"world": world}
        self._append({"seal": seal, "incident": incident_id, **world_field})
        self._begun.add((seal, incident_id))

    def end(self, transcript: Transcript) -> None:
        """Write down the transcript of an attempt; SealError if it cannot be written."""
        self._append({"transcript": unstructure_transcript(transcript)})

    def transcripts(self) -> list[Transcript]:
        """The transcripts of the run, in the order of the attempts; InvalidInput if it has none."""
        all_rows = self._rows()
        rows = [row for row in all_rows if row["run"] == self._run]
        if not rows:
            runs = ", ".join(sorted({row["run"] for row in all_rows})) or "none"
            raise InvalidInput(f"run: {self._run!r} has no attempt in {self._path}; runs: {runs}")
        return list(_transcripts(rows))

    def close_run(self) -> None:
        """Close the run for good: it takes no more attempts. Keep its transcripts first."""
        self._append({"closed": True})

    def _append(self, fields: dict[str, Any]) -> None:
        line = json.dumps({"run": self._run, **fields}).encode() + b"\n"
        size = os.fstat(self._descriptor).st_size
        try:
            if os.write(self._descriptor, line) < len(line):
                raise OSError(f"only a part of {len(line)} bytes was written")
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, size)
            raise SealError(
                f"the ledger cannot be written, and nothing sealed is played without: {error}"
            ) from None

    def _rows(self) -> list[dict[str, Any]]:
        """The rows of all runs. A last line that a crash cut short is removed from the file."""
        content = self._path.read_bytes()
        *lines, rest = content.split(b"\n")
        rows = [self._row(number, line) for number, line in enumerate(lines, start=1)]
        if not rest:
            return rows
        try:
            rows.append(self._row(len(lines) + 1, rest))
        except InvalidInput:
            if not rest.startswith(_BEGIN[: len(rest)]):
                raise
            os.ftruncate(self._descriptor, len(content) - len(rest))
        else:
            os.write(self._descriptor, b"\n")  # the last line is whole, but lacks its break
        return rows

    def _row(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            row = json.loads(line)
            texts = [row["run"]]
            if "incident" in row:
                texts += [row["seal"], row["incident"]]
            if not all(isinstance(text, str) for text in texts):
                raise TypeError("run, seal and incident must be strings")
            if "transcript" in row:
                structure_transcript(row["transcript"])
            elif "incident" not in row and row.get("closed") is not True:
                raise KeyError("incident, transcript or closed")
        except (ValueError, TypeError, KeyError, LogTriageError) as error:
            raise InvalidInput(
                f"{self._path}: line {number}: no line of a ledger: {error}"
            ) from None
        return dict(row)


def _transcripts(rows: list[dict[str, Any]]) -> Iterable[Transcript]:
    """A transcript for each attempt in a run's rows, without actions if it was not finished."""
    played = [structure_transcript(row["transcript"]) for row in rows if "transcript" in row]
    by_attempt = {(transcript.seal, transcript.incident): transcript for transcript in played}
    for row in rows:
        if "incident" in row:
            seal, incident = row["seal"], row["incident"]
            unfinished = Transcript(incident, (), UNFINISHED, seal=seal, world=row.get("world"))
            yield by_attempt.get((seal, incident), unfinished)


def _locked(path: Path) -> int:
    """The descriptor of the file, made if missing; InvalidInput if another process holds it."""
    is_new = not path.exists()
    descriptor = open_here(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        try_lock(descriptor)
        if is_new and hasattr(os, "O_DIRECTORY"):
            # The directory entry of a new file must survive a crash too.
            directory = os.open(path.parent, os.O_DIRECTORY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
    except (BlockingIOError, PermissionError):
        os.close(descriptor)
        raise InvalidInput(f"{path}: another process holds this ledger; end it first") from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
