"""Spans of Zipkin, version 2: a list of spans, or of traces that are lists of spans.

Times and durations are microseconds. A server may share the id of its client's span.
"""

from collections.abc import Iterator
from typing import Final

from logtriage.recorded.condensing.raw_rows import Span
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.ids import plain_id
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.service_names import Names

_KINDS: Final = ("CLIENT", "SERVER", "PRODUCER", "CONSUMER")


def is_zipkin(document: Field) -> bool:
    """Whether a document is a span of Zipkin."""
    return all(name in document for name in ("traceId", "id")) and any(
        name in document for name in ("localEndpoint", "timestamp", "kind")
    )


def spans_of(span: Field, names: Names, left_out: LeftOut) -> Iterator[Span]:
    """The span, unless it names no service or has not begun."""
    service = span["localEndpoint"]["serviceName"].text
    if not service.strip() or span["timestamp"].value is None:
        what = "localEndpoint.serviceName" if not service.strip() else "timestamp"
        left_out.add(f"span of Zipkin without {what}")
        return
    kind = span["kind"].text
    if kind not in ("", *_KINDS):
        raise span["kind"].bad(", ".join(_KINDS))
    calls = kind in ("CLIENT", "PRODUCER")
    peer = span["remoteEndpoint"]["serviceName"].text if calls else ""
    yield Span(
        plain_id(span["traceId"].needed),
        plain_id(span["id"].needed),
        plain_id(span["parentId"].text),
        names(service, span.where),
        span["timestamp"].at("microseconds"),
        span["duration"].count,
        span["tags"]["error"].text not in ("", "false"),
        names(peer, span.where) if peer.strip() else "",
        kind or "INTERNAL",
        span["shared"].flag,
    )
