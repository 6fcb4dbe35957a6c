"""The law of the batched engine: row by row it is the scalar core, whatever computes it."""

from importlib.util import find_spec

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logtriage import (
    SEVEN_SERVICES,
    Incident,
    RequestMoreLogs,
    State,
    Topology,
    action_id,
    all_actions,
    initial_state,
    make_incident,
    observe,
    reward,
    transition,
)
from logtriage.actions import REMEDIES, SEVERITIES
from logtriage.emission import SimulatedTelemetry
from logtriage.faults import FAULT_KINDS
from logtriage.generator import draw_incident
from logtriage.grading import DEFAULT
from logtriage.grading.batch import CLOSINGS
from logtriage.scenario_ranges import CHANGE_KINDS
from logtriage.tasks import IncidentId, TaskSpec
from logtriage.vector import BatchedTriage, Evidence, Step, action_mask, encode, gather
from logtriage.vector.backends import BLOCK_ROWS, BackendName
from property_tests.strategies import V1_TASKS, topologies

tasks = st.sampled_from(V1_TASKS)
indices = st.lists(st.integers(0, 1 << 40), min_size=1, max_size=6)
ASK = st.booleans()
BACKENDS: tuple[BackendName, ...] = ("numpy", "numba") if find_spec("numba") else ("numpy",)
with_backends = pytest.mark.parametrize("backend", BACKENDS)
TRAINING = st.sampled_from(("train", "val", "test"))


def scalar_incident(task: TaskSpec, split: str, index: int, topology: Topology | None) -> Incident:
    return draw_incident(task, IncidentId(task, split, index), topology)


class Scalar:
    """One row, played by the scalar core."""

    def __init__(self, incident: Incident) -> None:
        self.state: State = initial_state(incident)
        self.evidence = Evidence()

    def check(self, batch: BatchedTriage, screen: object, row: int) -> None:
        assert isinstance(screen, Step)
        seen = observe(self.state)
        self.evidence = gather(seen, self.evidence)
        wanted, got = encode(seen, self.evidence), screen.observation[row]
        if not np.array_equal(wanted, got):
            wrong = int(np.flatnonzero(wanted != got)[0])
            block = next(n for n, s in batch.layout.blocks.items() if s.start <= wrong < s.stop)
            raise AssertionError(f"{block}[{wrong}]: {wanted[wrong]} scalar, {got[wrong]} batched")
        assert np.array_equal(action_mask(seen), screen.mask[row])
        number = int(screen.closing[row])
        assert (None if number < 0 else CLOSINGS[number]) == self.state.closing
        assert int(screen.tick[row]) == self.state.tick


def play_both(
    data: st.DataObject,
    task: TaskSpec,
    split: str,
    index: list[int],
    topology: Topology | None,
    backend: BackendName,
) -> None:
    batch = BatchedTriage(task, topology=topology, backend=backend)
    assert batch.backend == backend
    screen = batch.reset(split, np.array(index))
    rows = [Scalar(scalar_incident(task, split, one, topology)) for one in index]
    choices = all_actions(batch.topology)
    roots = [row.state.incident.truth.root_causes for row in rows]
    for _ in range(task.horizon + 1):
        for number, row in enumerate(rows):
            row.check(batch, screen, number)
        if all(row.state.is_closed for row in rows):
            break
        chosen = np.array(
            [data.draw(st.integers(0, len(choices) - 1), label="action") for _ in rows]
        )
        for number, names in enumerate(roots):  # ask the root now and then, to hear its cause
            ask = data.draw(ASK)
            if names and ask:
                chosen[number] = action_id(RequestMoreLogs(min(names)), batch.topology)
        screen = batch.step(chosen)
        for number, row in enumerate(rows):
            before = row.state
            if before.is_closed:
                assert screen.reward[number] == 0.0
                continue
            row.state = transition(before, choices[chosen[number]])
            assert screen.reward[number] == reward(before, row.state)


@with_backends
@given(st.data(), tasks, TRAINING, indices)
def test_batched_and_scalar_agree_on_the_default_topology(
    backend: BackendName, data: st.DataObject, task: TaskSpec, split: str, index: list[int]
) -> None:
    play_both(data, task, split, index, None, backend)


@with_backends
@given(st.data(), tasks, st.sampled_from(("train", "ood")), indices, topologies(40))
def test_batched_and_scalar_agree_on_other_topologies(
    backend: BackendName,
    data: st.DataObject,
    task: TaskSpec,
    split: str,
    index: list[int],
    topology: Topology,
) -> None:
    play_both(data, task, split, index, topology, backend)


@with_backends
@given(st.data(), tasks, st.integers(1, 70), indices, st.none() | topologies(12))
def test_batched_and_scalar_agree_on_any_horizon(
    backend: BackendName,
    data: st.DataObject,
    task: TaskSpec,
    horizon: int,
    index: list[int],
    topology: Topology | None,
) -> None:
    play_both(data, attrs.evolve(task, horizon=horizon), "train", index[:2], topology, backend)


@with_backends
@given(st.data(), tasks, indices, indices)
def test_restarted_rows_are_as_fresh_ones(
    backend: BackendName,
    data: st.DataObject,
    task: TaskSpec,
    index: list[int],
    later: list[int],
) -> None:
    later = later[: len(index)]
    places = data.draw(st.permutations(range(len(index))))[: len(later)]
    batch, fresh = (BatchedTriage(task.id, backend=backend) for _ in range(2))
    batch.reset("train", np.array(index))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    for _ in range(data.draw(st.integers(0, task.horizon))):
        batch.step(rng.integers(0, batch.action_count, len(index)))
    batch.restart(np.array(places, int), np.array(later[: len(places)], int))
    screen = batch.look()
    if not places:
        return
    wanted = fresh.reset("train", np.array(later[: len(places)]))
    for _ in range(task.horizon):
        for name in ("observation", "mask", "closing", "score", "tick"):
            assert np.array_equal(getattr(screen, name)[places], getattr(wanted, name)), name
        actions = rng.integers(0, batch.action_count, len(index))
        screen, wanted = batch.step(actions), fresh.step(actions[places])
        assert np.array_equal(screen.reward[places], wanted.reward)


@with_backends
@given(st.data(), tasks, indices)
def test_a_rubric_of_ones_own_pays_alike(
    backend: BackendName, data: st.DataObject, task: TaskSpec, index: list[int]
) -> None:
    rubric = attrs.evolve(DEFAULT, id="mine/1", gates=DEFAULT.gates[:1])
    batch = BatchedTriage(task.id, rubric=rubric, backend=backend)
    batch.reset("val", np.array(index))
    states = [initial_state(make_incident(f"{task.id}/val/{one}")) for one in index]
    choices = all_actions(SEVEN_SERVICES)
    for _ in range(6):
        chosen = np.array([data.draw(st.integers(0, len(choices) - 1)) for _ in index])
        screen = batch.step(chosen)
        for row, state in enumerate(states):
            if not state.is_closed:
                states[row] = transition(state, choices[chosen[row]])
                assert screen.reward[row] == reward(state, states[row], rubric)


@with_backends
@given(tasks, TRAINING, indices, st.none() | topologies(60))
def test_drawn_arrays_are_the_drawn_incidents(
    backend: BackendName,
    task: TaskSpec,
    split: str,
    index: list[int],
    topology: Topology | None,
) -> None:
    batch = BatchedTriage(task.id, topology=topology, backend=backend)
    batch.reset(split, np.array(index))
    arrays, names = batch._incidents, batch.topology.names
    for row, one in enumerate(index):
        incident = scalar_incident(task, split, one, topology)
        truth, telemetry = incident.truth, incident.telemetry
        assert isinstance(telemetry, SimulatedTelemetry)
        scenario = telemetry.scenario
        assert arrays.benign[row] == truth.benign
        assert SEVERITIES[arrays.severity[row]] is truth.severity
        if truth.fault is not None:
            assert names[arrays.root[row]] == truth.fault.service
            assert FAULT_KINDS[arrays.kind[row]].name == truth.fault.kind
            assert {batch.topology.teams[arrays.team[row]]} == truth.teams
            accepted = {REMEDIES[r] for r in np.flatnonzero(arrays.remedies[row])}
            assert accepted == {remedy for remedy, _ in truth.remedies}
        teams = batch.topology.teams
        assert tuple(teams[owner] for owner in arrays.owners[row]) == incident.directory
        for field in ("onset", "ramp", "lag", "peak_tick", "voice_at"):
            assert getattr(arrays, field)[row] == getattr(scenario, field)
        reached = {one.service: one for one in scenario.affected}
        for service in range(len(names)):
            affected = reached.get(service)
            hops = -1 if affected is None else affected.hops
            assert arrays.hops[row, 1 + service] == hops
            alert_from = -1 if affected is None else affected.alert_from
            assert arrays.alert_from[row, service] == alert_from
        seen = {(batch.topology.index(c.service), c.kind) for c in scenario.changes}
        marked = {
            (s, CHANGE_KINDS[k])
            for k, s in zip(*np.nonzero(arrays.changes[row].reshape(-1, len(names))), strict=True)
        }
        assert marked == seen


@pytest.mark.skipif(len(BACKENDS) < 2, reason="needs the extra fast")
@pytest.mark.parametrize("task", V1_TASKS, ids=lambda task: task.id)
def test_backends_agree_on_many_rows_that_restart(task: TaskSpec) -> None:
    count, rng = BLOCK_ROWS + 1000, np.random.default_rng(0)
    batches = [BatchedTriage(task.id, backend=backend) for backend in BACKENDS]
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
