"""Figures of gauges and traces: whole numbers that belong to a service and a token.

They live: each reading has a small jitter of its own.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

import attrs

from logtriage.errors import UnknownName
from logtriage.rng import between, draw, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, Channel, Evidence, named_service
from logtriage.world.liveliness import Level, Reading
from logtriage.world.model import World
from logtriage.world.schema.forms import (
    LATENCY_BANDS,
    Figure,
    LatencyByHeight,
    ShareOf,
    Source,
    pieces,
    said,
    value_of,
)
from logtriage.world.telemetry import Gauge, Trace

FIGURE_STREAM: Final = hash_name("figure")
#: What stands for readings and lines of a service that are down for the whole incident.
NOT_COLLECTED: Final = "not collected in this incident"
#: What each figure is of, if its gauge does not say so, and its value.
Row = tuple[tuple[str, str], ...]
#: The lines of a gauge: each with its label, the pieces of its text and its figures.
Lines = tuple[tuple[str, tuple[str, ...], Mapping[str, Figure]], ...]


@attrs.frozen(cache_hash=True)
class Figures:
    """The figures of one incident: functions of the public topology, the seed and tokens.

    ``world`` says how they are made and worded.
    """

    world: World
    topology: Topology
    seed: int

    @cached_property
    def figure_key(self) -> int:
        """The key of the stream of figures."""
        return subkey(self.seed, FIGURE_STREAM)

    @cached_property
    def spreads(self) -> dict[tuple[int, str, int, int], tuple[int, int, int]]:
        """The values that figures take around their levels, as far as they were asked for."""
        return {}

    @cached_property
    def level(self) -> Source:
        """Figures as they usually are."""
        return Level(self, self.figure_key)

    def at(self, start: int | None) -> Source:
        """The figures of the readings that hold from a tick; without it, as they usually are."""
        if start is None:
            return self.level
        return Reading(self, self.figure_key, start)

    @property
    def heights(self) -> tuple[int, ...]:
        """The most calls, one after the other, below each service."""
        return _heights(self.topology)

    def figure(self, service: int, key: str, low: int, high: int) -> int:
        """A figure in [low, high] that belongs to a service and a key."""
        return between(draw(self.figure_key, service + 1, hash_name(key)), low, high)

    def climbing(self, service: int, key: str, low: int, high: int) -> int:
        """As :meth:`figure`: what stands still does not climb."""
        return self.figure(service, key, low, high)

    def version(self, service: int, key: str) -> str:
        """A version that belongs to a service and a key."""
        bits = draw(self.figure_key, service + 1, hash_name(key))
        return f"{1 + bits % 9}.{(bits >> 8) % 30}.{(bits >> 16) % 10}"

    def dependency(self, token: str) -> str:
        """The name of the service that a token names; empty if it names none."""
        service = named_service(token)
        return "" if service is None else self.topology.names[service]

    def gauges(self, cells: Sequence[Evidence]) -> tuple[Gauge, ...]:
        """The gauges of the services asked for, each as a short series."""
        names = self.world.slots[Channel.METRICS]
        return tuple(
            Gauge(self.topology.names[service], names[slot], *self._series(row, names[slot]))
            for (service, slot), row in _by_slot(cells).items()
        )

    def _series(
        self, row: Sequence[Evidence], gauge: str
    ) -> tuple[tuple[int, ...], tuple[str, ...], str]:
        service, tokens = row[0].service, tuple(cell.token for cell in row)
        starts = tuple(cell.start for cell in row)
        if is_down(tokens):
            return starts, tokens, NOT_COLLECTED
        usual = self._usual(service, gauge)
        readings = [self.reading(service, gauge, cell.token, cell.start) for cell in row]
        return starts, tokens, _told(usual, readings)

    def _usual(self, service: int, gauge: str) -> Row:
        known = self._usuals.get((service, gauge))
        if known is None:
            known = self.reading(service, gauge, self.world.gauges[gauge].ordinary)
            self._usuals[service, gauge] = known
        return known

    @cached_property
    def _usuals(self) -> dict[tuple[int, str], Row]:
        return {}

    @cached_property
    def _gauge_lines(self) -> dict[tuple[int, str, str], Lines]:
        return {}

    def slowest(self, service: int, band: str) -> tuple[int, int]:
        """Where a band of latency begins at a service, in ms, and how far its jitter goes.

        Each call below adds a step, and the jitter stays below one: so within a band no caller
        is faster than what it waits for. The edge (-1) is as slow as its slowest entry.
        """
        latency, heights = self.world.tokens.latency, self.heights
        begin = latency.usual if band == LATENCY_BANDS[0] else latency.slow
        entries = self.topology.edges
        height = heights[service] if service >= 0 else max(heights[entry] for entry in entries)
        return begin + height * latency.step, latency.step - 1

    def reading(self, service: int, gauge: str, token: str, start: int | None = None) -> Row:
        """The figures of a gauge that says ``token``: those of its lines at the service's tier.

        In the reading that holds from tick ``start``, or as they usually are.

        Raises:
            UnknownName: for an unknown gauge, and for a token that it cannot say there.
        """
        source, lines = self.at(start), self._gauge_lines.get((service, gauge, token))
        if lines is None:
            lines = _lines(self.world, gauge, self.topology.services[service].tier, token)
            self._gauge_lines[service, gauge, token] = lines
        return tuple(
            [(label, said(text, row, source, service, token)) for label, text, row in lines]
        )

    def traces(self, cells: Sequence[Evidence]) -> tuple[Trace, ...]:
        """Where the services asked for spend their time, and where their errors start."""
        lines, spans = [], self.world.slots[Channel.TRACES]
        for (service, slot), row in _by_slot(cells).items():
            starts, tokens = tuple(cell.start for cell in row), tuple(cell.token for cell in row)
            texts = [self._span(spans[slot], cell) for cell in row]
            # A text for each reading, unless all are alike: when it changed is evidence.
            shown = " > ".join(texts if len({*texts}) > 1 else texts[:1])
            name = self.topology.names[service]
            lines.append(Trace(name, spans[slot], starts, tokens, shown))
        return tuple(lines)

    def _span(self, span: str, cell: Evidence) -> str:
        if cell.token == DOWN:
            return NOT_COLLECTED
        row, token = self.world.spans[span], cell.token
        text, source = row.says[token.partition(":")[0]], self.at(cell.start)
        return said(pieces(text), row.figures, source, cell.service, token, self.dependency(token))

    def share(self, service: int, token: str, start: int | None = None) -> int:
        """How much of a service's slowest requests is spent where a token says, in percent."""
        return self._time(service, token, ShareOf, start)

    def latency(self, service: int, token: str, start: int | None = None) -> int:
        """Milliseconds of a service's slowest requests."""
        return self._time(service, token, LatencyByHeight, start)

    def _time(
        self, service: int, token: str, form: type[ShareOf | LatencyByHeight], start: int | None
    ) -> int:
        """The figure of a form in what a trace of time says, at ``start`` or as usual."""
        row = next(iter(self.world.spans.values()))
        used = pieces(row.says[token.partition(":")[0]])[1::2]
        figures = (row.figures[name] for name in used if name in row.figures)
        name = next(figure.name for figure in figures if isinstance(figure.form, form))
        return int(value_of(row.figures, name, self.at(start), service, token))


@lru_cache(maxsize=4096)
def _lines(world: World, gauge: str, tier: str, token: str) -> Lines:
    """The lines of a gauge that says a token.

    Raises:
        UnknownName: as :meth:`Figures.reading`.
    """
    row = world.gauges.get(gauge)
    if row is None:
        raise UnknownName("gauge", gauge, world.gauges)
    if token not in world.tokens_at(gauge, tier):
        what = f"token of gauge {gauge!r} at tier {tier!r}"
        raise UnknownName(what, token, world.tokens_at(gauge, tier))
    return tuple(
        [
            (line.label, pieces(line.said_under(token, row)), row.figures)
            for line in world.readings_at(gauge, tier)
        ]
    )


def _told(usual: Row, readings: Sequence[Row]) -> str:
    """The figures of a gauge over its readings, each beside what is usual."""
    return ", ".join(
        f"{label}{' '.join(row[place][1] for row in readings)} (usual {value})"
        for place, (label, value) in enumerate(usual)
    )


def is_down(tokens: Sequence[str]) -> bool:
    """Whether readings are those of what is down for the whole incident."""
    return bool(tokens) and tokens.count(DOWN) == len(tokens)


@lru_cache(maxsize=256)
def _heights(topology: Topology) -> tuple[int, ...]:
    calls = topology.calls
    heights = [0] * len(calls)
    for _ in calls:  # a longest path has no more calls than there are services
        higher = [max((heights[c] + 1 for c in row), default=0) for row in calls]
        if higher == heights:
            break
        heights = [min(height, len(calls)) for height in higher]
    return tuple(heights)


def _by_slot(cells: Sequence[Evidence]) -> dict[tuple[int, int], list[Evidence]]:
    """Cells by service and slot, each row in the order of time."""
    rows: dict[tuple[int, int], list[Evidence]] = {}
    for cell in cells:
        row = rows.setdefault((cell.service, cell.slot), [])
        if cell not in row:
            row.append(cell)
    return {key: rows[key] for key in sorted(rows)}
