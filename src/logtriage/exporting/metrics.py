"""Gauges and the edge panel as OTLP gauges."""

from collections.abc import Iterable, Iterator

from logtriage.exporting.encoding import Json, by_resource
from logtriage.exporting.tape import Tape
from logtriage.world.channels import Channel, Evidence
from logtriage.world.figures import Figures
from logtriage.world.schema.tokens import NUMBER
from logtriage.world.telemetry import TICK_SECONDS, EdgePanel

#: Name, unit and value of a metric.
Metric = tuple[str, str, float]


def metric_lines(tape: Tape) -> Iterator[Json]:
    """A line for each half minute of the time without trouble, and then for each tick."""
    services, voice = range(len(tape.names)), tape.voice
    edge = tape.simulation.topology.edges[0]
    for now, screen in tape.screens():
        panel = voice.edge(next(one for one in screen if one.channel is Channel.EDGE))
        if not now:
            for second in tape.calm:
                start = second // TICK_SECONDS
                usual = [
                    (service, metric)
                    for service in services
                    for gauge in voice.world.tokens.gauges
                    for metric in reading(voice, service, gauge.name, gauge.ordinary, start)
                ]
                calm = voice.edge(Evidence(Channel.EDGE, -1, 0, start, voice.world.edge_tokens[0]))
                usual += [(edge, one) for one in _edge(calm)]
                yield from _line(tape, second, usual)
        found = [
            (one.service, metric)
            for one in tape.holding(now, screen, Channel.METRICS)
            for metric in _of_cell(voice, one)
        ]
        found += [(edge, one) for one in _edge(panel)]
        yield from _line(tape, TICK_SECONDS * now, found)


def _of_cell(voice: Figures, cell: Evidence) -> Iterator[Metric]:
    gauge = voice.world.tokens.gauges[cell.slot].name
    return reading(voice, cell.service, gauge, cell.token, cell.start)


def reading(
    voice: Figures, service: int, gauge: str, token: str, start: int | None = None
) -> Iterator[Metric]:
    """What a gauge says, as numbers: those of its texts, then which token it says.

    In the reading that holds from tick ``start``, or as it usually is.
    """
    world, tier = voice.world, voice.topology.services[service].tier
    lines = world.readings_at(gauge, tier)
    for line, (_, text) in zip(lines, voice.reading(service, gauge, token, start), strict=True):
        numbers = NUMBER.findall(text)
        # What is 0 goes unsaid.
        numbers += ["0"] * (len(line.metrics) - len(numbers))
        for metric, number in zip(line.metrics, numbers, strict=True):
            yield metric.name, metric.unit, float(number)
    for one in world.gauges[gauge].tokens:
        if one.metric:
            yield one.metric, "1", float(one.name == token)


def _edge(panel: EdgePanel) -> Iterator[Metric]:
    yield "edge.errors", "%", panel.error_bp / 100
    yield "edge.latency.p99", "ms", float(panel.p99_ms)


def _line(tape: Tape, second: int, found: Iterable[tuple[int, Metric]]) -> Iterator[Json]:
    at = str(tape.nano(second))
    rows = [
        (
            service,
            {
                "name": name,
                "unit": unit,
                "gauge": {"dataPoints": [{"timeUnixNano": at, "asDouble": value}]},
            },
        )
        for service, (name, unit, value) in found
    ]
    line = by_resource(tape, rows, "Metrics", "metrics")
    if line is not None:
        yield line
