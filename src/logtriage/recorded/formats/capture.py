"""A captured stack: a folder of CSV, OTLP, Jaeger, Prometheus and alert files, and labels.

::

    labels.csv            id, opened, root_cause, kind [, baseline_start, baseline_end, fault_class]
    logs.csv, calls.csv, metrics.csv    as in :mod:`~logtriage.recorded.formats.tables`
    *.json, *.jsonl, …    any number, at any depth, gzipped or not: the fields of a document
                          tell its format, so that names are free
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.formats.alerts import AlertBook, is_alertmanager
from logtriage.recorded.formats.jaeger import is_jaeger, traces_of
from logtriage.recorded.formats.otlp import Unnamed, logs_of, spans_of
from logtriage.recorded.formats.otlp_metrics import MetricReader
from logtriage.recorded.formats.prometheus import PrometheusReader, is_prometheus
from logtriage.recorded.formats.series import SeriesBook
from logtriage.recorded.formats.tables import table_rows, tick_of
from logtriage.recorded.labels import (
    Stretch,
    around_of,
    incident_of,
    labels_of,
    stretches_of,
)
from logtriage.recorded.names import Names
from logtriage.recorded.reading import ENDINGS, documents
from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.rows import LogRow, Rows, Sample, Span, Usage
from logtriage.recorded.rowstore import RowStore
from logtriage.recorded.spans import Key, requests
from logtriage.recorded.spot import Spot

_FILES: Final = f"{', '.join(ENDINGS[:-1])} and {ENDINGS[-1]}"
#: The error for a folder without telemetry gives at most this many reasons.
_REASONS: Final = 5
#: Spans are read from this long before a stretch: the spans above may have begun there.
_SPAN_MARGIN_MS: Final = 60_000


def import_capture(
    directory: str | Path,
    *,
    horizon: int = 8,
    tick_seconds: int | None = None,
    models: bool = False,
    service_label: str | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> tuple[RecordedIncident, ...]:
    """Import your own incidents from CSV or the field's formats, and a file of labels.

    Documents are read once and their rows kept on disk; one incident at a time is in memory.
    Alerts are taken from notifications; without any in the folder, thresholds make them.

    Args:
        directory: holds ``labels.csv`` and the rest.
        horizon: ticks of each incident.
        tick_seconds: how long a tick is. None: 30 s, or the interval of the samples if that
            is longer and there is ``metrics.csv`` alone.
        models: make incidents that show figures on request, some of them without a fault.
        service_label: the label of Prometheus that names the service; None: the first of the
            usual ones (:data:`~logtriage.recorded.formats.alerts.SERVICE_LABELS`).
        note: gets a text about everything that was left out.

    Raises:
        BundleError: naming file, line and field, for a document that is of none of the
            formats, or breaks the rules of its own, and for a baseline that overlaps its
            incident; saying what was left out, if no document has telemetry of a service.
        OSError: if a file cannot be read.
    """
    root, names = Path(directory), Names()
    labels = labels_of(root, names)
    tick = tick_seconds or tick_of(root)
    stretches = stretches_of(labels, horizon, tick, note, models=models)
    around = around_of(horizon, tick)
    times = [(row.opened - around, row.opened + around) for row in stretches]
    times += (row.usual for row in stretches if row.usual is not None)
    reader = _Reader(names, service_label)
    with RowStore((since - _SPAN_MARGIN_MS, until) for since, until in times) as store:
        for row in table_rows(root, names, note):
            store.add(row)
        for spot in documents(root):
            for record_row in reader.rows(spot):
                store.add(record_row)
        if not store.offered:
            where = f"logs.csv, calls.csv, metrics.csv or its {_FILES} files"
            raise BundleError(f"{root}: no telemetry in {where}{reader.why_nothing()}")
        records = []
        for stretch in stretches:
            record = _incident(stretch, store, horizon, tick, note)
            if reader.alerts.has_any:
                services = {service.name for service in record.recording.services}
                alerts, unknown = reader.alerts.recorded(
                    services, stretch.opened, around, horizon, tick
                )
                for name, count in unknown.items():
                    note(
                        f"{stretch.label.id}: alert {name!r:.80} is of no known service "
                        f"({count} times)"
                    )
                recording = attrs.evolve(record.recording, alerts=alerts)
                record = attrs.evolve(record, recording=recording)
            records.append(record)
    for text in reader.left_out():
        note(text)
    return tuple(records)


class _Reader:
    """Reads documents of all formats; alerts go to their book."""

    def __init__(self, names: Names, service_label: str | None) -> None:
        self._names = names
        self._unnamed = Unnamed()
        self._series = SeriesBook()
        self._metrics = MetricReader(names, self._unnamed, self._series)
        self._answers = PrometheusReader(names, self._series, service_label)
        self.alerts = AlertBook()

    def left_out(self) -> Iterator[str]:
        """Notes on everything that was left out."""
        yield from self._unnamed.notes()
        for what, count in self._series.left_out.items():
            yield f"left out {count} times: {what}"

    def why_nothing(self) -> str:
        """The end of the error if nothing was read; empty if nothing was left out."""
        reasons = list(self.left_out())
        if len(reasons) > _REASONS:
            reasons[_REASONS:] = [f"and {len(reasons) - _REASONS} more"]
        if self._series.unlabelled:
            reasons.append(
                "--service-label (service_label in Python) takes another label for the service"
            )
        return "".join(f"; {reason}" for reason in reasons)

    def rows(self, spot: Spot) -> Iterable[LogRow | Span | Sample | Usage]:
        """The rows of one document."""
        if "resourceLogs" in spot:
            return logs_of(spot, self._names, self._unnamed)
        if "resourceSpans" in spot:
            return spans_of(spot, self._names, self._unnamed)
        if "resourceMetrics" in spot:
            return self._metrics.rows(spot)
        if is_jaeger(spot):
            return traces_of(spot, self._names)
        if is_prometheus(spot):
            return self._answers.rows(spot)
        if not is_alertmanager(spot):
            raise spot.bad(
                "OTLP (resourceLogs, resourceSpans or resourceMetrics), Jaeger (data), Prometheus "
                "(data.resultType), or an Alertmanager webhook (alerts, version)"
            )
        self.alerts.read(spot)
        return ()


def _incident(
    stretch: Stretch,
    store: RowStore,
    horizon: int,
    tick_seconds: int,
    note: Callable[[str], None],
) -> RecordedIncident:
    twice: set[Key] = set()

    def between(since: int, until: int) -> Rows:
        """The rows of a stretch, spans joined to calls.

        A span that was exported twice counts once; other spans with its id are left out.
        """
        spans: dict[Key, Span] = {}
        for span in store.spans(since - _SPAN_MARGIN_MS, until):
            if spans.setdefault((span.trace, span.id), span) != span:
                twice.add((span.trace, span.id))
        calls = tuple(call for call in requests(spans.values()) if since <= call.at < until)
        rows = store.between(since, until)
        return attrs.evolve(rows, calls=rows.calls + calls)

    record = incident_of(stretch, between, horizon, tick_seconds)
    if twice:
        note(f"{stretch.id}: {len(twice)} spans have the trace and id of another one, left out")
    return record
