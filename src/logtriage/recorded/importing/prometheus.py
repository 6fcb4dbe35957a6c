"""Metrics as Prometheus answers a query: ``{"data": {"resultType": …, "result": […]}}``.

The result of a range query is a ``matrix``, of an instant query a ``vector``. As in Prometheus
itself, a metric only grows if its name says so: counters end in ``_total``, the parts of
histograms and summaries in ``_count`` and ``_sum``. The result of an expression such as
``rate(…)`` has no name; the file's stands in.
"""

from collections.abc import Iterator
from itertools import groupby
from math import isfinite, isnan
from pathlib import PurePosixPath
from typing import Final

import attrs

from logtriage.recorded.condensing.raw_rows import Sample, Usage
from logtriage.recorded.importing.alerts import SERVICE_LABELS
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.metric_series import Metric, Point, SeriesBook
from logtriage.recorded.importing.service_names import Names

#: Labels of the place where a series was measured: together they identify an instance.
_PLACE: Final = (
    *SERVICE_LABELS,
    *("cluster", "container_id", "endpoint", "id", "image", "instance", "metrics_path", "name"),
    *("namespace", "node", "pod", "prometheus", "prometheus_replica", "replica", "uid"),
)
_GROWING: Final = ("_total", "_count", "_sum")
#: Larger numbers are milliseconds, and no Unix seconds.
_TOO_LATE: Final = 1e11


def is_prometheus(spot: Field) -> bool:
    """Whether a document is an answer of Prometheus."""
    return "errorType" in spot or "resultType" in spot["data"]


@attrs.frozen
class PrometheusReader:
    """Reads answers; ``label`` names the service; None: the first of :data:`SERVICE_LABELS`."""

    names: Names
    book: SeriesBook
    label: str | None = None

    def rows(self, spot: Field) -> Iterator[Sample | Usage]:
        """The samples of one answer in order of time, all instances of a service together.

        Raises:
            BundleError: naming file, line and field.
        """
        data = spot["data"]
        if spot["status"].value not in (None, "success"):
            raise spot["status"].bad("'success'")
        kind = data["resultType"].value
        if kind not in ("matrix", "vector"):
            raise data["resultType"].bad("'matrix', of a range query, or 'vector'")
        rows: list[tuple[int, Metric, Point]] = []
        for series in data["result"].items():
            metric, labels = self._metric(series)
            if metric is None:
                continue
            buckets = metric.name.endswith("_bucket")
            if buckets or "histograms" in series or "histogram" in series:
                self.book.leave(f"{metric.name}: buckets of a histogram")
                continue
            for pair in series["values"].items() if kind == "matrix" else (series["value"],):
                at, value = _numbers(pair)
                if isfinite(value):
                    rows.append((at, metric, Point(at, 0, labels, (value,))))
                elif not isnan(value):
                    self.book.leave(f"{metric.name}: infinite values")
        order = {
            metric: place for place, metric in enumerate(dict.fromkeys(row[1] for row in rows))
        }
        rows.sort(key=lambda row: (row[0], order[row[1]]))
        for (_, metric), group in groupby(rows, key=lambda row: row[:2]):
            points = [point for _, _, point in group]
            if metric.name.endswith(_GROWING):
                yield from self.book.rates(metric, points)
            else:
                yield from self.book.levels(metric, points)

    def _metric(self, series: Field) -> tuple[Metric | None, str]:
        """The metric of a series, and its other labels; None if no label names a service."""
        about = series["metric"]
        if not isinstance(about.value, dict):
            raise about.bad("an object of labels")
        labels = {key: about[key].text for key in about.value}
        name = labels.pop("__name__", "") or _stem(series.where)
        wanted = SERVICE_LABELS if self.label is None else (self.label,)
        label = next((key for key in wanted if labels.get(key, "").strip()), None)
        if label is None:
            self.book.unlabelled = True
            self.book.leave(f"{name}: series without a label {' or '.join(wanted)}")
            return None, ""
        service = self.names(labels.pop(label), series.where)
        instance = " ".join(labels.pop(key, "") for key in _PLACE)
        return Metric(service, instance, name), " ".join(labels[key] for key in sorted(labels))


def _numbers(pair: Field) -> tuple[int, float]:
    """The time of a point, in Unix nanoseconds, and its value."""
    if not isinstance(pair.value, list) or len(pair.value) != 2:
        raise pair.bad("a list of Unix seconds and a number in a string")
    at, value = pair.items()
    seconds = at.number
    if seconds is None or not 0 < seconds < _TOO_LATE:
        raise at.bad("Unix seconds")
    text = value.needed
    try:
        return round(1000 * seconds) * 1_000_000, float(text)
    except ValueError:
        raise value.bad("a number in a string") from None


def _stem(where: str) -> str:
    """The name of the file of a place, without its endings."""
    path = PurePosixPath(where.rpartition(":")[0])
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem
