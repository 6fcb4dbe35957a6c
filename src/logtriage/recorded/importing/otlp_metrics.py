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
from math import isnan, nan
from typing import Final

from logtriage.recorded.condensing.raw_rows import Sample, Usage
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.metric_series import Labels, Metric, Point, SeriesBook, spelled
from logtriage.recorded.importing.otlp import attributes, enumerated, in_words, items_of
from logtriage.recorded.importing.reader import Reader

_TEMPORALITIES: Final = ("UNSPECIFIED", "DELTA", "CUMULATIVE")


def metrics_of(payload: Field, reader: Reader) -> Iterator[Sample | Usage]:
    """The samples of an object of OTLP."""
    for service, about, row in items_of(payload, "Metrics", "metrics", reader):
        metric = Metric(service, in_words(about), row["name"].needed, row["unit"].text)
        yield from _metric(row, metric, reader.book)


def _metric(row: Field, metric: Metric, book: SeriesBook) -> Iterator[Sample | Usage]:
    if "gauge" in row:
        yield from book.levels(metric, list(_numbers(row["gauge"], metric, book)))
    elif "sum" in row:
        body = row["sum"]
        points = list(_numbers(body, metric, book))
        if body["isMonotonic"].flag:
            yield from book.rates(metric, points, delta=_is_delta(body))
        else:
            yield from book.levels(metric, points)
    elif "histogram" in row or "exponentialHistogram" in row:
        body = row["histogram" if "histogram" in row else "exponentialHistogram"]
        yield from _distribution(body, metric, book, delta=_is_delta(body))
    elif "summary" in row:
        yield from _distribution(row["summary"], metric, book, delta=False)
        yield from _quantiles(row["summary"], metric, book)
    else:
        raise row.bad("a gauge, sum, histogram, exponentialHistogram or summary")


def _numbers(body: Field, metric: Metric, book: SeriesBook) -> Iterator[Point]:
    """The points of a gauge or a sum; NaN and infinite values are left out."""
    for point in _points(body):
        if "asDouble" not in point and "asInt" not in point:
            raise point.bad("a data point with asDouble or asInt")
        value = point["asDouble"].number if "asDouble" in point else point["asInt"].whole
        if value is not None:
            yield _point(point, float(value))
        elif point["asDouble"].value != "NaN":
            book.left_out.add(f"{metric.name}: infinite values")


def _quantiles(body: Field, metric: Metric, book: SeriesBook) -> Iterator[Sample | Usage]:
    for point in body["dataPoints"].items():
        at, labels = point["timeUnixNano"].at("nanoseconds"), _labels_of(point)
        for row in point["quantileValues"].items():
            # As protobuf has it, 0 is not written.
            quantile, value = (
                0.0 if row[name].value is None else _or_nan(row[name])
                for name in ("quantile", "value")
            )
            if not isnan(quantile) and not isnan(value):
                level = Point(at, 0, (*labels, ("quantile", f"p{100 * quantile:g}")), (value,))
                yield from book.levels(metric, [level])


def _distribution(
    body: Field, metric: Metric, book: SeriesBook, *, delta: bool
) -> Iterator[Sample]:
    points = [
        _point(point, float(point["count"].count), _or_nan(point["sum"])) for point in _points(body)
    ]
    for at, (count, total), seconds in book.grown(metric, points, delta=delta):
        yield from book.sample(metric, "per second", at, count / seconds)
        if count > 0 and not isnan(total):
            ending = f"mean {spelled(metric.unit)}"
            yield from book.sample(metric, ending, at, total / count)


def _points(body: Field) -> Iterator[Field]:
    """The data points, without those whose flags say that nothing was recorded."""
    for point in body["dataPoints"].items():
        if not (point["flags"].whole or 0) & 1:
            yield point


def _point(point: Field, *values: float) -> Point:
    since = point["startTimeUnixNano"].since_epoch or 0
    return Point(point["timeUnixNano"].at("nanoseconds"), since, _labels_of(point), values)


def _or_nan(field: Field) -> float:
    number = field.number
    return nan if number is None else number


def _labels_of(point: Field) -> Labels:
    about = attributes(point["attributes"])
    return tuple(sorted((key, in_words(value)) for key, value in about.items()))


def _is_delta(body: Field) -> bool:
    """Whether each point counts anew, and is not cumulative."""
    temporality = body["aggregationTemporality"]
    return enumerated(temporality, _TEMPORALITIES, "AGGREGATION_TEMPORALITY_") == "DELTA"
