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

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.figures import MOST
from logtriage.recorded.labels import Label, incident_of, stretches_of
from logtriage.recorded.metrics import in_units, signal_name
from logtriage.recorded.names import Names
from logtriage.recorded.reading import find_csv, inside, read_records
from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.rows import Call, LogRow, Rows, Sample, Span
from logtriage.recorded.spans import requests
from logtriage.recorded.spot import decimal
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
#: How much is read after the opening: the length of an incident.
AFTER_MS: Final = 30_000 * HORIZON
_METRICS: Final = ("simple_metrics", "simple_data", "metrics", "data")
#: Metrics of machines and not of services begin so.
_MACHINES: Final = ("node-",)
#: Numbers are below this: nanoseconds of any year that a date can have.
_MOST: Final = 10**20
#: The most characters of a moment in Unix seconds.
_LONGEST_TIME: Final = 100


def import_rcaeval(directory: str | Path, *, models: bool = False) -> Imported:
    """Import all cases below a directory.

    Args:
        directory: holds the cases, at any depth.
        models: make incidents of ``recorded/2``, two of each case, one without a fault.

    Raises:
        BundleError: naming the file, if there is no case, or a file is damaged as a whole or
            lacks a column.
    """
    root, incidents = Path(directory), {}
    tally, notes = Tally(root), []
    for place in sorted(root.rglob("inject_time.txt")):
        records, missing = _case(root, inside(root, place), tally, models=models)
        for incident in records:
            if incident.id in incidents:
                raise BundleError(
                    f"{tally.name(place)}: a second case at the same time, {incident.id}"
                )
            incidents[incident.id] = incident
        notes += [f"{records[0].id}: {text}" for text in missing]
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
            seconds = decimal(file.read(_LONGEST_TIME), _MOST)
        injected = int("no number" if seconds is None else seconds)
        opened = datetime.fromtimestamp(injected + DETECTION_MS // 1000, tz=UTC)
    except (ValueError, OverflowError, OSError):
        raise BundleError(f"{where}: must be a time in Unix seconds") from None
    at = 1000 * injected
    until = at + DETECTION_MS + AFTER_MS
    rows = _Files(root, folder, tally, names, at - BASELINE_MS, until).rows()
    kinds = {"metrics": rows.samples, "logs": rows.logs, "traces": rows.calls}
    missing = [f"no {kind}" for kind, read in kinds.items() if not read]
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
    records = [incident_of(row, rows.between, horizon, TICK_SECONDS) for row in stretches]
    return [
        attrs.evolve(
            record,
            recording=attrs.evolve(record.recording, baseline="pre-fault"),
            task=f"{record.task}_rcaeval",
            origin=f"{ORIGIN}; {record.origin}" if record.origin else ORIGIN,
        )
        for record in records
    ], missing


# --- rows --------------------------------------------------------------------------------


@attrs.frozen
class _Files:
    """The CSV files of a case; rows from ``since`` to before ``until`` are read."""

    root: Path
    folder: Path
    tally: Tally
    names: Names
    since: int
    until: int

    def rows(self) -> Rows:
        return Rows(
            logs=tuple(self._logs()), calls=tuple(self._calls()), samples=tuple(self._samples())
        )

    def _read(self, stem: str, *needed: str) -> Iterator[tuple[Path, int, str, dict[str, str]]]:
        """File, line, place and fields of each record; nothing if there is no such file."""
        path = find_csv(self.root, self.folder, stem)
        if path is None:
            return
        name = self.tally.begin(path)
        # Published files are taken as they are: a byte that is not UTF-8 costs its character.
        for row in read_records(path, needed, name, "replace"):
            self.tally.row(name)
            yield path, int(row.where.rpartition(":")[2]), row.where, row.fields

    def _wanted(self, at: int) -> bool:
        return self.since <= at < self.until

    def _samples(self) -> Iterator[Sample]:
        """The samples of wide rows, a column for each metric of a service; NaN is not measured."""
        stem = next(
            (name for name in _METRICS if find_csv(self.root, self.folder, name)), "metrics"
        )
        columns: list[tuple[str, str, str, int]] | None = None
        for path, line, _, row in self._read(stem, "time"):
            if columns is None:
                columns = list(self._columns(row, f"{self.tally.name(path)}:1"))
            seconds = decimal(row["time"], _MOST)
            if seconds is None:
                self.tally.skip(path, line, "impossible time")
                continue
            at = int(1000 * seconds)
            for column, service, name, factor in columns if self._wanted(at) else ():
                text = row[column]
                if text and text.casefold() not in ("nan", "inf", "-inf"):
                    value = decimal(text, _MOST)
                    if value is None:
                        self.tally.skip(path, line, f"column {column} is no number")
                    elif abs(units := in_units(value, factor)) > MOST:
                        self.tally.skip(path, line, f"column {column} is beyond 63 bits")
                    else:
                        yield Sample(at, service, name, units)

    def _columns(self, header: dict[str, str], where: str) -> Iterator[tuple[str, str, str, int]]:
        """Column, service, signal and units of each metric of a service."""
        taken: dict[tuple[str, str], str] = {}
        for column in header:
            service, _, metric = column.partition("_")
            if column == "time" or not service or not metric or metric.startswith(_MACHINES):
                continue
            plain, (signal, factor) = self.names(service, where), signal_name(metric)
            before = taken.setdefault((plain, signal), column)
            if before != column:
                raise BundleError(
                    f"{where}: columns {before!r} and {column!r} are both {plain} {signal}"
                )
            yield column, plain, signal, factor

    def _logs(self) -> Iterator[LogRow]:
        needed = ("timestamp", "container_name", "message")
        for path, line, where, row in self._read("logs", *needed):
            nano, container, text = decimal(row["timestamp"], _MOST), row[needed[1]], row[needed[2]]
            if nano is None:
                self.tally.skip(path, line, "impossible time")
            elif not container.strip():
                self.tally.skip(path, line, "no container")
            elif self._wanted(at := int(nano // 1_000_000)):
                level = known_level(row["level"]) if row.get("level") else None
                message = read_line(text) if level is None else read_message(level, text)
                yield LogRow(at, self.names(container, where), *message)

    def _calls(self) -> Iterator[Call]:
        needed = ("traceID", "spanID", "parentSpanID", "serviceName", "startTime", "duration")
        spans: list[Span] = []
        for path, line, where, row in self._read("traces", *needed):
            trace, span, parent, service = (row[column] for column in needed[:4])
            start, duration = (decimal(row[column], _MOST) for column in needed[4:])
            if start is None or duration is None or duration < 0:
                self.tally.skip(path, line, "impossible time")
            elif not service.strip():
                self.tally.skip(path, line, "no service")
            elif self._wanted(int(start // 1000)):
                above = "" if parent.casefold() == "nan" else parent
                name = self.names(service, where)
                spans.append(Span(trace, span, above, name, int(start), int(duration)))
        yield from requests(spans)
