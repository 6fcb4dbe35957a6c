"""Importer for the layout of the RCAEval benchmark.

::

    <any folders>/<service>_<fault>/<run>/inject_time.txt       Unix seconds
    …/{simple_metrics,simple_data,metrics,data}.csv             time, <service>_<metric>, …
    …/logs.csv       timestamp (ns), container_name, message [, level]
    …/traces.csv     traceID, spanID, parentSpanID, serviceName, startTime, duration (µs)

Each CSV file may be gzipped; of the files of metrics the first that is there is read, the
two others where they are there. The ten minutes before the injection are the baseline, and
the incident is opened a minute after it.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.csvfiles import read_records
from logtriage.recorded.figures import MOST
from logtriage.recorded.labelled import incident_of, stretches_of
from logtriage.recorded.labelled_rows import Label
from logtriage.recorded.metrics import in_units, signal_name
from logtriage.recorded.paths import Names, find_csv, inside
from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.rows import Call, LogRow, Rows, Sample, Span
from logtriage.recorded.spans import requests
from logtriage.recorded.tally import Imported, Tally
from logtriage.recorded.text import known_level, read_line, read_message
from logtriage.world.telemetry import TICK_SECONDS

ORIGIN: Final = "RCAEval benchmark (https://github.com/phamquiluan/RCAEval), L. Pham et al."
HORIZON: Final = 8
#: The same for ``recorded/2``: half of the time before an injection is no longer.
MODELS_HORIZON: Final = 6
#: From injection to the opening of the incident.
DETECTION_MS: Final = 60_000
BASELINE_MS: Final = 600_000
#: How much after the opening is read: as long as an incident is played.
AFTER_MS: Final = 30_000 * HORIZON
_METRICS: Final = ("simple_metrics", "simple_data", "metrics", "data")
#: Columns of machines and not of services, by how their metrics begin.
_MACHINES: Final = ("node-",)
#: The most characters of a moment in Unix seconds.
_LONGEST_TIME: Final = 100


def import_rcaeval(
    directory: str | Path, *, strict: bool = False, models: bool = False
) -> Imported:
    """Import all cases below a directory.

    Args:
        directory: holds the cases, at any depth.
        strict: make the first row that would be skipped an error.
        models: make incidents of ``recorded/2``, two of each case, one without a fault.

    Raises:
        BundleError: naming the file, if there is no case, a file is damaged as a whole or
            lacks a column, or, with ``strict``, on any row that cannot be used.
    """
    root, incidents = Path(directory), {}
    tally, notes = Tally(root, strict=strict), []
    for place in sorted(root.rglob("inject_time.txt")):
        made, missing = _case(root, inside(root, place), tally, models=models)
        for incident in made:
            if incident.id in incidents:
                raise BundleError(
                    f"{tally.name(place)}: a second case at the same time, {incident.id}"
                )
            incidents[incident.id] = incident
        notes += [f"{made[0].id}: {what}" for what in missing]
    if not incidents:
        raise BundleError(f"{root}: no <service>_<fault>/<run>/inject_time.txt found")
    return tally.imported(incidents.values(), notes)


def _case(
    root: Path, place: Path, tally: Tally, *, models: bool
) -> tuple[list[RecordedIncident], list[str]]:
    where, folder, names = tally.name(place), place.parent, Names()
    service, _, fault = folder.parent.name.rpartition("_")
    if not service or not fault:
        raise BundleError(
            f"{where}: the folder above the run must be <service>_<fault>, "
            f"got {folder.parent.name!r}"
        )
    try:
        with place.open(encoding="utf-8") as file:
            told = _number(file.read(_LONGEST_TIME).strip())
        injected = int(told if told is not None else "no number")
        opened = datetime.fromtimestamp(injected + DETECTION_MS // 1000, tz=UTC)
    except (ValueError, OverflowError, OSError):
        raise BundleError(f"{where}: must be a time in Unix seconds") from None
    at = 1000 * injected
    rows = _rows(root, folder, tally, names, at - BASELINE_MS, at + DETECTION_MS + AFTER_MS)
    missing = [
        f"no {what}"
        for what, found in (("metrics", rows.samples), ("logs", rows.logs), ("traces", rows.calls))
        if not found
    ]
    source = folder.parent.parent.name if folder.parent.parent != root else root.resolve().name
    label = Label(
        where,
        f"rcaeval/{Names()(source, where)}-{opened:%Y-%m-%dT%H%M%S}",
        at + DETECTION_MS,
        (names(service, where),),
        fault,
        (at - BASELINE_MS, at),
    )
    horizon = MODELS_HORIZON if models else HORIZON
    stretches = stretches_of([label], horizon, TICK_SECONDS, missing.append, models=models)
    made = [incident_of(one, rows.between, horizon, TICK_SECONDS) for one in stretches]
    return [
        attrs.evolve(
            one,
            recording=attrs.evolve(one.recording, baseline="pre-fault"),
            task=f"{one.task}_rcaeval",
            origin=f"{ORIGIN}; {one.origin}" if one.origin else ORIGIN,
        )
        for one in made
    ], missing


# --- rows --------------------------------------------------------------------------------


def _rows(root: Path, folder: Path, tally: Tally, names: Names, since: int, until: int) -> Rows:
    def wanted(at: int) -> bool:
        return since <= at < until

    metrics = next((one for one in _METRICS if find_csv(root, folder, one)), "metrics")
    return Rows(
        logs=tuple(_logs(root, folder, tally, names, wanted)),
        calls=tuple(_calls(root, folder, tally, names, wanted)),
        samples=tuple(_samples(root, folder, metrics, tally, names, wanted)),
    )


def _read(
    root: Path, folder: Path, stem: str, needed: tuple[str, ...], tally: Tally
) -> Iterator[tuple[Path, int, dict[str, str]]]:
    """File, line and fields of each record; nothing where there is no such file."""
    path = find_csv(root, folder, stem)
    if path is None:
        return
    name = tally.name(path)
    tally.begin(path)
    # Published files are taken as they are: a byte that is not UTF-8 costs its character alone.
    for where, row in read_records(path, needed, name, "replace"):
        tally.row(name)
        yield path, int(where.rpartition(":")[2]), row


def _samples(
    root: Path, folder: Path, stem: str, tally: Tally, names: Names, wanted: Callable[[int], bool]
) -> Iterator[Sample]:
    """Wide rows: a column for each metric of each service; empty and NaN were not measured."""
    columns: list[tuple[str, str, str, int]] | None = None
    for path, line, row in _read(root, folder, stem, ("time",), tally):
        if columns is None:
            columns = list(_columns(row, names, tally.name(path)))
        at = _number(row["time"])
        if at is None:
            tally.skip(path, line, "impossible time")
            continue
        when = int(1000 * at)
        if not wanted(when):
            continue
        for column, service, name, factor in columns:
            text = row[column]
            if text and text.casefold() not in ("nan", "inf", "-inf"):
                value = _number(text)
                if value is None:
                    tally.skip(path, line, f"column {column} is no number")
                elif abs(in_units(value, factor)) > MOST:
                    tally.skip(path, line, f"column {column} is beyond 63 bits")
                else:
                    yield Sample(when, service, name, in_units(value, factor))


def _columns(
    header: dict[str, str], names: Names, file: str
) -> Iterator[tuple[str, str, str, int]]:
    """Column, service, signal and units of each metric of a service."""
    taken: dict[tuple[str, str], str] = {}
    for column in header:
        service, _, metric = column.partition("_")
        if column == "time" or not service or not metric or metric.startswith(_MACHINES):
            continue
        named, (signal, factor) = names(service, f"{file}:1"), signal_name(metric)
        before = taken.setdefault((named, signal), column)
        if before != column:
            raise BundleError(
                f"{file}:1: columns {before!r} and {column!r} are both {named} {signal}"
            )
        yield column, named, signal, factor


def _logs(
    root: Path, folder: Path, tally: Tally, names: Names, wanted: Callable[[int], bool]
) -> Iterator[LogRow]:
    needed = ("timestamp", "container_name", "message")
    for path, line, row in _read(root, folder, "logs", needed, tally):
        nano = _number(row["timestamp"])
        if nano is None:
            tally.skip(path, line, "impossible time")
        elif not row["container_name"].strip():
            tally.skip(path, line, "no container")
        elif wanted(int(nano // 1_000_000)):
            level = known_level(row.get("level", "")) if row.get("level") else None
            said = (
                read_line(row["message"]) if level is None else read_message(level, row["message"])
            )
            service = names(row["container_name"], f"{tally.name(path)}:{line}")
            yield LogRow(int(nano // 1_000_000), service, said.level, said.message, said.event)


def _calls(
    root: Path, folder: Path, tally: Tally, names: Names, wanted: Callable[[int], bool]
) -> Iterator[Call]:
    needed = ("traceID", "spanID", "parentSpanID", "serviceName", "startTime", "duration")
    spans: list[Span] = []
    for path, line, row in _read(root, folder, "traces", needed, tally):
        start, duration = _number(row["startTime"]), _number(row["duration"])
        if start is None or duration is None or duration < 0:
            tally.skip(path, line, "impossible time")
        elif not row["serviceName"].strip():
            tally.skip(path, line, "no service")
        elif wanted(int(start // 1000)):
            parent = row["parentSpanID"]
            span = Span(
                row["traceID"],
                row["spanID"],
                "" if parent.casefold() == "nan" else parent,
                names(row["serviceName"], f"{tally.name(path)}:{line}"),
                int(start),
                int(duration),
            )
            spans.append(span)
    yield from requests(spans)


def _number(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and value.copy_abs() < Decimal(10) ** 20 else None
