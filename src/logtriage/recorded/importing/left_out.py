"""Counts, by file and reason, of the data that an import leaves out or changes."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

import attrs

from logtriage.errors import BundleError

#: Endings of file names that :func:`stem_of` removes.
_ENDINGS = (".gz", ".json", ".jsonl", ".ndjson", ".log", ".txt", ".out")

#: A reason that applies to more files than this makes a single note.
_MANY = 5


def stem_of(where: str) -> str:
    """The name of the file of a place (``file:line``), without folders and endings."""
    name = PurePosixPath(file_of(where)).name
    while (path := PurePosixPath(name)).suffix.lower() in _ENDINGS:
        name = path.stem
    return name


def file_of(where: str) -> str:
    """The file of a place, ``file:line``."""
    return where.rpartition(":")[0]


@attrs.define
class LeftOut:
    """Counts what one import leaves out. ``where`` is the place being read, ``file:line``.

    Input that cannot be read is an error, unless ``skips_bad``: then it is counted, too.
    """

    where: str = ""
    skips_bad: bool = False
    #: By file and reason: how many times, and the place of the first.
    _counted: dict[tuple[str, str], tuple[int, str]] = attrs.Factory(dict)
    _said: dict[str, None] = attrs.Factory(dict)

    def begin(self, name: str) -> None:
        """Begin to read a file; counts of an earlier reading are dropped."""
        self._counted = {key: row for key, row in self._counted.items() if key[0] != name}

    def add(self, reason: str, where: str | None = None, times: int = 1) -> None:
        """Count something at a place, by default the place being read."""
        where = self.where if where is None else where
        key = file_of(where), reason
        count, first = self._counted.get(key, (0, where))
        self._counted[key] = count + times, first

    def bad(self, error: BundleError, where: str, reason: str = "") -> None:
        """Count an error at a place, or raise it; its text is the reason, or another one."""
        if not self.skips_bad:
            raise error from None
        self.add(reason or str(error).removeprefix(f"{where}: "), where)

    def note(self, text: str) -> None:
        """Add a note; the same note counts once."""
        self._said[text] = None

    def notes(self) -> Iterator[str]:
        """Yield a note for each file and reason (one for a reason of many files), then others."""
        files = Counter(reason for _, reason in self._counted)
        for (_, reason), (count, first) in sorted(self._counted.items()):
            if files[reason] <= _MANY:
                yield f"{first}: {reason}" + (f" ({count} times)" if count > 1 else "")
        for reason in sorted(reason for reason, number in files.items() if number > _MANY):
            rows = [row for (_, other), row in sorted(self._counted.items()) if other == reason]
            total, first = sum(count for count, _ in rows), rows[0][1]
            yield f"{first}: {reason} ({total} times, in {len(rows)} files)"
        yield from self._said


#: For input that is never skipped; it counts nothing.
STRICT = LeftOut()
