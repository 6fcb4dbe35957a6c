"""Figures of gauges and traces: whole numbers that belong to a service and a token."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final

import attrs

from logtriage.errors import UnknownName
from logtriage.rng import between, draw, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import Channel, Evidence, named_service
from logtriage.world.model import World
from logtriage.world.schema.forms import (
    LATENCY_BANDS,
    LatencyByHeight,
    ShareOf,
    pieces,
    said,
    value_of,
)
from logtriage.world.telemetry import Gauge, Trace

FIGURE_STREAM: Final = hash_name("figure")
#: What a figure is of, if its gauge does not say so, and its value.
Figure = tuple[str, str]


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

    @property
    def heights(self) -> tuple[int, ...]:
        """The most calls, one after the other, below each service."""
        return _heights(self.topology)

    def figure(self, service: int, key: str, low: int, high: int) -> int:
        """A figure in [low, high] that belongs to a service and a key."""
        return between(draw(self.figure_key, service + 1, hash_name(key)), low, high)

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
        tokens = tuple(one.token for one in row)
        usual = self.world.gauges[gauge].ordinary
        service, shown = row[0].service, (usual, *tokens)
        said = {one: self.reading(service, gauge, one) for one in set(shown)}
        figures = (_figure(column) for column in zip(*(said[one] for one in shown), strict=True))
        return tuple(one.start for one in row), tokens, ", ".join(figures)

    def slowest(self, service: int, band: str) -> tuple[int, int]:
        """Where a band of latency begins at a service, in ms, and how far its jitter goes.

        Each call below adds a step, and the jitter stays below one: so within a band no caller
        is faster than what it waits for. The edge (-1) is as slow as its slowest entry.
        """
        latency, heights = self.world.tokens.latency, self.heights
        begin = latency.usual if band == LATENCY_BANDS[0] else latency.slow
        entries = self.topology.edges
        height = heights[service] if service >= 0 else max(heights[one] for one in entries)
        return begin + height * latency.step, latency.step - 1

    def reading(self, service: int, gauge: str, token: str) -> tuple[Figure, ...]:
        """The figures of a gauge that says ``token``: those of its lines at the service's tier.

        Raises:
            UnknownName: for an unknown gauge, and for a token that it cannot say there.
        """
        world, tier = self.world, self.topology.services[service].tier
        row = world.gauges.get(gauge)
        if row is None:
            raise UnknownName("gauge", gauge, world.gauges)
        if token not in world.tokens_at(gauge, tier):
            what = f"token of gauge {gauge!r} at tier {tier!r}"
            raise UnknownName(what, token, world.tokens_at(gauge, tier))
        return tuple(
            [
                (line.label, said(line.said_under(token, row), row.figures, self, service, token))
                for line in world.readings_at(gauge, tier)
            ]
        )

    def traces(self, cells: Sequence[Evidence]) -> tuple[Trace, ...]:
        """Where the services asked for spend their time, and where their errors start."""
        found, spans = [], self.world.slots[Channel.TRACES]
        for (service, slot), row in _by_slot(cells).items():
            tokens = tuple(one.token for one in row)
            texts = [self._span(service, spans[slot], token) for token in tokens]
            shown = texts[0] if len(set(texts)) == 1 else " > ".join(texts)
            starts = tuple(one.start for one in row)
            name = self.topology.names[service]
            found.append(Trace(name, spans[slot], starts, tokens, shown))
        return tuple(found)

    def _span(self, service: int, span: str, token: str) -> str:
        row = self.world.spans[span]
        text = row.says[token.partition(":")[0]]
        return said(text, row.figures, self, service, token, self.dependency(token))

    def share(self, service: int, token: str) -> int:
        """How much of a service's slowest requests is spent where a token says, in percent."""
        return self._time(service, token, ShareOf)

    def latency(self, service: int, token: str) -> int:
        """Milliseconds of a service's slowest requests."""
        return self._time(service, token, LatencyByHeight)

    def _time(self, service: int, token: str, form: type[ShareOf | LatencyByHeight]) -> int:
        """The figure of a form in what a trace of time says."""
        row = next(iter(self.world.spans.values()))
        used = pieces(row.says[token.partition(":")[0]])[1::2]
        figures = (row.figures[name] for name in used if name in row.figures)
        name = next(figure.name for figure in figures if isinstance(figure.form, form))
        return int(value_of(row.figures, name, self, service, token))


@lru_cache(maxsize=256)
def _heights(topology: Topology) -> tuple[int, ...]:
    calls = topology.calls
    heights = [0] * len(calls)
    for _ in calls:  # a longest path has no more calls than there are services
        higher = [max((heights[c] + 1 for c in row), default=0) for row in calls]
        if higher == heights:
            break
        heights = [min(one, len(calls)) for one in higher]
    return tuple(heights)


def _by_slot(cells: Sequence[Evidence]) -> dict[tuple[int, int], list[Evidence]]:
    """Cells by service and slot, each row in the order of time."""
    rows: dict[tuple[int, int], list[Evidence]] = {}
    for one in cells:
        row = rows.setdefault((one.service, one.slot), [])
        if one not in row:
            row.append(one)
    return {key: rows[key] for key in sorted(rows)}


def _figure(column: Sequence[Figure]) -> str:
    """A figure over its readings beside what is usual, which comes first in its column.

    Of readings that agree one is shown.
    """
    (label, usual), *rest = column
    values = [value for _, value in rest]
    if set(values) == {usual}:
        return f"{label}{usual} (as usual)"
    shown = values[:1] if len(set(values)) == 1 else values
    return f"{label}{' > '.join(shown)} (usual {usual})"
