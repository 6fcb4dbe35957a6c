"""Metrics in OTLP: every kind of point becomes samples of a signal.

==================  =====================================================================
gauge               its value, a signal for each set of attributes
sum that may fall   the same
sum that grows      how much it grows in a second, all sets of attributes together
histogram           the mean of what was measured since the last point, and how many a second
summary             its quantiles, the mean, and how many a second
==================  =====================================================================
"""

from collections.abc import Callable, Iterator
from math import nan
from typing import Final

import attrs

from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.formats.otlp import Unnamed, attributes, enumerated, items_of, told
from logtriage.recorded.formats.series import Metric, Point, SeriesBook, spelled
from logtriage.recorded.paths import Names
from logtriage.recorded.rows import Sample, Usage

_TEMPORALITIES: Final = ("UNSPECIFIED", "DELTA", "CUMULATIVE")


@attrs.frozen
class MetricReader:
    """Reads the metrics of a capture line by line."""

    names: Names
    unnamed: Unnamed
    book: SeriesBook

    def rows(self, spot: Spot) -> Iterator[Sample | Usage]:
        """The samples of one line."""
        for service, found, one in items_of(spot, "Metrics", "metrics", self.names, self.unnamed):
            metric = Metric(service, told(found), one["name"].needed, one["unit"].text)
            yield from self._metric(one, metric)

    def _metric(self, one: Spot, metric: Metric) -> Iterator[Sample | Usage]:
        if "gauge" in one:
            yield from self.book.levels(metric, list(self._numbers(one["gauge"], metric)))
        elif "sum" in one:
            body = one["sum"]
            points = list(self._numbers(body, metric))
            if body["isMonotonic"].flag:
                yield from self.book.rates(metric, points, delta=_is_delta(body))
            else:
                yield from self.book.levels(metric, points)
        elif "histogram" in one or "exponentialHistogram" in one:
            body = one["histogram" if "histogram" in one else "exponentialHistogram"]
            yield from self._distribution(body, metric, delta=_is_delta(body))
        elif "summary" in one:
            yield from self._distribution(one["summary"], metric, delta=False)
            yield from self._quantiles(one["summary"], metric)
        else:
            raise one.bad("a gauge, sum, histogram, exponentialHistogram or summary")

    def _numbers(self, body: Spot, metric: Metric) -> Iterator[Point]:
        return _numbers_of(body, lambda: self.book.leave(f"{metric.name}: infinite values"))

    def _quantiles(self, body: Spot, metric: Metric) -> Iterator[Sample | Usage]:
        for point in body["dataPoints"].items():
            at, labels = _time_of(point), _labels_of(point)
            for one in point["quantileValues"].items():
                quantile, value = _stated(one["quantile"]), _stated(one["value"])
                if quantile == quantile and value == value:
                    level = Point(at, 0, f"{labels} p{100 * quantile:g}", (value,))
                    yield from self.book.levels(metric, [level])

    def _distribution(self, body: Spot, metric: Metric, *, delta: bool) -> Iterator[Sample]:
        points = [
            Point(
                _time_of(point),
                point["startTimeUnixNano"].since_epoch or 0,
                _labels_of(point),
                (float(_count_of(point)), _sum_of(point)),
            )
            for point in body["dataPoints"].items()
            if not _is_empty(point)
        ]
        for at, (count, total), seconds in self.book.grown(metric, points, delta=delta):
            yield from self.book.sample(metric, "per second", at, count / seconds)
            if count > 0 and total == total:
                ending = f"mean {spelled(metric.unit)}"
                yield from self.book.sample(metric, ending, at, total / count)


# --- points ------------------------------------------------------------------------------


def _numbers_of(body: Spot, endless: Callable[[], None]) -> Iterator[Point]:
    """The points of a gauge or a sum; NaN, and what says that it is empty, is left out.

    So is what is infinite, of which ``endless`` is told.
    """
    for point in body["dataPoints"].items():
        if _is_empty(point):
            continue
        value = point["asDouble"].number if "asDouble" in point else point["asInt"].whole
        if value is None and "asDouble" not in point:
            raise point.bad("a data point with asDouble or asInt")
        if value is None:
            if point["asDouble"].value != "NaN":
                endless()
        else:
            since = point["startTimeUnixNano"].since_epoch or 0
            yield Point(_time_of(point), since, _labels_of(point), (float(value),))


def _is_empty(point: Spot) -> bool:
    """Whether a point says that nothing was recorded (bit 0 of its flags)."""
    return bool((point["flags"].whole or 0) & 1)


def _time_of(point: Spot) -> int:
    """When it was measured, in Unix nanoseconds."""
    at = point["timeUnixNano"].since_epoch
    if at is None:
        raise point["timeUnixNano"].bad("Unix nanoseconds")
    return at


def _stated(spot: Spot) -> float:
    """A number; one that is not written is 0, as protobuf has it, and one that is none NaN."""
    if spot.value is None:
        return 0.0
    found = spot.number
    return nan if found is None else found


def _sum_of(point: Spot) -> float:
    """The sum of a point; NaN where it has none, which it need not have."""
    found = point["sum"].number
    return nan if found is None else found


def _labels_of(point: Spot) -> str:
    """The values of its attributes, in the order of their keys."""
    found = attributes(point["attributes"])
    return " ".join(told(found[name]) for name in sorted(found))


def _is_delta(body: Spot) -> bool:
    """Whether points tell of the time since the last one, and are not cumulative."""
    found = enumerated(body["aggregationTemporality"], _TEMPORALITIES, "AGGREGATION_TEMPORALITY_")
    return found == "DELTA"


def _count_of(point: Spot) -> int:
    """How many were measured; one that is not written is 0, as protobuf has it."""
    found = point["count"].whole or 0
    if found < 0:
        raise point["count"].bad("a whole number from 0 on")
    return found
