"""What an import of published files leaves out, by file and reason."""

from collections.abc import Iterator
from pathlib import Path


class LeftOut:
    """Counts the rows that one import leaves out.

    Args:
        root: the imported directory; files are named by their paths below it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        #: By file and reason: how many rows, and the line of the first.
        self._rows: dict[tuple[str, str], tuple[int, int]] = {}

    def name(self, path: Path) -> str:
        """A file's name in messages."""
        return path.relative_to(self._root).as_posix()

    def begin(self, path: Path) -> str:
        """Begin to read a file, and forget what was counted of it; returns its name."""
        name = self.name(path)
        self._rows = {key: counted for key, counted in self._rows.items() if key[0] != name}
        return name

    def add(self, path: Path, line: int, reason: str) -> None:
        """Count a row."""
        key = self.name(path), reason
        count, first = self._rows.get(key, (0, line))
        self._rows[key] = count + 1, first

    def notes(self) -> Iterator[str]:
        """A text for each file and reason, in order."""
        for (name, reason), (count, first) in sorted(self._rows.items()):
            yield f"{name}:{first}: {reason} ({count} rows)"
