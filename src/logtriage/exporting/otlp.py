"""A tape as OTLP in JSON: the lines of the files of log records, gauges and spans."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from typing import Any, Final

from logtriage.exporting.tape import Tape
from logtriage.world.channels import DOWN, SPANS, Channel, Evidence, named_service
from logtriage.world.figures import Figures
from logtriage.world.schema.tokens import NUMBER
from logtriage.world.telemetry import TICK_SECONDS, EdgePanel, LogLine

Json = dict[str, Any]
#: Index of a service, and a log record, metric or span of it.
Item = tuple[int, Json]
#: Name, unit and value of a metric.
Metric = tuple[str, str, float]

SEVERITIES: Final = {"INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}
_SCOPE: Final = {"name": "logtriage", "version": version("logtriage")}
#: Kinds of spans.
_SERVER, _CLIENT = 2, 3
#: The time on the network between caller and callee.
_ON_THE_WAY_MS: Final = 1


def _attributes(**texts: str) -> list[Json]:
    return [
        {"key": key.replace("_", "."), "value": {"stringValue": text}}
        for key, text in texts.items()
    ]


def _line(tape: Tape, items: Iterable[Item], kind: str, name: str) -> Iterator[Json]:
    """One line of a file with the items below the resources of their services; none if empty.

    ``kind`` is ``Logs``, ``Spans`` or ``Metrics``, ``name`` the field for the items in a scope.
    """
    by_service: dict[int, list[Json]] = {}
    for service, item in items:
        by_service.setdefault(service, []).append(item)
    if by_service:
        resources = []
        for service in sorted(by_service):
            owner = tape.incident.directory[service]
            about = _attributes(service_name=tape.names[service], service_owner=owner)
            scope = {"scope": _SCOPE, name: by_service[service]}
            resources.append({"resource": {"attributes": about}, f"scope{kind}": [scope]})
        yield {f"resource{kind}": resources}


# --- logs --------------------------------------------------------------------------------


def log_lines(tape: Tape) -> Iterator[Json]:
    """The changes before the incident, then the log lines of each tick."""
    voice, index = tape.voice, tape.simulation.topology.index
    for now, screen in tape.screens():
        if not now:
            changes = voice.changes([cell for cell in screen if cell.channel is Channel.CHANGE])
            records = [
                (
                    index(change.service),
                    _record(tape, -60 * change.minutes_ago, "INFO", change.detail)
                    | {"eventName": f"change.{change.kind}"},
                )
                for change in changes
            ]
            yield from _line(tape, records, "Logs", "logRecords")
        lines: dict[tuple[int, str, str], LogLine] = {}
        for line in voice.lines(
            [
                cell
                for cell in screen
                if cell.channel in (Channel.WINDOW, Channel.LOGS)
                and cell.token != DOWN
                and (cell.start == now or not now)
            ]
        ):
            lines[line.second, line.service, line.message] = line
        records = [
            (index(line.service), _record(tape, line.second, line.level, line.message))
            for _, line in sorted(lines.items())
        ]
        yield from _line(tape, records, "Logs", "logRecords")


def _record(tape: Tape, second: int, level: str, text: str) -> Json:
    at = str(tape.nano(second))
    return {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": SEVERITIES[level],
        "severityText": level,
        "body": {"stringValue": text},
        "attributes": [],
    }


# --- metrics -----------------------------------------------------------------------------


def metric_lines(tape: Tape) -> Iterator[Json]:
    """A line for each half minute of the calm time, then for each tick."""
    voice, edge = tape.voice, tape.simulation.topology.edges[0]
    for second in tape.calm:
        start = second // TICK_SECONDS
        calm = voice.edge(Evidence(Channel.EDGE, -1, 0, start, voice.world.edge_tokens[0]))
        usual = [
            (service, metric)
            for service in range(len(tape.names))
            for gauge in voice.world.tokens.gauges
            for metric in reading(voice, service, gauge.name, gauge.ordinary, start)
        ]
        yield from _gauges(tape, second, [*usual, *((edge, metric) for metric in _edge(calm))])
    for now, screen in tape.screens():
        panel = voice.edge(next(cell for cell in screen if cell.channel is Channel.EDGE))
        read = [
            (cell.service, metric)
            for cell in tape.holding(now, screen, Channel.METRICS)
            for metric in reading(
                voice,
                cell.service,
                voice.world.tokens.gauges[cell.slot].name,
                cell.token,
                cell.start,
            )
        ]
        read += ((edge, metric) for metric in _edge(panel))
        yield from _gauges(tape, TICK_SECONDS * now, read)


def reading(
    voice: Figures, service: int, gauge: str, token: str, start: int | None = None
) -> Iterator[Metric]:
    """The metrics of a gauge: numbers from its texts, then 1 or 0 for each token that has a metric.

    ``start`` is the tick from which the reading holds; None: as it usually is.
    """
    world, tier = voice.world, voice.topology.services[service].tier
    texts = voice.reading(service, gauge, token, start)
    for line, (_, text) in zip(world.readings_at(gauge, tier), texts, strict=True):
        numbers = NUMBER.findall(text)
        # A text leaves out numbers that are 0.
        numbers += ["0"] * (len(line.metrics) - len(numbers))
        for metric, number in zip(line.metrics, numbers, strict=True):
            yield metric.name, metric.unit, float(number)
    for known in world.gauges[gauge].tokens:
        if known.metric:
            yield known.metric, "1", float(known.name == token)


def _edge(panel: EdgePanel) -> tuple[Metric, Metric]:
    return (
        ("edge.errors", "%", panel.error_bp / 100),
        ("edge.latency.p99", "ms", float(panel.p99_ms)),
    )


def _gauges(tape: Tape, second: int, metrics: Iterable[tuple[int, Metric]]) -> Iterator[Json]:
    at = str(tape.nano(second))
    items = [
        (
            service,
            {
                "name": name,
                "unit": unit,
                "gauge": {"dataPoints": [{"timeUnixNano": at, "asDouble": value}]},
            },
        )
        for service, (name, unit, value) in metrics
    ]
    yield from _line(tape, items, "Metrics", "metrics")


# --- traces ------------------------------------------------------------------------------


def trace_lines(tape: Tape) -> Iterator[Json]:
    """A line for each half minute of the calm time, then for each tick.

    Each service has one trace in a line: a request that it served, and its calls. A service
    without data on time or on errors has none.
    """
    time, errors = (tape.voice.world.spans[name].ordinary for name in SPANS)
    services = range(len(tape.names))
    for second in tape.calm:
        start = second // TICK_SECONDS
        spans = [
            span for row in services for span in _trace(tape, second, row, time, errors, start)
        ]
        yield from _line(tape, spans, "Spans", "spans")
    for now, screen in tape.screens():
        cells = tape.holding(now, screen, Channel.TRACES)
        read: Mapping[tuple[int, str], Evidence] = {
            (cell.service, SPANS[cell.slot]): cell for cell in cells
        }
        spans = []
        for service in services:
            of_time, of_errors = (read.get((service, span)) for span in SPANS)
            if of_time is not None and of_errors is not None:
                tokens = of_time.token, of_errors.token
                spans += _trace(tape, TICK_SECONDS * now, service, *tokens, of_time.start)
        yield from _line(tape, spans, "Spans", "spans")


def _trace(
    tape: Tape, second: int, service: int, time: str, errors: str, start: int
) -> Iterator[Item]:
    """The spans of one request, by the tokens for where it waits and where it fails.

    ``start`` is the tick from which the reading of its time holds.
    """
    calls, usual = tape.simulation.topology.calls[service], tape.voice.world.spans
    total = tape.voice.latency(service, time, start)
    as_usual = time == usual[SPANS[0]].ordinary
    share = 0 if as_usual else tape.voice.share(service, time, start)
    waits = _waits(time, share, total, calls)
    # Requests of one tick end at different times: services follow each other.
    end = 1000 * (second - 1) - 10 * service
    trace, own = tape.hex_id(32, second, service), tape.hex_id(16, second, service, "server")
    failed, failing = errors != usual[SPANS[1]].ordinary, named_service(errors)
    begun = end - total
    yield service, _span(tape, trace, own, "", "", begun, end, failed=failed)
    for callee in calls:
        client, server = (tape.hex_id(16, second, service, callee, side) for side in "cs")
        until, broken, peer = begun + waits[callee], callee == failing, tape.names[callee]
        yield service, _span(tape, trace, client, own, peer, begun, until, failed=broken)
        inside = max(begun, until - _ON_THE_WAY_MS)
        yield callee, _span(tape, trace, server, client, "", begun, inside, failed=broken)
        begun = until


def _waits(time: str, share: int, total: int, calls: tuple[int, ...]) -> dict[int, int]:
    """How long a request waits for each service that it calls, in milliseconds.

    ``share`` per cent of the total is spent where ``time`` says; 0 if nowhere in particular.
    """
    if not share:
        return dict.fromkeys(calls, total // (len(calls) + 1))
    slow = total * share // 100
    rest = (total - slow) // max(1, len(calls))
    dependency = named_service(time)
    return {callee: slow if callee == dependency else rest for callee in calls}


def _span(
    tape: Tape,
    trace: str,
    own: str,
    parent: str,
    peer: str,
    start: int,
    end: int,
    *,
    failed: bool,
) -> Json:
    """A span from ``start`` to ``end``, in milliseconds after the opening; clients have a peer."""
    return {
        "traceId": trace,
        "spanId": own,
        "parentSpanId": parent,
        "name": f"call {peer}" if peer else "request",
        "kind": _CLIENT if peer else _SERVER,
        "startTimeUnixNano": str(tape.nano(start / 1000)),
        "endTimeUnixNano": str(tape.nano(end / 1000)),
        "attributes": _attributes(peer_service=peer) if peer else [],
        "status": {"code": 2} if failed else {},
    }
