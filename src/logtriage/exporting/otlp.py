"""Turn a :class:`Tape` into OTLP JSON: lines for files of log records, gauges and spans."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from logtriage._lib.grouping import grouped
from logtriage.exporting.tape import Tape
from logtriage.world.channels import DOWN, SPANS, Channel, named_service
from logtriage.world.figures import Figures, by_slot
from logtriage.world.spans import Scale
from logtriage.world.telemetry import TICK_SECONDS, EdgePanel

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
_ON_THE_WAY_MS: Final = 1  # the server's span of a call ends this much before the client's


def _attributes(**texts: str) -> list[Json]:
    """Attributes with these texts; an underscore in a name stands for a dot."""
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
            records = []
            for change in voice.changes([row for row in screen if row.channel is Channel.CHANGE]):
                record = _record(tape, -60 * change.minutes_ago, "INFO", change.detail)
                record["eventName"] = f"change.{change.kind}"
                records.append((index(change.service), record))
            yield from _line(tape, records, "Logs", "logRecords")
        cells = [
            cell
            for cell in screen
            if cell.channel in (Channel.WINDOW, Channel.LOGS)
            and cell.token != DOWN
            and (cell.start == now or not now)  # earlier ones stand in earlier screens
        ]
        # A line of the window may be among the requested lines, too.
        lines = {(line.second, line.service, line.message): line for line in voice.lines(cells)}
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
        starts = [second // TICK_SECONDS]
        panel = voice.edge_over(starts, [voice.world.edge_tokens[0]])  # the usual token
        usual = [
            (service, gauge.name, starts, [gauge.ordinary])
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
    for shown, series in zip(world.readings_at(gauge, tier), rows, strict=True):
        yield shown.metric.name, shown.metric.unit, float(series.values[-1])
    for known in world.gauges[gauge].tokens:
        if known.metric:
            yield known.metric, "1", float(known.name == tokens[-1])


def _metrics(tape: Tape, second: int, read: Iterable[Readings], panel: EdgePanel) -> Iterator[Json]:
    """The line of a second: the metrics of all gauges that were read, and those of the edge."""
    at, edge = str(tape.nano(second)), tape.simulation.topology.edges[0]
    metrics: list[tuple[int, Metric]] = []
    for service, gauge, starts, tokens in read:
        named = readings(tape.voice, service, gauge, starts, tokens)
        metrics += ((service, metric) for metric in named)
    metrics.append((edge, ("edge.errors", "%", panel.error_bp / 100)))
    metrics.append((edge, ("edge.latency.p99", "ms", float(panel.p99_ms))))
    items = list[Item]()
    for service, (name, unit, value) in metrics:
        point = {"timeUnixNano": at, "asDouble": value}
        items.append((service, {"name": name, "unit": unit, "gauge": {"dataPoints": [point]}}))
    yield from _line(tape, items, "Metrics", "metrics")


def trace_lines(tape: Tape) -> Iterator[Json]:
    """A line for each half minute of the calm time before the incident, then for each tick.

    Each service has one trace in a line: a request that it served, and its calls. A service
    without data on time or on errors has no trace.
    """
    usual_time, usual_errors = (tape.voice.world.spans[name].ordinary for name in SPANS)
    services = range(len(tape.names))
    for second in tape.calm:
        tick, spans = second // TICK_SECONDS, list[Item]()
        for service in services:
            total, waits = _durations(tape, service, [tick], [usual_time], {})
            spans += _trace(tape, second, service, total, waits, usual_errors)
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
                total, waits = _durations(tape, service, starts, tokens, scale)
                errors = of_errors[-1].token
                spans += _trace(tape, TICK_SECONDS * now, service, total, waits, errors)
        yield from _line(tape, spans, "Spans", "spans")


def _durations(
    tape: Tape, service: int, starts: Sequence[int], tokens: Sequence[str], scale: Scale
) -> tuple[int, Mapping[str, int]]:
    """Milliseconds of a request at the last of ``starts``, and of its calls, by callee."""
    series, parts = tape.voice.half(service, SPANS[0], starts, tokens, scale)
    total, calls = series.values[-1], tape.simulation.topology.calls[service]
    if tokens[-1] == tape.voice.world.spans[SPANS[0]].ordinary:
        return total, {tape.names[call]: total // (len(calls) + 1) for call in calls}
    _, waits = parts[-1]  # the last run of unusual tokens, which the last token is in
    return total, dict(waits)


def _trace(
    tape: Tape, second: int, service: int, total: int, waits: Mapping[str, int], errors: str
) -> Iterator[Item]:
    """The spans of a request of ``total`` ms, with ``waits`` for calls; ``errors`` is a token."""
    calls, usual = tape.simulation.topology.calls[service], tape.voice.world.spans
    # Requests of one tick end one after another, in the order of services.
    end = 1000 * (second - 1) - 10 * service
    trace, own = tape.hex_id(32, second, service), tape.hex_id(16, second, service, "server")
    failed, failing_callee = errors != usual[SPANS[1]].ordinary, named_service(errors)
    begun, no_parent, no_peer = end - total, "", ""
    yield service, _span(tape, trace, own, no_parent, no_peer, begun, end, failed=failed)
    for callee in calls:
        client, server = (tape.hex_id(16, second, service, callee, side) for side in "cs")
        peer, broken = tape.names[callee], callee == failing_callee
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
