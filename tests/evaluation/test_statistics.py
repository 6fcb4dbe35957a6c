from itertools import combinations
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest

from logtriage.errors import InvalidInput
from logtriage.evaluation.statistics import (
    LEVEL,
    RESAMPLES,
    brier,
    mean_interval,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    ratio_interval,
)


def test_without_values_there_is_no_mean() -> None:
    assert mean_interval([]) is None
    assert paired_difference([], []) is None
    assert brier([], []) is None


def test_a_single_value_has_no_interval() -> None:
    for single in (mean_interval([0.5]), ratio_interval([1], [2])):
        assert single is not None
        assert single.bounds == (-inf, inf)
        assert f"{single:.2f}" == "0.50 [–, –]"


def test_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    draws = np.random.default_rng(1)
    interval = [mean_interval(list(draws.normal(size=60))) for _ in range(300)]
    held = sum(one is not None and one.bounds[0] <= 0.0 <= one.bounds[1] for one in interval)
    assert 270 <= held <= 297  # 285 expected, a few less for so small samples


def test_many_values_are_resampled_in_blocks_of_the_same_distribution() -> None:
    interval = mean_interval([0.0, 1.0] * 5_000)
    assert interval is not None
    half = 1.96 * sqrt(0.25 / 10_000)
    low, high = interval.bounds
    assert high - low == pytest.approx(2 * half, rel=0.1)


def test_unequal_lengths_are_no_pairs() -> None:
    with pytest.raises(InvalidInput, match="1 values cannot be paired with 2"):
        paired_difference([1.0], [1.0, 2.0])
    with pytest.raises(InvalidInput, match="1 values cannot be paired with 2"):
        brier([1.0], [True, False])


@pytest.mark.parametrize(
    ("confidences", "correct", "expected"),
    [
        ([1.0, 0.0], [True, False], 0.0),
        ([1.0, 0.0], [False, True], 1.0),
        ([0.5, 0.5, 0.5], [True, False, True], 0.25),
        ([0.8, 0.6], [True, False], (0.04 + 0.36) / 2),
    ],
)
def test_brier_score(confidences: list[float], correct: list[bool], expected: float) -> None:
    assert brier(confidences, correct) == pytest.approx(expected)


def grades(seed: int, count: int) -> list[float]:
    """Something like grades: many zeros, many ones, the rest between."""
    draws = np.random.default_rng(seed)
    return [float(one) for one in np.clip(draws.normal(0.4, 0.6, count), 0.0, 1.0)]


@pytest.mark.parametrize(("seed", "count"), [(0, 40), (1, 250), (2, 1_000)])
def test_interval_is_that_of_scipy(seed: int, count: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    values = grades(seed, count)
    interval = mean_interval(values)
    wanted = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=5 * RESAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(7),
    )
    assert interval is not None
    # Two bootstraps of a few thousand draws agree to a few per cent of their width.
    width = wanted.confidence_interval.high - wanted.confidence_interval.low
    assert interval.mean == pytest.approx(np.mean(values), abs=1e-12)
    assert interval.low == pytest.approx(wanted.confidence_interval.low, abs=0.06 * width)
    assert interval.high == pytest.approx(wanted.confidence_interval.high, abs=0.06 * width)


def test_pass_at_k_counts_the_samples_that_could_have_been_drawn() -> None:
    """Both estimators are shares of all k-subsets of the attempts made."""
    for attempts in range(1, 8):
        for passed in range(attempts + 1):
            outcomes = [True] * passed + [False] * (attempts - passed)
            for k in range(1, attempts + 1):
                samples = list(combinations(outcomes, k))
                some = sum(any(sample) for sample in samples) / len(samples)
                every = sum(all(sample) for sample in samples) / len(samples)
                assert pass_at_k(passed, attempts, k) == pytest.approx(some)
                assert pass_hat_k(passed, attempts, k) == pytest.approx(every)


@pytest.mark.parametrize("estimate", [pass_at_k, pass_hat_k])
def test_attempts_that_cannot_be_are_refused(estimate: Any) -> None:
    with pytest.raises(InvalidInput, match="k must lie in 1 to 4, the attempts made; got 5"):
        estimate(2, 4, 5)
    with pytest.raises(InvalidInput, match="got 0"):
        estimate(2, 4, 0)
    for passed in (-1, 5):
        with pytest.raises(InvalidInput, match=f"{passed} of 4 attempts cannot have passed"):
            estimate(passed, 4, 1)
