"""The ticks that a recording covers, and the figures and metrics of each."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median, median_low, pstdev, quantiles
from typing import Final

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.log_events import Requests, Shifted, most_shifted, new_errors
from logtriage.recorded.condensing.raw_rows import Rows, Sample, Usage
from logtriage.recorded.condensing.service_figures import (
    ENOUGH,
    SAMPLED,
    SPAN_MS,
    ServiceRows,
    covered,
    figures_of,
)
from logtriage.recorded.figures import FIGURES, FIRST_TICK, Metric, Series, Shift

#: An older sample is stale, unless it is younger than one and a half of its usual intervals.
STALE_MS: Final = 90_000
#: However steady a metric is, a change by less than a hundredth does not matter.
FLOOR_SHARE: Final = 100

#: Times in Unix milliseconds, each with the value sampled then.
Samples = Sequence[tuple[int, int | None]]


class Clock:
    """The ticks of one incident: ``opened`` is when tick 0 begins, in Unix milliseconds."""

    def __init__(self, rows: Rows, opened: int, horizon: int, tick_seconds: int) -> None:
        self._opened = opened
        self._horizon = horizon
        self._tick_ms = 1000 * tick_seconds
        #: Figures are taken over the minute before a tick, or over a longer tick.
        self._span_ms = max(SPAN_MS, self._tick_ms)
        self.traced, self.logged = covered(rows)
        ends = [cover.until for cover in (self.traced, self.logged) if cover.until is not None]
        until = max(ends, default=opened)
        #: The last tick with at least half of its log window recorded, 0 at least ...
        self.last_logged = max(0, (until - opened + self._tick_ms // 2) // self._tick_ms)
        #: ... and with at least half of the minute of its figures.
        self.last_measured = (until - opened + self._span_ms // 2) // self._tick_ms
        #: When the newest sample of any service was taken.
        times = [row.at for row in (*rows.usage, *rows.edge_usage)]
        self._newest_sample = max((*times, *(row.at for row in rows.samples)), default=0)

    def _spans(self) -> Iterable[tuple[int, int]]:
        """Yield the time (since, until) of the figures of each tick from FIRST_TICK on."""
        for tick in range(FIRST_TICK, max(self.last_measured, FIRST_TICK) + 1):
            until = self._opened + tick * self._tick_ms
            yield until - self._span_ms, until

    def series(self, rows: ServiceRows) -> Series:
        """The columns of one service, or of the edge."""
        sampled = SAMPLED[bool(rows.calls)]
        columns: dict[str, Sequence[int | None]] = {}
        if rows.calls:
            figures = [
                figures_of(rows, *span) if self.traced.has_half(*span) else {}
                for span in self._spans()
            ]
            columns = {name: [each.get(name) for each in figures] for name in FIGURES}
        columns |= {name: self.sampled(_samples_of(rows.usage, name)) for name in sampled}
        known = {name: tuple(column) for name, column in columns.items() if set(column) != {None}}
        return Series(**known)

    def shifts(self, requests: Requests, usual: Requests) -> tuple[Shift, Shift]:
        """(new errors, event that shifted most), both at each tick."""
        every = [
            requests.between(*span) if self.logged.has_half(*span) else [] for span in self._spans()
        ]
        fresh = [new_errors(now, usual) for now in every]
        shifted = [most_shifted(now, usual) for now in every]
        return _shift(fresh), _shift(shifted)

    def sampled(self, samples: Samples) -> list[int | None]:
        """The last fresh sample at each tick, or None.

        Nones at the end are left off, unless other services were sampled when the last one here was
        stale already: then it was this service that fell silent, and Nones follow while those are
        fresh.
        """
        values = dict(samples)
        times = sorted(values)
        stale = stale_after(times)
        column: list[int | None] = []
        ticks = range(FIRST_TICK, self._horizon + 1)
        for tick in ticks:
            now = self._opened + tick * self._tick_ms
            place = bisect_right(times, now) - 1
            fresh = place >= 0 and times[place] > now - stale
            column.append(values[times[place]] if fresh else None)
        known = [tick for tick, value in zip(ticks, column, strict=True) if value is not None]
        if not known:
            return []
        last = known[-1]
        if self._newest_sample >= times[-1] + stale:
            # The last tick at which the newest sample of the others is fresh.
            last = (self._newest_sample + stale - 1 - self._opened) // self._tick_ms
        return column[: last + 1 - FIRST_TICK]


def _samples_of(usage: Iterable[Usage], name: str) -> Samples:
    """The samples of a figure; None is one if a count says that the service was idle."""
    values = ((row, getattr(row, name)) for row in usage)
    return [(row.at, value) for row, value in values if value is not None or row.calls is not None]


def interval_of(times: Iterable[int]) -> int | None:
    """The usual time between samples, in milliseconds; None for fewer than two samples."""
    steps = [after - before for before, after in pairwise(sorted(set(times)))]
    return median_low(steps) if steps else None


def stale_after(times: Iterable[int]) -> int:
    """How long a sample stays fresh, in milliseconds, given the times of its series."""
    return max(STALE_MS, (interval_of(times) or 0) * 3 // 2)


def _shift(shifts: Sequence[Shifted | None]) -> Shift:
    """The columns of the shifts by tick; empty if no tick has one."""
    if not any(shifts):
        return Shift()
    return Shift(*zip(*(shift or (None, None, None) for shift in shifts), strict=True))


def metrics_of(now: Sequence[Sample], usual: Sequence[Sample], clock: Clock) -> tuple[Metric, ...]:
    """The metrics of one service by name, each with its usual value.

    ``usual`` is the median of the baseline's samples, ``spread`` their standard deviation and
    ``iqr`` the distance of their quartiles, both at least a hundredth of the usual value.
    """
    here = grouped((row.name, (row.at, row.value)) for row in now)
    there = grouped((row.name, (row.at, row.value)) for row in usual)
    metrics = []
    for name in sorted(here.keys() | there.keys()):
        known = [value for _, value in there.get(name, ())]
        middle = round(median(known)) if known else None
        spread = iqr = None
        if middle is not None and len(known) >= ENOUGH:
            floor = max(1, abs(middle) // FLOOR_SHARE)
            low, _, high = quantiles(known, n=4, method="inclusive")
            spread, iqr = max(floor, round(pstdev(known))), max(floor, round(high - low))
        column = clock.sampled(here.get(name, ()))
        metrics.append(Metric(name, tuple(column), middle, spread, iqr))
    return tuple(metrics)
