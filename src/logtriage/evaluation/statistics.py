"""Means with intervals, paired differences, and the calibration of confidences.

Intervals are percentile bootstrap intervals: the mean of :data:`RESAMPLES` samples
drawn with replacement, cut at the outer percentiles. The draws come from a generator
with a fixed seed, so that the same values always have the same interval. It tells of
the luck of the draw of incidents, and of nothing else.
"""

from collections.abc import Sequence
from math import fsum
from typing import Final

import attrs
import numpy as np

from logtriage.errors import InvalidInput

RESAMPLES: Final = 2_000
#: The share of resampled means that an interval holds.
LEVEL: Final = 0.95
SEED: Final = 20_231_129
#: Resampled values held in memory at a time.
_BLOCK: Final = 2_000_000


@attrs.frozen
class Interval:
    """A mean with the interval that holds it in :data:`LEVEL` of the resamples."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> Interval | None:
    """The mean of values with its bootstrap interval; None if there are none."""
    count = len(values)
    if not count:
        return None
    sample = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(SEED)
    rows = max(1, _BLOCK // count)
    means = np.concatenate(
        [
            sample[draws.integers(count, size=(min(rows, RESAMPLES - done), count))].mean(axis=1)
            for done in range(0, RESAMPLES, rows)
        ]
    )
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(means, (tail, 1.0 - tail))
    return Interval(fsum(values) / count, float(low), float(high))


def paired_difference(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """The mean of ``after - before``, pair by pair, with its bootstrap interval.

    Raises:
        InvalidInput: if the two are not of one length.
    """
    if len(before) != len(after):
        raise InvalidInput(f"{len(before)} values cannot be paired with {len(after)}")
    return mean_interval([new - old for old, new in zip(before, after, strict=True)])


def brier(confidences: Sequence[float], correct: Sequence[bool]) -> float | None:
    """Brier score: the mean of (confidence - outcome) squared; 0 is best, None without any.

    Always saying one half earns 0.25.

    Raises:
        InvalidInput: if the two are not of one length.
    """
    if len(confidences) != len(correct):
        raise InvalidInput(f"{len(confidences)} confidences for {len(correct)} outcomes")
    if not confidences:
        return None
    squares = [(said - was) ** 2 for said, was in zip(confidences, correct, strict=True)]
    return fsum(squares) / len(squares)
