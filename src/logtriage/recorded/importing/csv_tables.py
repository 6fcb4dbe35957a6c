"""Rows of the CSV files of a capture.

::

    logs.csv      time, service, level, message [, trace]
    calls.csv     time, caller, callee, latency_ms [, network_ms, self_ms, trace]
    metrics.csv   time, service [, pod, cpu_percent, p99_ms, any other number]

Each may end in ``.csv.gz``; columns may stand in any order. Every numeric column of metrics is a
signal, apart from :data:`INSTANCES`; other tables may have other columns, which are not read. The
first bad field is an error.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import attrs

from logtriage.recorded.condensing.log_heads import UNSET, known_level
from logtriage.recorded.condensing.raw_rows import Call, LogRow, Scraped, Usage
from logtriage.recorded.figures import MOST
from logtriage.recorded.importing.csv_rows import read_records
from logtriage.recorded.importing.fields import Field, decimal, plain_id, scaled
from logtriage.recorded.importing.log_records import log_row
from logtriage.recorded.importing.metric_series import Metric
from logtriage.recorded.importing.names import Names
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.scraped import Series
from logtriage.recorded.importing.signal_names import in_units
from logtriage.recorded.importing.source_files import find_csv

TableRow = LogRow | Call | Usage | Scraped


class Table(NamedTuple):
    """A file: its name, its records, how one is read, and the rows that follow the last one."""

    name: str
    records: Iterator[Field]
    read: Callable[[Field], Iterable[TableRow]]
    rest: Callable[[], Iterable[TableRow]]


_NEEDED: Final = {
    "logs": ("time", "service", "level", "message"),
    "calls": ("time", "caller", "callee", "latency_ms"),
    "metrics": ("time", "service"),
}
TABLES: Final = tuple(
    f"{stem}.csv{zipped}" for stem in ("labels", *_NEEDED) for zipped in ("", ".gz")
)
#: Columns of metrics that tell the instances of a service apart.
INSTANCES: Final = ("pod", "instance", "host", "container_id")
#: Columns of metrics that are figures: the field of a row of usage, and its units in a number.
_FIGURES: Final = {"cpu_percent": ("cpu_bp", 100), "p99_ms": ("p99_ms", 1)}
#: Columns of metrics that become no signal of their own.
_OWN_COLUMNS: Final = (*_NEEDED["metrics"], *INSTANCES, *_FIGURES)
_MOST: Final = 10**18  # values of metrics are below


def tables_of(root: Path, reader: Reader) -> Iterator[Table]:
    """Yield the tables of a folder."""
    metrics = _Metrics(reader)
    readers: dict[str, Callable[[Field], Iterable[TableRow]]] = {
        "logs": lambda row: _logs(row, reader.names),
        "calls": lambda row: _calls(row, reader.names),
        "metrics": metrics.usage_of,
    }
    for stem, read in readers.items():
        if (path := find_csv(root, root, stem)) is not None:
            records = read_records(path, _NEEDED[stem], path.name, reader.left_out)
            rest = metrics.series if stem == "metrics" else tuple  # tuple() has no rows
            yield Table(path.name, records, read, rest)


def _logs(row: Field, names: Names) -> Iterator[LogRow]:
    name = row["level"].text
    level = known_level(name)
    if level is None and name.strip().lower() not in UNSET:
        raise row["level"].bad("a level such as INFO, WARN, ERROR or FATAL, or empty")
    text, service = row["message"].needed, names(row["service"].needed, row.where)
    yield log_row(row["time"].needed_time, service, text, level, row["trace"].text)


def _calls(row: Field, names: Names) -> Iterator[Call]:
    latency_us, caller = _number(row["latency_ms"], 1000), row["caller"].text
    if latency_us is None:
        raise row["latency_ms"].bad("a number of milliseconds")
    yield Call(
        row["time"].needed_time,
        names(caller, row.where) if caller else None,  # from outside
        names(row["callee"].needed, row.where),
        latency_us,
        network_us=_number(row["network_ms"], 1000),
        trace=plain_id(row["trace"].text),
        self_us=_number(row["self_ms"], 1000),
    )


@attrs.define
class _Metrics:
    """Reads metrics.csv. A row is of one instance of its service.

    The columns :data:`INSTANCES` name it. Of rows that agree in them, in service and in time, each
    is of another instance, in the order of the file.
    """

    reader: Reader
    _numeric: set[str] = attrs.Factory(set)
    _words: set[str] = attrs.Factory(set)
    #: By service, instance and column: how many values each time has so far.
    _seen: defaultdict[tuple[str, str, str], Counter[int]] = attrs.Factory(
        lambda: defaultdict(Counter)
    )
    _values: defaultdict[Series, dict[int, float]] = attrs.Factory(lambda: defaultdict(dict))
    #: Numbers of instances, from 0 down: those of other formats go from 1 up.
    _numbers: dict[tuple[str, str, int], int] = attrs.Factory(dict)

    def usage_of(self, row: Field) -> Iterator[Usage]:
        """Yield the CPU and the latency of a row, and keep its other numbers."""
        at = row["time"].needed_time
        service = self.reader.names(row["service"].needed, row.where)
        cells = {column: _number(row[column], factor) for column, (_, factor) in _FIGURES.items()}
        figures = {column: value for column, value in cells.items() if value is not None}
        signals = dict(self._signals(row, service))
        instance = " ".join(row[column].text for column in INSTANCES)
        before = dict[str, int]()  # how many values of this time each column had before
        for column in (*figures, *signals):
            seen = self._seen[service, instance, column]
            before[column] = seen[at]
            seen[at] += 1
        if any(before.values()):
            self.reader.left_out.add(
                "row of a service and time that an earlier row has: taken for another instance (a "
                f"column {' or '.join(INSTANCES)} names it)",
                row.where,
            )
        for column, figure in figures.items():
            key, field = (service, instance, before[column]), _FIGURES[column][0]
            number = self._numbers.setdefault(key, -len(self._numbers))
            yield Usage(at, service, **{field: figure}, instance=number)
        for column, signal in signals.items():
            metric = Metric(service, f"{instance} {before[column]}", column)
            self._values[Series(metric, (), None, row.where)][at] = signal

    def series(self) -> Iterator[Scraped]:
        """Yield the other numbers of all rows; how they move tells what they count."""
        for series, values in self._values.items():
            yield from self.reader.scraped.rows(series, values)

    def _signals(self, row: Field, service: str) -> Iterator[tuple[str, float]]:
        """Yield the signals of a row; a column whose first value is text is left out."""
        for column, text in row.fields.items():
            if not text or column in _OWN_COLUMNS or column in self._words:
                continue
            value = decimal(text, _MOST)
            if value is None and column not in self._numeric:
                self._words.add(column)
                self.reader.left_out.note(
                    f"{row.where}: column {column} is left out: {text!r:.40} is not a number"
                )
                continue
            if value is None:
                raise row[column].bad("a number, or empty")
            self._numeric.add(column)
            name, factor = self.reader.signals(service, column)
            if abs(in_units(value, factor)) > MOST:
                raise row[column].bad(f"a number of at most 63 bits as {name}")
            yield column, float(value)


def _number(cell: Field, factor: int) -> int | None:
    """A number times a factor, rounded; None if the field is empty or not there."""
    if not cell.text:
        return None
    if (value := scaled(cell.text, factor)) is None:
        raise cell.bad("a number from 0 on, or empty")
    return value
