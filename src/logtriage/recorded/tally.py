"""The report of an import: every row is used, or counted with the reason why not."""

from collections.abc import Iterable
from pathlib import Path

import attrs

from logtriage.recorded.records import RecordedIncident


@attrs.frozen
class Skipped:
    """Rows of one file that were left out for one reason; ``first`` is the first line."""

    file: str
    reason: str
    count: int
    first: int


@attrs.frozen
class ImportReport:
    """The number of files and rows read, and the rows left out by reason.

    ``notes`` tell of whole files that an incident lacks, as ``"<incident id>: …"``.
    """

    files: int
    rows: int
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]


@attrs.frozen
class Imported:
    """The incidents of a directory, by id, and the report of the import."""

    incidents: tuple[RecordedIncident, ...]
    report: ImportReport


class Tally:
    """Counts skipped rows during one import."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._skipped: dict[tuple[str, str], Skipped] = {}
        self._rows: dict[str, int] = {}

    def begin(self, path: Path) -> str:
        """Begin to read a file, and forget what was counted of it; returns its name."""
        name = self.name(path)
        self._skipped = {key: row for key, row in self._skipped.items() if key[0] != name}
        self._rows[name] = 0
        return name

    def row(self, name: str) -> None:
        """Count a row, sound or not, of the file of that name."""
        self._rows[name] += 1

    def name(self, path: Path) -> str:
        """A file's name in messages: its path below the imported directory."""
        return path.relative_to(self._root).as_posix()

    def skip(self, path: Path, line: int, reason: str) -> None:
        """Count a row that is left out."""
        name = self.name(path)
        row = self._skipped.get((name, reason), Skipped(name, reason, 0, line))
        self._skipped[name, reason] = attrs.evolve(row, count=row.count + 1)

    def imported(self, incidents: Iterable[RecordedIncident], notes: Iterable[str]) -> Imported:
        """The incidents by id, and the report, by file and then reason."""
        skipped = tuple(row for _, row in sorted(self._skipped.items()))
        report = ImportReport(len(self._rows), sum(self._rows.values()), skipped, tuple(notes))
        return Imported(tuple(sorted(incidents, key=lambda record: record.id)), report)
