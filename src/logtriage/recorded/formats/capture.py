"""A captured stack: a folder of OTLP, Jaeger, Prometheus and alert files, and labels.

::

    labels.csv            as of labelled incidents
    *.json, *.jsonl, …    any number, at any depth, gzipped or not: each document is told by
                          its fields, so that names are free
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.formats.alerts import (
    AlertBook,
    is_alertmanager,
    recorded_alerts,
    unknown_services,
)
from logtriage.recorded.formats.documents import ENDINGS, documents
from logtriage.recorded.formats.jaeger import is_jaeger, traces_of
from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.formats.otlp import Unnamed, logs_of, spans_of
from logtriage.recorded.formats.otlp_metrics import MetricReader
from logtriage.recorded.formats.prometheus import PrometheusReader, is_prometheus
from logtriage.recorded.formats.series import SeriesBook
from logtriage.recorded.labelled import (
    around_of,
    incident_of,
    labels_of,
    stretches_of,
    times_of,
)
from logtriage.recorded.paths import Names
from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.rows import LogRow, Rows, Sample, Span, Usage
from logtriage.recorded.rowstore import RowStore
from logtriage.recorded.spans import Key, requests
from logtriage.recorded.stretches import Stretch
from logtriage.world.telemetry import TICK_SECONDS

_FILES: Final = f"{', '.join(ENDINGS[:-1])} and {ENDINGS[-1]}"
#: So many reasons why nothing was used are told.
_REASONS: Final = 5
#: How much longer than a stretch its spans are looked for: those above began before.
_SPAN_MARGIN_MS: Final = 60_000


def import_otlp(
    directory: str | Path,
    *,
    horizon: int = 8,
    tick_seconds: int = TICK_SECONDS,
    models: bool = False,
    service_label: str | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> tuple[RecordedIncident, ...]:
    """Import incidents from telemetry in the field's formats, and a file of labels.

    Documents are read once and their rows kept on disk; one incident at a time is in memory.
    Alerts are those that were sent; where the folder has none, they are made of thresholds.

    Args:
        directory: holds ``labels.csv`` and the rest.
        horizon: ticks of each incident.
        tick_seconds: how long a tick is.
        models: make incidents of ``recorded/2``, those without a fault included.
        service_label: the label of Prometheus that names the service; None: the first of the
            usual ones (:data:`~logtriage.recorded.formats.alerts.SERVICE_LABELS`).
        note: is told what was left out, in words.

    Raises:
        BundleError: naming file, line and field, for a document that is of none of the
            formats, or breaks the rules of its own, and for a baseline that overlaps its
            incident; saying what was left out, if no document has telemetry of a service.
        OSError: if a file cannot be read.
    """
    root, names = Path(directory), Names()
    labels = labels_of(root, names)
    wanted = stretches_of(labels, horizon, tick_seconds, note, models=models)
    times = times_of(wanted, around_of(horizon, tick_seconds))
    margins = [(since - _SPAN_MARGIN_MS, until) for since, until in times]
    reader = _Reader.of(names, service_label)
    with RowStore(margins) as store:
        for spot in documents(root):
            for row in reader.rows(spot):
                store.add(row)
        if not store.offered:
            raise BundleError(f"{root}: no telemetry in its {_FILES} files{reader.why_nothing()}")
        made = [_incident(one, store, reader.book, horizon, tick_seconds, note) for one in wanted]
    for what in reader.left_out():
        note(what)
    return tuple(made)


@attrs.frozen
class _Reader:
    """Reads documents of all formats; alerts go to the book."""

    names: Names
    unnamed: Unnamed
    series: SeriesBook
    metrics: MetricReader
    answers: PrometheusReader
    book: AlertBook

    @classmethod
    def of(cls, names: Names, service_label: str | None) -> "_Reader":
        unnamed, series = Unnamed(), SeriesBook()
        return cls(
            names,
            unnamed,
            series,
            MetricReader(names, unnamed, series),
            PrometheusReader(names, series, service_label),
            AlertBook(),
        )

    def left_out(self) -> Iterator[str]:
        """What was not used, in words."""
        if self.unnamed.resources:
            count, first = self.unnamed.resources, self.unnamed.first
            yield f"{first}: no service.name in {count} resources, left out"
        for what, count in self.series.left_out.items():
            yield f"left out {count} times: {what}"

    def why_nothing(self) -> str:
        """What an error adds where no document told anything; empty where none was left out."""
        reasons = list(self.left_out())
        if len(reasons) > _REASONS:
            reasons[_REASONS:] = [f"and {len(reasons) - _REASONS} more"]
        if self.series.unlabelled:
            reasons.append(
                "--service-label (service_label in Python) takes another label for the service"
            )
        return "".join(f"; {one}" for one in reasons)

    def rows(self, spot: Spot) -> Iterable[LogRow | Span | Sample | Usage]:
        """What one document tells."""
        if "resourceLogs" in spot:
            return logs_of(spot, self.names, self.unnamed)
        if "resourceSpans" in spot:
            return spans_of(spot, self.names, self.unnamed)
        if "resourceMetrics" in spot:
            return self.metrics.rows(spot)
        if is_jaeger(spot):
            return traces_of(spot, self.names)
        if is_prometheus(spot):
            return self.answers.rows(spot)
        if is_alertmanager(spot):
            self.book.alertmanager(spot)
        else:
            raise spot.bad(
                "OTLP (resourceLogs, resourceSpans or resourceMetrics), Jaeger (data), Prometheus "
                "(data.resultType), or an Alertmanager webhook (alerts, version)"
            )
        return ()


def _incident(
    stretch: Stretch,
    store: RowStore,
    book: AlertBook,
    horizon: int,
    tick_seconds: int,
    note: Callable[[str], None],
) -> RecordedIncident:
    twice: set[Key] = set()
    made = incident_of(stretch, partial(_between, store, twice), horizon, tick_seconds)
    if twice:
        note(f"{stretch.id}: {len(twice)} spans have the trace and id of another one, left out")
    if not book.given:
        return made
    around = around_of(horizon, tick_seconds)
    alerts, nobodys = recorded_alerts(
        book.within(stretch.opened - around, stretch.opened + around),
        (one.name for one in made.recording.services),
        opened=stretch.opened,
        horizon=horizon,
        tick_seconds=tick_seconds,
    )
    for name, count in unknown_services(nobodys).items():
        note(f"{stretch.label.id}: alert {name!r:.80} is of no known service ({count} times)")
    return attrs.evolve(made, recording=attrs.evolve(made.recording, alerts=alerts))


def _between(store: RowStore, twice: set[Key], since: int, until: int) -> Rows:
    """The rows of a stretch, spans joined to calls; ``twice`` gets ids that two spans have.

    What was exported again says the same and is one.
    """
    spans: dict[Key, Span] = {}
    for one in store.spans(since - _SPAN_MARGIN_MS, until):
        if spans.setdefault((one.trace, one.id), one) != one:
            twice.add((one.trace, one.id))
    calls = tuple(call for call in requests(spans.values()) if since <= call.at < until)
    rows = store.between(since, until)
    return attrs.evolve(rows, calls=rows.calls + calls)
