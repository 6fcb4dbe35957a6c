"""Traces as Jaeger's query service answers with them: ``{"data": [trace, …]}``, or one trace.

A trace has ``spans`` and ``processes``; times and durations are microseconds. What a span
logs with the event ``error`` or ``exception`` becomes a line of its service's log.
"""

from collections.abc import Iterator
from typing import Final

from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.formats.otlp import told
from logtriage.recorded.paths import Names
from logtriage.recorded.rows import LogRow, Span
from logtriage.recorded.text import read_message

_ABOVE: Final = ("CHILD_OF", "FOLLOWS_FROM")
_ERRORS: Final = ("error", "exception")


def is_jaeger(spot: Spot) -> bool:
    """Whether a document is one of Jaeger's."""
    return "processes" in spot or isinstance(spot["data"].value, list)


def traces_of(spot: Spot, names: Names) -> Iterator[Span | LogRow]:
    """The spans of a document, and the errors that they tell of as lines of the log."""
    for trace in spot["data"].items() if "data" in spot else (spot,):
        for span in trace["spans"].items():
            yield from _span(span, trace["processes"], names)


def _span(span: Spot, processes: Spot, names: Names) -> Iterator[Span | LogRow]:
    process = processes[span["processID"].needed]
    service = names(process["serviceName"].needed, span.where)
    start, duration = span["startTime"].since_epoch, span["duration"].whole
    if start is None:
        raise span["startTime"].bad("Unix microseconds")
    if duration is None or duration < 0:
        raise span["duration"].bad("microseconds from 0 on")
    trace = span["traceID"].needed
    tags = _tags(span["tags"])
    calls = tags.get("span.kind") in ("client", "producer")
    parent, peer = "", told(tags.get("peer.service")) if calls else ""
    for reference in span["references"].items():
        if reference["refType"].text in _ABOVE and reference["traceID"].text == trace:
            parent = reference["spanID"].needed
            break
    failed = tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR"
    yield Span(
        trace,
        span["spanID"].needed,
        parent,
        service,
        start,
        duration,
        failed,
        names(peer, span.where) if peer else "",
    )
    for log in span["logs"].items():
        fields = _tags(log["fields"])
        if fields.get("event") in _ERRORS or fields.get("level") in _ERRORS:
            known = ("exception.type", "exception.message", "error.kind", "message")
            text = ": ".join(told(fields[name]) for name in known if fields.get(name))
            line = read_message("ERROR", text)
            at = (log["timestamp"].since_epoch or start) // 1000
            yield LogRow.of(at, service, line, trace)


def _tags(spot: Spot) -> dict[str, object]:
    return {tag["key"].text: tag["value"].value for tag in spot.items()}
