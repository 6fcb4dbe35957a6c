"""The figures of gauges: series of whole numbers, made from the tokens of a service.

A figure has a steady level, a small jitter of each reading, and a ramp at an onset. It depends on
the seed and on public names alone, and stays within its range: it tells its token and nothing else.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial
from typing import Final

import attrs

from logtriage.errors import UnknownName
from logtriage.rng import MASK, below, between, draw, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, EARLIEST, Channel, Evidence, named_service
from logtriage.world.model import World
from logtriage.world.schema.forms import Source, value_of
from logtriage.world.schema.tokens import Gauge as GaugeSort
from logtriage.world.telemetry import Gauge, Series
from logtriage.world.vocabulary import named

#: A figure takes this many values around its level, those in the middle more often.
_STEPS: Final = 7
#: Neighbouring values differ by at most range / 20 and middle / 40, and at least by 1.
_OF_RANGE: Final = 20
_OF_MIDDLE: Final = 40
#: How far a figure is at its onset from the near end of its range to its level, in per cent.
_ON_THE_WAY: Final = (15, 60)
#: Neighbouring values of requests differ by level / 100, and at least by 1.
_OF_REQUESTS: Final = 100
#: Ticks in which a climbing figure reaches the end of its range.
_CLIMB_TICKS: Final = 30
FIGURE_STREAM: Final = hash_name("figure")
#: The text in place of readings and lines that are down for the whole incident.
NOT_COLLECTED: Final = "not collected in this incident"
#: Start, since and ramp of a :class:`Reading`.
When = tuple[int, int, int]


@attrs.define(eq=False)
class Level:
    """The usual figures of an incident; they are the same in every reading.

    ``still`` has the figures of the incident, which never vary; ``key`` is the key of their
    stream. ``spreads`` caches (least value, step between values, number of values) by figure.
    """

    still: Source
    key: int
    spreads: dict[tuple[int, str, int, int], tuple[int, int, int]]

    @property
    def level(self) -> Source:
        """This source itself."""
        return self

    def figure(self, service: int, key: str, low: int, high: int) -> int:
        """The middle of the values that the figure takes."""
        begin, step, count = self._values(service, key, low, high)
        return begin + step * (count // 2)

    def climbing(self, service: int, key: str, low: int, high: int) -> int:
        """Where the climb begins: in the lowest third of the range."""
        return self.still.figure(service, key, low, low + (high - low) // 3)

    def requests(self, service: int, key: str, low: int, high: int) -> int:
        """The requests of the incident."""
        return self.still.requests(service, key, low, high)

    def version(self, service: int, key: str) -> str:
        """The version, which never changes."""
        return self.still.version(service, key)

    def _values(self, service: int, key: str, low: int, high: int) -> tuple[int, int, int]:
        """(least value of a figure, step between its values, number of values)."""
        known = self.spreads.get((service, key, low, high))
        if known is None:
            width = high - low + 1
            if width < _STEPS:
                known = low, 1, width
            else:
                step = max(1, min(width // _OF_RANGE, (low + high) // 2 // _OF_MIDDLE))
                begin = self.still.figure(service, key, low, high - step * (_STEPS - 1))
                known = begin, step, _STEPS
            self.spreads[service, key, low, high] = known
        return known


@attrs.define(eq=False)
class Reading(Level):
    """The figures of one reading, at tick ``start``.

    ``since`` is the first tick since which all readings said the same. At an onset a figure is on
    the way to its level: ``ramp`` is 1 if it rises, -1 if it falls, 0 without an onset.
    """

    start: int
    since: int = EARLIEST
    ramp: int = 0

    @property
    def level(self) -> Source:
        """The same figures without jitter."""
        return Level(self.still, self.key, self.spreads)

    def figure(self, service: int, key: str, low: int, high: int) -> int:
        """A value of the figure; at an onset one on the way to its level."""
        begin, step, count = self._values(service, key, low, high)
        if self.ramp:
            way = between(self._bits(service, key), *_ON_THE_WAY)
            if self.ramp > 0:
                return low + (begin - low) * way // 100
            last = begin + step * (count - 1)
            return high - (high - last) * way // 100
        return begin + step * self._place(service, key, count)

    def climbing(self, service: int, key: str, low: int, high: int) -> int:
        """The value that the climb has reached; it stops at the end of the range."""
        begin = super().climbing(service, key, low, high)
        return begin + (high - begin) * min(self.start - self.since, _CLIMB_TICKS) // _CLIMB_TICKS

    def requests(self, service: int, key: str, low: int, high: int) -> int:
        """A value around the level."""
        level = super().requests(service, key, low, high)
        step = max(1, level // _OF_REQUESTS)
        return max(0, level + step * (self._place(service, key, _STEPS) - _STEPS // 2))

    def _place(self, service: int, key: str, count: int) -> int:
        """The index of this reading's value among ``count``: the sum of two draws of 32 bits."""
        bits, half = self._bits(service, key), (count + 1) // 2
        return below(bits, half) + below(bits << 32 & MASK, count - half + 1)

    def _bits(self, service: int, key: str) -> int:
        """64 bits for this reading of a figure; service -1 and ticks before 0 count from 0."""
        return draw(self.key, service + 1 << 32 | self.start - EARLIEST, _jitter(key))


@lru_cache(maxsize=8192)
def _jitter(key: str) -> int:
    return hash_name(f"jitter {key}")


@attrs.frozen(cache_hash=True)
class Figures:
    """The figures of one incident: functions of the public topology, the seed and tokens."""

    world: World
    topology: Topology
    seed: int

    @cached_property
    def figure_key(self) -> int:
        """The key of the stream of figures."""
        return subkey(self.seed, FIGURE_STREAM)

    @cached_property
    def level(self) -> Level:
        """The usual figures, without the jitter of a reading."""
        return Level(self, self.figure_key, {})

    @property
    def heights(self) -> tuple[int, ...]:
        """The length of the longest chain of calls below each service."""
        return _heights(self.topology)

    def figure(self, service: int, key: str, low: int, high: int) -> int:
        """A whole number in [low, high], drawn for a service and a key."""
        return between(draw(self.figure_key, service + 1, hash_name(key)), low, high)

    def climbing(self, service: int, key: str, low: int, high: int) -> int:
        """The same as :meth:`figure`: only a :class:`Reading` climbs."""
        return self.figure(service, key, low, high)

    def requests(self, service: int, key: str, low: int, high: int) -> int:
        """Requests a second at a service: those of users at an entry, plus those of its callers.

        For each of its requests a caller sends one to every service that it calls. A call that
        closes a circle does not count.
        """
        known = "requests", service, key, low, high
        if known not in self.kept:
            topology, heights = self.topology, self.heights
            rate = sum(
                self.requests(caller, key, low, high)
                for caller, called in enumerate(topology.calls)
                if service in called and heights[caller] > heights[service]
            )
            if service in topology.edges or not rate:  # 0 in a circle, and without callers
                rate += self.figure(service, key, low, high)
            self.kept[known] = rate
        return self.kept[known]

    def version(self, service: int, key: str) -> str:
        """A version such as ``3.12.4``, drawn for a service and a key."""
        bits = draw(self.figure_key, service + 1, hash_name(key))
        return f"{1 + bits % 9}.{(bits >> 8) % 30}.{(bits >> 16) % 10}"

    def dependency(self, token: str) -> str:
        """The name of the service that a token names; empty if it names none."""
        service = named_service(token)
        return "" if service is None else self.topology.names[service]

    def gauges(self, cells: Sequence[Evidence]) -> tuple[Gauge, ...]:
        """The gauges of the services in ``cells``, each with its rows of figures."""
        names, gauges = self.world.slots[Channel.METRICS], []
        for (service, slot), row in by_slot(cells).items():
            starts, tokens = tuple(cell.start for cell in row), tuple(cell.token for cell in row)
            fields = self.topology.names[service], names[slot], starts, tokens
            down = is_down(tokens)
            rows = () if down else self.series(service, names[slot], starts, tokens)
            gauges.append(Gauge(*fields, NOT_COLLECTED if down else "", rows=rows))
        return tuple(gauges)

    def series(
        self, service: int, gauge: str, starts: Sequence[int], tokens: Sequence[str]
    ) -> tuple[Series, ...]:
        """The rows of a gauge that said ``tokens`` at the ticks ``starts``.

        Raises:
            UnknownName: for an unknown gauge, and for a token that it cannot say there.
        """
        world, tier = self.world, self.topology.services[service].tier
        sort, possible = named("gauge", gauge, world.gauges), world.tokens_at(gauge, tier)
        for token in tokens:
            if token not in possible:
                raise UnknownName(f"token of gauge {gauge!r} at tier {tier!r}", token, possible)
        rows = []
        for row in world.readings_at(gauge, tier):
            figures = [row.figure_under(token, sort) for token in tokens]
            normal = row.shows[sort.ordinary]
            value = partial(self._value, service, sort)
            usual = value(normal)
            stray = {name: 1 if value(name) > usual else -1 for name in figures} | {normal: 0}
            whens = over(starts, figures, [stray[name] for name in figures])
            values = map(value, figures, whens)
            rows.append(Series(row.label, tuple(values), usual, mark=row.marks.get(tokens[-1], "")))
        return tuple(rows)

    def _value(self, service: int, gauge: GaugeSort, name: str, when: When | None = None) -> int:
        """The figure ``name`` of a gauge at ``when``; for None the usual one."""
        key = service, gauge.name, name, when
        if key not in self.kept:
            source = self.level if when is None else self.at(when)
            self.kept[key] = int(value_of(gauge.figures, name, source, service, token=""))
        return self.kept[key]

    @cached_property
    def kept(self) -> dict[tuple[object, ...], int]:
        """A cache of computed figures, which never change."""
        return {}

    def at(self, when: When) -> Source:
        """The source of the figures of a reading."""
        return Reading(self, self.figure_key, self.level.spreads, *when)


def over(starts: Sequence[int], shown: Sequence[str], strays: Sequence[int]) -> Iterator[When]:
    """(start, since, ramp) of each reading: at ``starts[n]`` it showed ``shown[n]``.

    A reading that differs from the one before has its stray as ramp: 1 above the usual, -1 below
    it, 0 if usual.
    """
    since = EARLIEST
    for place, start in enumerate(starts):
        ramp = 0
        if place and shown[place] != shown[place - 1]:
            since, ramp = start, strays[place]
        yield start, since, ramp


def is_down(tokens: Sequence[str]) -> bool:
    """Whether all readings are :data:`DOWN`; False for no readings."""
    return bool(tokens) and tokens.count(DOWN) == len(tokens)


@lru_cache(maxsize=256)
def _heights(topology: Topology) -> tuple[int, ...]:
    """The length of the longest chain of calls below each service."""
    calls = topology.calls
    heights = [0] * len(calls)
    for _ in calls:  # a longest path has no more calls than there are services
        higher = [max((heights[c] + 1 for c in row), default=0) for row in calls]
        if higher == heights:
            break
        heights = [min(height, len(calls)) for height in higher]
    return tuple(heights)


def by_slot(cells: Sequence[Evidence]) -> dict[tuple[int, int], list[Evidence]]:
    """Cells by service and slot, each once and in the given order."""
    rows: dict[tuple[int, int], list[Evidence]] = {}
    for cell in cells:
        row = rows.setdefault((cell.service, cell.slot), [])
        if cell not in row:
            row.append(cell)
    return {key: rows[key] for key in sorted(rows)}
