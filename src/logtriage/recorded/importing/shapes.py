"""The table of all formats that a capture may have: how each is recognised, and who reads it.

The fields of a document tell its format, so that names of files are free. The first shape of
:data:`SHAPES` that fits counts.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs

from logtriage.recorded.condensing.raw_rows import (
    Call,
    ChangeRow,
    Dependency,
    LogRow,
    Sample,
    Span,
    Usage,
)
from logtriage.recorded.importing import alerts, jaeger, kubernetes, log_records, otlp, zipkin
from logtriage.recorded.importing.alerts import SentAlert
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.log_records import LogReader
from logtriage.recorded.importing.metric_series import SeriesBook
from logtriage.recorded.importing.otlp_metrics import MetricReader
from logtriage.recorded.importing.prometheus import PrometheusReader, is_prometheus
from logtriage.recorded.importing.service_names import Names

#: What a capture consists of.
Row = LogRow | Call | Span | Usage | Sample | ChangeRow | Dependency | SentAlert


@attrs.define
class Reader:
    """What the readers of one capture share.

    Attributes:
        names: of services.
        left_out: gets what is left out.
        service_label: the label that names the service, in metrics and streams of logs; None: the
            first of the usual ones.
        has_alerts: whether there was any document of alerts, even without an alert.
    """

    names: Names
    left_out: LeftOut
    service_label: str | None = None
    has_alerts: bool = False
    metrics: MetricReader = attrs.field(init=False)
    answers: PrometheusReader = attrs.field(init=False)
    logs: LogReader = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        book = SeriesBook(self.left_out)
        self.metrics = MetricReader(self.names, book)
        self.answers = PrometheusReader(self.names, book, self.service_label)
        self.logs = LogReader(self.names, self.left_out, self.service_label)

    def otlp(self, document: Field) -> Iterator[Row]:
        """The rows of logs, spans and metrics in a document."""
        for payload in otlp.payloads(document):
            if "resourceLogs" in payload:
                yield from otlp.logs_of(payload, self.names, self.left_out)
            if "resourceMetrics" in payload:
                yield from self.metrics.rows(payload)
            yield from otlp.spans_of(payload, self.names, self.left_out)


Read = Callable[[Reader, Field], Iterable[Row]]


@attrs.frozen
class Shape:
    """A format of documents; ``alerts``: it tells which alerts fire, also that none does."""

    name: str
    fits: Callable[[Field], bool]
    read: Read
    alerts: bool = False


SHAPES: Final = (
    Shape("OTLP", lambda field: bool(otlp.payloads(field)), Reader.otlp),
    Shape("span of Zipkin", zipkin.is_zipkin, lambda r, f: zipkin.spans_of(f, r.names, r.left_out)),
    Shape("journald", log_records.is_journal, lambda r, f: r.logs.journal(f)),
    Shape("Loki", log_records.is_streams, lambda r, f: r.logs.streams(f)),
    Shape("logcli", log_records.is_stream_line, lambda r, f: r.logs.stream_line(f)),
    Shape("Prometheus", is_prometheus, lambda r, f: r.answers.rows(f)),
    Shape(
        "alert of Alertmanager",
        alerts.is_labelled,
        lambda _, f: (alerts.labelled_alert(f),),
        alerts=True,
    ),
    Shape(
        "webhook of Alertmanager or Grafana",
        alerts.is_webhook,
        lambda _, f: alerts.webhook_alerts(f),
        alerts=True,
    ),
    Shape(
        "alerts of Prometheus",
        alerts.is_prometheus_alerts,
        lambda r, f: alerts.prometheus_alerts(f, r.left_out),
        alerts=True,
    ),
    Shape(
        "PagerDuty",
        alerts.is_pagerduty,
        lambda r, f: alerts.pagerduty_alerts(f, r.left_out),
        alerts=True,
    ),
    Shape("Opsgenie", alerts.is_opsgenie, lambda _, f: alerts.opsgenie_alerts(f), alerts=True),
    Shape(
        "events of Kubernetes",
        kubernetes.is_kubernetes,
        lambda r, f: kubernetes.changes_of(f, r.left_out),
    ),
    Shape("dependencies", jaeger.is_dependencies, lambda r, f: jaeger.dependencies_of(f, r.names)),
    Shape("Jaeger", jaeger.is_jaeger, lambda r, f: jaeger.traces_of(f, r.names)),
    Shape("Elasticsearch", log_records.is_hits, lambda r, f: r.logs.hits(f)),
    Shape("log line", log_records.is_record, lambda r, f: r.logs.record(f)),
)


def shape_of(document: Field) -> Shape:
    """The shape of a document.

    Raises:
        BundleError: naming file and line, for one that fits none.
    """
    for shape in SHAPES:
        if shape.fits(document):
            return shape
    raise document.bad(f"of one of these formats: {', '.join(shape.name for shape in SHAPES)}")
