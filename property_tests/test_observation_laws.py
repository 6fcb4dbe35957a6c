"""Laws of what can be seen: never the truth, nothing uninspected, the same each time."""

import attrs
from hypothesis import given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.parsing import render_action
from logtriage.policies import ExpertPolicy, RandomPolicy, masked_actions
from logtriage.roles import VIEWS, Role
from property_tests.strategies import DRAWN, episodes, incidents, plans, world_incidents

#: Of the default world and of any other world.
INCIDENTS = incidents(DRAWN) | world_incidents()
EPISODES = episodes(source=INCIDENTS)


@given(EPISODES)
def test_requested_logs_arrive_once_and_from_whom_they_were_asked(
    states: tuple[lt.State, ...],
) -> None:
    for state in states:
        seen, last = lt.observe(state), state.actions[-1:]
        asked = [action for action in last if isinstance(action, lt.RequestMoreLogs)]
        assert bool(seen.inspection) == bool(asked)
        if asked and asked[0].service is not None:
            assert {line.service for line in seen.inspection} == {asked[0].service}
        assert seen.last_actions == last


@given(EPISODES)
def test_metrics_and_traces_arrive_once_and_from_whom_they_were_asked(
    states: tuple[lt.State, ...],
) -> None:
    for state in states:
        seen, last = lt.observe(state), state.actions[-1:]
        for kind, shown in ((lt.RequestMetrics, seen.metrics), (lt.RequestTraces, seen.traces)):
            asked = {one.service for one in last if isinstance(one, kind)}
            assert {one.service for one in shown} == asked


@given(st.data(), incidents())
def test_the_truth_is_not_in_the_observation(data: st.DataObject, incident: lt.Incident) -> None:
    """The same telemetry with another truth looks the same until an act tells them apart."""
    truth = attrs.evolve(
        incident.truth, severity=None, fault=None, root_causes=frozenset(incident.topology.names)
    )
    other = attrs.evolve(incident, id="elsewhere", truth=truth)
    state = lt.initial_state(incident)
    for action in data.draw(plans(incident, max_size=6)):
        if state.is_closed:
            break
        state = lt.transition(state, action)
    assert lt.observe(attrs.evolve(state, incident=other)) == lt.observe(state)
    assert incident.id not in lt.render_observation(lt.observe(state))


@given(st.data(), INCIDENTS)
def test_observations_can_be_recomputed_in_any_order(
    data: st.DataObject, incident: lt.Incident
) -> None:
    states = [lt.initial_state(incident)]
    for action in data.draw(plans(incident, max_size=8)):
        if states[-1].is_closed:
            break
        states.append(lt.transition(states[-1], action))
    forward = [lt.observe(state) for state in states]
    order = data.draw(st.permutations(range(len(states))))
    fresh = [lt.State(s.incident, s.tick, s.history, s.closing) for s in states]
    assert {i: lt.observe(fresh[i]) for i in order} == dict(enumerate(forward))
    assert len({hash(one) for one in forward}) == len(set(forward))


@given(episodes(), st.sets(st.sampled_from(VIEWS)))
def test_a_role_sees_a_slice_and_nothing_else(
    states: tuple[lt.State, ...], views: set[str]
) -> None:
    everything, nothing = (
        Role("all", frozenset(VIEWS), frozenset()),
        Role("none", frozenset(), frozenset()),
    )
    for state in states:
        whole, part = (
            lt.observe(state),
            lt.observe(state, Role("some", frozenset(views), frozenset())),
        )
        assert attrs.evolve(lt.observe(state, everything), may=None) == whole
        blank = lt.observe(state, nothing)
        for field in attrs.fields(type(whole)):
            if field.name != "hidden":
                value, shown = getattr(part, field.name), getattr(whole, field.name)
                if field.name == "traces" and "slo" not in views:
                    # Without the edge's series a trace says nothing that follows from it.
                    shown = tuple(trace.alone or trace for trace in shown)
                assert value in (shown, getattr(blank, field.name))
        assert part.hidden == frozenset(VIEWS) - views
        lt.render_observation(part)


@given(EPISODES, st.integers(0, 1 << 32))
def test_policies_are_pure_and_render_to_what_parses_back(
    states: tuple[lt.State, ...], seed: int
) -> None:
    for state in states:
        seen = lt.observe(state)
        for policy in (ExpertPolicy(), RandomPolicy(seed)):
            action, memory = policy.act(seen, None)
            assert (action, memory) == policy.act(seen, None)
            assert lt.parse_action(render_action(action), seen.topology) == action
        over = state.incident.takes_hand_over
        assert set(masked_actions(seen)) <= set(lt.all_actions(seen.topology, hand_over=over))
