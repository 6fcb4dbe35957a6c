"""Whether the worth of a hand-over binds: sums over decisions that can be worked out by hand."""

import attrs
import pytest

from logtriage import make_incident
from logtriage.audit import QUICK, Verdict, audit
from logtriage.audit.handing_over import (
    Decision,
    decision_of,
    handed_over,
    lost_by_a_bar,
    lost_by_ignoring,
    net_value_at_best,
)
from logtriage.beliefs import belief
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.state import initial_state

PROMPT = WORTHS_OF_HAND_OVER
#: What all worths of an incident leave to be gained.
WHOLE = sum(1.0 - worth for worth in WORTHS_OF_HAND_OVER)


def decided(*values: float) -> list[Decision]:
    return [Decision(value, PROMPT) for value in values]


def test_who_never_hands_over_loses_what_each_worth_is_above_what_is_expected() -> None:
    rows = decided(0.6, 1.0)
    # 0.7, 0.8 and 0.9 are above 0.6; nothing is above 1.
    assert lost_by_ignoring(rows) == pytest.approx([(0.1 + 0.2 + 0.3) / WHOLE, 0.0])
    assert lost_by_ignoring(decided(1.0, 0.95)) == [0.0, 0.0]


def test_a_bar_loses_on_both_sides_of_itself() -> None:
    bar, lost = lost_by_a_bar(decided(0.6, 1.0))
    # Below the bar, 0.3 and 0.5 are lost as well: 0.3 + 0.1 against 0.6 above it.
    assert bar == 1.0
    assert lost == pytest.approx([(0.3 + 0.1) / WHOLE, 0.0])
    assert lost_by_a_bar(decided(0.95, 0.97))[1] == [0.0, 0.0]


def test_the_best_bar_loses_no_more_than_never_or_always_handing_over() -> None:
    rows = decided(0.2, 0.45, 0.6, 0.85, 0.99)
    always = sum(max(0.0, row.value - worth) for row in rows for worth in PROMPT)
    lost = sum(lost_by_a_bar(rows)[1])
    assert lost <= min(sum(lost_by_ignoring(rows)), always / WHOLE)


def test_shares_and_net_value_follow_the_better_of_the_two() -> None:
    rows = decided(0.6, 1.0)
    assert handed_over(rows) == {0.3: 0.0, 0.5: 0.0, 0.7: 0.5, 0.8: 0.5, 0.9: 0.5}
    gained = (0.6 - 0.3) + (0.6 - 0.5) + WHOLE
    assert net_value_at_best(rows) == pytest.approx(gained / (2 * WHOLE))


def test_worths_are_those_of_the_tick_of_the_decision() -> None:
    incident = make_incident("single_crash-v4/train/1")
    decision = decision_of(incident)
    assert all(0.9 * c <= worth <= c for worth, c in zip(decision.worths, PROMPT, strict=True))
    assert decision == decision_of(attrs.evolve(incident, worth_of_hand_over=0.9))
    start = attrs.evolve(incident, worth_of_hand_over=None)
    assert decision.value >= belief(initial_state(start)).value() - 0.05


def test_other_levels_of_fog_are_reported_and_not_judged() -> None:
    few = attrs.evolve(QUICK, worths=3)
    report = audit("single_crash-v4-fog0", families=["risk"], sizes=few)
    assert report.finding("risk").verdict is Verdict.REPORTED
