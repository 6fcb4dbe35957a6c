from math import sqrt

import numpy as np
import pytest

from logtriage.errors import InvalidInput
from logtriage.evaluation.statistics import Interval, brier, mean_interval, paired_difference


def test_without_values_there_is_no_mean() -> None:
    assert mean_interval([]) is None
    assert paired_difference([], []) is None
    assert brier([], []) is None


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
def test_values_that_agree_leave_no_doubt(value: float) -> None:
    assert mean_interval([value] * 30) == Interval(value, value, value)


def test_one_value_is_its_own_interval() -> None:
    assert mean_interval([0.7]) == Interval(0.7, 0.7, 0.7)


def test_interval_of_a_coin_is_that_of_the_binomial() -> None:
    count = 400
    found = mean_interval([0.0, 1.0] * (count // 2))
    assert found is not None
    half = 1.96 * sqrt(0.25 / count)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - half, abs=0.006)
    assert found.high == pytest.approx(0.5 + half, abs=0.006)


def test_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    draws = np.random.default_rng(1)
    found = [mean_interval(list(draws.normal(size=60))) for _ in range(300)]
    held = sum(one is not None and one.low <= 0.0 <= one.high for one in found)
    assert 270 <= held <= 297  # 285 expected, a few less for so small samples


def test_interval_narrows_with_the_root_of_the_number_of_values() -> None:
    few, many = mean_interval([0.0, 1.0] * 50), mean_interval([0.0, 1.0] * 800)
    assert few is not None
    assert many is not None
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(4.0, rel=0.1)


def test_same_values_have_the_same_interval_each_time() -> None:
    values = [0.1 * (index % 7) for index in range(123)]
    assert mean_interval(values) == mean_interval(values)


def test_many_values_are_resampled_in_blocks_of_the_same_distribution() -> None:
    found = mean_interval([0.0, 1.0] * 5_000)
    assert found is not None
    half = 1.96 * sqrt(0.25 / 10_000)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.1)


def test_difference_is_after_less_before() -> None:
    assert paired_difference([0.1, 0.5], [0.6, 1.0]) == Interval(0.5, 0.5, 0.5)


def test_pairing_removes_what_both_have_in_common() -> None:
    before = [0.0, 1.0] * 50
    after = [value + 0.01 for value in before]
    found = paired_difference(before, after)
    assert found is not None
    assert found.low == pytest.approx(0.01)
    assert found.high == pytest.approx(0.01)


def test_unequal_lengths_are_no_pairs() -> None:
    with pytest.raises(InvalidInput, match="1 values cannot be paired with 2"):
        paired_difference([1.0], [1.0, 2.0])
    with pytest.raises(InvalidInput, match="1 confidences for 2 outcomes"):
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
