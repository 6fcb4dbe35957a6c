"""The law of the beliefs of teams: each role's equals the scalar belief of what it was shown."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from logtriage import Topology, initial_state
from logtriage.beliefs import belief
from logtriage.dynamics import transition_jointly
from logtriage.roles import Role, RoleSplit
from logtriage.tasks import TaskSpec
from logtriage.vector import BatchedTeam, TeamBeliefs
from property_tests.strategies import topologies
from property_tests.test_team_laws import choice, splits, taken
from property_tests.test_vector_laws import incident_of, indices, tasks


@settings(max_examples=8)
@given(st.data(), tasks, splits, indices, st.none() | topologies(9))
def test_every_role_of_a_batch_believes_what_it_was_shown(
    data: st.DataObject,
    task: TaskSpec,
    split: RoleSplit,
    index: list[int],
    topology: Topology | None,
) -> None:
    index = index[:2]
    team = BatchedTeam(task, split, topology=topology)
    team.reset("train", np.array(index))
    viewers: tuple[Role | RoleSplit, ...] = (*split.roles, split)
    beliefs = TeamBeliefs(team, viewers)
    beliefs.begin()
    states = [initial_state(incident_of(team.task, "train", one, topology)) for one in index]
    for _ in range(team.task.horizon + 1):
        for row, state in enumerate(states):
            if state.is_closed:
                continue
            for viewer, batch in zip(viewers, beliefs.of, strict=True):
                assert batch.weights[row].tolist() == list(belief(state, viewer).weights)
        if all(state.is_closed for state in states):
            break
        chosen = [np.array([choice(data, state, role) for state in states]) for role in split.roles]
        active = np.array([data.draw(st.integers(0, 3)) > 0 for _ in states])
        states = [
            state
            if state.is_closed or not active[row]
            else transition_jointly(state, taken(state, split, chosen, row))
            for row, state in enumerate(states)
        ]
        team.step(chosen, active)
        beliefs.follow()
