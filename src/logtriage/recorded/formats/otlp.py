"""OTLP in JSON, as the OpenTelemetry collector's file exporter writes it: logs and spans.

A line is an object with ``resourceLogs``, ``resourceSpans`` or ``resourceMetrics``
(:mod:`~logtriage.recorded.formats.otlp_metrics`). Times are Unix nanoseconds, in strings
or numbers; ids of traces and spans are hexadecimal; unknown fields are left alone.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.paths import Names
from logtriage.recorded.rows import LogRow, Span
from logtriage.recorded.text import known_level, read_line, read_message

#: The attribute that says whose telemetry it is.
SERVICE: Final = "service.name"
#: The levels of severity numbers, four of each: 1 to 4 trace, 5 to 8 debug, ….
_LEVELS: Final = ("INFO", "INFO", "INFO", "WARN", "ERROR", "FATAL")
_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES: Final = ("UNSET", "OK", "ERROR")
#: Whom a client's span calls, where the callee sends no spans; the first that is there.
_PEERS: Final = ("service.peer.name", "peer.service")
_STORES: Final = ("db.system.name", "db.system", "messaging.system")
_ADDRESSES: Final = ("server.address", "net.peer.name", *_STORES)


@attrs.define
class Unnamed:
    """Counts the resources that do not say whose they are, such as machines."""

    resources: int = 0
    first: str = ""

    def count(self, spot: Spot) -> None:
        """One more."""
        self.resources += 1
        self.first = self.first or spot.where


def items_of(
    spot: Spot, kind: str, items: str, names: Names, unnamed: Unnamed
) -> Iterator[tuple[str, Mapping[str, object], Spot]]:
    """Service, attributes of the resource, and item, of all ``items`` of a line of a ``kind``.

    Resources of no service are counted.
    """
    for resource in spot[f"resource{kind}"].items():
        found = attributes(resource["resource"]["attributes"])
        name = found.get(SERVICE)
        if not (isinstance(name, str) and name.strip()):
            unnamed.count(resource)
            continue
        service = names(name, resource.where)
        for scope in resource[f"scope{kind}"].items():
            for item in scope[items].items():
                yield service, found, item


def logs_of(spot: Spot, names: Names, unnamed: Unnamed) -> Iterator[LogRow]:
    """The log records of one line."""
    for service, _, record in items_of(spot, "Logs", "logRecords", names, unnamed):
        yield _log(record, service)


def _log(record: Spot, service: str) -> LogRow:
    at = record["timeUnixNano"].since_epoch or record["observedTimeUnixNano"].since_epoch
    if at is None:
        raise record["timeUnixNano"].bad("Unix nanoseconds, or observedTimeUnixNano must be")
    severity, named = record["severityNumber"].whole or 0, record["severityText"].text
    if not 0 <= severity <= 24:
        raise record["severityNumber"].bad("a number from 0 to 24")
    body = told(any_value(record["body"])) or _exception(attributes(record["attributes"]))
    body = body or record["eventName"].text
    if severity:
        line = read_message(_LEVELS[(severity - 1) // 4], body)
    elif named:
        line = read_message(known_level(named) or "INFO", body)
    else:
        line = read_line(body)
    return LogRow.of(at // 1_000_000, service, line, record["traceId"].text)


def _exception(found: Mapping[str, object]) -> str:
    kind, message = (told(found.get(f"exception.{name}")) for name in ("type", "message"))
    return ": ".join(part for part in (kind, message) if part)


def spans_of(spot: Spot, names: Names, unnamed: Unnamed) -> Iterator[Span | LogRow]:
    """The spans of one line, and the exceptions that they tell of as lines of the log."""
    for service, _, span in items_of(spot, "Spans", "spans", names, unnamed):
        yield from _span(span, service, names)


def _span(span: Spot, service: str, names: Names) -> Iterator[Span | LogRow]:
    trace, start = span["traceId"].needed, span["startTimeUnixNano"].since_epoch
    end = span["endTimeUnixNano"].whole
    if start is None:
        raise span["startTimeUnixNano"].bad("Unix nanoseconds")
    if end is None or end < start:
        raise span["endTimeUnixNano"].bad("Unix nanoseconds, not before startTimeUnixNano")
    found = attributes(span["attributes"])
    peer = ""
    if enumerated(span["kind"], _KINDS, "SPAN_KIND_") in ("CLIENT", "PRODUCER"):
        peer = _peer(found)
    status = enumerated(span["status"]["code"], _STATUSES, "STATUS_CODE_")
    yield Span(
        trace,
        span["spanId"].needed,
        _parent(span["parentSpanId"].text),
        service,
        start // 1000,
        (end - start) // 1000,
        # Unset is success for whoever did not say otherwise.
        status == "ERROR",
        names(peer, span.where) if peer else "",
    )
    for event in span["events"].items():
        if event["name"].text == "exception":
            line = read_message("ERROR", _exception(attributes(event["attributes"])))
            at = event["timeUnixNano"].whole or start
            yield LogRow.of(at // 1_000_000, service, line, trace)


def _parent(span_id: str) -> str:
    """The id of the span above; all zeros are none."""
    return span_id if span_id.strip("0") else ""


def _peer(found: Mapping[str, object]) -> str:
    names: tuple[str, ...] = _PEERS
    if any(found.get(name) for name in _STORES):
        names += _ADDRESSES
    return next((told(found[name]) for name in names if found.get(name)), "")


def enumerated(spot: Spot, known: tuple[str, ...], prefix: str) -> str:
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


def attributes(spot: Spot) -> dict[str, object]:
    """Attributes by key."""
    return {one["key"].text: any_value(one["value"]) for one in spot.items()}


def any_value(spot: Spot) -> object:
    """What an ``AnyValue`` holds; None where it holds nothing."""
    if "stringValue" in spot:
        return spot["stringValue"].text
    if "intValue" in spot:
        return spot["intValue"].whole
    if "doubleValue" in spot:
        number = spot["doubleValue"].number
        return spot["doubleValue"].value if number is None else number  # or "NaN"
    if "arrayValue" in spot:
        return [any_value(one) for one in spot["arrayValue"]["values"].items()]
    if "kvlistValue" in spot:
        return attributes(spot["kvlistValue"]["values"])
    for name in ("boolValue", "bytesValue"):
        if name in spot:
            return spot[name].value
    return None


def told(value: object) -> str:
    """A value in words: text as it is, anything else as JSON; nothing for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
