"""Turn a :class:`Tape` into OTLP JSON: lines for files of log records, gauges and spans."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from logtriage._lib.grouping import grouped
from logtriage.exporting.tape import Tape
from logtriage.world.channels import DOWN, SPANS, Channel, named_service
from logtriage.world.figures import Figures, by_slot
from logtriage.world.spans import Scale
from logtriage.world.telemetry import TICK_SECONDS, EdgePanel, LogLine

Json = dict[str, Any]
#: Index of a service, and a log record, metric or span of it.
Item = tuple[int, Json]
#: Name, unit and value of a metric.
Metric = tuple[str, str, float]
#: Index of a service, name of a gauge, and the ticks and tokens of its readings.
Readings = tuple[int, str, Sequence[int], Sequence[str]]

SEVERITIES: Final = {"INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}
_SCOPE: Final = {"name": "logtriage", "version": version("logtriage")}
_SERVER, _CLIENT, _ERROR = 2, 3, 2  # kinds of a span, code of its status
_ON_THE_WAY_MS: Final = 1


def _attributes(**texts: str) -> list[Json]:
    return [
        {"key": key.replace("_", "."), "value": {"stringValue": text}}
        for key, text in texts.items()
    ]


def _line(tape: Tape, items: Iterable[Item], kind: str, name: str) -> Iterator[Json]:
    """A line with ``items`` of a ``kind`` (Logs, Spans, Metrics), by service; none if empty."""
    by_service = grouped(items)
    if by_service:
        resources = []
        for service in sorted(by_service):
            owner = tape.incident.directory[service]
            about = _attributes(service_name=tape.names[service], service_owner=owner)
            scope = {"scope": _SCOPE, name: by_service[service]}
            resources.append({"resource": {"attributes": about}, f"scope{kind}": [scope]})
        yield {f"resource{kind}": resources}


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
                and (cell.start == now or not now)  # earlier ones stand in earlier screens
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


def metric_lines(tape: Tape) -> Iterator[Json]:
    """A line for each half minute of the calm time before the incident, then for each tick."""
    voice, gauges = tape.voice, tape.voice.world.tokens.gauges
    for second in tape.calm:
        start = [second // TICK_SECONDS]
        panel = voice.edge_over(start, [voice.world.edge_tokens[0]])  # the usual token
        usual = [
            (service, gauge.name, start, [gauge.ordinary])
            for service in range(len(tape.names))
            for gauge in gauges
        ]
        yield from _metrics(tape, second, usual, panel)
    for now, screen in tape.screens():
        cells = [cell for cell in screen if cell.channel is Channel.METRICS and cell.token != DOWN]
        read = [
            (service, gauges[slot].name, [cell.start for cell in row], [cell.token for cell in row])
            for (service, slot), row in by_slot(cells).items()
        ]
        yield from _metrics(tape, TICK_SECONDS * now, read, tape.edge(now))


def readings(
    voice: Figures, service: int, gauge: str, starts: Sequence[int], tokens: Sequence[str]
) -> Iterator[Metric]:
    """The metrics of a gauge at the last of ``starts``; ``tokens`` has its token at each of them.

    A metric for each of its series, then 1 or 0 for each token that has a metric.
    """
    world, tier = voice.world, voice.topology.services[service].tier
    rows = voice.series(service, gauge, starts, tokens)
    for line, series in zip(world.readings_at(gauge, tier), rows, strict=True):
        yield line.metric.name, line.metric.unit, float(series.values[-1])
    for known in world.gauges[gauge].tokens:
        if known.metric:
            yield known.metric, "1", float(known.name == tokens[-1])


def _metrics(tape: Tape, second: int, said: Iterable[Readings], panel: EdgePanel) -> Iterator[Json]:
    at, edge = str(tape.nano(second)), tape.simulation.topology.edges[0]
    metrics = [(read[0], metric) for read in said for metric in readings(tape.voice, *read)]
    metrics.append((edge, ("edge.errors", "%", panel.error_bp / 100)))
    metrics.append((edge, ("edge.latency.p99", "ms", float(panel.p99_ms))))
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


def trace_lines(tape: Tape) -> Iterator[Json]:
    """A line for each half minute of the calm time before the incident, then for each tick.

    Each service has one trace in a line: a request that it served, and its calls. A service
    without data on time or on errors has no trace.
    """
    time, errors = (tape.voice.world.spans[name].ordinary for name in SPANS)
    services = range(len(tape.names))
    for second in tape.calm:
        start = second // TICK_SECONDS
        spans = [
            span
            for row in services
            for span in _trace(tape, second, row, *_read(tape, row, [start], [time], {}), errors)
        ]
        yield from _line(tape, spans, "Spans", "spans")
    for now, screen in tape.screens():
        cells = [cell for cell in screen if cell.channel is Channel.TRACES and cell.token != DOWN]
        read, edge = by_slot(cells), tape.edge(now)
        scale = dict(zip(edge.starts, zip(edge.errors, edge.p99s, strict=True), strict=True))
        spans = []
        for service in services:
            of_time, of_errors = (read.get((service, slot)) for slot in range(len(SPANS)))
            if of_time and of_errors:
                starts, tokens = zip(*((cell.start, cell.token) for cell in of_time), strict=True)
                readings = _read(tape, service, starts, tokens, scale)
                spans += _trace(tape, TICK_SECONDS * now, service, *readings, of_errors[-1].token)
        yield from _line(tape, spans, "Spans", "spans")


def _read(
    tape: Tape, service: int, starts: Sequence[int], tokens: Sequence[str], scale: Scale
) -> tuple[int, Mapping[str, int]]:
    """Milliseconds of a request at the last of ``starts``, and of its calls, by callee."""
    series, parts = tape.voice.half(service, SPANS[0], starts, tokens, scale)
    total, calls = series.values[-1], tape.simulation.topology.calls[service]
    if tokens[-1] == tape.voice.world.spans[SPANS[0]].ordinary:
        return total, {tape.names[call]: total // (len(calls) + 1) for call in calls}
    _, waits = parts[-1]
    return total, dict(waits)


def _trace(
    tape: Tape, second: int, service: int, total: int, waits: Mapping[str, int], errors: str
) -> Iterator[Item]:
    """The spans of a request of ``total`` ms, with ``waits`` for calls; ``errors`` is a token."""
    calls, usual = tape.simulation.topology.calls[service], tape.voice.world.spans
    # Requests of one tick end one after another, in the order of services.
    end = 1000 * (second - 1) - 10 * service
    trace, own = tape.hex_id(32, second, service), tape.hex_id(16, second, service, "server")
    failed, failing = errors != usual[SPANS[1]].ordinary, named_service(errors)
    begun, no_parent, no_peer = end - total, "", ""
    yield service, _span(tape, trace, own, no_parent, no_peer, begun, end, failed=failed)
    for callee in calls:
        client, server = (tape.hex_id(16, second, service, callee, side) for side in "cs")
        peer, broken = tape.names[callee], callee == failing
        until = begun + waits[peer]
        yield service, _span(tape, trace, client, own, peer, begun, until, failed=broken)
        inside = max(begun, until - _ON_THE_WAY_MS)
        yield callee, _span(tape, trace, server, client, no_peer, begun, inside, failed=broken)
        begun = until


def _span(
    tape: Tape, trace: str, own: str, parent: str, peer: str, start: int, end: int, *, failed: bool
) -> Json:
    """A span from ``start`` to ``end`` (ms after the opening); only a client has a ``peer``."""
    return {
        "traceId": trace,
        "spanId": own,
        "parentSpanId": parent,
        "name": f"call {peer}" if peer else "request",
        "kind": _CLIENT if peer else _SERVER,
        "startTimeUnixNano": str(tape.nano(start / 1000)),
        "endTimeUnixNano": str(tape.nano(end / 1000)),
        "attributes": _attributes(peer_service=peer) if peer else [],
        "status": {"code": _ERROR} if failed else {},
    }
