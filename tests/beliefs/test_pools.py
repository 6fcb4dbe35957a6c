"""Pooled likelihoods by hand, and what a request may show beyond what was read."""

from collections.abc import Sequence
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from logtriage.beliefs.pools import Pools
from logtriage.world.signs import Reading, reading, sign_weights

from logtriage.beliefs.asking import OUTCOMES, outcomes_of, several
from logtriage.beliefs.fixedpoint import LOST, NEVER, ONE, Longs, log2s, log_sums_of
from logtriage.beliefs.fixedpoint import log2 as fixed_log2
from logtriage.beliefs.model import UNFIXED, Listed, any_model_of
from logtriage.tasks import setting_of
from logtriage.world.channels import DOWN, GAP, Channel, Evidence
from logtriage.world.conditions import Condition
from logtriage.world.loading import load_world
from logtriage.world.setting import FULL
from logtriage.world.tables import alphabet

TINY = load_world("tiny")
SETTING = setting_of(TINY, TINY.tasks["outage"], 2)
SHOP = TINY.topologies["shop"]
MODEL = any_model_of(SETTING, SHOP, False)
CPU = list(TINY.gauges).index("cpu")


def pools_of(cells: Sequence[Evidence], breaks: Sequence[int] = ()) -> Pools:
    return Pools.of(MODEL.listed, breaks, cells, ())


def cpu(token: str, start: int = 0) -> Evidence:
    return Evidence(Channel.METRICS, 1, CPU, start, token)


def by_hand(condition: Condition, tokens: Sequence[str]) -> Fraction:
    """What readings of the CPU of the second service make of a condition."""
    place = MODEL.places[1]
    row, names = reading(SETTING, "cpu", place, 0), alphabet(SETTING, "cpu", place)
    found = Fraction(0)
    for sign, weight in zip(names, sign_weights(SETTING, "cpu", place, condition), strict=True):
        term = Fraction(weight, FULL)
        for token in tokens:
            other = row.other[names.index(token)]
            term *= 1 + Fraction(row.sign * (sign == token), other)
        found += term
    return found


@pytest.mark.parametrize(
    "tokens", [["high"], ["high", "high"], ["high", "usual"], ["usual"] * 3 + ["high"] * 2]
)
def test_a_pool_is_the_sum_over_what_its_sign_may_be(tokens: list[str]) -> None:
    cells = [cpu(token, 3 * number) for number, token in enumerate(tokens)]
    row = pools_of(cells).whole()[1]
    for condition, shown in zip(MODEL.listed.conditions[1], row, strict=False):
        assert shown / ONE == pytest.approx(log2(by_hand(condition, tokens)), abs=1e-5)


def test_many_readings_tell_no_more_than_the_sign_itself() -> None:
    """An overloaded service has a usual CPU in 25 of 100 cases, however often it is read."""
    place = MODEL.listed.conditions[1].index(Condition("overload"))
    told = [pools_of([cpu("usual")] * count).whole()[1] for count in (1, 2, 4, 40)]
    bits = [(row[0] - row[place]) / ONE for row in told]
    assert bits == sorted(bits)
    assert bits[-1] == pytest.approx(2.0, abs=1e-4)


def test_gaps_and_what_is_down_tell_nothing() -> None:
    cells = [cpu(GAP), Evidence(Channel.LOGS, 1, 0, 3, DOWN)]
    pools = pools_of(cells)
    assert not pools.whole().any()
    assert pools.down == {(1, Channel.METRICS): False, (1, Channel.LOGS): True}


def test_a_remedy_begins_a_new_pool_where_it_changed_something_alone() -> None:
    """The query at the datastore was killed in tick 2: it is well, and so is who waited."""
    slot = list(TINY.gauges).index("workers")
    cells = [
        cpu("usual", 3),
        Evidence(Channel.METRICS, 2, slot, 0, "full"),
        Evidence(Channel.METRICS, 2, slot, 3, "usual"),
    ]
    pools = pools_of(cells, [2])
    listed = MODEL.listed
    row = next(
        number
        for number, one in enumerate(listed.hypotheses)
        if one.faults == (("heavy_query", 2),)
    )
    fixed = np.full(listed.members.shape, UNFIXED)
    before = pools.shown(np.zeros(3, np.int64), fixed)
    fixed[row] = 0
    after = pools.shown(np.zeros(3, np.int64), fixed)
    mine = _of_row(listed, row, after)
    places = listed.place[row]
    split = [pools.table(0, 0)[s, places[s]] + pools.table(1, 1)[s, 0] for s in range(3)]
    assert mine == split
    assert _of_row(listed, row, before) == [pools.whole()[s, places[s]] for s in range(3)]
    assert mine != _of_row(listed, row, before)
    others = [n for n in range(len(listed.members)) if n != row]
    assert all(_of_row(listed, n, before) == _of_row(listed, n, after) for n in others)


def _of_row(listed: Listed, row: int, shown: Longs) -> list[int]:
    flat, begins = listed.flat
    ends = [*begins[1:].tolist(), len(flat)]
    found: list[int] = shown[begins[row] : ends[row]].tolist()
    return found


# --- what a request may show ---------------------------------------------------------------


def test_several_readings_are_one_of_the_accuracy_of_their_majority() -> None:
    once = Reading(FULL // 2, 0, (FULL // 4, FULL // 4))
    assert several(once, 1) is once
    # Of two, one alone is right half of the time; of three, one third of it.
    assert several(once, 2).sign == FULL // 4 + FULL // 4
    assert several(once, 3).sign == FULL // 8 * 4 + FULL // 8
    foggy = Reading(FULL // 2, FULL // 4, (FULL // 8, FULL // 8))
    assert several(foggy, 3).sign > several(foggy, 2).sign > foggy.sign
    for count in (2, 3):
        row = several(foggy, count)
        assert row.sign + sum(row.other) == FULL
        assert row.gap == 0


@pytest.mark.parametrize("seen", [[], ["high"], ["high", "high", "high"]])
def test_what_a_request_may_show_is_the_ratio_of_two_pools(seen: list[str]) -> None:
    """The next reading is predicted by L(n + 1) / L(n)."""
    pools = pools_of([cpu(token) for token in seen])
    table = outcomes_of(pools, 1, Channel.METRICS, ("cpu",), [3], 0)
    row = reading(SETTING, "cpu", MODEL.places[1], 3)
    scale = 1.0 if seen else 1 - SETTING.blind_weight / FULL
    for place, condition in enumerate(MODEL.listed.conditions[1]):
        for number, token in enumerate(alphabet(SETTING, "cpu", MODEL.places[1])):
            ratio = by_hand(condition, [*seen, token]) / by_hand(condition, seen)
            expected = scale * float(ratio) * row.other[number]
            assert table[place, number] == pytest.approx(expected, abs=3)
    assert table.sum(axis=1) == pytest.approx(FULL, abs=3)
    gap_and_dark = [row.gap] if seen else [row.gap * scale, SETTING.blind_weight]
    assert table[0, 2:].tolist() == pytest.approx(gap_and_dark, abs=2)


def test_the_rarest_outcomes_count_as_one() -> None:
    oncall = load_world("oncall")
    setting = setting_of(oncall, oncall.tasks["single_crash"], 2)
    topology = oncall.topologies["seven-services-five-teams"]
    model = any_model_of(setting, topology, False)
    pools = Pools.of(model.listed, (), (), ())
    sorts = oncall.slots[Channel.METRICS]
    table = outcomes_of(pools, 2, Channel.METRICS, sorts, [0], 0)
    assert table.shape[1] == OUTCOMES + 2  # the rest, and that it is down
    assert table.sum(axis=1) == pytest.approx(FULL, abs=FULL / 1000)


# --- logarithms of arrays ------------------------------------------------------------------


def test_logarithms_of_arrays_are_those_of_numbers() -> None:
    values = [1, 2, 3, 7, 65_535, 65_536, 10**9 + 7, (1 << 36) - 1, 1 << 45]
    found = log2s(np.array(values)).tolist()
    assert all(abs(one - fixed_log2(value)) <= 2 for one, value in zip(found, values, strict=True))
    assert log2s(np.array([0, 1])).tolist() == [NEVER, 0]


def test_sums_of_powers_of_columns() -> None:
    terms = np.array([[0, 5 * ONE, NEVER], [0, NEVER, NEVER], [ONE, -LOST, NEVER]])
    assert log_sums_of(terms).tolist() == [2 * ONE, 5 * ONE, NEVER]
