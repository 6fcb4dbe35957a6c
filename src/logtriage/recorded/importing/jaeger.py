"""Traces as Jaeger's query service answers with them: ``{"data": [trace, …]}``, or one trace.

A trace has ``spans`` and ``processes``; times and durations are microseconds. An event ``error``
or ``exception`` in the log of a span becomes a line of its service's log.
"""

from collections.abc import Iterator
from typing import Final

from logtriage.recorded.condensing.log_text import read_message
from logtriage.recorded.condensing.raw_rows import LogRow, Span
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.otlp import said
from logtriage.recorded.importing.service_names import Names

_ABOVE: Final = ("CHILD_OF", "FOLLOWS_FROM")
_ERRORS: Final = ("error", "exception")
#: The fields of an error, in the order in which the line has them.
_TOLD: Final = ("exception.type", "exception.message", "error.kind", "message")


def is_jaeger(spot: Field) -> bool:
    """Whether a document is one of Jaeger's."""
    return "processes" in spot or isinstance(spot["data"].value, list)


def traces_of(spot: Field, names: Names) -> Iterator[Span | LogRow]:
    """The spans of a document, and the errors in them as lines of the log."""
    for trace in spot["data"].items() if "data" in spot else (spot,):
        for span in trace["spans"].items():
            yield from _span(span, trace["processes"], names)


def _span(span: Field, processes: Field, names: Names) -> Iterator[Span | LogRow]:
    process = processes[span["processID"].needed]
    service = names(process["serviceName"].needed, span.where)
    start, duration = span["startTime"].at("microseconds"), span["duration"].whole
    if duration is None or duration < 0:
        raise span["duration"].bad("microseconds from 0 on")
    trace, tags = span["traceID"].needed, _tags(span["tags"])
    calls = tags.get("span.kind") in ("client", "producer")
    peer = said(tags.get("peer.service")) if calls else ""
    parents = (
        reference["spanID"].needed
        for reference in span["references"].items()
        if reference["refType"].text in _ABOVE and reference["traceID"].text == trace
    )
    yield Span(
        trace,
        span["spanID"].needed,
        next(parents, ""),
        service,
        start,
        duration,
        tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR",
        names(peer, span.where) if peer else "",
    )
    for log in span["logs"].items():
        fields = _tags(log["fields"])
        if fields.get("event") in _ERRORS or fields.get("level") in _ERRORS:
            text = ": ".join(said(fields[name]) for name in _TOLD if fields.get(name))
            at = (log["timestamp"].since_epoch or start) // 1000
            yield LogRow(at, service, *read_message("ERROR", text), trace)


def _tags(spot: Field) -> dict[str, object]:
    return {tag["key"].text: tag["value"].value for tag in spot.items()}
