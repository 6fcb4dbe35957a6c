"""Beliefs and explanations of a run's episodes, kept in its directory for the next page.

Each line of ``beliefs.jsonl`` is ``[hash, key, data]``: the hash of the sources that made the data,
and a key with the digest of what was graded. Lines made by other sources are ignored.
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


class PageCache:
    """Beliefs and explanations of the episodes of a run, cached in its directory.

    ``get`` computes what is missing; ``save`` writes the file if anything is new.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / BELIEFS_FILE
        refuse_link(self._path)
        self._data: dict[str, Any] = {}
        for number, line in enumerate(read_lines(self._path), start=1):
            try:
                source_hash, key, data = json.loads(line)
            except (ValueError, TypeError):
                raise InvalidInput(
                    f"{self._path}, line {number}: expected [hash, key, data], got "
                    f"{line!r:.80}; remove the file, and it is made again"
                ) from None
            if source_hash == source_hash_now():
                self._data[key] = data
        self._saved = len(self._data)

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """The JSON data of a key, made if it is not there yet. Callers never change it."""
        if key not in self._data:
            self._data[key] = make()
        return self._data[key]

    def save(self) -> None:
        """Write the whole file if ``get`` computed anything new."""
        if len(self._data) > self._saved:
            with replacing(self._path) as file:
                for key, data in self._data.items():
                    line = json.dumps([source_hash_now(), key, data], allow_nan=False)
                    file.write(f"{line}\n".encode())


@lru_cache(maxsize=1)
def source_hash_now() -> str:
    """A hash of the sources that beliefs, explanations and their data for a page come from."""
    rooms = (PACKAGE / "policies", PACKAGE / "report" / "replay")
    return hash_of(
        [*sources(PACKAGE), *(path for room in rooms for path in sorted(room.glob("*.py")))]
    )
