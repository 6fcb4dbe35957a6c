"""Means with intervals, paired differences, repeated attempts, and calibration.

Intervals are percentile bootstrap intervals: the mean of :data:`RESAMPLES` samples
drawn with replacement, cut at the outer percentiles. The draws come from a generator
with a fixed seed, so that the same values always have the same interval. It tells of
the luck of the draw of incidents, and of nothing else.
"""

from collections.abc import Sequence
from math import comb, fsum
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


def pass_at_k(passed: int, attempts: int, k: int) -> float:
    """The chance that at least one of ``k`` attempts passes, from ``attempts`` made.

    The unbiased estimate 1 - C(n - c, k) / C(n, k) with c of n attempts passed [1]_. Of
    several incidents take the mean; its interval is that of :func:`mean_interval` over
    incidents.

    Raises:
        InvalidInput: unless 1 <= k <= attempts and 0 <= passed <= attempts.

    .. [1] M. Chen et al., "Evaluating Large Language Models Trained on Code",
       arXiv:2107.03374, section 2.1.
    """
    _check_attempts(passed, attempts, k)
    return 1.0 - comb(attempts - passed, k) / comb(attempts, k)


def pass_hat_k(passed: int, attempts: int, k: int) -> float:
    """The chance that all of ``k`` attempts pass (pass^k), from ``attempts`` made.

    The unbiased estimate C(c, k) / C(n, k) with c of n attempts passed [1]_: how far an
    agent can be relied on, where :func:`pass_at_k` says what it can do at best.

    Raises:
        InvalidInput: as :func:`pass_at_k`.

    .. [1] S. Yao et al., "tau-bench: A Benchmark for Tool-Agent-User Interaction in
       Real-World Domains", arXiv:2406.12045, section 3.
    """
    _check_attempts(passed, attempts, k)
    return comb(passed, k) / comb(attempts, k)


def _check_attempts(passed: int, attempts: int, k: int) -> None:
    if not 0 <= passed <= attempts:
        raise InvalidInput(f"{passed} of {attempts} attempts cannot have passed")
    if not 1 <= k <= attempts:
        raise InvalidInput(f"k must lie in 1 to {attempts}, the attempts made; got {k}")


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
