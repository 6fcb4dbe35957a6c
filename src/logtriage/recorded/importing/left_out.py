"""What an import leaves out or takes otherwise than it stands: counted by file and reason."""

from collections.abc import Iterator
from pathlib import PurePosixPath

import attrs

#: Endings of a file's name that are no part of what it is about.
_ENDINGS = (".gz", ".json", ".jsonl", ".ndjson", ".log", ".txt", ".out")


def stem_of(where: str) -> str:
    """The name of the file of a place, without folders and endings."""
    name = PurePosixPath(file_of(where)).name
    while (path := PurePosixPath(name)).suffix.lower() in _ENDINGS:
        name = path.stem
    return name


def file_of(where: str) -> str:
    """The file of a place, ``file:line``."""
    return where.rpartition(":")[0]


@attrs.define
class LeftOut:
    """Counts what one import leaves out.

    Attributes:
        where: the place that is being read, ``file:line``.
    """

    where: str = ""
    #: By file and reason: how many times, and the place of the first.
    _counted: dict[tuple[str, str], tuple[int, str]] = attrs.Factory(dict)
    _said: dict[str, None] = attrs.Factory(dict)

    def begin(self, name: str) -> None:
        """Begin to read a file, and forget what was counted of it."""
        self._counted = {key: row for key, row in self._counted.items() if key[0] != name}

    def add(self, reason: str, where: str | None = None) -> None:
        """Count something at a place, by default the one that is being read."""
        where = self.where if where is None else where
        key = file_of(where), reason
        count, first = self._counted.get(key, (0, where))
        self._counted[key] = count + 1, first

    def say(self, text: str) -> None:
        """Add a note; the same note counts once."""
        self._said[text] = None

    def notes(self) -> Iterator[str]:
        """A text for each file and reason, in order, then the other notes."""
        for (_, reason), (count, first) in sorted(self._counted.items()):
            yield f"{first}: {reason}" + (f" ({count} times)" if count > 1 else "")
        yield from self._said
