"""Which ticks a recording covers, and what was measured at each of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median_low
from typing import Final

from logtriage.recorded.events import Requests, Shifted, most_shifted, new_errors
from logtriage.recorded.figures import FIGURES, FIRST_TICK, Column, Series, Shift
from logtriage.recorded.parts import SPAN_MS, Part, covered, figures_of
from logtriage.recorded.rows import Rows

#: An older sample than this is stale, or than one and a half of its usual intervals.
STALE_MS: Final = 90_000

#: Times in Unix milliseconds, each with the value sampled then.
Samples = Sequence[tuple[int, int | None]]


class Clock:
    """The ticks of one incident: ``opened`` is when tick 0 begins, in Unix milliseconds."""

    def __init__(self, rows: Rows, opened: int, horizon: int, tick_seconds: int) -> None:
        self._opened = opened
        self._horizon = horizon
        self._tick = 1000 * tick_seconds
        #: Figures are taken over the minute before a tick, or over a longer tick.
        self._span = max(SPAN_MS, self._tick)
        self.traced, self.logged = covered(rows)
        until = max(
            (one.until for one in (self.traced, self.logged) if one.until is not None),
            default=opened,
        )
        #: The last tick of whose log window at least half was recorded, 0 at least ...
        self.last = max(0, (until - opened + self._tick // 2) // self._tick)
        #: ... and that for the minute of the figures.
        self.measured = (until - opened + self._span // 2) // self._tick

    def _spans(self) -> Iterable[tuple[int, int]]:
        for tick in range(FIRST_TICK, max(self.measured, FIRST_TICK) + 1):
            until = self._opened + tick * self._tick
            yield until - self._span, until

    def series(self, part: Part) -> Series:
        """The columns of one service, or of the edge."""
        columns: dict[str, list[int | None]] = {name: [] for name in FIGURES}
        at = [call.at for call in part.calls]
        if part.calls:
            for since, until in self._spans():
                calls = part.calls[bisect_left(at, since) : bisect_left(at, until)]
                known = 2 * self.traced.overlap(since, until) >= self._span
                figures = figures_of(part, since, until, calls) if known else {}
                for name in FIGURES:
                    columns[name].append(figures.get(name))
        else:
            for name in ("calls", "p99_ms"):
                columns[name] = self.sampled([(row.at, getattr(row, name)) for row in part.usage])
        columns["cpu_bp"] = self.sampled([(row.at, row.cpu_bp) for row in part.usage])
        return Series(**{name: _column(values) for name, values in columns.items()})

    def shifts(self, requests: Requests, usual: Requests) -> tuple[Shift, Shift]:
        """New errors, and the event that shifted most, at each tick."""
        fresh: list[Shifted | None] = []
        shifted: list[Shifted | None] = []
        for since, until in self._spans():
            known = 2 * self.logged.overlap(since, until) >= self._span
            now = requests.between(since, until) if known else ()
            fresh.append(new_errors(now, usual))
            shifted.append(most_shifted(now, usual))
        return _shift(fresh), _shift(shifted)

    def sampled(self, samples: Samples) -> list[int | None]:
        """At each tick the last fresh sample; what was not sampled at the end is left off."""
        values = dict(samples)
        times = sorted(values)
        stale = stale_after(times)
        found: list[int | None] = []
        for tick in range(FIRST_TICK, self._horizon + 1):
            now = self._opened + tick * self._tick
            place = bisect_right(times, now) - 1
            fresh = place >= 0 and times[place] > now - stale
            found.append(values[times[place]] if fresh else None)
        while found and found[-1] is None:
            found.pop()
        return found


def interval_of(times: Iterable[int]) -> int | None:
    """The usual time from one sample to the next, in milliseconds; None for fewer than two."""
    steps = [after - before for before, after in pairwise(sorted(set(times)))]
    return median_low(steps) if steps else None


def stale_after(times: Iterable[int]) -> int:
    """From what age on a sample says nothing of now, in milliseconds."""
    interval = interval_of(times)
    return STALE_MS if interval is None else max(STALE_MS, interval * 3 // 2)


def _column(values: Sequence[int | None]) -> Column:
    return tuple(values) if any(value is not None for value in values) else ()


def _shift(found: Sequence[Shifted | None]) -> Shift:
    if all(one is None for one in found):
        return Shift()
    columns = zip(*(one or (None, None, None) for one in found), strict=True)
    return Shift(*columns)
