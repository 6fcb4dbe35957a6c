"""Gauges and the edge panel as OTLP gauges."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from logtriage.exporting.encoding import Json, by_resource
from logtriage.exporting.tape import Tape
from logtriage.world.channels import GAUGES, USUAL, Channel, Evidence
from logtriage.world.figures import Figures
from logtriage.world.telemetry import TICK_SECONDS, EdgePanel

#: Name, unit and value of a metric.
Metric = tuple[str, str, float]
#: The figures of each gauge in the order in which its text has them: name and unit.
FIGURES: Final = {
    "cpu": (("cpu.utilization", "%"),),
    "memory": (("memory.utilization", "%"),),
    "workers": (("workers.busy", "{worker}"), ("workers.limit", "{worker}")),
    "traffic": (
        ("requests.rate", "{request}/s"),
        ("clients.active", "{client}"),
        ("clients.new", "{client}"),
    ),
}
#: What the text of a memory gauge says beside its figure, and the metric of that.
_CLIMBING: Final = ("memory.climbing", "1")
_NUMBER: Final = re.compile(r"\d+")
_UNITS: Final = {"/s": "{event}/s", "/min": "{event}/min", "MB/s": "MBy/s", "s": "s", "%": "%"}


def metric_lines(tape: Tape) -> Iterator[Json]:
    """A line for each half minute of the time without trouble, and then for each tick."""
    services, voice = range(len(tape.names)), tape.voice
    edge = tape.simulation.topology.edges[0]
    for now, screen in tape.screens():
        panel = voice.edge(next(one for one in screen if one.channel is Channel.EDGE))
        if not now:
            usual = [
                (service, metric)
                for service in services
                for gauge in GAUGES
                for metric in reading(voice, service, gauge, USUAL)
            ]
            usual += [(edge, one) for one in _usual_edge(panel)]
            for second in tape.calm:
                yield from _line(tape, second, usual)
        found = [
            (one.service, metric)
            for one in tape.holding(now, screen, Channel.METRICS)
            for metric in _of_cell(voice, one)
        ]
        found += [(edge, one) for one in _edge(panel)]
        yield from _line(tape, TICK_SECONDS * now, found)


def _of_cell(voice: Figures, cell: Evidence) -> Iterator[Metric]:
    return reading(voice, cell.service, GAUGES[cell.slot], cell.token)


def reading(voice: Figures, service: int, gauge: str, token: str) -> Iterator[Metric]:
    """What a gauge says, as numbers: those of its text, each with a name."""
    for label, text in voice.reading(service, gauge, token):
        numbers = [float(one) for one in _NUMBER.findall(text)]
        if gauge in FIGURES:
            known = FIGURES[gauge]
            numbers += [0.0] * (len(known) - len(numbers))  # no new clients are not told
            for (name, unit), number in zip(known, numbers, strict=True):
                yield name, unit, number
        else:
            (number,) = numbers
            unit = _NUMBER.sub("", text).strip()
            yield label.strip().replace(" ", "."), _UNITS.get(unit, "1"), number
        if gauge == "memory":
            yield *_CLIMBING, float("climbing" in text)


def _edge(panel: EdgePanel) -> Iterator[Metric]:
    yield "edge.errors", "%", panel.error_bp / 100
    yield "edge.latency.p99", "ms", float(panel.p99_ms)


def _usual_edge(panel: EdgePanel) -> Iterator[Metric]:
    yield "edge.errors", "%", panel.usual_error_bp / 100
    yield "edge.latency.p99", "ms", float(panel.usual_p99_ms)


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
