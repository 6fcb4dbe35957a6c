"""Fields and rows of the CSV files that people export: what each must be, in words."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import attrs

from logtriage.actions import FAULT_CATEGORIES
from logtriage.errors import BundleError
from logtriage.recorded.csvfiles import read_records
from logtriage.recorded.figures import MOST
from logtriage.recorded.metrics import decimal, in_units, signal_name
from logtriage.recorded.paths import Names, find_csv
from logtriage.recorded.rows import Call, LogRow, Sample, Usage
from logtriage.recorded.rowstore import RowStore
from logtriage.recorded.text import known_level, read_message
from logtriage.recorded.truth import NO_FAULT

Fields = Mapping[str, str]
#: A metric is below this.
_MOST: Final = 10**18


@attrs.frozen
class Label:
    """A line of ``labels.csv``; times in Unix milliseconds.

    Without a fault there are no root causes, and the kind is ``none``.
    """

    where: str
    id: str
    opened: int
    root_causes: tuple[str, ...]
    kind: str
    baseline: tuple[int, int] | None
    fault_category: str = ""


#: The columns that each file must have.
NEEDED: Final = {
    "labels": ("id", "opened", "root_cause", "kind"),
    "logs": ("time", "service", "level", "message"),
    "calls": ("time", "caller", "callee", "latency_ms"),
    "metrics": ("time", "service"),
}


def records_of(root: Path, stem: str) -> Iterator[tuple[str, Fields]]:
    """The records of one of the files, each with its place; none where there is no such file."""
    path = find_csv(root, root, stem)
    if path is not None:
        yield from read_records(path, NEEDED[stem], path.name)


def label_of(where: str, row: Fields, names: Names) -> Label:
    """A line of ``labels.csv``."""
    baseline = None
    if row.get("baseline_start") or row.get("baseline_end"):
        baseline = time_of(where, row, "baseline_start"), time_of(where, row, "baseline_end")
        if baseline[0] >= baseline[1]:
            raise _bad(where, row, "baseline_end", "a time after baseline_start")
    category, kind = row.get("fault_class", ""), text_of(where, row, "kind")
    if category not in ("", *FAULT_CATEGORIES):
        raise _bad(where, row, "fault_class", f"empty, or {', '.join(FAULT_CATEGORIES)}")
    causes: tuple[str, ...] = ()
    if kind != NO_FAULT:
        given = text_of(where, row, "root_cause").split("|")
        causes = tuple(names(part.strip(), where) for part in given)
    elif row["root_cause"]:
        raise _bad(where, row, "root_cause", f"empty, since the kind is {NO_FAULT!r}")
    return Label(
        where,
        text_of(where, row, "id"),
        # Whole seconds, as they are written.
        time_of(where, row, "opened") // 1000 * 1000,
        causes,
        kind,
        baseline,
        category,
    )


def log_of(where: str, row: Fields, names: Names) -> LogRow:
    """A line of ``logs.csv``."""
    level = known_level(row["level"])
    if level is None:
        raise _bad(where, row, "level", "a level such as INFO, WARN, ERROR or FATAL, or empty")
    said = read_message(level, text_of(where, row, "message"))
    service = names(text_of(where, row, "service"), where)
    return LogRow.of(time_of(where, row, "time"), service, said, row.get("trace", ""))


def call_of(where: str, row: Fields, names: Names) -> Call:
    """A line of ``calls.csv``."""
    latency = _number(where, row, "latency_ms", 1000)
    if latency is None:
        raise _bad(where, row, "latency_ms", "a number of milliseconds")
    return Call(
        time_of(where, row, "time"),
        # From outside, where there is no caller.
        names(row["caller"], where) if row["caller"] else None,
        names(text_of(where, row, "callee"), where),
        latency,
        _number(where, row, "network_ms", 1000),
        row.get("trace", ""),
        _number(where, row, "self_ms", 1000),
    )


def read_metrics(root: Path, names: Names, store: RowStore, note: Callable[[str], None]) -> None:
    """Every numeric column; one whose first value is text is left out, and that is said."""
    signals: dict[str, tuple[str, int]] = {}
    words: set[str] = set()
    for where, row in records_of(root, "metrics"):
        at, service = time_of(where, row, "time"), text_of(where, row, "service")
        service = names(service, where)
        cpu, p99 = (_number(where, row, *one) for one in (("cpu_percent", 100), ("p99_ms", 1)))
        if cpu is not None or p99 is not None:
            store.add(Usage(at, service, cpu, p99))
        for column, text in row.items():
            if not text or column in _NOT_OTHER or column in words:
                continue
            value = decimal(text, _MOST)
            if value is None and column not in signals:
                words.add(column)
                note(f"{where}: column {column} is left out: {text!r:.40} is not a number")
                continue
            if value is None:
                raise _bad(where, row, column, "a number, or empty")
            if column not in signals:
                signals[column] = _new_signal(where, column, signals)
            name, factor = signals[column]
            units = in_units(value, factor)
            if abs(units) > MOST:
                raise _bad(where, row, column, f"a number of at most 63 bits as {name}")
            store.add(Sample(at, service, name, units))


_NOT_OTHER: Final = ("time", "service", "cpu_percent", "p99_ms")


def _new_signal(where: str, column: str, signals: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
    name, factor = signal_name(column)
    for before, (taken, _) in signals.items():
        if taken == name:
            raise BundleError(f"{where}: columns {before!r} and {column!r} are both {name!r}")
    return name, factor


# --- fields ------------------------------------------------------------------------------


def _bad(where: str, row: Fields, name: str, expected: str) -> BundleError:
    return BundleError(f"{where}: field {name}: must be {expected}, got {row.get(name, '')!r:.80}")


def text_of(where: str, row: Fields, name: str) -> str:
    """A field that must not be empty."""
    if not row[name].strip():
        raise _bad(where, row, name, "some text")
    return row[name]


def time_of(where: str, row: Fields, name: str) -> int:
    """Unix milliseconds of an ISO 8601 time with an offset."""
    try:
        moment = datetime.fromisoformat(row.get(name, ""))
    except ValueError:
        moment = None
    if moment is None or moment.utcoffset() is None:
        raise _bad(where, row, name, "a time with an offset such as 2031-05-06T10:21:05Z")
    at = int(moment.timestamp() * 1000)
    if not 0 <= at < _LATEST:
        raise _bad(where, row, name, "a time from 1970 to 9998")
    return at


#: 9999-01-01T00:00:00Z in Unix milliseconds: what follows an incident must be a time, too.
_LATEST: Final = 253_370_764_800_000


def _number(where: str, row: Fields, name: str, factor: int) -> int | None:
    """A number times a factor, rounded; None where the field is empty or not there."""
    if not row.get(name):
        return None
    try:
        value = float(row[name])
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise _bad(where, row, name, "a number from 0 on, or empty")
    return int(value * factor + 0.5)
