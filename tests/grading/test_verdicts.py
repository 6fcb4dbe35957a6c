"""The sentence that says what decided a score."""

import attrs
import pytest

import logtriage as lt
from logtriage.actions import HandOver, Ignore, Resolve
from logtriage.grading import unscored
from logtriage.grading.debrief import verdict_of
from tests.builders import FIX, RIGHT_CAUSE, RIGHT_PAGE, WAIT, WRONG_PAGE, played, real_incident

INCIDENT = real_incident()
assert INCIDENT.truth.severity is not None
RIGHT_SEVERITY = lt.ClassifySeverity(INCIDENT.truth.severity)


def test_a_gate_decides_alone() -> None:
    graded = lt.grade(played(INCIDENT, RIGHT_CAUSE, Ignore()))
    assert graded.verdict == f"Ignored incident: {graded.gate_reason}. Score 0."
    graded = lt.grade(played(INCIDENT, WRONG_PAGE))
    assert graded.verdict == f"Mis-page: {graded.gate_reason}. Score 0."


@pytest.mark.parametrize("left_out", ["severity", "root_cause"])
def test_the_criterion_that_lost_most_decides(left_out: str) -> None:
    acts: dict[str, lt.Action] = {"severity": RIGHT_SEVERITY, "root_cause": RIGHT_CAUSE}
    del acts[left_out]
    graded = lt.grade(played(INCIDENT, *acts.values(), RIGHT_PAGE, FIX, Resolve()))
    missed = graded.criterion(left_out)
    name = left_out.replace("_", " ").capitalize()
    told = f"{name} −{missed.weight:.2f}: {missed.reason}. Score {graded.score:.2f}."
    assert graded.verdict == told


def test_a_discount_decides_where_it_takes_most() -> None:
    graded = lt.grade(played(INCIDENT, RIGHT_SEVERITY, RIGHT_CAUSE, FIX, Resolve()))
    (discount, *_) = graded.discounts
    assert graded.verdict.startswith(discount.reason.capitalize()[:12])
    assert discount.reason[1:] in graded.verdict


def test_a_hand_over_decides_alone() -> None:
    with_worth = attrs.evolve(INCIDENT, rubric="logtriage/3", worth_of_hand_over=0.7)
    graded = lt.grade(played(with_worth, WAIT, HandOver()))
    assert graded.verdict.startswith("Handed over in 2 ticks, worth 0.7")


def test_who_earned_nothing_is_told_of_the_heaviest_criteria() -> None:
    graded = lt.grade(played(INCIDENT, Resolve()))
    assert graded.score == 0.0
    names = ("root_cause", "escalation", "remediation")
    reasons = "; ".join(graded.criterion(name).reason for name in names)
    assert graded.verdict == f"Nothing was earned in 1 tick: {reasons}. Score 0.00."


def test_nothing_is_made_up_for_a_perfect_episode() -> None:
    graded = lt.grade(played(INCIDENT, RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, Resolve()))
    assert graded.verdict == "Nothing went wrong in 5 ticks. Score 1.00."


def test_luck_stands_in_the_first_sentence() -> None:
    luck = ["at the page dba-team was 11 % likely"]
    acts: list[lt.Action] = [RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, Resolve()]
    told = verdict_of(lt.grade(played(INCIDENT, *acts)), luck)
    assert told == "Score 1.00, by luck: at the page dba-team was 11 % likely."
    less = lt.grade(played(INCIDENT, *acts[1:]))
    assert verdict_of(less, luck).startswith(f"Score {less.score:.2f}, by luck: {luck[0]}. Sever")
    gated = lt.grade(played(INCIDENT, WRONG_PAGE))
    assert verdict_of(gated, luck) == gated.verdict
    priced = attrs.evolve(INCIDENT, rubric="logtriage/3", worth_of_hand_over=0.7)
    handed = lt.grade(played(priced, WAIT, HandOver()))
    assert verdict_of(handed, luck) == handed.verdict


def test_an_unscored_episode_says_why() -> None:
    assert unscored(INCIDENT, "no answer").verdict == "Not scored: no answer."
