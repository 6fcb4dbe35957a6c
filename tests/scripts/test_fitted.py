"""The figures of the page on fitted worlds are computed as the page says."""

from collections.abc import Callable
from importlib import import_module
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from logtriage.drawing.incidents import PRICES_OF_HAND_OVER

ROOT = Path(__file__).resolve().parents[2]
Load = Callable[[str], Any]


@pytest.fixture(name="load")
def loader_of_scripts(monkeypatch: pytest.MonkeyPatch) -> Load:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module


def test_information_is_that_within_the_strata(load: Load) -> None:
    information = load("fitted_checks").information
    left = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    within = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert information(left, left, within) == pytest.approx(1.0)
    assert information(left, np.array([0, 1] * 4), within) == pytest.approx(0.0)
    assert information(left, left, left) == pytest.approx(0.0)  # the stratum says it all
    assert information(left, left, np.zeros(8, int)) == pytest.approx(-log2(0.5))


def test_a_permutation_stays_within_its_stratum(load: Load) -> None:
    column, strata = np.arange(100), np.arange(100) % 3
    moved = load("fitted_checks").permuted(column, strata, np.random.default_rng(1))
    assert (moved != column).any()
    assert all(set(column[strata == one]) == set(moved[strata == one]) for one in range(3))


def test_net_value_is_a_ratio_of_sums_over_prices(load: Load) -> None:
    rows, net = load("fitted_rows"), load("fitted_results").net

    def row(grades: tuple[float, ...], group: str = "a") -> Any:
        return rows.Row("m", "i", "k", group, 1.0, 1.0, grades=grades)

    right, wrong = (1.0,) * 5, (0.0,) * 5
    assert net([row(right)]) == pytest.approx(1.0)
    assert net([row(tuple(PRICES_OF_HAND_OVER))]) == pytest.approx(0.0)
    half = net([row(right), row(wrong)])
    assert half == pytest.approx((1.8 - 3.2) / 2 / 1.8)
    # Its bar is the mean of the other groups: here 0, so that everything is handed over.
    (barred, _) = rows.with_bar([row(right, "a"), row(wrong, "b")])
    assert barred.grades == PRICES_OF_HAND_OVER
