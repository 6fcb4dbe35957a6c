"""Reading damaged CSV files: every row is used, or counted with the reason why not."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.printable import masked

#: Longest line read, in characters; the longest of the published data has 17,000.
MAX_LINE: Final = 1_000_000


@attrs.frozen
class Skipped:
    """Rows of one file that were left out for one reason; ``first`` is the first line."""

    file: str
    reason: str
    count: int
    first: int


class Tally:
    """Counts skipped rows during one import; with ``strict`` the first one is an error."""

    def __init__(self, root: Path, *, strict: bool) -> None:
        self._root = root
        self._strict = strict
        self._found: dict[str, dict[str, Skipped]] = {}
        self._rows: dict[str, int] = {}

    def begin(self, path: Path) -> None:
        """Note that a file is read from its start; what was counted before is forgotten."""
        self._found.pop(self.name(path), None)
        self._rows[self.name(path)] = 0

    def row(self, name: str) -> None:
        """Count a row, sound or not, of the file of that name."""
        self._rows[name] += 1

    @property
    def rows(self) -> int:
        """Rows read, of all files."""
        return sum(self._rows.values())

    @property
    def files(self) -> int:
        """Files read."""
        return len(self._rows)

    def name(self, path: Path) -> str:
        """A file's name in messages: its path below the imported directory."""
        return path.relative_to(self._root).as_posix()

    def skip(self, path: Path, line: int, reason: str) -> None:
        """Count a row that is left out.

        Raises:
            BundleError: if strict, with file and line.
        """
        name = self.name(path)
        if self._strict:
            raise BundleError(f"{name}:{line}: {reason}")
        found = self._found.setdefault(name, {})
        before = found.get(reason)
        found[reason] = (
            Skipped(name, reason, 1, line)
            if before is None
            else attrs.evolve(before, count=before.count + 1)
        )

    def skipped(self) -> tuple[Skipped, ...]:
        """Everything left out, by file and then reason."""
        return tuple(
            found[reason] for _, found in sorted(self._found.items()) for reason in sorted(found)
        )


def inside(root: Path, path: Path) -> Path:
    """The path, if it exists and stays below ``root`` once links are followed.

    Raises:
        BundleError: if it leads elsewhere.
    """
    if not path.resolve().is_relative_to(root.resolve()):
        raise BundleError(f"{path} leads outside of {root}")
    return path


def find_csv(root: Path, folder: Path, stem: str) -> Path | None:
    """``stem.csv`` or ``stem.csv.gz`` in a folder below ``root``; None if neither is there.

    Raises:
        BundleError: naming the path, if both are there, one is no file or leads outside of
            ``root``, or upper and lower case differ: what is there must not be ignored.
    """
    names = (f"{stem}.csv", f"{stem}.csv.gz")
    wanted = {name.casefold() for name in names}
    listed = sorted(folder.iterdir()) if folder.is_dir() else ()
    there = [path for path in listed if path.name.casefold() in wanted]
    for path in there:
        if path.name not in names:
            raise BundleError(f"{path}: the name must be {names[0]} or {names[1]}")
        if not path.is_file():
            raise BundleError(f"{path}: must be a file, {what_it_is(path)}")
    if len(there) > 1:
        raise BundleError(f"{folder}: must have {names[0]} or {names[1]}, has both")
    return inside(root, there[0]) if there else None


def what_it_is(path: Path) -> str:
    """What stands in place of a file, in words."""
    if path.is_dir():
        return "is a folder"
    return "is a link that leads nowhere" if path.is_symlink() else "is none"


def read_csv(
    path: Path, columns: Sequence[str], tally: Tally, *, optional: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Line number and the named columns of each sound row; ``optional`` ones last, or "".

    A row is one line: the published files never break one, and so a stray quote costs
    its own row and not the rest of the file.

    Raises:
        BundleError: if the file is damaged as a whole (gzip, or a missing column).
    """
    name = tally.name(path)
    line = 0
    tally.begin(path)
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="\n")
            if path.name.endswith(".gz")
            else path.open(encoding="utf-8-sig", errors="replace", newline="\n")
        ) as file:
            header = _split(file.readline(MAX_LINE)) or []
            missing = [column for column in columns if column not in header]
            if missing:
                there = masked(", ".join(header)[:200]) or "none, the file is empty"
                raise BundleError(f"{name}:1: no column {', '.join(missing)}; columns: {there}")
            places = [header.index(column) for column in columns]
            places += [header.index(name) if name in header else -1 for name in optional]
            for line, text in enumerate(iter(lambda: file.readline(MAX_LINE), ""), 2):
                row = _split(text)
                tally.row(name)
                if row is None:
                    tally.skip(path, line, "broken CSV")
                elif len(row) != len(header):
                    if text.strip():
                        tally.skip(path, line, "wrong column count")
                else:
                    yield line, [row[place] if place >= 0 else "" for place in places]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"{name}:{line + 1}: damaged gzip: {error}") from None


def _split(line: str) -> list[str] | None:
    """The fields of one line of CSV; None if one is too long for the csv module."""
    line = line.rstrip("\r\n")
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader((line,)))
    except csv.Error:
        return None
