"""Rows of the CSV files of a capture.

::

    logs.csv      time, service, level, message [, trace]
    calls.csv     time, caller, callee, latency_ms [, network_ms, self_ms, trace]
    metrics.csv   time, service [, cpu_percent, p99_ms, any other number]

Each may end in ``.csv.gz``; columns may stand in any order. Every numeric column of metrics is a
signal; other tables may have other columns, which are not read. The first bad field is an error.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from logtriage.recorded.condensing.log_heads import UNSET, known_level
from logtriage.recorded.condensing.log_text import read_line, trace_in
from logtriage.recorded.condensing.raw_rows import Call, LogRow, Sample, Usage
from logtriage.recorded.figures import MOST
from logtriage.recorded.importing.csv_rows import read_records
from logtriage.recorded.importing.fields import Field, decimal, plain_id, scaled
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.names import Names, in_units
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.source_files import find_csv

TableRow = LogRow | Call | Usage | Sample
#: (file name, records, reader of a record).
Table = tuple[str, Iterator[Field], Callable[[Field], Iterable[TableRow]]]
_NEEDED: Final = {
    "logs": ("time", "service", "level", "message"),
    "calls": ("time", "caller", "callee", "latency_ms"),
    "metrics": ("time", "service"),
}
TABLES: Final = tuple(
    f"{stem}.csv{zipped}" for stem in ("labels", *_NEEDED) for zipped in ("", ".gz")
)
#: Columns of metrics that become no signal of their own.
_OWN_COLUMNS: Final = (*_NEEDED["metrics"], "cpu_percent", "p99_ms")
_MOST: Final = 10**18  # values of metrics are below


def tables_of(root: Path, reader: Reader, skipped: LeftOut | None) -> Iterator[Table]:
    """Yield the tables of a folder; ``skipped`` counts records of a length unlike the header's."""
    numeric, words = set[str](), set[str]()
    readers: dict[str, Callable[[Field], Iterable[TableRow]]] = {
        "logs": lambda row: _logs(row, reader.names),
        "calls": lambda row: _calls(row, reader.names),
        "metrics": lambda row: _metrics(row, reader, numeric, words),
    }
    for stem, read in readers.items():
        if (path := find_csv(root, root, stem)) is not None:
            yield path.name, read_records(path, _NEEDED[stem], path.name, skipped), read


def _logs(row: Field, names: Names) -> Iterator[LogRow]:
    name = row["level"].text
    level, is_set = known_level(name), name.strip().lower() not in UNSET
    if level is None and is_set:
        raise row["level"].bad("a level such as INFO, WARN, ERROR or FATAL, or empty")
    text = row["message"].needed
    line = read_line(text, level if is_set else None)
    service = names(row["service"].needed, row.where)
    trace = row["trace"].text or trace_in(text)
    yield LogRow(row["time"].needed_time, service, *line, plain_id(trace))


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


def _metrics(
    row: Field, reader: Reader, numeric: set[str], words: set[str]
) -> Iterator[Usage | Sample]:
    """Yield the numeric columns of a row; a column whose first value is text is left out."""
    at, service = row["time"].needed_time, reader.names(row["service"].needed, row.where)
    cpu_bp, p99_ms = _number(row["cpu_percent"], 100), _number(row["p99_ms"], 1)
    if cpu_bp is not None or p99_ms is not None:
        yield Usage(at, service, cpu_bp, p99_ms)
    for column, text in row.fields.items():
        if not text or column in _OWN_COLUMNS or column in words:
            continue
        value = decimal(text, _MOST)
        if value is None and column not in numeric:
            words.add(column)
            reader.left_out.note(
                f"{row.where}: column {column} is left out: {text!r:.40} is not a number"
            )
            continue
        if value is None:
            raise row[column].bad("a number, or empty")
        numeric.add(column)
        name, factor = reader.book.names(service, column)
        units = in_units(value, factor)
        if abs(units) > MOST:
            raise row[column].bad(f"a number of at most 63 bits as {name}")
        yield Sample(at, service, name, units)


def _number(cell: Field, factor: int) -> int | None:
    """A number times a factor, rounded; None if the field is empty or not there."""
    if not cell.text:
        return None
    if (value := scaled(cell.text, factor)) is None:
        raise cell.bad("a number from 0 on, or empty")
    return value
