"""Traces of Jaeger and Zipkin, whose times and durations are microseconds.

Jaeger's query service answers with ``{"data": [trace, …]}``; a trace has ``spans`` and
``processes``. An event ``error`` or ``exception`` in a span becomes a line of its service's log.
Zipkin (version 2) has lists of spans, or of traces that are lists of spans.
"""

from collections.abc import Iterator
from typing import Final

from logtriage.recorded.condensing.log_text import read_message
from logtriage.recorded.condensing.raw_rows import Dependency, LogRow, Span
from logtriage.recorded.importing.fields import Field, plain_id
from logtriage.recorded.importing.log_records import is_record
from logtriage.recorded.importing.names import Names
from logtriage.recorded.importing.otlp import KINDS
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.span_attributes import in_words, span_of

_ZIPKIN: Final = ("CLIENT", "SERVER", "PRODUCER", "CONSUMER")
_ABOVE: Final = ("CHILD_OF", "FOLLOWS_FROM")
_ERRORS: Final = ("error", "exception")
#: The fields of an error that make a log line, in this order.
_TOLD: Final = ("exception.type", "exception.message", "error.kind", "message")


def dependencies_of(document: Field, reader: Reader) -> Iterator[Dependency]:
    """Yield who calls whom, and how often."""
    for row in document["data"].items() if "data" in document else (document,):
        caller, callee = (reader.names(row[end].needed, row.where) for end in ("parent", "child"))
        if row["callCount"].value is None:
            raise row["callCount"].bad("a whole number from 0 on")
        if row["callCount"].count and caller != callee:
            yield Dependency(caller, callee, row["callCount"].count)


def jaeger_spans(document: Field, reader: Reader) -> Iterator[Span | LogRow]:
    """Yield the spans of a document, and the errors in them as lines of the log."""
    for trace in document["data"].items() if "data" in document else (document,):
        for span in trace["spans"].items():
            yield from _jaeger(span, trace["processes"], reader.names)


def _jaeger(span: Field, processes: Field, names: Names) -> Iterator[Span | LogRow]:
    """Yield the span, in microseconds, and a log line for each error in it, in milliseconds."""
    process = span["process"] if "process" in span else processes[span["processID"].needed]
    service = names(process["serviceName"].needed, span.where)
    start, duration = span["startTime"].needed_epoch("microseconds"), span["duration"].whole
    if duration is None or duration < 0:
        raise span["duration"].bad("microseconds from 0 on")
    trace, tags = plain_id(span["traceID"].needed), _tags(span["tags"])
    kind = in_words(tags.get("span.kind")).upper()
    parents = (
        plain_id(reference["spanID"].needed)
        for reference in span["references"].items()
        if reference["refType"].text in _ABOVE and plain_id(reference["traceID"].text) == trace
    )
    row = Span(
        trace=trace,
        id=plain_id(span["spanID"].needed),
        parent=next(parents, plain_id(span["parentSpanID"].text)),
        service=service,
        start=start,
        duration=duration,
        kind=kind if kind in KINDS else "",
    )
    error, status = tags.get("error"), tags.get("otel.status_code")
    is_known = error is not None or status is not None
    failed = (error in (True, "true") or status == "ERROR") if is_known else None
    yield span_of(row, span["operationName"].text, failed, tags, names, span.where)
    for log in span["logs"].items():
        fields = _tags(log["fields"])
        if fields.get("event") in _ERRORS or fields.get("level") in _ERRORS:
            text = ": ".join(in_words(fields[name]) for name in _TOLD if fields.get(name))
            at = log["timestamp"].since_epoch or start  # without a time, that of the span
            yield LogRow(at // 1000, service, *read_message("ERROR", text), trace)


def _tags(field: Field) -> dict[str, object]:
    return {tag["key"].text: tag["value"].value for tag in field.items()}


def is_zipkin(document: Field) -> bool:
    """Whether a document is a span of Zipkin, and no log line with ids and a time."""
    ids = all(name in document for name in ("traceId", "id"))
    others = any(name in document for name in ("localEndpoint", "timestamp", "kind"))
    return ids and others and not is_record(document)


def zipkin_spans(span: Field, reader: Reader) -> Iterator[Span]:
    """Yield the span, unless it has no service or no timestamp."""
    service = span["localEndpoint"]["serviceName"].text
    if not service.strip() or span["timestamp"].value is None:
        what = "localEndpoint.serviceName" if not service.strip() else "timestamp"
        reader.left_out.add(f"span of Zipkin without {what}")
        return
    kind = span["kind"].text
    if kind not in ("", *_ZIPKIN):
        raise span["kind"].bad(", ".join(_ZIPKIN))
    tags = span["tags"].fields
    failed = span["tags"]["error"].text not in ("", "false") if "error" in span["tags"] else None
    row = Span(
        trace=plain_id(span["traceId"].needed),
        id=plain_id(span["id"].needed),
        parent=plain_id(span["parentId"].text),
        service=reader.names(service, span.where),
        start=span["timestamp"].needed_epoch("microseconds"),
        duration=span["duration"].count,
        kind=kind or "INTERNAL",
        shared=span["shared"].flag,
    )
    about = tags | {"service.peer.name": span["remoteEndpoint"]["serviceName"].text}
    yield span_of(row, span["name"].text, failed, about, reader.names, span.where)
