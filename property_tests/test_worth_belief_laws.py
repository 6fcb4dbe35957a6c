"""Laws of beliefs under ``logtriage/3``: plans are worth what they earn, a hand-over among them."""

from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logtriage as lt
from logtriage.beliefs import Belief
from logtriage.beliefs.ledgers import UNIT
from logtriage.beliefs.questions import Asked
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER, truth_of
from logtriage.dynamics import play_jointly
from logtriage.grading.grade import score
from logtriage.policies.oracle import perfect_actions
from logtriage.registry import make_policy
from logtriage.world.conditions import Hypothesis
from tests.builders import with_hand_over

TASKS = ("single_crash-v4", "cascading_failure-v4-fog3", "silent_degradation-v4")


@st.composite
def states_with_worth(draw: st.DrawFn, tasks: tuple[str, ...] = TASKS) -> lt.State:
    """Open states of incidents with a worth, after questions, pages and remedies."""
    task, number = draw(st.sampled_from(tasks)), draw(st.integers(0, 300))
    incident = with_hand_over(lt.make_incident(f"{task}/train/{number}"))
    incident = attrs.evolve(incident, worth_of_hand_over=draw(st.sampled_from(WORTHS_OF_HAND_OVER)))
    service = st.sampled_from(incident.topology.names)
    doing = st.one_of(
        st.builds(lt.RequestMetrics, service),
        st.builds(lt.RequestTraces, service),
        st.builds(lt.Remediate, st.sampled_from(("restart", "rollback", "scale")), service),
        st.sampled_from(perfect_actions(incident)[:-1]),
    )
    state = lt.initial_state(incident)
    for action in draw(st.lists(doing, max_size=5)):
        state = lt.transition(state, action)
    return state


def if_true(incident: lt.Incident, held: Belief, one: Hypothesis, severity: str) -> lt.Incident:
    """The incident if a hypothesis and a severity are true."""
    assert incident.setting is not None
    assert incident.world is not None
    teams = held.teams_of(one)
    truth = truth_of(incident.world, incident.topology, teams, one, lt.Severity(severity))
    par = incident.setting.par if one.faults else incident.setting.par_benign
    return attrs.evolve(incident, truth=truth, par=par)


def expected(state: lt.State, held: Belief, actions: Sequence[lt.Action]) -> float:
    """The mean grade over all that may be true; a remedy is left out once all is fixed."""
    total = 0.0
    rows = zip(held.hypotheses, held.probabilities, held.posterior.severities, strict=True)
    for one, share, severities in rows:
        if share < 1e-7:
            continue
        for severity, weight in zip(("P1", "P2", "P3"), severities, strict=True):
            if not weight:
                continue
            incident = if_true(state.incident, held, one, severity)
            now = lt.State(incident, state.tick, state.history)
            for action in actions:
                if now.is_closed:
                    break
                done = now.facts.fixed_at is not None and not held.model.setting.several
                if isinstance(action, lt.Remediate) and done:
                    continue
                now = lt.transition(now, action)
            total += share * weight / sum(severities) * score(now)
    return total


@settings(max_examples=30)
@given(states_with_worth())
def test_the_best_plan_is_worth_its_mean_grade(state: lt.State) -> None:
    held = lt.belief(state)
    plan = held.best()
    assert expected(state, held, plan.actions) == pytest.approx(plan.value, abs=2e-4)
    assert held.value() == pytest.approx(plan.value, abs=1e-6)


@settings(max_examples=8)
@given(states_with_worth(("compound_failure-v4",)))
def test_the_best_plan_for_several_faults_is_worth_its_mean_grade(state: lt.State) -> None:
    held = lt.belief(state)
    case = held.planner()
    plan = case.best()
    grades = case.grades([plan.actions], 0)[0, 0]  # type: ignore[union-attr]
    rows = zip(case.rows.tolist()[:6], grades[:6], strict=True)
    for row, found in rows:
        severities = held.posterior.severities[row]
        wanted = 0.0
        for severity, weight in zip(("P1", "P2", "P3"), severities, strict=True):
            one = if_true(state.incident, held, held.hypotheses[row], severity)
            plays = [*state.history, *enumerate(plan.actions, state.tick)]
            wanted += weight / sum(severities) * score(play_jointly(one, plays)[0])
        assert found / UNIT == pytest.approx(wanted, abs=1e-6)


@settings(max_examples=30)
@given(states_with_worth(), st.sampled_from((lt.Resolve(), lt.Ignore(), lt.HandOver())))
def test_closing_is_worth_its_mean_grade(state: lt.State, close: lt.Action) -> None:
    held = lt.belief(state)
    found = held.planner().closed(state.tick + 1, close)
    assert found == pytest.approx(expected(state, held, [close]), abs=2e-4)
    over = lt.belief(lt.transition(state, close))
    team = over.topology.teams[0]
    for planned in (over.best, over.value, over.page_values, lambda: over.bar(team)):
        with pytest.raises(lt.InvalidInput, match=r"closed: .*shaping.value_of\(state\)"):
            planned()


@settings(max_examples=30)
@given(states_with_worth())
def test_no_plan_is_worth_less_than_handing_over_where_that_is_possible(state: lt.State) -> None:
    held = lt.belief(state)
    touched = any(isinstance(one, lt.Escalate | lt.Remediate) for one in state.actions)
    over = score(lt.transition(state, lt.HandOver()))
    plan = held.best()
    assert not (plan.hand_over and touched)
    if not touched:
        assert plan.value >= over - 1e-6
        assert held.page_values().silent >= over - 1e-6
        assert plan.hand_over == (plan.actions == (lt.HandOver(),))


@settings(max_examples=10)
@given(states_with_worth())
def test_asking_costs_no_more_than_its_tick(state: lt.State) -> None:
    names = state.incident.topology.names
    requests: tuple[lt.Action, ...] = (lt.RequestMetrics(names[0]), lt.RequestTraces(names[-1]))
    for one in Asked.of(lt.belief(state), requests).worths():  # type: ignore[arg-type]
        assert one.grade >= -0.02


def test_the_observer_hands_over_where_a_hand_over_is_worth_more_than_it_expects() -> None:
    counts = []
    for worth in (0.3, 0.9):
        handed = 0
        for number in range(12):
            one = with_hand_over(lt.make_incident(f"cascading_failure-v4-fog3/val/{number}"))
            end = lt.play(attrs.evolve(one, worth_of_hand_over=worth), make_policy("observer:2"))
            handed += lt.HandOver() in end.actions
            if lt.HandOver() in end.actions:
                assert end.actions[-1] == lt.HandOver()
        counts.append(handed)
    assert counts[0] < counts[1]
    assert counts[1] >= 6
