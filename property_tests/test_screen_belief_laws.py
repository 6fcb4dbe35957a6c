"""The law of beliefs read off the screens of the batched engine: those of the scalar core."""

from collections.abc import Mapping

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from logtriage import State, Topology, initial_state, transition
from logtriage.beliefs import belief
from logtriage.beliefs.beliefs import Belief
from logtriage.tasks import TaskSpec
from logtriage.vector import BatchedTriage, BeliefScreens
from logtriage.vector.layout import Floats, Layout
from logtriage.vector.marginals import kinds_of
from property_tests.strategies import topologies
from property_tests.test_vector_laws import any_task, choices_on, chosen_rows, incident_of, tasks
from tests.builders import SEVEN_SERVICES


def marginals(held: Belief) -> Mapping[str, list[float]]:
    """The blocks of probabilities, from the scalar belief."""
    names, total = held.topology.names, sum(held.weights)
    kinds = dict.fromkeys(kinds_of(held.world), 0)
    for one, weight in zip(held.hypotheses, held.weights, strict=True):
        for kind, _ in one.faults or (one.benign,):  # type: ignore[misc]
            kinds[kind] += weight
    most = np.log2(len(held.hypotheses))
    return {
        "root": [held.root_causes.get(name, 0.0) for name in names],
        "remedy": [
            held.remedies.get((one, name), 0.0) for one in SEVEN_SERVICES.remedies for name in names
        ],
        "team": [held.teams.get(team, 0.0) for team in held.topology.teams],
        "kind": [weight / total for weight in kinds.values()],
        "benign": [held.benign],
        "doubt": [held.entropy / most],
    }


def agrees(layout: Layout, row: Floats, state: State) -> None:
    for name, wanted in marginals(belief(state)).items():
        np.testing.assert_allclose(row[layout[name]], wanted, atol=2e-6, err_msg=name)


def play(
    data: st.DataObject, task: TaskSpec, split: str, index: list[int], topology: Topology | None
) -> None:
    batch = BatchedTriage(task, topology=topology)
    screens = BeliefScreens(batch)
    screen = batch.reset(split, np.array(index))
    states = [initial_state(incident_of(task, split, one, topology)) for one in index]
    choices, later = choices_on(batch.topology), 1_000
    seen = screens.begin(screen)
    for _ in range(task.horizon + 2):
        for row, state in enumerate(states):
            agrees(screens.layout, seen[row], state)
        chosen = np.array(data.draw(chosen_rows(states), label="actions"))
        screen = batch.step(chosen)
        states = [transition(one, choices[at]) for one, at in zip(states, chosen, strict=True)]
        fresh = np.flatnonzero(screen.closing >= 0)
        batch.restart(fresh, np.arange(later, later + len(fresh)))
        for row in fresh.tolist():
            states[row] = initial_state(incident_of(task, split, later, topology))
            later += 1
        seen = screens.read(batch.look(), chosen, fresh)


@given(st.data(), tasks, st.lists(st.integers(0, 1 << 40), min_size=1, max_size=2))
@settings(max_examples=8)
def test_they_are_the_scalar_beliefs(data: st.DataObject, task: TaskSpec, index: list[int]) -> None:
    play(data, task, "train", index, None)


@given(st.data(), any_task, st.sampled_from(("train", "ood")), topologies(8))
@settings(max_examples=6)
def test_they_are_the_scalar_beliefs_on_other_topologies(
    data: st.DataObject, task: TaskSpec, split: str, topology: Topology
) -> None:
    play(data, task, split, [7], topology)
