"""Laws of ``logtriage/3``: what must come before the fix, and what never pays.

What holds of any sound rubric is in ``test_grading_laws.py``.
"""

from collections.abc import Sequence
from math import isclose, prod

from hypothesis import assume, given
from hypothesis import strategies as st

from logtriage import (
    Action,
    Incident,
    Malformed,
    RequestMoreLogs,
    grade,
)
from logtriage.dynamics import play, play_jointly
from logtriage.grading import grade_actions, rubric_of, score
from logtriage.policies import perfect_actions
from property_tests.strategies import triage_incidents, triage_plays, wrong_remedies

WAIT = RequestMoreLogs(None)
faults = triage_incidents(benign=False)


def close(one: float | None, other: object) -> bool:
    return one is not None and isclose(one, float(other), abs_tol=1e-12)  # type: ignore[arg-type]


def earned(incident: Incident, plan: Sequence[Action]) -> float:
    return score(play(incident, plan)[0])


@given(st.data(), triage_incidents())
def test_a_grade_lies_in_the_unit_interval_and_explains_itself(
    data: st.DataObject, incident: Incident
) -> None:
    state, _ = play_jointly(incident, data.draw(triage_plays(incident)))
    graded = grade(state)
    assert rubric_of(incident).id == graded.rubric
    assert graded.score is not None
    assert 0.0 <= graded.score <= 1.0
    assert graded.score == score(state)
    assert all(one.reason for one in graded.criteria)
    assert all(one.reason for one in graded.discounts)
    assert all(0.0 <= one.score <= 1.0 for one in graded.criteria)
    assert all(0.0 <= one.factor <= 1.0 for one in graded.discounts)
    points = sum(one.score * one.weight for one in graded.criteria)
    left = 0.0 if graded.gate else prod(one.factor for one in graded.discounts)
    assert close(graded.score, points * left)


# -- what must come before the fix ------------------------------------------------------------


@given(st.data(), faults)
def test_in_joint_play_the_tick_decides(data: st.DataObject, incident: Incident) -> None:
    """Declaring in the tick of the fix is in time; paging in the tick of a remedy is not."""
    severity, cause, page, fix, end = perfect_actions(incident)
    probe = data.draw(wrong_remedies(incident))
    for together, discounts in (
        ((cause, page, fix), ["unapproved_fix"]),
        ((page, probe), ["unapproved"]),
    ):
        acts = data.draw(st.permutations(together))
        plays = [(0, severity), *((1, one) for one in acts), (2, cause), (3, fix), (4, end)]
        graded = grade(play_jointly(incident, plays)[0])
        assert graded.criterion("root_cause").score == 1.0
        assert [one.name for one in graded.discounts] == discounts
        wanted = 0.6 if probe in acts else 1.0
        assert close(graded.criterion("remediation").score, wanted)


# -- nothing to gain --------------------------------------------------------------------------


@given(st.data(), faults)
def test_wrong_remedies_repeats_and_lost_time_never_pay(
    data: st.DataObject, incident: Incident
) -> None:
    plan = [action for _, action in data.draw(triage_plays(incident))]
    at = data.draw(st.integers(0, len(plan)))
    idle: list[Action] = [WAIT, Malformed("?", "no JSON"), *plan[:at]]
    extra = data.draw(st.one_of(st.sampled_from(idle), wrong_remedies(incident)))
    worse = grade_actions(incident, [*plan[:at], extra, *plan[at:]])
    assume(worse.gate is None and grade_actions(incident, plan).gate is None)
    assert worse.score is not None
    assert worse.score <= earned(incident, plan)
