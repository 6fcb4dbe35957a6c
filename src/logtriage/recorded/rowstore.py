"""Rows of many incidents on disk: each incident is asked for by time, and nothing else is held.

A temporary database of the standard library, which goes with the store.
"""

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Final, Self

import attrs

from logtriage.recorded.rows import Call, LogRow, Rows, Sample, SpanRow, Usage

Row = LogRow | Call | Usage | Sample | SpanRow
#: The kinds of row, with their tables: fields of :class:`Rows`, and spans, which are joined.
_KINDS: Final[dict[type, str]] = {
    LogRow: "logs",
    Call: "calls",
    Usage: "usage",
    Sample: "samples",
    SpanRow: "spans",
}
_BATCH: Final = 5000


class RowStore:
    """Keeps the rows of some stretches of time, in the order in which they come.

    Args:
        stretches: ``(since, until)`` in Unix milliseconds; rows outside are left out.
    """

    def __init__(self, stretches: Iterable[tuple[int, int]]) -> None:
        self._since, self._until = _merged(stretches)
        # An empty name is a database on disk that is deleted when it is closed.
        self._base = sqlite3.connect("", isolation_level=None)
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("PRAGMA synchronous = OFF")
        self._waiting: dict[str, list[tuple[Any, ...]]] = {}
        #: How many rows were offered, kept or not.
        self.offered = 0
        for kind, table in _KINDS.items():
            columns = ", ".join(field.name for field in attrs.fields(kind))
            self._base.execute(f"CREATE TABLE {table} ({columns})")
            self._base.execute(f"CREATE INDEX {table}_at ON {table} (at)")
            self._waiting[table] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._base.close()

    def add(self, row: Row) -> None:
        """Keep a row, if it lies in one of the stretches."""
        self.offered += 1
        place = bisect_right(self._since, row.at) - 1
        if place < 0 or row.at >= self._until[place]:
            return
        table = _KINDS[type(row)]
        waiting = self._waiting[table]
        waiting.append(tuple(getattr(row, field.name) for field in attrs.fields(type(row))))
        if len(waiting) >= _BATCH:
            self._write(table)

    def _write(self, table: str) -> None:
        rows = self._waiting[table]
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self._base.execute("BEGIN")
            self._base.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            self._base.execute("COMMIT")
            rows.clear()

    def between(self, since: int, until: int) -> Rows:
        """The rows with ``since <= at < until`` that were kept, in the order in which they came."""
        found: dict[str, Any] = {
            table: tuple(self._found(kind, since, until))
            for kind, table in _KINDS.items()
            if kind is not SpanRow
        }
        return Rows(**found)

    def spans(self, since: int, until: int) -> Iterator[SpanRow]:
        """The spans with ``since <= at < until`` that were kept."""
        return self._found(SpanRow, since, until)

    def _found(self, kind: type, since: int, until: int) -> Iterator[Any]:
        table = _KINDS[kind]
        self._write(table)
        rows = self._base.execute(
            f"SELECT * FROM {table} WHERE at >= ? AND at < ? ORDER BY rowid", (since, until)
        )
        return (kind(*row) for row in rows)


def _merged(stretches: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Where stretches begin and end, once those that touch are one."""
    since: list[int] = []
    until: list[int] = []
    for start, end in sorted(stretches):
        if until and start <= until[-1]:
            until[-1] = max(until[-1], end)
        else:
            since.append(start)
            until.append(end)
    return since, until
