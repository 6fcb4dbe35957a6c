import pytest

from logtriage import Escalate, HandOver, Ignore, RequestMetrics, Resolve, Wait
from logtriage.policies import perfect_actions
from logtriage.shift import (
    On,
    Shift,
    ShiftAction,
    begin,
    grade,
    play,
    score,
    shift_grade_to_json,
    transition,
)
from logtriage.state import Closing
from tests.shift.shifts import small_shift

SHIFT = small_shift(0, 2)
FAULT = next(one for one in SHIFT.arrivals if not one.incident.truth.benign)


def perfectly(shift: Shift, system: str) -> list[ShiftAction]:
    return [On(system, one) for one in perfect_actions(shift.incident(system))]


def test_the_grade_is_the_mean_weighed_by_severity() -> None:
    state = play(SHIFT, perfectly(SHIFT, "checkout"))
    first, second = SHIFT.arrivals
    assert score(state) == pytest.approx(first.weight / (first.weight + second.weight))
    graded = grade(state)
    assert graded.score == score(state)
    assert [one.grade.score for one in graded.incidents] == [1.0, 0.0]
    assert graded.incidents[1].reason == "nobody touched it"


def test_rewards_add_up_to_the_grade() -> None:
    state, earned = begin(SHIFT), 0.0
    for action in [*perfectly(SHIFT, "checkout"), On("search", Resolve())]:
        after = transition(state, action)
        earned += score(after) - score(state)
        state = after
    assert earned == score(state)


def test_a_gate_is_that_of_its_incident_alone() -> None:
    right = FAULT.incident.truth.teams
    wrong = next(team for team in FAULT.incident.topology.teams if team not in right)
    plan: list[ShiftAction] = [*[Wait()] * 3, On(FAULT.system, Escalate(wrong))]
    other = next(one for one in SHIFT.arrivals if one is not FAULT)
    graded = grade(play(SHIFT, [*plan, *perfectly(SHIFT, other.system)]))
    rows = {one.system: one for one in graded.incidents}
    assert rows[FAULT.system].grade.score == 0.0
    assert f"{wrong} was paged" in rows[FAULT.system].reason
    assert rows[other.system].grade.score == 1.0


def test_figures_of_a_shift() -> None:
    ask, hand_over = On("checkout", RequestMetrics("user-db")), On("search", HandOver())
    state = play(SHIFT, [Wait(), ask, Wait(), hand_over, *[Wait()] * 200])
    graded = grade(state)
    assert graded.mtta == (1 + 1) / 2
    assert graded.mttr is None
    assert (graded.missed, graded.handed_over, graded.pages) == (1, 1, {})
    assert [one.closing for one in graded.incidents] == [Closing.OUT_OF_TIME, Closing.HANDED_OVER]
    written = shift_grade_to_json(graded)
    assert written["rubric"] == "shift/1"
    assert [one["system"] for one in written["incidents"]] == ["checkout", "search"]


def test_pages_are_counted_by_team() -> None:
    team = min(FAULT.incident.truth.teams)
    state = play(SHIFT, [*[Wait()] * 3, On(FAULT.system, Escalate(team))])
    assert grade(state).pages == {team: 1}


def test_nothing_is_earned_by_doing_nothing_or_by_ignoring_faults() -> None:
    assert score(play(SHIFT, [Wait()] * 200)) == 0.0
    assert score(play(SHIFT, [*[Wait()] * 3, On(FAULT.system, Ignore())])) == 0.0
