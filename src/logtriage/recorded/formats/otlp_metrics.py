"""Metrics in OTLP: every kind of point becomes samples of a signal.

==================  =====================================================================
gauge               its value, a signal for each set of attributes
sum that may fall   the same
sum that grows      how much it grows in a second, all sets of attributes together
histogram           the mean of what was measured since the last point, and how many a second
summary             its quantiles, the mean, and how many a second
==================  =====================================================================

Cumulative points are compared with the one before, a restart beginning at 0. Of a service
that runs in several instances the mean of what they last said counts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.clock import STALE_MS
from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.formats.otlp import Unnamed, by_service, told
from logtriage.recorded.formats.otlp_points import (
    Point,
    is_delta,
    is_empty,
    labels_of,
    numbers_of,
    stated,
    sum_of,
    time_of,
)
from logtriage.recorded.metrics import in_units, signal_name
from logtriage.recorded.names import Names
from logtriage.recorded.rows import Sample, Usage

#: Sets of attributes of a gauge that become signals of one service; what comes later does not.
MOST_SETS: Final = 20
#: Gauges that are CPU of its limit, 1 being all of it; of a service the first that comes.
CPU: Final = (
    "k8s.pod.cpu_limit_utilization",
    "k8s.container.cpu_limit_utilization",
    "process.cpu.utilization",
)
#: How units are spelled at the end of a signal's name.
_UNITS: Final = {"s": "seconds", "ms": "ms", "us": "us", "%": "percent", "1": "", "By": "bytes"}
_PER: Final = {"s": "second", "min": "minute", "h": "hour"}
_ANNOTATION: Final = re.compile(r"\{[^}]*\}")
_SQLITE_MOST: Final = 1 << 63


@attrs.define
class MetricReader:
    """Reads the metrics of a capture line by line; remembers the last point of each series.

    ``left_out`` tells what was not used.
    """

    names: Names
    unnamed: Unnamed
    _last: dict[tuple[str, str], Point] = attrs.Factory(dict)
    _exported: dict[str, int] = attrs.Factory(dict)
    _instances: dict[tuple[str, str], dict[str, tuple[int, float]]] = attrs.Factory(dict)
    _sets: dict[tuple[str, str], set[str]] = attrs.Factory(dict)
    _signals: dict[str, str] = attrs.Factory(dict)
    _cpu: dict[str, str] = attrs.Factory(dict)
    #: What was left out and how often.
    left_out: dict[str, int] = attrs.Factory(dict)

    def rows(self, spot: Spot) -> Iterator[Sample | Usage]:
        """The samples of one line."""
        resources = by_service(spot["resourceMetrics"], self.names, self.unnamed)
        for service, found, resource in resources:
            instance = told(found)
            for scope in resource["scopeMetrics"].items():
                for metric in scope["metrics"].items():
                    yield from self._metric(metric, service, instance)

    def _metric(self, metric: Spot, service: str, instance: str) -> Iterator[Sample | Usage]:
        name, unit = metric["name"].needed, metric["unit"].text
        key = f"{service} {instance} {name}"
        if "gauge" in metric:
            points = list(numbers_of(metric["gauge"]))
            yield from self._levels(points, service, instance, name, unit)
        elif "sum" in metric:
            points = list(numbers_of(metric["sum"]))
            if not metric["sum"]["isMonotonic"].value:
                yield from self._levels(points, service, instance, name, unit)
                return
            for at, (grown,), seconds in self._grown(points, key, is_delta(metric["sum"])):
                yield from self._sample(service, instance, name, "per second", at, grown / seconds)
        elif "histogram" in metric or "exponentialHistogram" in metric:
            body = metric["histogram" if "histogram" in metric else "exponentialHistogram"]
            yield from self._distribution(body, is_delta(body), service, instance, name, unit, key)
        elif "summary" in metric:
            body = metric["summary"]
            yield from self._distribution(body, False, service, instance, name, unit, key)
            for point in body["dataPoints"].items():
                at, labels = time_of(point), labels_of(point)
                for one in point["quantileValues"].items():
                    quantile, value = stated(one["quantile"]), stated(one["value"])
                    if quantile == quantile and value == value:
                        level = Point(at, 0, f"{labels} p{100 * quantile:g}", (value,))
                        yield from self._levels([level], service, instance, name, unit)
        else:
            raise metric.bad("a gauge, sum, histogram, exponentialHistogram or summary")

    def _distribution(
        self, body: Spot, delta: bool, service: str, instance: str, name: str, unit: str, key: str
    ) -> Iterator[Sample | Usage]:
        points = [
            Point(
                time_of(point),
                point["startTimeUnixNano"].whole or 0,
                labels_of(point),
                (float(point["count"].whole or 0), sum_of(point)),
            )
            for point in body["dataPoints"].items()
            if not is_empty(point)
        ]
        for at, (count, total), seconds in self._grown(points, key, delta):
            yield from self._sample(service, instance, name, "per second", at, count / seconds)
            if count > 0 and total == total:
                yield from self._sample(
                    service, instance, name, f"mean {_spelled(unit)}", at, total / count
                )

    # --- levels and growth -----------------------------------------------------------

    def _levels(
        self, points: Iterable[Point], service: str, instance: str, name: str, unit: str
    ) -> Iterator[Sample | Usage]:
        if name in CPU and self._cpu.setdefault(service, name) == name:
            together: dict[int, float] = {}
            for point in points:
                together[point.at] = together.get(point.at, 0.0) + point.values[0]
            for at, value in together.items():
                mean = self._mean(service, "cpu", instance, at, value)
                share = round(10_000 * mean)
                if 0 <= share < _SQLITE_MOST:
                    yield Usage(at // 1_000_000, service, share)
                else:
                    self._leave(f"{name}: shares below 0, or beyond 63 bits")
            return
        for point in points:
            sets = self._sets.setdefault((service, name), set())
            if point.labels not in sets and len(sets) >= MOST_SETS:
                self._leave(f"{name} of {service}: more than {MOST_SETS} sets of attributes")
                continue
            sets.add(point.labels)
            ending = f"{point.labels} {_spelled(unit)}"
            yield from self._sample(service, instance, name, ending, point.at, point.values[0])

    def _grown(
        self, points: Sequence[Point], key: str, delta: bool
    ) -> Iterator[tuple[int, tuple[float, ...], float]]:
        """Time, growth over all sets of attributes, and the seconds in which it grew."""
        grown: dict[int, tuple[list[float], float]] = {}
        for point in points:
            before = self._last.get((key, point.labels))
            if before is not None and before.at >= point.at:
                self._leave("points that are older than the one before")
                continue
            self._last[key, point.labels] = point
            since, base = point.since, (0.0,) * len(point.values)
            if not delta and before is not None:
                since = before.at
                if before.since == point.since and before.values[0] <= point.values[0]:
                    base = before.values
            elif not delta:
                # A new set of attributes: it counts from the metric's last point.
                earlier = self._exported.get(key)
                if earlier is None or earlier >= point.at:
                    continue
                since = earlier
            if not 0 < since < point.at:
                continue
            sums, _ = grown.setdefault(point.at, ([0.0] * len(point.values), 0.0))
            for place, value in enumerate(point.values):
                sums[place] += value - base[place]
            grown[point.at] = sums, (point.at - since) / 1e9
        for point in points:
            self._exported[key] = max(point.at, self._exported.get(key, 0))
        for at, (sums, seconds) in grown.items():
            yield at, tuple(sums), seconds

    # --- samples ---------------------------------------------------------------------

    def _sample(
        self, service: str, instance: str, name: str, ending: str, at: int, value: float
    ) -> Iterator[Sample]:
        source = f"{name} {ending}"
        signal, factor = signal_name(source)
        before = self._signals.setdefault(signal, source)
        if before != source:
            raise BundleError(f"metrics {before!r} and {source!r} are both {signal!r}")
        mean = self._mean(service, signal, instance, at, value)
        units = in_units(Decimal(mean), factor)
        if abs(units) < _SQLITE_MOST:
            yield Sample(at // 1_000_000, service, signal, units)
        else:
            self._leave(f"{name}: values beyond 63 bits")

    def _mean(self, service: str, signal: str, instance: str, at: int, value: float) -> float:
        """Of what the instances of a service said lately."""
        said = self._instances.setdefault((service, signal), {})
        said[instance] = at, value
        lately = [one for when, one in said.values() if when > at - STALE_MS * 1_000_000]
        return sum(lately) / len(lately)

    def _leave(self, what: str) -> None:
        self.left_out[what] = self.left_out.get(what, 0) + 1


def _spelled(unit: str) -> str:
    """A unit in words, without its annotations: ``{request}/s`` is ``per second``."""
    over, slash, under = _ANNOTATION.sub("", unit).partition("/")
    words = _UNITS.get(over, over)
    return f"{words} per {_PER.get(under, under)}" if slash else words
