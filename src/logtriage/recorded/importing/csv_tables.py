"""Rows of the CSV files of a capture.

::

    logs.csv      time, service, level, message [, trace]
    calls.csv     time, caller, callee, latency_ms [, network_ms, self_ms, trace]
    metrics.csv   time, service [, cpu_percent, p99_ms, any other number]

Each may end in ``.csv.gz``. Columns may stand in any order. Every numeric column of metrics is a
signal; elsewhere other columns are left alone. Unlike a published data set these files can be
mended, so the first bad field is an error.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from logtriage.errors import BundleError
from logtriage.recorded.condensing.log_text import known_level, read_line, read_message
from logtriage.recorded.condensing.metric_signals import in_units, signal_name
from logtriage.recorded.condensing.raw_rows import Call, LogRow, Sample, Usage
from logtriage.recorded.condensing.ticks import interval_of
from logtriage.recorded.figures import MOST
from logtriage.recorded.importing.fields import Field, decimal, scaled
from logtriage.recorded.importing.service_names import Names
from logtriage.recorded.importing.source_files import find_csv, read_records
from logtriage.world.telemetry import TICK_SECONDS

#: The columns that each file must have.
_NEEDED: Final = {
    "logs": ("time", "service", "level", "message"),
    "calls": ("time", "caller", "callee", "latency_ms"),
    "metrics": ("time", "service"),
}
#: Columns of metrics that become no signal of their own.
_NOT_OTHER: Final = (*_NEEDED["metrics"], "cpu_percent", "p99_ms")
#: A metric is below this.
_MOST: Final = 10**18
#: This many rows of metrics tell how often they were sampled.
_ENOUGH_ROWS: Final = 10_000


def table_rows(
    root: Path, names: Names, note: Callable[[str], None]
) -> Iterator[LogRow | Call | Usage | Sample]:
    """The rows of the files that a folder has; ``note`` gets a text about columns left out.

    Raises:
        BundleError: naming file, line and field.
    """
    for row in _records(root, "logs"):
        yield _log(row, names)
    for row in _records(root, "calls"):
        yield _call(row, names)
    yield from _metrics(root, names, note)


def _records(root: Path, stem: str) -> Iterator[Field]:
    """The records of one of the files; none if there is no such file."""
    path = find_csv(root, root, stem)
    if path is not None:
        yield from read_records(path, _NEEDED[stem], path.name)


def tick_of(root: Path) -> int:
    """The length of a tick in seconds: 30, or the interval of the samples of metrics alone."""
    if find_csv(root, root, "logs") or find_csv(root, root, "calls"):
        return TICK_SECONDS
    times: dict[str, list[int]] = {}
    for row in islice(_records(root, "metrics"), _ENOUGH_ROWS):
        times.setdefault(row["service"].needed, []).append(row["time"].needed_time)
    steps = [step for sampled in times.values() if (step := interval_of(sampled)) is not None]
    return max([TICK_SECONDS, min(steps) // 1000] if steps else [TICK_SECONDS])


def _log(row: Field, names: Names) -> LogRow:
    level = known_level(row["level"].text)
    if level is None:
        raise row["level"].bad("a level such as INFO, WARN, ERROR or FATAL, or empty")
    text = row["message"].needed
    line = read_message(level, text) if row["level"].text else read_line(text)
    service = names(row["service"].needed, row.where)
    return LogRow(row["time"].needed_time, service, *line, row["trace"].text)


def _call(row: Field, names: Names) -> Call:
    latency, caller = _number(row["latency_ms"], 1000), row["caller"].text
    if latency is None:
        raise row["latency_ms"].bad("a number of milliseconds")
    return Call(
        row["time"].needed_time,
        names(caller, row.where) if caller else None,  # from outside
        names(row["callee"].needed, row.where),
        latency,
        _number(row["network_ms"], 1000),
        row["trace"].text,
        _number(row["self_ms"], 1000),
    )


def _metrics(root: Path, names: Names, note: Callable[[str], None]) -> Iterator[Usage | Sample]:
    """Every numeric column; note and leave out a column whose first value is text."""
    signals: dict[str, tuple[str, int]] = {}
    words: set[str] = set()
    for row in _records(root, "metrics"):
        at, service = row["time"].needed_time, names(row["service"].needed, row.where)
        cpu, p99 = _number(row["cpu_percent"], 100), _number(row["p99_ms"], 1)
        if cpu is not None or p99 is not None:
            yield Usage(at, service, cpu, p99)
        for column, text in row.fields.items():
            if not text or column in _NOT_OTHER or column in words:
                continue
            value = decimal(text, _MOST)
            if value is None and column not in signals:
                words.add(column)
                note(f"{row.where}: column {column} is left out: {text!r:.40} is not a number")
                continue
            if value is None:
                raise row[column].bad("a number, or empty")
            if column not in signals:
                signals[column] = signal_name(column)
                for before, (taken, _) in signals.items():
                    if taken == signals[column][0] and before != column:
                        raise BundleError(
                            f"{row.where}: columns {before!r} and {column!r} are both {taken!r}"
                        )
            name, factor = signals[column]
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
