"""Figures that live: a level that stays, and the small jitter of each reading.

Both depend on the seed and on public names alone, and both keep to the figure's range. So a
figure tells its token and nothing else.
"""

from functools import lru_cache
from itertools import permutations
from typing import Final, Protocol

import attrs

from logtriage.rng import below, draw, hash_name
from logtriage.world.channels import EARLIEST
from logtriage.world.schema.forms import Source

#: A figure takes this many values around its level, all different in consecutive readings.
_STEPS: Final = 7
#: A step is no more than this share of the range, nor of the range's middle.
_OF_RANGE: Final = 28
_OF_MIDDLE: Final = 60
#: Ticks in which a climbing figure reaches the end of its range.
_CLIMB_TICKS: Final = 30


class Still(Source, Protocol):
    """The figures of an incident; ``spreads`` keeps the values that each takes around its level."""

    @property
    def spreads(self) -> dict[tuple[int, str, int, int], tuple[int, int, int]]:
        """The least value, the step between values and how many there are."""


@attrs.define(eq=False)
class Level:
    """The usual figures of an incident, without the jitter of a reading.

    ``still`` has the figures of the incident; ``key`` is the key of their stream.
    """

    still: Still
    key: int

    @property
    def level(self) -> Source:
        """These figures."""
        return self

    def figure(self, service: int, key: str, low: int, high: int) -> int:
        """The middle of the values that the figure takes."""
        begin, step, count = self._values(service, key, low, high)
        return begin + step * (count // 2)

    def climbing(self, service: int, key: str, low: int, high: int) -> int:
        """Where the climb begins: in the lowest third of the range."""
        return self.still.figure(service, key, low, low + (high - low) // 3)

    def version(self, service: int, key: str) -> str:
        """A version, which stays."""
        return self.still.version(service, key)

    def slowest(self, service: int, band: str) -> tuple[int, int]:
        """As all figures of the incident."""
        return self.still.slowest(service, band)

    def _values(self, service: int, key: str, low: int, high: int) -> tuple[int, int, int]:
        """The least value of a figure, the step between its values, and how many there are."""
        known = self.still.spreads.get((service, key, low, high))
        if known is None:
            width = high - low + 1
            if width < _STEPS:
                known = low, 1, width
            else:
                step = max(1, min(width // _OF_RANGE, (low + high) // 2 // _OF_MIDDLE))
                begin = self.still.figure(service, key, low, high - step * (_STEPS - 1))
                known = begin, step, _STEPS
            self.still.spreads[service, key, low, high] = known
        return known


@attrs.define(eq=False)
class Reading(Level):
    """The figures of the readings that hold from tick ``start``."""

    start: int

    @property
    def level(self) -> Source:
        """The same figures without jitter."""
        return Level(self.still, self.key)

    def figure(self, service: int, key: str, low: int, high: int) -> int:
        """A value of the figure; each reading has another, if there are seven or more."""
        begin, step, count = self._values(service, key, low, high)
        name = _jitter(key)
        if count < _STEPS:
            return begin + below(
                draw(self.key, service + 1 << 32 | self.start - EARLIEST, name), count
            )
        orders = _orders(count)
        order = orders[below(draw(self.key, service + 1, name), len(orders))]
        return begin + step * order[self.start % count]

    def climbing(self, service: int, key: str, low: int, high: int) -> int:
        """Where the climb has come by now; it ends at the end of the range."""
        begin = super().climbing(service, key, low, high)
        return begin + (high - begin) * min(self.start - EARLIEST, _CLIMB_TICKS) // _CLIMB_TICKS


@lru_cache(maxsize=8192)
def _jitter(key: str) -> int:
    return hash_name(f"jitter {key}")


@lru_cache(maxsize=1)
def _orders(count: int) -> tuple[tuple[int, ...], ...]:
    return tuple(permutations(range(count)))
