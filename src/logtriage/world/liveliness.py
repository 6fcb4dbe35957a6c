"""How figures vary: a steady level, a small jitter of each reading, a ramp at an onset.

Figures depend on the seed and on public names alone, and stay within their range: a figure tells
its token and nothing else.
"""

from functools import lru_cache
from typing import Final

import attrs

from logtriage.rng import MASK, below, between, draw, hash_name
from logtriage.world.channels import EARLIEST
from logtriage.world.schema.forms import Source

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


@attrs.define(eq=False)
class Level:
    """The usual figures of an incident, without the jitter of a reading.

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
            return high - (high - begin - step * (count - 1)) * way // 100
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
        """The index of this reading's value among ``count`` values, more often in the middle."""
        bits, half = self._bits(service, key), (count + 1) // 2
        return below(bits, half) + below(bits << 32 & MASK, count - half + 1)

    def _bits(self, service: int, key: str) -> int:
        return draw(self.key, service + 1 << 32 | self.start - EARLIEST, _jitter(key))


@lru_cache(maxsize=8192)
def _jitter(key: str) -> int:
    return hash_name(f"jitter {key}")
