"""Laws of ``logtriage/3``: what must come before the fix, and what never pays.

What holds of any sound rubric is in ``test_grading_laws.py``.
"""

from collections.abc import Sequence
from math import isclose, prod

from hypothesis import assume, given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.dynamics import play, play_jointly
from logtriage.grading import grade_actions, rubric_of, score
from logtriage.policies import perfect_actions
from property_tests.reference_worth import Plays
from property_tests.strategies import triage_incidents, triage_plays, wrong_remedies

WAIT = lt.RequestMoreLogs(None)
faults = triage_incidents(benign=False)


def close(one: float | None, other: object) -> bool:
    return one is not None and isclose(one, float(other), abs_tol=1e-12)  # type: ignore[arg-type]


def earned(incident: lt.Incident, plan: Sequence[lt.Action]) -> float:
    return score(play(incident, plan)[0])


@given(st.data(), triage_incidents())
def test_a_grade_lies_in_the_unit_interval_and_explains_itself(
    data: st.DataObject, incident: lt.Incident
) -> None:
    state, _ = play_jointly(incident, data.draw(triage_plays(incident)))
    graded = lt.grade(state)
    assert rubric_of(incident).id == graded.rubric
    assert 0.0 <= graded.score <= 1.0
    assert graded.score == score(state)
    assert all(one.reason for one in graded.criteria)
    assert all(one.reason for one in graded.discounts)
    assert all(0.0 <= one.score <= 1.0 for one in graded.criteria)
    assert all(0.0 <= one.factor <= 1.0 for one in graded.discounts)
    points = sum(one.score * one.weight for one in graded.criteria)
    left = 0.0 if graded.gate else prod(one.factor for one in graded.discounts)
    assert close(graded.score, points * left)


def moved(incident: lt.Incident, kind: type[lt.Action]) -> list[lt.Action]:
    """The perfect plan with one answer given after the fix."""
    *steps, end = perfect_actions(incident)
    late = [one for one in steps if isinstance(one, kind)]
    return [*(one for one in steps if not isinstance(one, kind)), *late, end]


@given(faults)
def test_a_root_cause_after_the_fix_earns_nothing(incident: lt.Incident) -> None:
    graded = grade_actions(incident, moved(incident, lt.IdentifyRootCause))
    assert graded.criterion("root_cause").score == 0.0
    assert close(graded.score, 0.75)


@given(faults)
def test_a_fix_before_the_page_leaves_seven_tenths(incident: lt.Incident) -> None:
    late = moved(incident, lt.Escalate)
    graded = grade_actions(incident, late)
    assert graded.criterion("remediation").score == 1.0
    assert [one.name for one in graded.discounts] == ["unapproved_fix"]
    assert close(graded.score, 0.7)
    again = [*late[:-1], next(one for one in late if isinstance(one, lt.Remediate)), late[-1]]
    assume(len(again) <= incident.par)
    assert close(earned(incident, again), 0.7)  # repeating it restores nothing


@given(st.data(), faults)
def test_in_joint_play_the_tick_decides(data: st.DataObject, incident: lt.Incident) -> None:
    """Declaring in the tick of the fix is in time; paging in the tick of a remedy is not."""
    severity, cause, page, fix, end = perfect_actions(incident)
    probe = data.draw(wrong_remedies(incident))
    for together, discounts in (
        ((cause, page, fix), ["unapproved_fix"]),
        ((page, probe), ["unapproved"]),
    ):
        acts = data.draw(st.permutations(together))
        plays = [(0, severity), *((1, one) for one in acts), (2, cause), (3, fix), (4, end)]
        graded = lt.grade(play_jointly(incident, plays)[0])
        assert graded.criterion("root_cause").score == 1.0
        assert [one.name for one in graded.discounts] == discounts
        wanted = 0.6 if probe in acts else 1.0
        assert close(graded.criterion("remediation").score, wanted)


@given(st.data(), faults)
def test_wrong_remedies_repeats_and_lost_time_never_pay(
    data: st.DataObject, incident: lt.Incident
) -> None:
    plan = [action for _, action in data.draw(triage_plays(incident))]
    at = data.draw(st.integers(0, len(plan)))
    idle: list[lt.Action] = [WAIT, lt.Malformed("?", "no JSON"), *plan[:at]]
    extra = data.draw(st.one_of(st.sampled_from(idle), wrong_remedies(incident)))
    worse = grade_actions(incident, [*plan[:at], extra, *plan[at:]])
    assume(worse.gate is None and grade_actions(incident, plan).gate is None)
    assert worse.score <= earned(incident, plan)


@given(st.data(), triage_incidents())
def test_full_marks_need_every_answer(data: st.DataObject, incident: lt.Incident) -> None:
    plays: Plays = data.draw(triage_plays(incident))
    state, _ = play_jointly(incident, plays)
    if score(state) == 1.0:
        truth, facts = incident.truth, state.facts
        assert facts.severity is truth.severity
        assert truth.benign or facts.root_cause in truth.root_causes
        assert truth.benign or (facts.paged_at is not None and facts.fixed_at is not None)
