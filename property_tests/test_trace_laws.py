"""Laws of what screens leave behind: with a trace or without, everything is equal."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logtriage as lt
from logtriage.evidence import evidence
from logtriage.trace import ScreenTrace, remember, trace_of
from logtriage.world.schedule import Cell, cells, news
from logtriage.world.simulation import Simulation
from property_tests.strategies import JointEpisode, episodes, joint_episodes, world_incidents

TASKS = (
    "single_crash-v4-fog3", "cascading_failure-v4", "silent_degradation-v4", "compound_failure-v4",
    "unseen_world-v4",
)  # fmt: skip


@st.composite
def kept_incidents(draw: st.DrawFn) -> lt.Incident:
    """Incidents whose signs stay, and of worlds that nobody ships."""
    task = draw(st.sampled_from(TASKS))
    number = draw(st.integers(0, 10_000))
    return lt.make_incident(f"{task}/{draw(st.sampled_from(('train', 'test')))}/{number}")


EPISODES = episodes(source=kept_incidents() | world_incidents(several=True))


def replayed(state: lt.State) -> lt.State:
    """The same state of an incident that nobody has looked at."""
    incident, world = state.incident, state.incident.telemetry
    assert isinstance(world, Simulation)
    anew = attrs.evolve(incident, telemetry=attrs.evolve(world))
    return lt.State(anew, state.tick, state.history, state.closing)


def believed(state: lt.State) -> object:
    """All that a belief is made of."""
    held = lt.belief(state).posterior
    rows = (held.weights, held.logs, held.severities, held.fixed, held.own)
    return [row.tolist() for row in rows], held.seen


@settings(max_examples=60)
@given(EPISODES, st.data())
def test_with_a_trace_or_without_everything_is_equal(
    states: tuple[lt.State, ...], data: st.DataObject
) -> None:
    looks = st.sampled_from(("observe", "evidence", "belief", "nothing"))
    for before, after in pairwise(states):
        state = before
        match data.draw(looks):
            case "observe":
                lt.observe(state)
            case "evidence":
                evidence(state)
            case "belief":
                believed(state)
        remember(after, trace_of(state))
    for state in states:
        anew = replayed(state)
        assert (state, hash(state), repr(state)) == (anew, hash(anew), repr(anew))
        assert state.facts == anew.facts
        assert lt.observe(state) == lt.observe(anew)
        assert evidence(state) == evidence(anew)
        assert lt.grade(state) == lt.grade(anew)
    assert believed(states[-1]) == believed(replayed(states[-1]))


@settings(max_examples=40)
@given(joint_episodes())
def test_in_joint_play_everything_is_equal_too(played: JointEpisode) -> None:
    _, states, _ = played
    for state in states:
        assert lt.observe(state) == lt.observe(replayed(state))
        if state.incident.simulation is not None:
            assert evidence(state) == evidence(replayed(state))


@given(EPISODES)
def test_news_are_the_cells_that_stood_on_no_earlier_screen(states: tuple[lt.State, ...]) -> None:
    world, doings = states[-1].incident.telemetry, states[-1].facts.doings
    assert isinstance(world, Simulation)
    seen: dict[Cell, None] = {}
    for now in range(states[-1].tick + 1):
        voices = world.speakers(now)
        screen = list(cells(world.setting, world.topology, voices, now, doings))
        new = [
            (channel, service, slot, start)
            for channel, start, spots in news(world.setting, world.topology, voices, now, doings)
            for service, slot in spots
        ]
        assert [one for one in screen if one in new] == new
        assert set(screen) - set(seen) == set(new) - set(seen)
        seen |= dict.fromkeys(screen)


@given(EPISODES)
def test_a_trace_holds_no_state_and_is_not_pickled(states: tuple[lt.State, ...]) -> None:
    for state in states:
        lt.observe(state)
        lt.belief(state)
        trace = trace_of(state)
        assert isinstance(trace, ScreenTrace)
        for field in attrs.fields(ScreenTrace):
            assert not isinstance(getattr(trace, field.name), lt.State | ScreenTrace)
        again = pickle.loads(pickle.dumps(state))
        assert again == state
        assert trace_of(again) is None
        assert trace_of(attrs.evolve(state)) is None


@pytest.mark.parametrize("task", TASKS)
def test_threads_that_fill_a_trace_at_once_agree(task: str) -> None:
    incident = lt.make_incident(f"{task}/train/7")
    states = [lt.State(incident)]
    for action in _asking(incident):
        states.append(lt.transition(states[-1], action))
    expected = [(lt.observe(replayed(one)), evidence(replayed(one))) for one in states]
    shared = [replayed(states[0])]
    for action in _asking(incident):
        shared.append(lt.transition(shared[-1], action))

    def look(offset: int) -> list[tuple[lt.Observation, object]]:
        order = [*range(offset % len(shared), len(shared)), *range(offset % len(shared))]
        seen = {place: (lt.observe(shared[place]), evidence(shared[place])) for place in order}
        believed(shared[-1])
        return [seen[place] for place in range(len(shared))]

    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(look, range(16)))
    assert believed(shared[-1]) == believed(replayed(states[-1]))


def _asking(incident: lt.Incident) -> list[lt.Action]:
    names = incident.topology.names
    return [
        lt.RequestMetrics(names[0]), lt.RequestMoreLogs(), lt.RequestTraces(names[1]),
        lt.RequestMetrics(names[0]),
    ]  # fmt: skip
