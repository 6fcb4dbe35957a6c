"""The laws of batched beliefs: rows have the integers and the values of scalar beliefs."""

from importlib.util import find_spec

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logtriage import State, initial_state, make_incident, transition
from logtriage.beliefs import belief
from logtriage.beliefs import fixedpoint as scalar
from logtriage.beliefs.model import model_of
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.dynamics import apply, transition_jointly
from logtriage.grading import action_array
from logtriage.roles import Role
from logtriage.roles.splits import ROLE_SPLITS
from logtriage.tasks import TaskSpec
from logtriage.vector import BatchedTriage, BeliefBatch, belief_batch
from logtriage.vector.belief_tables import POWERS
from logtriage.vector.believing import BatchedValues
from logtriage.world.simulation import Simulation
from property_tests.strategies import incident_ids, plans, topologies, useful_actions

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

from logtriage.vector.compiled import fixedpoint
from property_tests.test_vector_laws import (
    DRAWN,
    ELSEWHERE,
    choices_on,
    chosen_rows,
    incident_of,
    indices,
)

ROLES = (None, *(role for split in ROLE_SPLITS.values() for role in split.roles))


@given(st.integers(30, 51).flatmap(lambda bits: st.integers(1 << bits, (2 << bits) - 1)))
def test_a_kernel_s_logarithm_of_a_sum_is_the_scalar_one(value: int) -> None:
    assert fixedpoint.log2s(value, POWERS) == scalar.log2s(np.array([value]))[0]


@given(st.integers(0, 40 << 20))
def test_a_kernel_s_exponential_is_the_scalar_one(down: int) -> None:
    assert fixedpoint.exp2(down, POWERS) == scalar.exp2(np.array([-down]))[0]


@st.composite
def alike(draw: st.DrawFn, max_size: int = 4) -> list[State]:
    """States of one task and topology: pages, remedies and requests, at all stages."""
    task = draw(st.sampled_from((*DRAWN, *ELSEWHERE)))
    split = draw(st.sampled_from(("train", "ood")))
    topology = task.topology if task in ELSEWHERE or draw(st.booleans()) else None
    if topology is None:
        topology = draw(topologies(max_services=9))
    found = []
    for _ in range(draw(st.integers(1, max_size))):
        number = IncidentId(task, split, draw(st.integers(0, 1_000_000)))
        state = initial_state(draw_incident(task, number, topology))
        joint = draw(st.booleans())
        for action in draw(plans(state.incident, task.horizon)):
            if state.is_closed:
                break
            more = [draw(useful_actions(state.incident))] * joint
            state = transition_jointly(state, [action, *more])
        if not state.is_closed and draw(st.integers(0, 3)) == 0:
            state = apply(state, draw(useful_actions(state.incident)))
        found.append(state)
    return found


def assert_equal(batch: BeliefBatch, states: list[State], role: Role | None) -> None:
    logs, severities, fixed = batch.logs(), batch.severities(), batch.fixed
    marginals, teams = batch.marginals(), batch.teams()
    for row, state in enumerate(states):
        held = belief(state, role)
        assert batch.hypotheses == held.hypotheses
        assert logs[row].tolist() == list(held.posterior.logs)
        assert batch.weights[row].tolist() == list(held.weights)
        assert fixed[row].tolist() == list(held.posterior.fixed)
        assert severities[row].tolist() == [list(one) for one in held.posterior.severities]
        assert abs(marginals.benign[row, 0] - held.benign) < 1e-5
        most = np.log2(batch.weights.shape[1])
        assert abs(marginals.doubt[row, 0] * most - held.entropy) < 1e-3
        names = held.topology.names
        roots = [held.root_causes.get(name, 0.0) for name in names]
        assert marginals.root[row].tolist() == pytest.approx(roots, abs=1e-5)
        pages = [held.teams.get(team, 0.0) for team in held.topology.teams]
        assert teams[row].tolist() == pytest.approx(pages, abs=1e-5)
        assert sum(marginals.remedy[row] > 0) == len(held.remedies)


@settings(max_examples=20)
@given(alike(), st.sampled_from(ROLES))
def test_a_batch_believes_what_its_rows_believe(states: list[State], role: Role | None) -> None:
    assert_equal(belief_batch(states, role), states, role)


@settings(max_examples=12)
@given(incident_ids(tuple(task for task in DRAWN if task.topology)), st.data())
def test_whole_screens_say_nothing_twice(name: str, data: st.DataObject) -> None:
    """An engine may hand over every screen as it stands, whatever stood there before."""
    incident = make_incident(name)
    state, world = initial_state(incident), incident.telemetry
    assert isinstance(world, Simulation)
    batch = BeliefBatch(
        model_of(world.setting, world.topology, world.held), count=3, horizon=incident.horizon
    )
    teams = world.topology.teams
    owners = [[teams.index(team) for team in incident.directory]]
    row = data.draw(st.integers(0, 2))
    batch.reset(owners, rows=[row])
    acted: list[int] = []
    for action in [None, *data.draw(plans(incident, incident.horizon))]:
        if state.is_closed:
            break
        if action is not None:
            state = transition(state, action)
            acted = action_numbers(state)
        batch.update(
            batch.numbers([list(world.shown(state.tick, state.facts.doings))], rows=[row]),
            [acted or [-1]],
            misrouted=np.array([state.closing == "misrouted"]),
            rows=[row],
        )
        wanted = belief(state)
        assert batch.logs()[row].tolist() == list(wanted.posterior.logs)
        assert batch.weights[row].tolist() == list(wanted.weights)


def action_numbers(state: State) -> list[int]:
    """The last action as a canonical integer, if it has one."""
    topology = state.incident.topology
    return [int(one) for one in action_array(topology, [state.actions[-1:]], hand_over=False)[0]]


@settings(max_examples=20)
@given(st.sampled_from((*DRAWN, *ELSEWHERE)), indices, st.data())
def test_rows_are_worth_their_best_plans(
    task: TaskSpec, index: list[int], data: st.DataObject
) -> None:
    """As if nobody took the incidents over."""
    index = index[:2]
    topology = None if task.topology else data.draw(topologies(9))
    engine = BatchedTriage(task, topology=topology, world=task.world)
    engine.reset("train", np.array(index))
    values, rows = BatchedValues(engine), np.arange(len(index))
    values.begin(rows)
    states = [initial_state(incident_of(task, "train", number, topology)) for number in index]
    choices, actions = choices_on(engine.topology), chosen_rows(states)
    while len(rows):
        for state, value in zip([states[row] for row in rows], values.values(rows), strict=True):
            untaken = attrs.evolve(state.incident, worth_of_hand_over=None)
            held = belief(State(untaken, state.tick, state.history))
            assert held.value() == pytest.approx(value, abs=1e-5)
        chosen = np.array(data.draw(actions))
        engine.step(chosen)
        for row in rows:
            states[row] = transition(states[row], choices[chosen[row]])
        rows = np.array([row for row in rows if not states[row].is_closed], np.int64)
        if len(rows):
            values.follow(chosen[rows], rows)
