"""Means with intervals, paired differences, repeated attempts, and calibration.

Intervals of means are percentile bootstrap intervals over :data:`RESAMPLES` samples drawn with
replacement, from a fixed seed. They reflect the luck of the draw of incidents, and nothing else.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from math import comb, copysign, fsum, inf, sqrt
from statistics import NormalDist, fmean
from typing import Final, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage._lib.grouping import grouped
from logtriage._lib.printable import nudged
from logtriage.errors import InvalidInput

T = TypeVar("T")
U = TypeVar("U")
RESAMPLES: Final = 2_000
#: The share of resampled means that an interval holds.
LEVEL: Final = 0.95
SEED: Final = 20_231_129
_HALVINGS: Final = 50
#: Resampled values held in memory at a time.
_BLOCK: Final = 2_000_000


@attrs.frozen
class Interval:
    """A mean with the interval that holds it in :data:`LEVEL` of the resamples.

    ``low`` and ``high`` are None for the mean of a single value, since its resamples are all equal.
    """

    mean: float
    low: float | None
    high: float | None

    @property
    def bounds(self) -> tuple[float, float]:
        """``low`` and ``high``; minus and plus infinity for a single value."""
        return -inf if self.low is None else self.low, inf if self.high is None else self.high

    def __format__(self, spec: str) -> str:
        """``mean [low, high]``, each number by ``spec``; a dash for None, and no -0."""
        mean, low, high = (_written(value, spec) for value in (self.mean, self.low, self.high))
        return f"{mean} [{low}, {high}]"


def _written(value: float | None, spec: str) -> str:
    text = "–" if value is None else format(nudged(value), spec)
    is_zero = not text.strip("-0.")  # after rounding
    return text.replace("-", "+" if "+" in spec else "") if is_zero else text


def mean_interval(values: Sequence[float]) -> Interval | None:
    """The mean of values with its bootstrap interval; None if there are none."""
    count = len(values)
    if not count:
        return None
    sample = np.asarray(values, dtype=np.float64)
    return _bootstrapped(fsum(values) / count, count, lambda rows: sample[rows].mean(axis=1))


def paired(one: Sequence[T], other: Sequence[U]) -> list[tuple[T, U]]:
    """The pairs of two sides; an InvalidInput says if one is longer."""
    if len(one) != len(other):
        raise InvalidInput(f"{len(one)} values cannot be paired with {len(other)}")
    return list(zip(one, other, strict=True))


def mean_known(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def mean_by_incident(measured: Iterable[tuple[str, float | None]]) -> float | None:
    """The mean over incidents of the mean attempt, of (incident id, what is known of an attempt).

    None if nothing is known. However many attempts an incident has, it counts once.
    """
    return mean_known(mean_known(attempts) for attempts in grouped(measured).values())


def mean_of_attempts(attempts: Iterable[Sequence[float]]) -> Interval | None:
    """The mean over incidents of the mean attempt at each; None without any.

    The interval is over incidents: attempts at one are not independent.
    """
    return mean_interval([fmean(each) for each in attempts])


def ratio_interval(above: Sequence[float], below: Sequence[float]) -> Interval | None:
    """The ratio of two sums with its bootstrap interval; None if there are no values.

    Pairs are drawn together: the interval is of a ratio of sums, never of a mean of ratios.
    InvalidInput if their lengths differ, or a value of ``below`` is not above 0.
    """
    paired(above, below)
    for number, value in enumerate(below):
        if value <= 0:
            raise InvalidInput(f"below[{number}] must be above 0, got {value!r}")
    if not above:
        return None
    upper, lower = (np.asarray(values, dtype=np.float64) for values in (above, below))
    return _bootstrapped(
        sum(above) / sum(below),
        len(above),
        lambda rows: upper[rows].sum(axis=1) / lower[rows].sum(axis=1),
    )


def _bootstrapped(
    mean: float, count: int, means_of: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> Interval:
    """A mean of ``count`` values with its interval.

    ``means_of`` takes blocks (rows, count) of places drawn with replacement, :data:`RESAMPLES` rows
    in all.
    """
    if count == 1:
        return Interval(mean, low=None, high=None)
    draws = np.random.default_rng(SEED)
    rows = max(1, _BLOCK // count)
    blocks = [
        means_of(draws.integers(count, size=(min(rows, RESAMPLES - done), count)))
        for done in range(0, RESAMPLES, rows)
    ]
    return resampled_interval(mean, np.concatenate(blocks))


def resampled_interval(mean: float, resampled: NDArray[np.float64]) -> Interval:
    """The interval of a mean by its resampled values."""
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(resampled, (tail, 1.0 - tail))
    return Interval(mean, float(low), float(high))


def bound_of(scores: Iterable[float | None], count: int | None = None) -> float | None:
    """A lower bound of a mean of grades: unscored episodes (None) count as 0. None without any.

    ``count`` is the number of planned episodes, if some may be missing. Breaking off episodes can
    raise a mean that leaves them out, but not this bound.
    """
    grades = [0.0 if score is None else score for score in scores]
    episodes = len(grades) if count is None else count
    return fsum(grades) / episodes if episodes else None


def paired_difference(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """The mean of ``after - before`` with its bootstrap interval; pairs as of :func:`paired`."""
    return mean_interval([new - old for old, new in paired(before, after)])


def paired_share_difference(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """The difference of two shares, ``after - before``, of the same incidents; None without any.

    The interval is Tango's score interval for paired proportions (T. Tango, Statistics in Medicine
    17, 1998). Unlike the bootstrap's it stays open where no pair differs: of 20 pairs without a
    difference it reaches to 0.16 on both sides. A value between 0 and 1 is the share of several
    attempts at an incident. The interval is then rather too wide: two changes by a half count as
    a whole change, which varies more.

    Raises:
        InvalidInput: if their lengths differ.
    """
    pairs = paired(before, after)
    count = len(pairs)
    if not count:
        return None
    gained = sum(max(new - old, 0.0) for old, new in pairs)
    lost = sum(max(old - new, 0.0) for old, new in pairs)
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    mean = (gained - lost) / count
    # The score falls as the difference grows.
    low = bisected(-1.0, 1.0, lambda at: _score(at, gained, lost, count) > z)
    high = bisected(-1.0, 1.0, lambda at: _score(at, gained, lost, count) > -z)
    return Interval(mean, min(low, mean), max(high, mean))  # a bisection ends beside 1


def bisected(low: float, high: float, lies_below: Callable[[float], bool]) -> float:
    """The place in an interval up to which ``lies_below`` holds, by bisection."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if lies_below(middle) else (low, middle)
    return (low + high) / 2


def _score(difference: float, gained: float, lost: float, count: int) -> float:
    """Tango's score statistic of a difference of paired shares."""
    a = 2.0 * count
    b = -gained - lost + (2.0 * count - gained + lost) * difference
    c = -lost * difference * (1.0 - difference)
    share = (sqrt(max(0.0, b * b - 4.0 * a * c)) - b) / (2.0 * a)
    variance = count * (2.0 * share + difference * (1.0 - difference))
    excess = gained - lost - count * difference
    if variance > 0.0:
        return excess / sqrt(variance)
    return copysign(inf, excess) if excess else 0.0


def pass_at_k(passed: int, attempts: int, k: int) -> float:
    """The chance that at least one of ``k`` attempts passes, from ``attempts`` made.

    The unbiased estimate 1 - C(n - c, k) / C(n, k) with c of n attempts passed: M. Chen et al.,
    "Evaluating Large Language Models Trained on Code", arXiv:2107.03374, section 2.1. For several
    incidents take the mean, with :func:`mean_interval` over incidents.

    Raises:
        InvalidInput: unless 1 <= k <= attempts and 0 <= passed <= attempts.
    """
    _check_attempts(passed, attempts, k)
    return 1.0 - comb(attempts - passed, k) / comb(attempts, k)


def pass_hat_k(passed: int, attempts: int, k: int) -> float:
    """The chance that all of ``k`` attempts pass (pass^k), from ``attempts`` made.

    The unbiased estimate C(c, k) / C(n, k) with c of n attempts passed: S. Yao et al., "tau-bench:
    A Benchmark for Tool-Agent-User Interaction in Real-World Domains", arXiv:2406.12045, section 3.
    Raises as :func:`pass_at_k`.
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

    Always saying one half earns 0.25. Raises InvalidInput if lengths differ, as :func:`paired`.
    """
    squares = [(stated - was) ** 2 for stated, was in paired(confidences, correct)]
    return fsum(squares) / len(squares) if squares else None


def augrc(confidences: Sequence[float], correct: Sequence[bool]) -> float | None:
    """The area under the generalised risk over coverage; 0 is best, None without answers.

    A threshold accepts the answers with at least that confidence. Coverage is the share of answers
    accepted; the generalised risk is the share of all answers that are accepted and wrong. AUGRC
    averages this risk over all thresholds: J. Traub et al., "Overcoming common flaws in the
    evaluation of selective classification systems", NeurIPS 2024. It lies in [0, 1/2]: 0 if every
    answer is right, 1/2 if none is. Answers of the same confidence count as accepted in random
    order. Raises InvalidInput if lengths differ, as :func:`paired`.
    """
    answers = paired(confidences, correct)
    if not answers:
        return None
    right = sorted(confidence for confidence, is_right in answers if is_right)
    wrong = [confidence for confidence, is_right in answers if not is_right]
    # Twice the pairs in which a wrong answer is accepted before a right answer, by any threshold.
    before = sum(bisect_left(right, stated) + bisect_right(right, stated) for stated in wrong)
    return (before + len(wrong) ** 2) / (2 * len(answers) ** 2)
