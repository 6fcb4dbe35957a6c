"""Metrics of any name as signals: the name says the unit, the baseline what is usual."""

import re
from collections import defaultdict
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from statistics import median, pstdev, quantiles
from typing import Final

from logtriage.recorded.condensing.raw_rows import Sample
from logtriage.recorded.condensing.service_figures import ENOUGH
from logtriage.recorded.condensing.ticks import Clock
from logtriage.recorded.figures import FIGURES, Metric

#: However steady a metric is, a change by less than a hundredth does not matter.
FLOOR_SHARE: Final = 100

#: Ending of a metric's name, ending of its signal's name, and the signal's units in one of the
#: metric's. The first match counts; the last row keeps thousandths.
_UNITS: Final = (
    ("_percent", "_bp", 100),
    ("_pct", "_bp", 100),
    ("_milliseconds", "_us", 1000),
    ("_seconds", "_us", 1_000_000),
    ("_ms", "_us", 1000),
    ("_us", "_us", 1),
    ("_s", "_us", 1_000_000),
    ("", "_milli", 1000),
)
#: Names of signals that are no metrics.
_TAKEN: Final = frozenset({*FIGURES, "new_errors_bp", "events_bp"})


def signal_name(metric: str) -> tuple[str, int]:
    """The name of a metric's signal, and how many of its units are one of the metric's.

    ``latency_seconds`` is ``latency_us`` and a million, ``availability_percent`` is
    ``availability_bp`` and a hundred, ``Memory (MiB)`` is ``memory_mib_milli`` and a thousand.
    """
    plain = re.sub(r"[^a-z0-9]+", "_", metric.replace("%", "_percent").casefold()).strip("_")
    plain = plain or "metric"
    for ending, unit, factor in _UNITS:
        if plain.endswith(ending) and plain != ending.lstrip("_"):
            name = plain.removesuffix(ending) + unit
            return (f"metric_{name}" if name in _TAKEN else name), factor
    raise AssertionError("the last row of the table matches every name")


def in_units(value: Decimal, factor: int) -> int:
    """A metric's value in the integer units of its signal, rounded half to even."""
    return int((value * factor).to_integral_value(ROUND_HALF_EVEN))


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
