"""Importer for incidents of one's own: a folder of CSV files and a few labels.

::

    labels.csv    id, opened, root_cause, kind [, baseline_start, baseline_end]
    logs.csv      time, service, level, message [, trace]
    calls.csv     time, caller, callee, latency_ms [, network_ms, self_ms, trace]
    metrics.csv   time, service, cpu_percent [, p99_ms]

Only ``labels.csv`` and one of the others are needed; each may end in ``.csv.gz``.
Columns may stand in any order, and other columns are left alone. Unlike a published
data set these files can be mended, so the first bad field is an error.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

import attrs

from logtriage.errors import BundleError, LogTriageError
from logtriage.recorded.csvrows import Tally, find_csv, read_csv
from logtriage.recorded.measure import record
from logtriage.recorded.records import RecordedIncident, RecordedTruth
from logtriage.recorded.rows import Call, LogRow, Rows, Usage
from logtriage.recorded.text import known_level, read_message

#: How much is taken of the time around an opening, in milliseconds.
AROUND_MS: Final = 600_000

Fields = Mapping[str, str]
_Row = TypeVar("_Row")


@attrs.frozen
class _Label:
    """A line of ``labels.csv``; times in Unix milliseconds."""

    where: str
    id: str
    opened: int
    root_causes: tuple[str, ...]
    kind: str
    baseline: tuple[int, int] | None


def import_labelled(directory: str | Path, *, horizon: int = 8) -> tuple[RecordedIncident, ...]:
    """Import incidents from one's own logs, calls and metrics, and a file of labels.

    Args:
        directory: holds ``labels.csv`` and the rest.
        horizon: ticks of each incident.

    Raises:
        BundleError: naming file, line and field, on the first row that cannot be used,
            and on a file that leads outside of the directory or is damaged.
        OSError: if a file cannot be read.
    """
    root = Path(directory)
    labels = list(_rows(root, "labels", _label))
    if not labels:
        raise BundleError(f"{root}: no labels.csv with an incident in it")
    rows = Rows(
        logs=tuple(_rows(root, "logs", _log)),
        calls=tuple(_rows(root, "calls", _call)),
        usage=tuple(_rows(root, "metrics", _metric)),
    )
    if not rows.services:
        raise BundleError(f"{root}: no rows in logs.csv, calls.csv or metrics.csv")
    made: dict[str, RecordedIncident] = {}
    for label in labels:
        if label.id in made:
            raise BundleError(f"{label.where}: field id: {label.id!r} appears twice")
        made[label.id] = _incident(label, rows, horizon)
    return tuple(made.values())


def _incident(label: _Label, rows: Rows, horizon: int) -> RecordedIncident:
    around = rows.between(label.opened - AROUND_MS, label.opened + AROUND_MS)
    usual = Rows() if label.baseline is None else rows.between(*label.baseline)
    baseline = "fault-free" if usual.services else "none"
    opened = datetime.fromtimestamp(label.opened / 1000, tz=UTC)
    if not around.services:
        raise BundleError(f"{label.where}: field opened: no rows within 10 minutes of it")
    try:
        return RecordedIncident(
            id=label.id,
            opened=f"{opened:%Y-%m-%dT%H:%M:%SZ}",
            recording=record(
                around, usual, opened=label.opened, horizon=horizon, baseline=baseline
            ),
            truth=RecordedTruth(label.root_causes, label.kind),
            horizon=horizon,
        )
    except LogTriageError as error:
        raise BundleError(f"{label.where}: {error}") from None


# --- rows --------------------------------------------------------------------------------

_COLUMNS: Final = {
    "labels": (("id", "opened", "root_cause", "kind"), ("baseline_start", "baseline_end")),
    "logs": (("time", "service", "level", "message"), ("trace",)),
    "calls": (("time", "caller", "callee", "latency_ms"), ("network_ms", "self_ms", "trace")),
    "metrics": (("time", "service", "cpu_percent"), ("p99_ms",)),
}


def _rows(root: Path, stem: str, make: Callable[[str, Fields], _Row]) -> Iterator[_Row]:
    path = find_csv(root, root, stem)
    if path is None:
        return
    needed, optional = _COLUMNS[stem]
    names = (*needed, *optional)
    tally = Tally(root, strict=True)
    for line, values in read_csv(path, needed, tally, optional=optional):
        yield make(f"{tally.name(path)}:{line}", dict(zip(names, values, strict=True)))


def _label(where: str, row: Fields) -> _Label:
    baseline = None
    if row["baseline_start"] or row["baseline_end"]:
        baseline = _time(where, row, "baseline_start"), _time(where, row, "baseline_end")
        if baseline[0] >= baseline[1]:
            raise _bad(where, row, "baseline_end", "a time after baseline_start")
    return _Label(
        where,
        _text(where, row, "id"),
        # Whole seconds, as they are written.
        _time(where, row, "opened") // 1000 * 1000,
        tuple(part.strip() for part in _text(where, row, "root_cause").split("|")),
        _text(where, row, "kind"),
        baseline,
    )


def _log(where: str, row: Fields) -> LogRow:
    level = known_level(row["level"])
    if level is None:
        raise _bad(where, row, "level", "a level such as INFO, WARN, ERROR or FATAL")
    said = read_message(level, _text(where, row, "message"))
    return LogRow(
        _time(where, row, "time"),
        _text(where, row, "service"),
        said.level,
        said.message,
        said.event,
        row["trace"],
    )


def _call(where: str, row: Fields) -> Call:
    latency = _number(where, row, "latency_ms", 1000)
    if latency is None:
        raise _bad(where, row, "latency_ms", "a number of milliseconds")
    return Call(
        _time(where, row, "time"),
        # From outside, where there is no caller.
        row["caller"] or None,
        _text(where, row, "callee"),
        latency,
        _number(where, row, "network_ms", 1000),
        row["trace"],
        _number(where, row, "self_ms", 1000),
    )


def _metric(where: str, row: Fields) -> Usage:
    return Usage(
        _time(where, row, "time"),
        _text(where, row, "service"),
        _number(where, row, "cpu_percent", 100),
        _number(where, row, "p99_ms", 1),
    )


# --- fields ------------------------------------------------------------------------------


def _bad(where: str, row: Fields, name: str, expected: str) -> BundleError:
    return BundleError(f"{where}: field {name}: must be {expected}, got {row[name]!r:.80}")


def _text(where: str, row: Fields, name: str) -> str:
    if not row[name].strip():
        raise _bad(where, row, name, "some text")
    return row[name]


def _time(where: str, row: Fields, name: str) -> int:
    """Unix milliseconds of an ISO 8601 time with an offset."""
    try:
        moment = datetime.fromisoformat(row[name])
    except ValueError:
        moment = None
    if moment is None or moment.utcoffset() is None:
        raise _bad(where, row, name, "a time with an offset such as 2031-05-06T10:21:05Z")
    return int(moment.timestamp() * 1000)


def _number(where: str, row: Fields, name: str, factor: int) -> int | None:
    """A number times a factor, rounded; None where the field is empty."""
    if not row[name]:
        return None
    try:
        value = float(row[name])
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise _bad(where, row, name, "a number from 0 on, or empty")
    return int(value * factor + 0.5)
