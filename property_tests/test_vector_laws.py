"""The law of the batched engine: row by row it is the scalar core, whatever computes it."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logtriage import (
    FIVE_TEAMS,
    Action,
    Escalate,
    IdentifyRootCause,
    Incident,
    Remediate,
    State,
    Topology,
    action_id,
    all_actions,
    initial_state,
    observe,
    reward,
    transition,
)
from logtriage.actions import SEVERITIES, Wait
from logtriage.generator import draw_incident
from logtriage.grading import TRIAGE_2, criteria, score
from logtriage.grading.batch import CLOSINGS
from logtriage.rng import MASK
from logtriage.tasks import IncidentId, TaskSpec
from logtriage.transition import transition_jointly
from logtriage.vector import BatchedTriage, Step, action_mask, encode_tokens
from logtriage.vector.backends import BackendName
from logtriage.vector.engine import NOTHING
from logtriage.vector.tokens.incidents import PRICES, high_product
from logtriage.world.simulation import World
from property_tests.strategies import DRAWN, topologies

indices = st.lists(st.integers(0, 1 << 40), min_size=1, max_size=6)
BACKENDS: tuple[BackendName, ...] = ("numpy", "numba") if find_spec("numba") else ("numpy",)
with_backends = pytest.mark.parametrize("backend", BACKENDS)
TRAINING = st.sampled_from(("train", "val", "test"))
every_task = pytest.mark.parametrize(
    "task", [task for task in DRAWN if task.topology is not None], ids=lambda task: task.id
)
tasks = st.sampled_from([task for task in DRAWN if task.topology is not None])
any_task = st.sampled_from(DRAWN)


def incident_of(task: TaskSpec, split: str, index: int, topology: Topology | None) -> Incident:
    return draw_incident(task, IncidentId(task, split, index), topology)


Batches = dict[BackendName, BatchedTriage]
Screens = dict[BackendName, Step]


def every_backend(task: TaskSpec, **settings: Any) -> Batches:
    """A batch for each backend: one scalar play is compared with all of them."""
    return {one: BatchedTriage(task, backend=one, **settings) for one in BACKENDS}


def agree(batches: Batches, screens: Screens, row: int, state: State, lanes: int = 1) -> None:
    """Every backend shows in this row what the scalar state shows."""
    wanted, mask = encode_tokens(state, lanes), action_mask(observe(state))
    for backend, screen in screens.items():
        got = screen.observation[row]
        if not np.array_equal(wanted, got):
            wrong = int(np.flatnonzero(wanted != got)[0])
            blocks = batches[backend].layout.blocks
            block = next(n for n, s in blocks.items() if s.start <= wrong < s.stop)
            raise AssertionError(
                f"{block}[{wrong}]: {wanted[wrong]} scalar, {got[wrong]} by {backend}"
            )
        assert np.array_equal(mask, screen.mask[row]), backend
        number = int(screen.closing[row])
        assert (None if number < 0 else CLOSINGS[number]) == state.closing, backend
        assert int(screen.tick[row]) == state.tick, backend


def right_actions(incident: Incident) -> list[Action]:
    """What a random action seldom is: the page, the remedies, the root."""
    truth = incident.truth
    return [
        *(IdentifyRootCause(name) for name in sorted(truth.root_causes)),
        *(Escalate(team) for team in sorted(truth.teams)),
        *(Remediate(*one) for one in sorted(truth.remedies)),
    ]


def chosen_actions(incident: Incident) -> st.SearchStrategy[int]:
    """Any action by its integer, often a request, often a right one.

    Made once an episode: to make such a strategy takes longer than to draw from it.
    """
    topology = incident.topology
    count, n = len(all_actions(topology)), len(topology)
    right = right_actions(incident)
    requests = st.integers(count - 3 - 3 * n, count - 3)
    ways = [st.integers(0, count - 1), requests]
    if right:
        ways.append(st.sampled_from([action_id(one, topology) for one in right]))
    return st.one_of(ways)


def chosen_rows(states: Sequence[State]) -> st.SearchStrategy[tuple[int, ...]]:
    """An action for each row."""
    return st.tuples(*(chosen_actions(state.incident) for state in states))


def play_both(
    data: st.DataObject,
    task: TaskSpec,
    split: str,
    index: list[int],
    topology: Topology | None,
) -> None:
    batches = every_backend(task, topology=topology)
    screens = {name: batch.reset(split, np.array(index)) for name, batch in batches.items()}
    states = [initial_state(incident_of(task, split, one, topology)) for one in index]
    choices = all_actions(batches["numpy"].topology)
    actions = chosen_rows(states)
    for _ in range(task.horizon + 1):
        for row, state in enumerate(states):
            agree(batches, screens, row, state)
        if all(state.is_closed for state in states):
            break
        chosen = np.array(data.draw(actions, label="actions"))
        screens = {name: batch.step(chosen) for name, batch in batches.items()}
        for row, before in enumerate(states):
            if before.is_closed:
                assert [screen.reward[row] for screen in screens.values()] == [0.0] * len(screens)
                continue
            states[row] = transition(before, choices[chosen[row]])
            earned, total = reward(before, states[row]), score(states[row])
            for backend, screen in screens.items():
                assert (screen.reward[row], screen.score[row]) == (earned, total), backend


@given(st.data(), tasks, TRAINING, indices)
def test_batched_and_scalar_agree_on_the_tasks_own_topology(
    data: st.DataObject, task: TaskSpec, split: str, index: list[int]
) -> None:
    play_both(data, task, split, index[:2], None)


@given(st.data(), any_task, st.sampled_from(("train", "ood")), indices, topologies(40))
def test_batched_and_scalar_agree_on_other_topologies(
    data: st.DataObject,
    task: TaskSpec,
    split: str,
    index: list[int],
    topology: Topology,
) -> None:
    play_both(data, task, split, index[:2], topology)


@given(st.data(), tasks, st.integers(1, 60), indices, st.none() | topologies(12))
def test_batched_and_scalar_agree_on_any_horizon(
    data: st.DataObject,
    task: TaskSpec,
    horizon: int,
    index: list[int],
    topology: Topology | None,
) -> None:
    play_both(data, attrs.evolve(task, horizon=horizon), "train", index[:1], topology)


@given(st.data(), tasks, indices)
def test_several_who_act_in_a_tick_agree_with_joint_play(
    data: st.DataObject, task: TaskSpec, index: list[int]
) -> None:
    lanes = data.draw(st.integers(2, 3))
    batches = every_backend(task, lanes=lanes)
    screens = {name: one.reset("train", np.array(index[:2])) for name, one in batches.items()}
    states = [initial_state(incident_of(task, "train", one, None)) for one in index[:2]]
    choices = all_actions(batches["numpy"].topology)
    # Half of the roles wait: an `or` of strategies would count each way to choose as one more.
    lane = st.tuples(*(st.tuples(st.booleans(), chosen_actions(one.incident)) for one in states))
    actions = st.tuples(*[lane] * lanes)
    for _ in range(task.horizon):
        for row, state in enumerate(states):
            agree(batches, screens, row, state, lanes)
        if all(state.is_closed for state in states):
            break
        acts = [
            np.array([NOTHING if waits else number for waits, number in row])
            for row in data.draw(actions, label="whether each waits, and its action")
        ]
        without, earned = {}, {}
        for name, batch in batches.items():
            rows = batch.open_rows()
            without[name] = batch.scores_without(acts, rows, 0)
            earned[name], _ = batch.play(acts, rows)
            screens[name] = batch.look()
        for row, before in enumerate(states):
            if before.is_closed:
                assert [found[row] for found in earned.values()] == [0.0] * len(batches)
                continue
            joint = [Wait() if chosen[row] == NOTHING else choices[chosen[row]] for chosen in acts]
            states[row] = transition_jointly(before, joint)
            wanted = (
                reward(before, states[row]),
                score(transition_jointly(before, [Wait(), *joint[1:]])),
            )
            for name in batches:
                assert (earned[name][row], without[name][row]) == wanted, name


@with_backends
@given(st.data(), tasks, indices, indices)
def test_restarted_rows_are_as_fresh_ones(
    backend: str, data: st.DataObject, task: TaskSpec, index: list[int], later: list[int]
) -> None:
    later = later[: len(index)]
    places = data.draw(st.permutations(range(len(index))))[: len(later)]
    batch, fresh = (
        BatchedTriage(task, backend=backend)  # type: ignore[arg-type]
        for _ in range(2)
    )
    batch.reset("train", np.array(index))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    for _ in range(data.draw(st.integers(0, task.horizon))):
        batch.step(rng.integers(0, batch.action_count, len(index)))
    batch.restart(np.array(places, int), np.array(later, int))
    screen, wanted = batch.look(), fresh.reset("train", np.array(later))
    for _ in range(task.horizon):
        for name in ("observation", "mask", "closing", "score", "tick"):
            assert np.array_equal(getattr(screen, name)[places], getattr(wanted, name)), name
        actions = rng.integers(0, batch.action_count, len(index))
        screen, wanted = batch.step(actions), fresh.step(actions[places])
        assert np.array_equal(screen.reward[places], wanted.reward)


@given(st.data(), tasks, indices, st.booleans(), st.none() | st.integers(1, 3))
def test_a_rubric_of_ones_own_pays_alike(
    data: st.DataObject,
    task: TaskSpec,
    index: list[int],
    benign: bool,
    digits: int | None,
) -> None:
    measure = data.draw(st.sampled_from((criteria.severity, criteria.root_cause)))
    more = attrs.evolve(TRIAGE_2.criteria[0], name="more", measure=measure)
    rubric = attrs.evolve(
        TRIAGE_2,
        id="mine/1",
        gates=TRIAGE_2.gates[:1],
        discounts=TRIAGE_2.discounts[1:],
        penalties=() if benign else (more,),
        benign=TRIAGE_2.benign if benign else (),
        digits=digits,
    )
    batches = every_backend(task, rubric=rubric)
    for batch in batches.values():
        batch.reset("val", np.array(index))
    states = [initial_state(incident_of(task, "val", one, None)) for one in index]
    choices = all_actions(FIVE_TEAMS)
    actions = chosen_rows(states)
    for _ in range(6):
        chosen = np.array(data.draw(actions))
        screens = {name: batch.step(chosen) for name, batch in batches.items()}
        for row, state in enumerate(states):
            if not state.is_closed:
                states[row] = transition(state, choices[chosen[row]])
                wanted = reward(state, states[row], rubric)
                assert [one.reward[row] for one in screens.values()] == [wanted] * len(BACKENDS)


@with_backends
@given(any_task, TRAINING, indices, topologies(60))
def test_drawn_arrays_are_the_drawn_incidents(
    backend: str, task: TaskSpec, split: str, index: list[int], topology: Topology
) -> None:
    own = None if topology == FIVE_TEAMS and task.topology else topology
    batch = BatchedTriage(task, topology=own, backend=backend)  # type: ignore[arg-type]
    batch.reset(split, np.array(index))
    arrays, tables = batch._incidents, batch._setting.tables
    for row, one in enumerate(index):
        incident = incident_of(task, split, one, own)
        world, truth = incident.telemetry, incident.truth
        assert isinstance(world, World)
        assert int(arrays.seed[row]) == world.seed
        assert SEVERITIES[arrays.severity[row]] is truth.severity
        assert PRICES[arrays.price[row]] == incident.price_of_silence
        hypothesis = arrays.hypothesis[row]
        assert tables.recovers[hypothesis] == (not truth.benign)
        if not truth.benign:
            names = batch.topology.names
            assert {names[tables.root[hypothesis]]} == truth.root_causes
            assert {batch.topology.teams[arrays.team[row]]} == truth.teams
        places = tables.conditions
        assert world.conditions == tuple(
            places[service][at] for service, at in enumerate(arrays.conditions[row])
        )


@given(st.lists(st.integers(0, MASK), min_size=1), st.integers(1, MASK))
def test_the_high_half_of_a_product_is_exact(bits: list[int], whole: int) -> None:
    found = high_product(np.array(bits, np.uint64), whole)
    assert found.tolist() == [one * whole >> 64 for one in bits]


@pytest.mark.skipif(len(BACKENDS) < 2, reason="needs the extra fast")
@every_task
def test_backends_agree_on_many_rows_that_restart(task: TaskSpec) -> None:
    count, rng = 5000, np.random.default_rng(0)
    batches = [BatchedTriage(task, backend=backend) for backend in BACKENDS]
    screens = [batch.reset("train", np.arange(count)) for batch in batches]
    for tick in range(2 * task.horizon):
        for field in attrs.fields(Step):
            first, second = (getattr(screen, field.name) for screen in screens)
            assert first.dtype == second.dtype
            assert np.array_equal(first, second), f"{field.name} at tick {tick}"
        closed = np.flatnonzero(screens[0].closing >= 0)
        actions = rng.integers(0, batches[0].action_count, count)
        for batch in batches:
            batch.restart(closed, (tick + 1) * count + closed)
        screens = [batch.step(actions) for batch in batches]
