"""Turning series of metrics, of any format, into samples of signals.

A level stays as it is. A metric that only grows becomes a rate; after a restart it begins at 0.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import isnan
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.raw_rows import Sample, Usage
from logtriage.recorded.condensing.ticks import STALE_MS
from logtriage.recorded.figures import MOST
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.signal_names import PER_SECOND, SignalNames, in_units

#: The most sets of attributes of a level that become signals of one service; later ones do not.
MOST_SETS: Final = 20
#: Levels that are CPU as a share of its limit; the first of a service counts.
CPU: Final = (
    "k8s.pod.cpu_limit_utilization",
    "k8s.container.cpu_limit_utilization",
    "process.cpu.utilization",
)
#: How units are spelled at the end of a signal's name.
_UNITS: Final = {"s": "seconds", "ms": "ms", "us": "us", "%": "percent", "1": "", "By": "bytes"}
_PER: Final = {"s": "second", "min": "minute", "h": "hour"}
#: Labels that tell on which side of a call it was counted: each side counts all calls.
_SIDES: Final = ("direction", "reporter", "span.kind", "span_kind")
_ANNOTATION: Final = re.compile(r"\{[^}]*\}")
_NANO: Final = 1_000_000  # nanoseconds in a millisecond

#: Attributes of a data point by key, sorted.
Labels = tuple[tuple[str, str], ...]
#: What tells the series of a metric apart: labels and scope.
_Key = tuple[Labels, str]


@attrs.frozen
class Point:
    """A data point; times are Unix nanoseconds, and ``since`` is when its count began, or 0.

    ``scope`` tells series with the same labels apart. ``over`` is how long it grew, if that is not
    the time since the point before. ``is_first``: the series may have counted before, unseen.
    """

    at: int
    since: int
    labels: Labels
    values: tuple[float, ...]
    scope: str
    over: int
    is_first: bool


@attrs.frozen
class _Growth:
    """How a series grew until ``at``; ``rates`` are per second, and empty if they are not known.

    It counts for as long as it lasted, and half as long again.
    """

    at: int
    since: int
    rates: tuple[float, ...]


#: One side of a call: its labels, since when it grew or 0, and the labels and rates of its series.
Side = tuple[Labels, int, Sequence[tuple[Labels, tuple[float, ...]]]]


@attrs.frozen
class Metric:
    """A metric by service, instance of the service, name and unit.

    A distribution may have the name of another metric; they grow apart.
    """

    service: str
    instance: str
    name: str
    unit: str = ""
    is_distribution: bool = False

    @property
    def key(self) -> str:
        """A text that is unique to the metric of a service's instance."""
        return f"{self.service} {self.instance} {self.name} {self.is_distribution}"

    @property
    def signal(self) -> tuple[str, str]:
        """The service and the name."""
        return self.service, self.name

    @property
    def half(self) -> tuple[tuple[str, str], str]:
        """((service, name without its last word), that word), as it may be half of another."""
        stem, _, end = self.name.rpartition("_")
        return (self.service, stem), end


@attrs.define
class SeriesBook:
    """Remembers the last point of each series; ``names`` names their signals."""

    left_out: LeftOut
    names: SignalNames
    _last: dict[tuple[str, Labels, str], Point] = attrs.Factory(dict)
    #: The latest growth of each series by metric.
    _growths: dict[str, dict[_Key, _Growth]] = attrs.Factory(dict)
    #: The time of the last point by metric.
    _exported: dict[str, int] = attrs.Factory(dict)
    _instances: dict[tuple[str, str], int] = attrs.Factory(dict)
    _sets: dict[tuple[str, str], set[Labels]] = attrs.Factory(dict)
    _cpu: dict[str, str] = attrs.Factory(dict)

    def levels(self, metric: Metric, points: Iterable[Point]) -> Iterator[Sample | Usage]:
        """Yield values as they are, a signal for each set of attributes."""
        service, name = metric.service, metric.name
        if name in CPU and self._cpu.setdefault(service, name) == name:
            yield from self._shares(metric, points)
            return
        for point in points:
            sets = self._sets.setdefault((service, name), set())
            if point.labels not in sets and len(sets) >= MOST_SETS:
                self.left_out.add(f"{name} of {service}: more than {MOST_SETS} sets of attributes")
                continue
            sets.add(point.labels)
            ending = _in_words(metric.unit)
            yield from self.sample(metric, ending, point.at, point.values[0], point.labels)

    def grow(self, metric: Metric, points: Sequence[Point], *, delta: bool) -> Iterable[Side]:
        """Take in a metric's points of one time; return the fresh growth of all its series by side.

        Empty if nothing is new, or if the growth of any is not known.
        """
        key, at = metric.key, points[0].at
        growths = self._growths.setdefault(key, {})
        exported = self._exported.get(key, 0)
        is_new = False
        # Series seen before come first: a new one has a beginning if the growth of any is known.
        is_known = any(growth.rates for growth in growths.values())
        for point in sorted(points, key=lambda one: (key, one.labels, one.scope) not in self._last):
            series = point.labels, point.scope
            before = self._last.get((key, *series))
            if before is not None and before.at == at:
                self.left_out.add("points that have the time of the point before")
                continue
            self._last[key, *series] = point
            since, base = point.since, (0.0,) * len(point.values)
            if not delta and before is not None:
                since = before.at
                if before.since == point.since and before.values[0] <= point.values[0]:
                    base = before.values
                if at - since > _NANO * STALE_MS:
                    since = max(since, exported)  # only series that move are exported
            elif not delta:
                # A new set of attributes counts from the last point of the metric.
                since = exported if is_known and not point.is_first else 0
            if 0 < since < at:
                over = point.over or at - since
                pairs = zip(point.values, base, strict=True)
                rates = tuple((value - start) * 1e9 / over for value, start in pairs)
                growths[series] = _Growth(at, since, rates)
                is_new = is_known = True
            elif not delta:
                growths[series], is_new = _Growth(at, at - _NANO * STALE_MS, ()), True
            elif not since:
                self.left_out.add(f"{metric.name}: delta points without startTimeUnixNano")
        self._exported[key] = max(exported, at)
        return _by_side(self._fresh(metric, at), delta=delta) if is_new else ()

    def _fresh(self, metric: Metric, at: int) -> Mapping[_Key, _Growth]:
        """The latest growth of each series that still counts; empty if any is not known."""
        every = self._growths.get(metric.key, {})
        for series, growth in list(every.items()):
            if 2 * (at - growth.at) > 3 * (growth.at - growth.since):
                del every[series]
        return dict(every) if all(growth.rates for growth in every.values()) else {}

    def rates(
        self,
        metric: Metric,
        at: int,
        grown: Iterable[Side],
        failed: Callable[[Labels], bool] | None,
    ) -> Iterator[Sample]:
        """Yield a metric's growth per second, summed over its sets of attributes.

        Both sides of a call stay apart. The growth of sets that ``failed`` is a signal, too.
        """
        for sides, since, rates in grown:
            sums = {metric.name: sum(rate for _, (rate, *_) in rates)}
            if failed is not None:
                bad = (rate for labels, (rate, *_) in rates if failed(labels))
                sums[f"{metric.name}_5xx"] = sum(bad)
            for name, rate in sums.items():
                own = attrs.evolve(metric, name=name)
                yield from self.sample(own, PER_SECOND, at, rate, sides, since)

    def distributions(self, metric: Metric, at: int, grown: Iterable[Side]) -> Iterator[Sample]:
        """Yield how many were measured per second, and their mean, of growing counts and sums."""
        for side in grown:
            sides, since, rates = side
            count = sum(count for _, (count, _) in rates)
            yield from self.sample(metric, PER_SECOND, at, count, sides, since)
            yield from self._mean(metric, at, side)

    def means(self, metric: Metric, at: int) -> Iterator[Sample]:
        """Yield the mean of a distribution, whose count and sum are metrics that end so.

        Both have been read until ``at``.
        """
        counts = self._fresh(attrs.evolve(metric, name=f"{metric.name}_count"), at)
        sums = self._fresh(attrs.evolve(metric, name=f"{metric.name}_sum"), at)
        both: dict[_Key, _Growth] = {}
        for key, count in counts.items():
            if (total := sums.get(key)) is not None:
                since = min(count.since, total.since)
                both[key] = _Growth(at, since, (*count.rates, *total.rates))
        for side in _by_side(both):
            yield from self._mean(metric, at, side)

    def _mean(self, metric: Metric, at: int, side: Side) -> Iterator[Sample]:
        """Yield the mean of a side's counts and sums per second, where both are known."""
        sides, since, rates = side
        count = sum(count for _, (count, _) in rates)
        total = sum(total for _, (_, total) in rates)
        if count > 0 and not isnan(total):
            ending = f"mean {_in_words(metric.unit)}".strip()
            yield from self.sample(metric, ending, at, total / count, sides, since)

    def sample(
        self, metric: Metric, end: str, at: int, value: float, labels: Labels = (), since: int = 0
    ) -> Iterator[Sample]:
        """Yield a sample of a signal, which is named by the metric, its labels and an end."""
        signal, factor = self.names(metric.service, metric.name, labels, end)
        units = in_units(Decimal(value), factor)
        if abs(units) <= MOST:
            instance = self._instance(metric)
            yield Sample(at // _NANO, metric.service, signal, units, instance, since // _NANO)
        else:
            self.left_out.add(f"{metric.name}: values beyond 63 bits")

    def _shares(self, metric: Metric, points: Iterable[Point]) -> Iterator[Usage]:
        """Yield CPU as a share of its limit, summed over sets of attributes (user, system)."""
        together: dict[int, float] = {}
        for point in points:
            together[point.at] = together.get(point.at, 0.0) + point.values[0]
        for at, value in together.items():
            share = round(10_000 * value)
            if 0 <= share <= MOST:
                instance = self._instance(metric)
                yield Usage(at // _NANO, metric.service, share, instance=instance)
            else:
                self.left_out.add(f"{metric.name}: shares below 0, or beyond 63 bits")

    def _instance(self, metric: Metric) -> int:
        key = metric.service, metric.instance
        return self._instances.setdefault(key, len(self._instances) + 1)


def _by_side(grown: Mapping[_Key, _Growth], *, delta: bool = False) -> list[Side]:
    """Growth by side of the call; for deltas, whose points grow apart, since when is 0."""
    by_side = grouped(
        (tuple(label for label in labels if label[0] in _SIDES), (labels, growth))
        for (labels, _), growth in grown.items()
    )
    sides: list[Side] = []
    for side, every in by_side.items():
        since = 0 if delta else min(growth.since for _, growth in every)
        sides.append((side, since, [(labels, growth.rates) for labels, growth in every]))
    return sides


def _in_words(unit: str) -> str:
    """A unit in words, without its annotations: ``{request}/s`` is ``per second``."""
    over, slash, under = _ANNOTATION.sub("", unit).partition("/")
    words = _UNITS.get(over, over)
    return f"{words} per {_PER.get(under, under)}" if slash else words
