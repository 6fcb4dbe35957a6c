"""The formats of a capture's documents, and the files that hold them.

The fields of a document tell its format, so that names of files are free. The first shape of
:data:`SHAPES` that fits counts. Each file that gives nothing is named in a note.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from logtriage.recorded.condensing.raw_rows import Dependency, RawRow
from logtriage.recorded.importing import alerts, kubernetes, log_records, otlp, prometheus, traces
from logtriage.recorded.importing.alerts import SentAlert
from logtriage.recorded.importing.csv_tables import TABLES, tables_of
from logtriage.recorded.importing.fields import Field, sound
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.source_files import documents, json_files
from logtriage.recorded.records import SCHEMA

Row = RawRow | Dependency | SentAlert
#: The beginning of a bundle's schema.
_OURS: Final = SCHEMA.partition("/")[0]


class Shape(NamedTuple):
    """A format of documents; ``alerts``: they tell which alerts fire, or that none does."""

    name: str
    fits: Callable[[Field], bool]
    read: Callable[[Field, Reader], Iterable[Row]]
    alerts: bool = False


#: ``data[].spans``: the items of a list, perhaps of an empty one, have spans; ``[+]``: of another.
_ITEMS: Final = re.compile(r"(\w+)\[(\+?)\]\.(\w+)")


def _has(*alternatives: str) -> Callable[[Field], bool]:
    """A check that a document has all fields of one of the alternatives; spaces separate fields."""
    return lambda document: any(
        all(_has_field(document, path) for path in paths.split()) for paths in alternatives
    )


def _has_field(document: Field, path: str) -> bool:
    if (match := _ITEMS.fullmatch(path)) is None:
        return document.first(path).value is not None
    rows, needs_one, name = document[match[1]], match[2], match[3]
    if not isinstance(rows.value, list) or (needs_one and not rows.value):
        return False
    return all(name in row for row in rows.items())


def _otlp(document: Field, reader: Reader) -> Iterator[Row]:
    for payload in otlp.payloads(document):
        yield from otlp.logs_of(payload, reader)
        yield from otlp.metrics_of(payload, reader)
        yield from otlp.spans_of(payload, reader)


_alert_shape = partial(Shape, alerts=True)
SHAPES: Final = (
    Shape("OTLP", lambda document: bool(otlp.payloads(document)), _otlp),
    Shape("span of Zipkin", traces.is_zipkin, traces.zipkin_spans),
    Shape("journald", _has("__REALTIME_TIMESTAMP"), log_records.journal),
    Shape("Loki", log_records.is_streams, log_records.streams),
    Shape("logcli", _has("line timestamp"), log_records.stream_line),
    Shape("Prometheus", _has("errorType", "data.resultType"), prometheus.rows_of),
    _alert_shape(
        "alert of Alertmanager",
        _has("labels startsAt"),
        lambda document, reader: alerts.labelled_alerts((document,), reader),
    ),
    _alert_shape(
        "webhook of Alertmanager or Grafana",
        _has("alerts groupKey", "alerts version", "alerts receiver", "alerts orgId"),
        alerts.webhook_alerts,
    ),
    _alert_shape(
        "alerts of Prometheus",
        _has("data.alerts", "data.groups", "data[+].labels data[+].startsAt"),
        alerts.prometheus_alerts,
    ),
    _alert_shape(
        "PagerDuty",
        _has("event.event_type", "messages[].incident", "incidents[].created_at"),
        alerts.pagerduty_alerts,
    ),
    _alert_shape(
        "Opsgenie", _has("action alert.message", "data[+].tinyId"), alerts.opsgenie_alerts
    ),
    Shape("events of Kubernetes", kubernetes.is_kubernetes, kubernetes.changes_of),
    Shape(
        "dependencies", _has("parent child", "data[+].parent data[+].child"), traces.dependencies_of
    ),
    Shape("Jaeger", _has("data[].spans", "processes"), traces.jaeger_spans),
    Shape("Elasticsearch", _has(*log_records.HITS), log_records.hits),
    Shape("hit of Elasticsearch", _has("_index _source", "_index fields"), log_records.hit),
    Shape("log line", log_records.is_record, log_records.record),
)
#: What to export instead of an answer that says too little, by a field that this answer has.
_INSTEAD: Final = {
    "log_entries": "PagerDuty's /incidents, not its log entries",
    "traces": "every trace that Tempo's search finds, by /api/v2/traces/ID",
    "columns": "hits of _search, not a table of ES|QL or SQL",
}


def shape_of(document: Field) -> Shape:
    """The shape of a document; a BundleError names file and line of one that fits none."""
    for shape in SHAPES:
        if shape.fits(document):
            return shape
    names = ", ".join(shape.name for shape in SHAPES)
    ways = (f"; export {what}" for field, what in _INSTEAD.items() if field in document)
    raise document.bad(f"of one of these formats: {names}{next(ways, '')}")


def read_folder(root: Path, reader: Reader, keep: Callable[[Row], bool], unkept: str) -> None:
    """Read all rows of a folder.

    ``keep`` gets each row and says whether it is of use; ``unkept`` is the reason why none of a
    file's is. A BundleError for a line or document that cannot be read names file, line and field.
    """
    left_out = reader.left_out
    for table in tables_of(root, reader):
        counts = Counter[bool]()
        for record in table.records:
            left_out.where = record.where
            counts.update(map(keep, sound(record, table.read, left_out)))
        counts.update(map(keep, table.rest()))
        _note_idle(table.name, counts, "a row of the table", unkept, left_out)
    for path, name in json_files(root, TABLES, left_out):
        shapes, counts = dict[str, None](), Counter()  # names of shapes, in order of appearance
        for document in documents(path, name, left_out):
            if _is_bundle(document):
                left_out.note(f"{name}: a bundle of recorded incidents, passed over")
                break
            left_out.where = document.where
            counts.update(map(keep, sound(document, partial(_read, reader, shapes), left_out)))
        else:
            _note_idle(name, counts, ", ".join(shapes) or "no document", unkept, left_out)


def _read(reader: Reader, shapes: dict[str, None], document: Field) -> Iterable[Row]:
    """The rows of a document; its shape is added to ``shapes``, those of its file."""
    shape = shape_of(document)
    shapes[shape.name] = None
    reader.has_alerts |= shape.alerts
    return shape.read(document, reader)


def _note_idle(name: str, counts: Counter[bool], what: str, unkept: str, left_out: LeftOut) -> None:
    if not counts:
        left_out.note(f"{name}: nothing came of it: {what}")
    elif not counts[True]:
        left_out.add(unkept, f"{name}:1", counts.total())


def _is_bundle(document: Field) -> bool:
    schema = document.value.get("schema") if isinstance(document.value, dict) else None
    return isinstance(schema, str) and schema.startswith(_OURS)
