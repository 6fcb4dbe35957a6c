"""Reads the files of a capture: tables of CSV, and JSON documents of any shape.

Each file that gives nothing is named in a note.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.importing.csv_tables import Tables
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.shapes import Reader, Row, shape_of
from logtriage.recorded.importing.source_files import documents, json_files
from logtriage.recorded.records import SCHEMA

#: Files in the folder itself that are tables, or labels.
_TABLES: Final = tuple(
    f"{stem}.csv{zipped}"
    for stem in ("labels", "logs", "calls", "metrics")
    for zipped in ("", ".gz")
)
#: What the schema of a bundle begins with.
_OURS: Final = SCHEMA.partition("/")[0]


@attrs.define
class CaptureFiles:
    """The files of a folder.

    Attributes:
        root: the folder.
        reader: reads documents.
        skip_bad: count lines and documents that cannot be read, and go on.
        found: how many rows were read.
    """

    root: Path
    reader: Reader
    skip_bad: bool = False
    found: int = 0

    def read(self, keep: Callable[[Row], bool], unkept: str) -> None:
        """Read all rows; ``keep`` gets each and says whether it is of use.

        Args:
            keep: gets each row.
            unkept: why none of the rows of a file is of use, for the note.

        Raises:
            BundleError: naming file, line and field, unless bad lines are skipped.
            OSError: if a file cannot be read.
        """
        left_out = self.reader.left_out
        skipped = left_out if self.skip_bad else None
        tables = Tables(self.reader.names, self.reader.metrics.book.names, left_out)
        for name, records, rows_of in tables.files(self.root, skipped):
            rows = (row for record in records for row in self._sound(record, rows_of))
            self._note(name, *self._count(rows, keep), "a row of the table", unkept)
        for path, name in json_files(self.root, _TABLES, left_out):
            shapes: dict[str, None] = {}
            found = kept = 0
            for document in documents(path, name, skipped):
                if _is_ours(document):
                    left_out.say(f"{name}: a bundle of recorded incidents, passed over")
                    break
                left_out.where = document.where
                more = self._count(self._sound(document, self._document(shapes)), keep)
                found, kept = found + more[0], kept + more[1]
            else:
                self._note(name, found, kept, ", ".join(shapes) or "no document", unkept)

    def _document(self, shapes: dict[str, None]) -> Callable[[Field], Iterable[Row]]:
        """Reads a document by its shape, which it adds to those of its file."""

        def read(document: Field) -> Iterable[Row]:
            shape = shape_of(document)
            shapes[shape.name] = None
            self.reader.has_alerts |= shape.alerts
            return shape.read(self.reader, document)

        return read

    def _sound(self, field: Field, read: Callable[[Field], Iterable[Row]]) -> Iterator[Row]:
        if not self.skip_bad:
            yield from read(field)
            return
        try:
            rows = list(read(field))
        except BundleError as error:
            reason = str(error).removeprefix(f"{field.where}: ")
            self.reader.left_out.add(reason, field.where)
            return
        yield from rows

    def _count(self, rows: Iterable[Row], keep: Callable[[Row], bool]) -> tuple[int, int]:
        found = kept = 0
        for row in rows:
            found += 1
            kept += keep(row)
        self.found += found
        return found, kept

    def _note(self, name: str, found: int, kept: int, what: str, unkept: str) -> None:
        if not found:
            self.reader.left_out.say(f"{name}: nothing came of it: {what}")
        elif not kept:
            self.reader.left_out.say(f"{name}: {found} rows, {unkept}")


def _is_ours(document: Field) -> bool:
    schema = document.value.get("schema") if isinstance(document.value, dict) else None
    return isinstance(schema, str) and schema.startswith(_OURS)
