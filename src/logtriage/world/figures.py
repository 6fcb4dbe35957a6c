"""Figures of gauges and traces: whole numbers that belong to a service and a token."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final

import attrs

from logtriage.errors import UnknownName
from logtriage.rng import between, draw, hash_name, subkey
from logtriage.telemetry import Gauge, Trace
from logtriage.topology import Topology
from logtriage.world.channels import (
    GAUGE_TOKENS,
    GAUGES,
    ITSELF,
    NOWHERE,
    SPANS,
    TIER_TOKENS,
    USUAL,
    Evidence,
    named_service,
)

FIGURE_STREAM: Final = hash_name("figure")
#: Milliseconds that each call below a service adds to its latency; jitter is smaller.
STEP: Final = 24
#: What a figure is of, if its gauge does not say so, and its value.
Figure = tuple[str, str]
#: p99 (ms) where the band begins: of the slowest requests of one service, and of the edge.
BASE: Final = {NOWHERE: 30, "slow": 900}


@attrs.frozen(cache_hash=True)
class Figures:
    """The figures of one incident: functions of the public topology, the seed and tokens."""

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

    def figure(self, service: int, token: str, low: int, high: int) -> int:
        """A figure in [low, high] that belongs to a service and a token."""
        return between(draw(self.figure_key, service + 1, hash_name(token)), low, high)

    def dependency(self, token: str) -> str:
        """The name of the service that a token names; empty if it names none."""
        service = named_service(token)
        return "" if service is None else self.topology.names[service]

    def gauges(self, cells: Sequence[Evidence]) -> tuple[Gauge, ...]:
        """The gauges of the services asked for, each as a short series."""
        return tuple(
            Gauge(self.topology.names[service], GAUGES[slot], *self._series(row, GAUGES[slot]))
            for (service, slot), row in _by_slot(cells).items()
        )

    def _series(
        self, row: Sequence[Evidence], gauge: str
    ) -> tuple[tuple[int, ...], tuple[str, ...], str]:
        tokens = tuple(one.token for one in row)
        readings = [self.reading(row[0].service, gauge, one) for one in (USUAL, *tokens)]
        figures = (_figure(column) for column in zip(*readings, strict=True))
        return tuple(one.start for one in row), tokens, ", ".join(figures)

    def reading(self, service: int, gauge: str, token: str) -> tuple[Figure, ...]:
        """The figures of a gauge that says ``token``: one, but of datastores and queues several."""
        match gauge:
            case "cpu":
                ranges = {USUAL: (22, 48), "low": (2, 9), "high": (88, 99)}
                return (("", f"{self.figure(service, f'cpu {token}', *ranges[token])}%"),)
            case "memory":
                ranges = {USUAL: (42, 62), "high": (84, 95), "climbing": (70, 88)}
                text = f"{self.figure(service, f'memory {token}', *ranges[token])}%"
                return (("", f"{text} and climbing" if token == "climbing" else text),)
            case "workers":
                ranges = {USUAL: (4, 11), "busy": (19, 27), "full": (32, 32)}
                busy = self.figure(service, f"workers {token}", *ranges[token])
                return (("", f"{busy} of 32"),)
            case "traffic":
                return (("", self._traffic(service, token)),)
            case "tier":
                return self._tier_gauge(service, token)
            case _:
                raise UnknownName("gauge", gauge, GAUGES)

    def _traffic(self, service: int, token: str) -> str:
        rate = self.figure(service, "rate", 90, 400)
        clients = self.figure(service, "clients", 8, 40)
        if token == USUAL:
            return f"{rate}/s from {clients} clients"
        if token == "more":
            rate = rate * self.figure(service, "rate more", 170, 290) // 100
            return f"{rate}/s from {clients} clients"
        if token != "new_clients":
            raise UnknownName("token of gauge 'traffic'", token, GAUGE_TOKENS["traffic"])
        rate = rate * self.figure(service, "rate new", 115, 165) // 100
        new = self.figure(service, "new clients", 20, 90)
        return f"{rate}/s from {clients + new} clients, {new} of them new"

    def _tier_gauge(self, service: int, token: str) -> tuple[Figure, ...]:
        tier = self.topology.services[service].tier
        if token not in TIER_TOKENS[tier]:
            raise UnknownName(f"token of the gauge of tier {tier!r}", token, TIER_TOKENS[tier])

        def either(name: str, calm: tuple[int, int], odd: tuple[int, int]) -> int:
            return self.figure(
                service, f"{name} {token == name}", *(odd if token == name else calm)
            )

        hits = either("cold_cache", (92, 99), (31, 58))
        match tier:
            case "datastore":
                return (
                    ("lock waits ", f"{either('lock_waits', (0, 2), (24, 90))}/s"),
                    ("disk reads ", f"{either('disk_reads', (4, 16), (140, 480))} MB/s"),
                    ("replica lag ", f"{either('replica_lag', (0, 2), (60, 900))} s"),
                    ("buffer hits ", f"{hits}%"),
                )
            case "queue":
                return (
                    ("backlog ", f"{either('backlog', (4, 30), (900, 8000))}"),
                    ("redeliveries ", f"{either('redeliveries', (0, 2), (30, 140))}/min"),
                )
            case "edge" | "service":
                return (("cache hits ", f"{hits}%"),)
            case _:
                raise UnknownName("tier", tier, TIER_TOKENS)

    def traces(self, cells: Sequence[Evidence]) -> tuple[Trace, ...]:
        """Where the services asked for spend their time, and where their errors start."""
        found = []
        for (service, slot), row in _by_slot(cells).items():
            tokens = tuple(one.token for one in row)
            texts = [self._span(service, SPANS[slot], token) for token in tokens]
            shown = texts[0] if len(set(texts)) == 1 else " > ".join(texts)
            starts = tuple(one.start for one in row)
            name = self.topology.names[service]
            found.append(Trace(name, SPANS[slot], starts, tokens, shown))
        return tuple(found)

    def _span(self, service: int, span: str, token: str) -> str:
        dependency = self.dependency(token)
        if span == "errors":
            if token == NOWHERE:
                return "none"
            return "start in itself" if token == ITSELF else f"come from {dependency}"
        total = self.latency(service, token)
        if token == NOWHERE:
            return f"{total} ms, spread as usual"
        where = "itself" if token == ITSELF else dependency
        return f"{total} ms, {self.share(service, token)}% of it in {where}"

    def share(self, service: int, token: str) -> int:
        """How much of a service's slowest requests is spent where a token says, in percent."""
        return self.figure(service, f"share {token}", 62, 94)

    def latency(self, service: int, token: str) -> int:
        """Milliseconds of a service's slowest requests.

        A band, a step for each call below it and a jitter smaller than a step, so that
        within a band no caller is faster than what it waits for.
        """
        band = NOWHERE if token == NOWHERE else "slow"
        jitter = self.figure(service, f"jitter {band}", 0, STEP - 1)
        return BASE[band] + self.heights[service] * STEP + jitter


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
