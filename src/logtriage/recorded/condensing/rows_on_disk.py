"""Rows of many incidents on disk, read back by time: one incident at a time is in memory.

The disk holds a temporary SQLite database, which is deleted when the store is closed.
"""

import pickle
import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Final, Self

from logtriage.recorded.condensing import raw_rows
from logtriage.recorded.condensing.raw_rows import RawRow, Rows, Span

#: Changes seen up to this long before a stretch are kept: a fault may begin hours after its cause.
CHANGES_MS: Final = 24 * 60 * 60 * 1000


class RowStore:
    """Keeps the rows in ``stretches`` of time, (since, until) in Unix ms, in order of arrival."""

    def __init__(self, stretches: Iterable[tuple[int, int]]) -> None:
        self._stretches: list[tuple[int, int]] = []  # touching ones are merged
        for since, until in sorted(stretches):
            if self._stretches and since <= self._stretches[-1][1]:
                before, end = self._stretches.pop()
                self._stretches.append((before, max(end, until)))
            else:
                self._stretches.append((since, until))
        # An empty name is a database on disk that is deleted when it is closed.
        self._base = sqlite3.connect("")
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("PRAGMA synchronous = OFF")
        self._base.execute("CREATE TABLE rows (kind, at, until, row)")
        self._base.execute("CREATE INDEX times ON rows (kind, at)")
        #: How many rows of each kind were offered, kept or not.
        self.offered = Counter[type]()
        #: Names that services of kept rows have instead, by their names in these rows.
        self.names: Mapping[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def add(self, row: RawRow) -> bool:
        """Keep a row if it lies in a stretch, or is scraped; return whether it lies in one."""
        self.offered[type(row)] += 1
        until, kept_for = row.at, 0
        if isinstance(row, raw_rows.ChangeRow):
            until, kept_for = max(row.at, row.until), CHANGES_MS
        # Stretches are apart and in order: only the last that begins by then can hold the row.
        latest = bisect_right(self._stretches, until + kept_for, key=itemgetter(0)) - 1
        inside = latest >= 0 and row.at < self._stretches[latest][1]
        if not inside and not isinstance(row, raw_rows.Scraped):
            return False
        kept = (type(row).__name__, row.at, until, pickle.dumps(row))
        self._base.execute("INSERT INTO rows VALUES (?, ?, ?, ?)", kept)
        return inside

    def between(self, since: int, until: int) -> Rows:
        """The rows with ``since <= at < until`` that were kept, in the order in which they came.

        Changes are those that were last seen up to :data:`CHANGES_MS` earlier.
        """
        return Rows(
            logs=tuple(self._kept(raw_rows.LogRow, since, until)),
            calls=tuple(self._kept(raw_rows.Call, since, until)),
            usage=tuple(self._kept(raw_rows.Usage, since, until)),
            samples=tuple(self._kept(raw_rows.Sample, since, until)),
            changes=tuple(self._kept(raw_rows.ChangeRow, since - CHANGES_MS, until, seen="until")),
        )

    def spans(self, since: int, until: int) -> Iterator[Span]:
        """The spans with ``since <= at < until`` that were kept."""
        return self._kept(Span, since, until)

    def scraped(self) -> Iterator[raw_rows.Scraped]:
        """All scraped rows in order of time."""
        rows = self._base.execute(
            "SELECT row FROM rows WHERE kind = ? ORDER BY at, rowid", (raw_rows.Scraped.__name__,)
        )
        return (pickle.loads(row) for (row,) in rows)

    def _kept(self, kind: type, since: int, until: int, seen: str = "at") -> Iterator[Any]:
        """Yield rows with ``at < until`` that have at least ``since`` in column ``seen``."""
        rows = self._base.execute(
            f"SELECT row FROM rows WHERE kind = ? AND {seen} >= ? AND at < ? ORDER BY rowid",
            (kind.__name__, since, until),
        )
        return (raw_rows.renamed(pickle.loads(row), self.names) for (row,) in rows)
