"""OTLP in JSON, as the OpenTelemetry collector's file exporter writes it: logs and spans.

A line is an object with ``resourceLogs``, ``resourceSpans`` or ``resourceMetrics``
(:mod:`~logtriage.recorded.importing.otlp_metrics`). Times are Unix nanoseconds, in strings
or numbers; ids of traces and spans are hexadecimal; unknown fields are left alone.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from logtriage.recorded.condensing.log_text import known_level, read_line, read_message
from logtriage.recorded.condensing.raw_rows import LogRow, Span
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.service_names import Names

#: The attribute with the name of the service.
SERVICE: Final = "service.name"
#: The levels of severity numbers, four of each: 1 to 4 trace, 5 to 8 debug, ….
_LEVELS: Final = ("INFO", "INFO", "INFO", "WARN", "ERROR", "FATAL")
_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES: Final = ("UNSET", "OK", "ERROR")
#: Attributes with the callee of a client's span; the first that is there counts.
_PEERS: Final = ("service.peer.name", "peer.service")
_STORES: Final = ("db.system.name", "db.system", "messaging.system")
_ADDRESSES: Final = ("server.address", "net.peer.name", *_STORES)


@attrs.define
class Unnamed:
    """Counts resources without a service, such as machines; ``first`` is the place of the first."""

    resources: int = 0
    first: str = ""

    def notes(self) -> Iterator[str]:
        """A note on the resources, if there are any."""
        if self.resources:
            yield f"{self.first}: no service.name in {self.resources} resources, left out"


def items_of(
    spot: Field, kind: str, items: str, names: Names, unnamed: Unnamed
) -> Iterator[tuple[str, Mapping[str, object], Field]]:
    """Service, attributes of the resource, and item, of all ``items`` of a line of a ``kind``."""
    for resource in spot[f"resource{kind}"].items():
        about = attributes(resource["resource"]["attributes"])
        name = about.get(SERVICE)
        if not (isinstance(name, str) and name.strip()):
            unnamed.resources += 1
            unnamed.first = unnamed.first or resource.where
            continue
        service = names(name, resource.where)
        for scope in resource[f"scope{kind}"].items():
            for item in scope[items].items():
                yield service, about, item


def logs_of(spot: Field, names: Names, unnamed: Unnamed) -> Iterator[LogRow]:
    """The log records of one line."""
    for service, _, record in items_of(spot, "Logs", "logRecords", names, unnamed):
        at = record["timeUnixNano"].since_epoch or record["observedTimeUnixNano"].since_epoch
        if at is None:
            raise record["timeUnixNano"].bad("Unix nanoseconds, or observedTimeUnixNano must be")
        severity, level = record["severityNumber"].whole or 0, record["severityText"].text
        if not 0 <= severity <= 24:
            raise record["severityNumber"].bad("a number from 0 to 24")
        body = said(any_value(record["body"])) or _exception(record["attributes"])
        body = body or record["eventName"].text
        if severity:
            line = read_message(_LEVELS[(severity - 1) // 4], body)
        else:
            line = read_message(known_level(level) or "INFO", body) if level else read_line(body)
        yield LogRow(at // 1_000_000, service, *line, record["traceId"].text)


def _exception(spot: Field) -> str:
    exception = attributes(spot)
    parts = (said(exception.get(f"exception.{name}")) for name in ("type", "message"))
    return ": ".join(filter(None, parts))


def spans_of(spot: Field, names: Names, unnamed: Unnamed) -> Iterator[Span | LogRow]:
    """The spans of one line, and the exceptions in them as lines of the log."""
    for service, _, span in items_of(spot, "Spans", "spans", names, unnamed):
        trace, start = span["traceId"].needed, span["startTimeUnixNano"].at("nanoseconds")
        end, parent = span["endTimeUnixNano"].whole, span["parentSpanId"].text
        if end is None or end < start:
            raise span["endTimeUnixNano"].bad("Unix nanoseconds, not before startTimeUnixNano")
        about = attributes(span["attributes"])
        calls = enumerated(span["kind"], _KINDS, "SPAN_KIND_") in ("CLIENT", "PRODUCER")
        peer = _peer(about) if calls else ""
        status = enumerated(span["status"]["code"], _STATUSES, "STATUS_CODE_")
        yield Span(
            trace,
            span["spanId"].needed,
            parent if parent.strip("0") else "",
            service,
            start // 1000,
            (end - start) // 1000,
            status == "ERROR",  # unset is a success
            names(peer, span.where) if peer else "",
        )
        for event in span["events"].items():
            if event["name"].text == "exception":
                line = read_message("ERROR", _exception(event["attributes"]))
                at = event["timeUnixNano"].whole or start
                yield LogRow(at // 1_000_000, service, *line, trace)


def _peer(about: Mapping[str, object]) -> str:
    is_store = any(about.get(name) for name in _STORES)
    names = (*_PEERS, *_ADDRESSES) if is_store else _PEERS
    return next((said(about[name]) for name in names if about.get(name)), "")


def enumerated(spot: Field, known: tuple[str, ...], prefix: str) -> str:
    """A value of an enumeration: a number as OTLP has it, or its name as protobuf does."""
    value = spot.value
    if value is None:
        return known[0]
    if isinstance(value, str) and value.removeprefix(prefix) in known:
        return value.removeprefix(prefix)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(known):
        return known[value]
    raise spot.bad(f"a number from 0 to {len(known) - 1}")


# --- attributes --------------------------------------------------------------------------


def attributes(spot: Field) -> dict[str, object]:
    """Attributes by key."""
    return {row["key"].text: any_value(row["value"]) for row in spot.items()}


def any_value(spot: Field) -> object:
    """The value in an ``AnyValue``; None if it is empty."""
    if "stringValue" in spot:
        return spot["stringValue"].text
    if "intValue" in spot:
        return spot["intValue"].whole
    if "doubleValue" in spot:
        number = spot["doubleValue"].number
        return spot["doubleValue"].value if number is None else number  # or "NaN"
    if "arrayValue" in spot:
        return [any_value(item) for item in spot["arrayValue"]["values"].items()]
    if "kvlistValue" in spot:
        return attributes(spot["kvlistValue"]["values"])
    return next((spot[name].value for name in ("boolValue", "bytesValue") if name in spot), None)


def said(value: object) -> str:
    """A value in words: text as it is, anything else as JSON; nothing for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
