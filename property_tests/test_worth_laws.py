"""Laws of rubric ``logtriage/3``, over drawn incidents of one fault, of several and of none."""

from itertools import pairwise

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import logtriage as lt
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.dynamics import play_jointly
from logtriage.grading.grade import GRID, score
from logtriage.policies.oracle import perfect_actions
from logtriage.state import Closing
from property_tests.reference_worth import expected_total
from property_tests.strategies import actions, triage_plays
from tests.builders import with_hand_over

TASKS = ("single_crash-v4", "cascading_failure-v4-fog0", "compound_failure-v4")


@st.composite
def incidents_with_worth(draw: st.DrawFn) -> lt.Incident:
    """Incidents of ``logtriage/3`` at any worth, with a par that may or may not be met."""
    task = draw(st.sampled_from(TASKS))
    one = with_hand_over(lt.make_incident(f"{task}/train/{draw(st.integers(0, 400))}"))
    return attrs.evolve(
        one,
        worth_of_hand_over=draw(st.sampled_from(WORTHS_OF_HAND_OVER)),
        par=draw(st.integers(1, one.horizon)),
    )


@st.composite
def plays_with_worth(draw: st.DrawFn, incident: lt.Incident) -> list[tuple[int, lt.Action]]:
    """Plays in which order matters; some hand the incident over at the end."""
    plays = draw(triage_plays(incident))
    if draw(st.booleans()):
        plays.append((plays[-1][0] + 1 if plays else 0, lt.HandOver()))
    return plays


@given(st.data())
def test_every_grade_is_the_one_that_was_written_down_a_second_time(data: st.DataObject) -> None:
    incident = data.draw(incidents_with_worth())
    plays = data.draw(plays_with_worth(incident))
    found = lt.grade(play_jointly(incident, plays)[0])
    assert found.rubric == "logtriage/3"
    assert found.score == pytest.approx(float(expected_total(incident, plays)), abs=1e-12)
    assert 0.0 <= found.score <= 1.0


@given(st.data())
def test_rewards_add_up_to_the_grade(data: st.DataObject) -> None:
    incident = data.draw(incidents_with_worth())
    state, earned = lt.initial_state(incident), 0.0
    for _, action in data.draw(plays_with_worth(incident)):
        if state.is_closed:
            break
        after = lt.transition(state, action)
        earned += lt.reward(state, after)
        state = after
    assert earned == lt.grade(state).score


@given(st.data())
def test_handing_over_at_once_is_worth_c_whatever_is_the_matter(data: st.DataObject) -> None:
    incident = data.draw(incidents_with_worth())
    state = lt.transition(lt.initial_state(incident), lt.HandOver())
    found = lt.grade(state)
    assert incident.worth_of_hand_over is not None
    assert found.score == round(incident.worth_of_hand_over * GRID) / GRID
    assert [row.name for row in found.criteria] == ["hand_over"]
    assert (found.discounts, found.gate) == ((), None)
    assert str(incident.worth_of_hand_over) in found.criteria[0].reason


@given(st.data())
def test_declarations_and_questions_do_not_change_what_a_hand_over_is_worth(
    data: st.DataObject,
) -> None:
    incident = data.draw(incidents_with_worth())
    kept = [
        action
        for action in data.draw(st.lists(actions(incident.topology), max_size=8))
        if not isinstance(action, lt.Escalate | lt.Remediate | lt.Resolve | lt.Ignore | lt.HandOver)
    ]
    assert incident.setting is not None
    assert incident.worth_of_hand_over is not None
    spare = data.draw(st.integers(0, incident.horizon - len(kept) - 1))
    kept += [lt.Malformed("?", "no JSON")] * spare
    waited = play_jointly(incident, list(enumerate([*kept, lt.HandOver()])))[0]
    late = (len(kept) + 1 - incident.setting.par) / (incident.horizon - incident.setting.par)
    prompt = min(1.0, max(0.0, 1.0 - late))
    assert lt.grade(waited).score == pytest.approx(
        incident.worth_of_hand_over * (0.9 + 0.1 * prompt), abs=1e-12
    )


@given(st.data())
def test_after_a_page_or_a_remedy_to_hand_over_is_to_resolve(data: st.DataObject) -> None:
    incident = data.draw(incidents_with_worth())
    plays = data.draw(triage_plays(incident))
    end = plays[-1][0] + 1 if plays else 0
    over, _ = play_jointly(incident, [*plays, (end, lt.HandOver())])
    resolved, _ = play_jointly(incident, [*plays, (end, lt.Resolve())])
    touched = any(isinstance(one, lt.Escalate | lt.Remediate) for one in over.actions)
    if over.closing is Closing.HANDED_OVER and touched:
        assert lt.grade(over).score == lt.grade(resolved).score


@given(st.data())
def test_a_wrong_page_is_worth_nothing_and_so_is_ignoring_a_fault(data: st.DataObject) -> None:
    incident = data.draw(incidents_with_worth())
    state, _ = play_jointly(incident, data.draw(plays_with_worth(incident)))
    found = lt.grade(state)
    if state.facts.wrong_pages:
        assert (found.score, found.gate) == (0.0, "wrong_escalation")
    elif state.closing is Closing.IGNORED and not incident.truth.benign:
        assert (found.score, found.gate) == (0.0, "ignored_incident")
    else:
        assert found.gate is None
    assert (found.gate is None) is (not found.gate_reason)


@given(st.data())
def test_a_wrong_page_changes_no_criterion(data: st.DataObject) -> None:
    incident = data.draw(incidents_with_worth())
    state, _ = play_jointly(incident, data.draw(plays_with_worth(incident)))
    wrong = sorted(set(incident.topology.teams) - incident.truth.teams)
    assume(not state.is_closed and wrong)
    after = lt.transition(state, lt.Escalate(data.draw(st.sampled_from(wrong))))
    before, found = lt.grade(state), lt.grade(after)
    assert (found.score, after.closing) == (0.0, Closing.MISROUTED)
    assert [one.score for one in found.criteria] == [one.score for one in before.criteria]
    assert found.discounts == before.discounts


@given(incidents_with_worth())
@settings(max_examples=40)
def test_the_perfect_response_earns_everything_within_par(incident: lt.Incident) -> None:
    plan = perfect_actions(incident)
    patient = attrs.evolve(incident, par=min(len(plan), incident.horizon))
    assert lt.grade(play_jointly(patient, list(enumerate(plan)))[0]).score == pytest.approx(1.0)


@given(st.data())
def test_every_further_wrong_remedy_costs(data: st.DataObject) -> None:
    incident = data.draw(incidents_with_worth())
    rights = incident.truth.remedies
    wrong = next(
        lt.Remediate(remedy, service)
        for remedy in ("restart", "scale", "rollback")
        for service in incident.topology.names
        if all((str(one), at) != (remedy, service) for one, at in rights)
    )
    plan = perfect_actions(incident)
    roomy = attrs.evolve(incident, horizon=incident.horizon + 10, par=incident.horizon + 5)
    scores = [
        score(play_jointly(roomy, list(enumerate([*(wrong,) * count, *plan])))[0])
        for count in range(4)
    ]
    for before, after in pairwise(scores):
        assert after <= 0.3 * before + 1e-12
