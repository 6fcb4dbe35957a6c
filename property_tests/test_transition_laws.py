"""Laws of states, actions and time."""

import copy
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logtriage import Escalate, Ignore, Incident, Resolve, State, initial_state, observe, transition
from logtriage.dynamics import apply, play, tick
from logtriage.errors import EpisodeOver
from logtriage.state import Closing
from property_tests.strategies import DRAWN, actions, episodes, incidents, plans, world_incidents

#: Of the default world and of any other world.
INCIDENTS = incidents(DRAWN) | world_incidents()
EPISODES = episodes(source=INCIDENTS)


@given(st.data(), INCIDENTS)
def test_transition_is_total_and_deterministic_on_open_states(
    data: st.DataObject, incident: Incident
) -> None:
    state = initial_state(incident)
    for action in data.draw(plans(incident, max_size=incident.horizon)):
        if state.is_closed:
            break
        once, again = transition(state, action), transition(state, action)
        assert once == again
        assert hash(once) == hash(again)
        assert observe(once) == observe(again)
        assert once.tick == state.tick + 1
        assert once == tick(apply(state, action))
        state = once


@given(st.data(), EPISODES)
def test_closed_states_are_absorbing(data: st.DataObject, states: tuple[State, ...]) -> None:
    last = states[-1]
    action = data.draw(actions(last.incident.topology))
    if last.is_closed:
        for step in (transition, apply):
            with pytest.raises(EpisodeOver, match="the incident is closed") as caught:
                step(last, action)
            assert last.incident.id not in str(caught.value)  # it may reach the agent
        with pytest.raises(EpisodeOver):
            tick(last)
        observe(last)
    else:
        transition(last, action)


@given(EPISODES)
def test_states_are_never_mutated(states: tuple[State, ...]) -> None:
    for before, after in pairwise(states):
        assert after.history[: len(before.history)] == before.history
        assert before.tick == len(before.history)
        assert after.incident is before.incident
    for state in states:
        frozen = copy.deepcopy((state.tick, state.history, state.closing))
        fresh = State(state.incident, state.tick, state.history, state.closing)
        assert (hash(fresh), fresh) == (hash(state), state)
        observe(state)
        assert (state.tick, state.history, state.closing) == frozen
        with pytest.raises(AttributeError):
            state.tick = 0  # type: ignore[misc]


@given(EPISODES)
def test_only_the_named_actions_close(states: tuple[State, ...]) -> None:
    for before, after in pairwise(states):
        assert before.closing is None
        last, incident = after.actions[-1], after.incident
        match after.closing:
            case None:
                assert after.tick < incident.horizon
                assert after.closed_at is None
            case Closing.RESOLVED:
                assert last == Resolve()
            case Closing.IGNORED:
                assert last == Ignore()
            case Closing.MISROUTED:
                assert isinstance(last, Escalate)
                assert last.team not in incident.truth.teams
                assert incident.wrong_page_closes
            case Closing.OUT_OF_TIME:
                assert after.tick == incident.horizon
        if after.is_closed:
            assert after.closed_at == after.tick


@given(st.data(), INCIDENTS)
def test_play_equals_transition_by_transition(data: st.DataObject, incident: Incident) -> None:
    plan = data.draw(plans(incident, max_size=incident.horizon + 5))
    state, played = initial_state(incident), 0
    for action in plan:
        if state.is_closed:
            break
        state, played = transition(state, action), played + 1
    assert play(incident, plan) == (state, len(plan) - played)
