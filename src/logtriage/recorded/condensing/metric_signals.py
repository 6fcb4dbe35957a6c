"""Metrics of any name as signals: the baseline says what is usual."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median, pstdev, quantiles
from typing import Final

from logtriage.recorded.condensing.raw_rows import Sample
from logtriage.recorded.condensing.service_figures import ENOUGH
from logtriage.recorded.condensing.ticks import Clock
from logtriage.recorded.figures import Metric

#: However steady a metric is, a change by less than a hundredth does not matter.
FLOOR_SHARE: Final = 100


def metrics_of(now: Sequence[Sample], usual: Sequence[Sample], clock: Clock) -> tuple[Metric, ...]:
    """The metrics of one service by name, each with its usual value.

    ``usual`` is the median of the baseline's samples, ``spread`` their standard deviation and
    ``iqr`` the distance of their quartiles, both at least a hundredth of the usual value.
    """
    here, there = _by_name(now), _by_name(usual)
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


def _by_name(samples: Sequence[Sample]) -> dict[str, list[tuple[int, int]]]:
    values: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for sample in samples:
        values[sample.name].append((sample.at, sample.value))
    return values
