"""Finished episodes that wait for earlier episodes; kept at once, since asking costs money.

Transcripts stand in their files in the order of the plan. An episode that is played beside others
may finish long before its turn.
"""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final, Self

from logtriage._lib.files import open_here, replacing
from logtriage._lib.printable import spelled
from logtriage.codec import decode_transcript
from logtriage.evaluation.cells import append_lines, whole_lines
from logtriage.transcript import COMPLETED, Transcript

AHEAD_FILE: Final = "ahead.jsonl"


class Ahead:
    """The file of such episodes in the directory of a run; threads share it.

    Unscored episodes are not kept: they are played again.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / AHEAD_FILE
        self._lock, self._open = Lock(), True
        self._lines: dict[tuple[str | None, str], bytes] = {}
        if self._path.exists():
            with os.fdopen(open_here(self._path, os.O_RDONLY), "rb") as file:
                for line in whole_lines(file):
                    kept = decode_transcript(line)
                    self._lines[kept.agent, kept.incident] = line
            with replacing(self._path) as file:  # without a torn last line
                file.writelines(self._lines.values())

    def line(
        self, agent: str, incident: str, play: Callable[[], tuple[Transcript, bytes]]
    ) -> bytes:
        """The line of an episode: the kept line, or else a new line by ``play``."""
        key = spelled(agent), incident
        if key in self._lines:
            return self._lines[key]
        transcript, line = play()
        if transcript.status == COMPLETED:
            with self._lock:
                if self._open:
                    append_lines(self._path, line)
                    self._lines[key] = line
        return line

    @property
    def episodes(self) -> set[tuple[str | None, str]]:
        """Agent and incident of each episode in the file."""
        with self._lock:
            return set(self._lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Stop keeping. Without an error all episodes are in their places, so remove the file."""
        with self._lock:
            self._open = False
            if kind is None:
                self._path.unlink(missing_ok=True)
