"""Metrics in OTLP: every kind of point becomes samples of a signal.

==================  =====================================================================
gauge               its value, a signal for each set of attributes
sum that may fall   the same
sum that grows      how much it grows in a second, all sets of attributes together
histogram           the mean of what was measured since the last point, and how many a second
summary             its quantiles, the mean, and how many a second
==================  =====================================================================
"""

from collections.abc import Iterator

import attrs

from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.formats.otlp import Unnamed, by_service, told
from logtriage.recorded.formats.otlp_points import (
    count_of,
    is_delta,
    is_empty,
    labels_of,
    numbers_of,
    stated,
    sum_of,
    time_of,
)
from logtriage.recorded.formats.series import Metric, Point, SeriesBook, spelled
from logtriage.recorded.names import Names
from logtriage.recorded.rows import Sample, Usage


@attrs.frozen
class MetricReader:
    """Reads the metrics of a capture line by line."""

    names: Names
    unnamed: Unnamed
    book: SeriesBook

    def rows(self, spot: Spot) -> Iterator[Sample | Usage]:
        """The samples of one line."""
        resources = by_service(spot["resourceMetrics"], self.names, self.unnamed)
        for service, found, resource in resources:
            instance = told(found)
            for scope in resource["scopeMetrics"].items():
                for one in scope["metrics"].items():
                    metric = Metric(service, instance, one["name"].needed, one["unit"].text)
                    yield from self._metric(one, metric)

    def _metric(self, one: Spot, metric: Metric) -> Iterator[Sample | Usage]:
        if "gauge" in one:
            yield from self.book.levels(metric, list(self._numbers(one["gauge"], metric)))
        elif "sum" in one:
            body = one["sum"]
            points = list(self._numbers(body, metric))
            if body["isMonotonic"].flag:
                yield from self.book.rates(metric, points, delta=is_delta(body))
            else:
                yield from self.book.levels(metric, points)
        elif "histogram" in one or "exponentialHistogram" in one:
            body = one["histogram" if "histogram" in one else "exponentialHistogram"]
            yield from self._distribution(body, metric, delta=is_delta(body))
        elif "summary" in one:
            yield from self._distribution(one["summary"], metric, delta=False)
            yield from self._quantiles(one["summary"], metric)
        else:
            raise one.bad("a gauge, sum, histogram, exponentialHistogram or summary")

    def _numbers(self, body: Spot, metric: Metric) -> Iterator[Point]:
        return numbers_of(body, lambda: self.book.leave(f"{metric.name}: infinite values"))

    def _quantiles(self, body: Spot, metric: Metric) -> Iterator[Sample | Usage]:
        for point in body["dataPoints"].items():
            at, labels = time_of(point), labels_of(point)
            for one in point["quantileValues"].items():
                quantile, value = stated(one["quantile"]), stated(one["value"])
                if quantile == quantile and value == value:
                    level = Point(at, 0, f"{labels} p{100 * quantile:g}", (value,))
                    yield from self.book.levels(metric, [level])

    def _distribution(self, body: Spot, metric: Metric, *, delta: bool) -> Iterator[Sample]:
        points = [
            Point(
                time_of(point),
                point["startTimeUnixNano"].since_epoch or 0,
                labels_of(point),
                (float(count_of(point)), sum_of(point)),
            )
            for point in body["dataPoints"].items()
            if not is_empty(point)
        ]
        for at, (count, total), seconds in self.book.grown(metric, points, delta=delta):
            yield from self.book.sample(metric, "per second", at, count / seconds)
            if count > 0 and total == total:
                ending = f"mean {spelled(metric.unit)}"
                yield from self.book.sample(metric, ending, at, total / count)
