"""OTLP in JSON: logs, spans and metrics; times are Unix nanoseconds, unknown fields are ignored.

The collector's file exporter writes objects with ``resourceLogs``, ``resourceSpans`` or
``resourceMetrics``. Jaeger's ``/api/v3/traces`` puts them into ``result``, and Tempo into ``trace``
or, with ``batches``, at the top.
"""

from collections.abc import Iterator, Mapping
from math import isnan, nan
from typing import Final

import attrs

from logtriage.recorded.condensing.log_heads import known_level
from logtriage.recorded.condensing.log_text import read_message
from logtriage.recorded.condensing.raw_rows import ChangeRow, LogRow, Scraped, Span
from logtriage.recorded.importing.fields import Field, plain_id
from logtriage.recorded.importing.log_records import log_row
from logtriage.recorded.importing.metric_series import Metric
from logtriage.recorded.importing.names import workload_of
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.scraped import Kind, Series
from logtriage.recorded.importing.span_attributes import in_words, span_of

#: The prefix of severity numbers in words, as protobuf writes them.
_SEVERITY: Final = "SEVERITY_NUMBER_"
#: The prefix of the event name of a change.
_CHANGE: Final = "change."
SERVICE: Final = "service.name"
_POD: Final = "k8s.pod.name"
#: What names a service without that, as OpenTelemetry's conventions for Kubernetes have it.
_WORKLOADS: Final = (
    *(f"{prefix}app.kubernetes.io/name" for prefix in ("", "k8s.pod.label.", "k8s.pod.labels.")),
    *(f"k8s.{kind}.name" for kind in ("deployment", "statefulset", "daemonset", "cronjob", "job")),
    *(_POD, "k8s.container.name", "container.name"),
)
_SET_NAME: Final = f"the Collector's resource processor sets {SERVICE}"
#: The levels of severity numbers, four of each: 1 to 4 trace, 5 to 8 debug, ….
_LEVELS: Final = ("INFO", "INFO", "INFO", "WARN", "ERROR", "FATAL")
KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES: Final = ("UNSET", "OK", "ERROR")
#: Where the objects of OTLP stand in a document.
_ENVELOPES: Final = ("result", "trace")
#: The lists of resources; Tempo has another name for those of spans.
_LISTS: Final = frozenset({"resourceLogs", "resourceSpans", "resourceMetrics", "batches"})
#: The name of lists of scopes in old files; a kind follows.
_OLD_SCOPES: Final = "instrumentationLibrary"


def payloads(document: Field) -> list[Field]:
    """The objects of OTLP in a document."""
    fields = document.fields
    inner = (name for name in _ENVELOPES if isinstance(fields.get(name), dict))
    lists = [document[name] for name in inner if not _LISTS.isdisjoint(fields[name])]
    return lists if _LISTS.isdisjoint(fields) else [document, *lists]


def items_of(
    payload: Field, kind: str, items: str, reader: Reader
) -> Iterator[tuple[str, Mapping[str, object], Field, str]]:
    """Yield (service, attributes of the resource, item, its scope) of ``items`` of a ``kind``."""
    old = f"{_OLD_SCOPES}{kind}"
    lists = [f"resource{kind}", *(("batches",) if kind == "Spans" else ())]
    for resource in (row for name in lists for row in payload[name].items()):
        about = attributes(resource["resource"]["attributes"])
        named = ((key, about.get(key)) for key in (SERVICE, *_WORKLOADS))
        texts = ((key, name) for key, name in named if isinstance(name, str) and name.strip())
        key, name = next(texts, ("", ""))
        if not name:
            reader.left_out.add(f"resource without {SERVICE} or a workload ({_SET_NAME})")
            continue
        if key != SERVICE:
            name = workload_of(name) if key == _POD else name
            reader.left_out.add(
                f"resource without {SERVICE}: {key} names its service ({_SET_NAME})"
            )
        space = in_words(about.get("k8s.namespace.name"))
        service = reader.names(name, resource.where, space=space)
        if old in resource:
            reader.left_out.add(f"{old}, the old name of scope{kind}, is read as that")
        for scopes in (f"scope{kind}", old):
            for scope in resource[scopes].items():
                for item in scope[items].items():
                    yield service, about, item, scope["scope"]["name"].text


def logs_of(payload: Field, reader: Reader) -> Iterator[LogRow | ChangeRow]:
    """Yield the log records of an object of OTLP; those with event name ``change.…`` as changes."""
    for service, _, record, _ in items_of(payload, "Logs", "logRecords", reader):
        at = record["timeUnixNano"].since_epoch or record["observedTimeUnixNano"].since_epoch
        if at is None:
            raise record["timeUnixNano"].bad("Unix nanoseconds, or observedTimeUnixNano must be")
        severity = record["severityNumber"]
        level = known_level(record["severityText"].text)
        if isinstance(severity.value, str) and severity.value.startswith(_SEVERITY):
            name = severity.value.removeprefix(_SEVERITY).rstrip("234")  # WARN2, or UNSPECIFIED
            level = known_level(name) or level
        elif number := severity.count:
            if number > 24:
                raise severity.bad("a number from 0 to 24")
            level = _LEVELS[(number - 1) // 4]
        body = in_words(any_value(record["body"])) or _exception(record["attributes"])
        event = record["eventName"].text
        row = log_row(at // 1_000_000, service, body or event, level, record["traceId"].text)
        if event.startswith(_CHANGE):
            kind = event.removeprefix(_CHANGE) or "change"
            yield ChangeRow(row.at, service, kind, row.message, until=row.at)
        else:
            yield row


def _exception(field: Field) -> str:
    """The type and the message of the exception in some attributes; empty without one."""
    exception = attributes(field)
    parts = (in_words(exception.get(f"exception.{name}")) for name in ("type", "message"))
    return ": ".join(filter(None, parts))


def spans_of(payload: Field, reader: Reader) -> Iterator[Span | LogRow]:
    """Yield the spans of an object of OTLP, and the exceptions in them as lines of the log."""
    for service, _, span, _ in items_of(payload, "Spans", "spans", reader):
        trace = plain_id(span["traceId"].needed)
        start = span["startTimeUnixNano"].needed_epoch("nanoseconds")
        end = span["endTimeUnixNano"].whole
        if end is None or end < start:
            raise span["endTimeUnixNano"].bad("Unix nanoseconds, not before startTimeUnixNano")
        kind = enumerated(span["kind"], KINDS, "SPAN_KIND_")
        row = Span(
            trace=trace,
            id=plain_id(span["spanId"].needed),
            parent=plain_id(span["parentSpanId"].text),
            service=service,
            start=start // 1000,
            duration=(end - start) // 1000,
            kind="" if kind == KINDS[0] else kind,
        )
        status = enumerated(span["status"]["code"], _STATUSES, "STATUS_CODE_")
        failed, about = {"OK": False, "ERROR": True}.get(status), attributes(span["attributes"])
        yield span_of(row, span["name"].text, failed, about, reader.names, span.where)
        for event in span["events"].items():
            if event["name"].text == "exception":
                line = read_message("ERROR", _exception(event["attributes"]))
                at = event["timeUnixNano"].whole or start
                yield LogRow(at // 1_000_000, service, *line, trace)


def enumerated(field: Field, known: tuple[str, ...], prefix: str) -> str:
    """The name of a value of an enumeration, which may be a number (OTLP) or a name (protobuf)."""
    value = field.value
    if value is None:
        return known[0]
    if isinstance(value, str) and value.removeprefix(prefix) in known:
        return value.removeprefix(prefix)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(known):
        return known[value]
    raise field.bad(f"a number from 0 to {len(known) - 1}")


_TEMPORALITIES: Final = ("UNSPECIFIED", "DELTA", "CUMULATIVE")
_BODIES: Final = ("gauge", "sum", "histogram", "exponentialHistogram", "summary")


def metrics_of(payload: Field, reader: Reader) -> Iterator[Scraped]:
    """Yield the points of an object of OTLP; what they become depends on the kind of metric.

    ==================  =====================================================================
    gauge               its value, a signal for each set of attributes
    sum that may fall   the same
    sum that grows      how much it grows in a second, all sets of attributes together
    histogram           the mean of what was measured since the last point, and how many a second
    summary             its quantiles, the mean, and how many a second
    ==================  =====================================================================
    """
    for service, about, row, scope in items_of(payload, "Metrics", "metrics", reader):
        metric = Metric(service, in_words(about), row["name"].needed, row["unit"].text)
        yield from _metric(row, metric, scope, reader)


def _metric(row: Field, metric: Metric, scope: str, reader: Reader) -> Iterator[Scraped]:
    name = next(filter(row.fields.__contains__, _BODIES), "")
    body = row[name]
    if not name:
        raise row.bad(f"a {', '.join(_BODIES[:-1])} or {_BODIES[-1]}")
    is_spread = name not in ("gauge", "sum")
    metric = attrs.evolve(metric, is_distribution=is_spread)
    kind = Kind.SPREAD if is_spread else Kind.COUNT
    if name != "summary":  # each point of a delta counts from the point before
        temporality = body["aggregationTemporality"]
        if enumerated(temporality, _TEMPORALITIES, "AGGREGATION_TEMPORALITY_") == "DELTA":
            kind = Kind.SPREAD_DELTA if is_spread else Kind.DELTA
    if name == "gauge" or (name == "sum" and not body["isMonotonic"].flag):
        kind = Kind.LEVEL
    for point in body["dataPoints"].items():
        if (point["flags"].whole or 0) & 1:  # nothing was recorded
            continue
        at = point["timeUnixNano"].needed_epoch("nanoseconds")
        about, since = attributes(point["attributes"]), point["startTimeUnixNano"].since_epoch or 0
        labels = tuple(sorted((key, in_words(value)) for key, value in about.items()))
        series = Series(metric, labels, kind, point.where, scope)
        if is_spread:
            count, total = float(point["count"].count), _or_nan(point["sum"])
            yield reader.scraped.point(series, at, since, count, total)
        elif (value := _number(point, metric, reader)) is not None:
            yield reader.scraped.point(series, at, since, value)
        for quantile in point["quantileValues"].items():
            yield from _quantile(quantile, series, at, reader)


def _number(point: Field, metric: Metric, reader: Reader) -> float | None:
    """The value of a point; None if it is infinite, which is noted, or NaN."""
    if "asDouble" not in point and "asInt" not in point:
        raise point.bad("a data point with asDouble or asInt")
    value = point["asDouble"].number if "asDouble" in point else point["asInt"].whole
    if value is None and point["asDouble"].value == "NaN":
        reader.scraped.skip_nan(metric, point.where)
    elif value is None:  # a whole number is always finite
        reader.left_out.add(f"{metric.name}: infinite values")
    return None if value is None else float(value)


def _quantile(row: Field, series: Series, at: int, reader: Reader) -> Iterator[Scraped]:
    # As protobuf has it, 0 is not written.
    quantile = _or_nan(row["quantile"]) if "quantile" in row else 0.0
    value = _or_nan(row["value"]) if "value" in row else 0.0
    if not isnan(quantile) and not isnan(value):
        labels = (*series.labels, ("quantile", f"p{100 * quantile:g}"))
        level = attrs.evolve(series, labels=labels, kind=Kind.LEVEL)
        yield reader.scraped.point(level, at, 0, value)


def _or_nan(field: Field) -> float:
    number = field.number
    return nan if number is None else number


def attributes(field: Field) -> dict[str, object]:
    """Attributes by key."""
    return {row["key"].text: any_value(row["value"]) for row in field.items()}


def any_value(field: Field) -> object:
    """The value in an ``AnyValue``; None if it is empty."""
    if "stringValue" in field:
        return field["stringValue"].text
    if "intValue" in field:
        return field["intValue"].whole
    if "doubleValue" in field:
        number = field["doubleValue"].number
        return field["doubleValue"].value if number is None else number  # or "NaN"
    if "arrayValue" in field:
        return [any_value(item) for item in field["arrayValue"]["values"].items()]
    if "kvlistValue" in field:
        return attributes(field["kvlistValue"]["values"])
    return next((field[name].value for name in ("boolValue", "bytesValue") if name in field), None)
