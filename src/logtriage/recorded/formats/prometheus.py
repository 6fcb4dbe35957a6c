"""Metrics as Prometheus answers a query: ``{"data": {"resultType": …, "result": […]}}``.

The result of a range query is a ``matrix``, of an instant one a ``vector``. Whether a metric
only grows is told by its name, as Prometheus itself has it: counters end in ``_total``, the
parts of histograms and summaries in ``_count`` and ``_sum``. What an expression such as
``rate(…)`` makes has no name; the file's stands in.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from math import isfinite, isnan
from pathlib import PurePosixPath
from typing import Final

import attrs

from logtriage.recorded.formats.alerts import SERVICE_LABELS
from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.formats.series import Metric, Point, SeriesBook
from logtriage.recorded.paths import Names
from logtriage.recorded.rows import Sample, Usage

#: Labels that say where a series comes from, and nothing of what was measured: together they
#: tell one instance of a service from another.
_PLACE: Final = (
    *SERVICE_LABELS,
    "cluster",
    "container_id",
    "endpoint",
    "id",
    "image",
    "instance",
    "metrics_path",
    "name",
    "namespace",
    "node",
    "pod",
    "prometheus",
    "prometheus_replica",
    "replica",
    "uid",
)
_NAME: Final = "__name__"
_GROWING: Final = ("_total", "_count", "_sum")
_BUCKET: Final = "_bucket"
#: What is no Unix second that anybody recorded, but milliseconds.
_TOO_LATE: Final = 1e11


def is_prometheus(spot: Spot) -> bool:
    """Whether a document is an answer of Prometheus."""
    return "errorType" in spot or "resultType" in spot["data"]


@attrs.frozen
class PrometheusReader:
    """Reads answers; ``label`` names the service, None the first of the usual ones."""

    names: Names
    book: SeriesBook
    label: str | None = None

    def rows(self, spot: Spot) -> Iterator[Sample | Usage]:
        """The samples of one answer.

        Raises:
            BundleError: naming file, line and field.
        """
        data = spot["data"]
        if spot["status"].value not in (None, "success"):
            raise spot["status"].bad("'success'")
        kind = data["resultType"].value
        if kind not in ("matrix", "vector"):
            raise data["resultType"].bad("'matrix', of a range query, or 'vector'")
        found: dict[Metric, list[Point]] = {}
        for one in data["result"].items():
            metric, labels = self._metric(one)
            if metric is None:
                continue
            if metric.name.endswith(_BUCKET) or "histograms" in one or "histogram" in one:
                self.book.leave(f"{metric.name}: buckets of a histogram")
                continue
            pairs = one["values"].items() if kind == "matrix" else (one["value"],)
            points = (self._point(pair, labels, metric.name) for pair in pairs)
            found.setdefault(metric, []).extend(point for point in points if point is not None)
        yield from self._samples(found)

    def _metric(self, one: Spot) -> tuple[Metric | None, str]:
        """Whose a series is, and what its other labels say; None where it does not say whose."""
        given = one["metric"]
        if not isinstance(given.value, dict):
            raise given.bad("an object of labels")
        labels = {key: given[key].text for key in given.value}
        name = labels.pop(_NAME, "") or _stem(one.where)
        wanted = SERVICE_LABELS if self.label is None else (self.label,)
        label = next((key for key in wanted if labels.get(key, "").strip()), None)
        if label is None:
            self.book.unlabelled = True
            self.book.leave(f"{name}: series without a label {' or '.join(wanted)}")
            return None, ""
        service = self.names(labels.pop(label), one.where)
        instance = " ".join(labels.pop(key, "") for key in _PLACE)
        return Metric(service, instance, name), " ".join(labels[key] for key in sorted(labels))

    def _samples(self, found: Mapping[Metric, list[Point]]) -> Iterator[Sample | Usage]:
        """All in order of time, since the instances of a service are told together."""
        rows = ((point.at, metric, point) for metric, points in found.items() for point in points)
        ordered = sorted(rows, key=lambda row: row[0])
        for (_, metric), group in groupby(ordered, key=lambda row: row[:2]):
            points = [point for _, _, point in group]
            if metric.name.endswith(_GROWING):
                yield from self.book.rates(metric, points)
            else:
                yield from self.book.levels(metric, points)

    def _point(self, pair: Spot, labels: str, name: str) -> Point | None:
        """A value and its time; None where it is no finite number."""
        found = _numbers(pair)
        if found is None:
            return None
        at, number = found
        if not isfinite(number):
            self.book.leave(f"{name}: infinite values")
            return None
        return Point(at, 0, labels, (number,))


def _numbers(pair: Spot) -> tuple[int, float] | None:
    """The time, in Unix nanoseconds, and the value of a point; None where that is NaN."""
    if not isinstance(pair.value, list) or len(pair.value) != 2:
        raise pair.bad("a list of Unix seconds and a number in a string")
    at, value = pair.items()
    seconds = at.number
    if seconds is None or not 0 < seconds < _TOO_LATE:
        raise at.bad("Unix seconds")
    text = value.needed
    try:
        number = float(text)
    except ValueError:
        raise value.bad("a number in a string") from None
    return None if isnan(number) else (round(1000 * seconds) * 1_000_000, number)


def _stem(where: str) -> str:
    """The name of the file of a place."""
    path = PurePosixPath(where.rpartition(":")[0])
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem
