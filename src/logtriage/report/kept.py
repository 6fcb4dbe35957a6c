"""Beliefs and explanations of a run's episodes, kept in its directory for the next page.

Each line of ``beliefs.jsonl`` has data by the digest of what was graded, and the hash of the
sources that made it. What other sources made is made anew.
"""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from logtriage._lib.files import replacing
from logtriage._lib.sources import PACKAGE, hash_of, sources
from logtriage.errors import InvalidInput
from logtriage.evaluation.cell_files import read_lines, refuse_link
from logtriage.evaluation.store import BELIEFS_FILE


class Kept:
    """Data of episodes by key, from a directory; ``save`` adds what was made meanwhile."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / BELIEFS_FILE
        refuse_link(self._path)
        self._known: dict[str, Any] = {}
        for number, line in enumerate(read_lines(self._path), start=1):
            try:
                by, key, data = json.loads(line)
            except (ValueError, TypeError):
                raise InvalidInput(
                    f"{self._path}, line {number}: expected [hash, key, data], got "
                    f"{line!r:.80}; remove the file, and it is made again"
                ) from None
            if by == made_by():
                self._known[key] = data
        self._all = len(self._known)

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """The JSON data of a key, made if it is not there yet."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def save(self) -> None:
        """Write the file anew if there is more to keep."""
        if len(self._known) > self._all:
            with replacing(self._path) as file:
                for row in self._known.items():
                    file.write(f"{json.dumps([made_by(), *row], allow_nan=False)}\n".encode())


@lru_cache(maxsize=1)
def made_by() -> str:
    """A hash of the sources that beliefs, questions and this data come from."""
    rooms = (PACKAGE / "policies", PACKAGE / "report" / "replay")
    return hash_of(
        [*sources(PACKAGE), *(path for room in rooms for path in sorted(room.glob("*.py")))]
    )
