"""The law of the batched team: row by row it is joint play on the scalar core."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logtriage import (
    InvalidInput,
    State,
    Topology,
    UnknownName,
    all_actions,
    initial_state,
    observe,
    reward,
    transition_jointly,
)
from logtriage.actions import Wait, action_name
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.grade import score
from logtriage.policies import perfect_actions
from logtriage.roles import SOLO, TRIO, Role, RoleSplit, role_actions
from logtriage.tasks import TaskSpec
from logtriage.vector import (
    CREDITS,
    BatchedTeam,
    BatchedTriage,
    Evidence,
    TeamStep,
    encode_role,
    encode_team,
    gather,
    role_layout_of,
    role_mask,
    team_layout_of,
)
from logtriage.vector.backends import BackendName
from property_tests.strategies import V1_TASKS, role_splits, topologies
from property_tests.test_vector_laws import BACKENDS, scalar_incident

tasks = st.sampled_from(V1_TASKS)
indices = st.lists(st.integers(0, 1 << 40), min_size=1, max_size=4)
OFTEN = st.booleans()


class Scalar:
    """One row, played by the scalar core."""

    def __init__(self, state: State, split: RoleSplit) -> None:
        self.state, self.split = state, split
        self.evidence = [Evidence()] * len(split)
        self.whole = Evidence()

    def check(self, team: BatchedTeam, screen: TeamStep, row: int) -> None:
        seen = observe(self.state)
        self.whole = gather(seen, self.whole)
        _same(encode_team(seen, self.whole), screen.state[row], team.layout.blocks)
        for number, role in enumerate(self.split.roles):
            part = observe(self.state, role)
            self.evidence[number] = gather(part, self.evidence[number])
            mine = encode_role(part, self.evidence[number], role)
            _same(mine, screen.observations[number][row], team.layouts[number].blocks)
            assert np.array_equal(role_mask(part, role), screen.masks[number][row])
            assert screen.masks[number][row].any()
        number = int(screen.closing[row])
        assert (None if number < 0 else CLOSINGS[number]) == self.state.closing
        assert int(screen.tick[row]) == self.state.tick
        assert screen.score[row] == score(self.state)


def _same(
    wanted: np.ndarray[tuple[int], np.dtype[np.float32]],
    got: np.ndarray[tuple[int], np.dtype[np.float32]],
    blocks: dict[str, slice],
) -> None:
    assert wanted.shape == got.shape
    if not np.array_equal(wanted, got):
        wrong = int(np.flatnonzero(wanted != got)[0])
        block = next(name for name, at in blocks.items() if at.start <= wrong < at.stop)
        raise AssertionError(f"{block}[{wrong}]: {wanted[wrong]} scalar, {got[wrong]} batched")


def joint_choice(data: st.DataObject, state: State, role: Role) -> int:
    """Any action of the role, the right ones and closing ones in proportion."""
    choices = role_actions(role, state.incident.topology)
    right = [one for one in perfect_actions(state.incident) if one in choices]
    by_kind = sorted({action_name(one) for one in choices})
    kind = data.draw(st.sampled_from(by_kind))
    rightly = data.draw(OFTEN)
    if right and rightly:
        return choices.index(data.draw(st.sampled_from(right)))
    places = [place for place, one in enumerate(choices) if action_name(one) == kind]
    return data.draw(st.sampled_from(places))


@given(
    st.data(),
    tasks,
    role_splits(),
    indices,
    st.none() | topologies(12),
    st.sampled_from(CREDITS),
    st.sampled_from(BACKENDS),
)
def test_batched_teams_and_joint_play_agree(
    data: st.DataObject,
    task: TaskSpec,
    split: RoleSplit,
    index: list[int],
    topology: Topology | None,
    credit: str,
    backend: BackendName,
) -> None:
    team = BatchedTeam(task.id, split, topology=topology, backend=backend, credit=credit)
    screen = team.reset("train", np.array(index))
    rows = [
        Scalar(initial_state(scalar_incident(task, "train", one, topology)), split) for one in index
    ]
    for _ in range(task.horizon + 1):
        for number, row in enumerate(rows):
            row.check(team, screen, number)
        if all(row.state.is_closed for row in rows):
            break
        chosen = [
            np.array([joint_choice(data, row.state, role) for row in rows]) for role in split.roles
        ]
        screen = team.step(chosen)
        for number, row in enumerate(rows):
            before = row.state
            if before.is_closed:
                assert not screen.rewards[:, number].any()
                continue
            acts = [
                role_actions(role, team.topology)[chosen[lane][number]]
                for lane, role in enumerate(split.roles)
            ]
            row.state = transition_jointly(before, acts)
            assert screen.reward[number] == reward(before, row.state)
            for lane in range(len(split)):
                if credit == "team":
                    wanted = reward(before, row.state)
                else:
                    waited = [Wait() if k == lane else act for k, act in enumerate(acts)]
                    wanted = score(row.state) - score(transition_jointly(before, waited))
                assert screen.rewards[lane, number] == wanted


@given(st.data(), tasks, indices)
def test_a_team_of_one_is_the_single_agent(
    data: st.DataObject, task: TaskSpec, index: list[int]
) -> None:
    team, alone = BatchedTeam(task.id, SOLO), BatchedTriage(task.id)
    one, other = team.reset("val", index), alone.reset("val", index)
    for _ in range(task.horizon):
        width = other.observation.shape[1]
        assert np.array_equal(one.observations[0][:, :width], other.observation)
        assert np.array_equal(one.masks[0], other.mask)
        assert np.array_equal(one.reward, other.reward)
        assert np.array_equal(one.closing, other.closing)
        number = len(all_actions(team.topology))
        chosen = np.array([data.draw(st.integers(0, number - 1)) for _ in index])
        one, other = team.step([chosen]), alone.step(chosen)


@given(st.data(), tasks, indices, indices)
def test_restarted_rows_of_a_team_are_as_fresh_ones(
    data: st.DataObject, task: TaskSpec, index: list[int], later: list[int]
) -> None:
    later = (later * len(index))[: len(index)]
    team, fresh = BatchedTeam(task.id, TRIO), BatchedTeam(task.id, TRIO)
    team.reset("train", index)
    for _ in range(2):
        team.step(
            [[data.draw(st.integers(0, count - 1)) for _ in index] for count in team.action_counts]
        )
    team.restart(np.arange(len(index)), later)
    one, other = team.look(), fresh.reset("train", later)
    for mine, theirs in zip(one.observations, other.observations, strict=True):
        assert np.array_equal(mine, theirs)
    assert np.array_equal(one.state, other.state)
    assert np.array_equal(one.closing, other.closing)


@given(role_splits(), topologies(12))
def test_a_role_has_columns_of_the_team_s_observation_in_order(
    split: RoleSplit, topology: Topology
) -> None:
    whole = team_layout_of(topology)
    for role in split.roles:
        mine = role_layout_of(topology, role)
        assert list(mine.blocks) == [name for name in whole.blocks if name in mine.blocks]
        for name, place in mine.blocks.items():
            assert place.stop - place.start == whole[name].stop - whole[name].start
        assert {"time", "closed"} <= set(mine.blocks)


def test_wrong_input_is_named() -> None:
    with pytest.raises(UnknownName, match="unknown credit 'own'; known: team, counterfactual"):
        BatchedTeam("single_crash-v1", credit="own")
    team = BatchedTeam("single_crash-v1")
    with pytest.raises(InvalidInput, match="call reset"):
        team.look()
    team.reset("train", [0, 1])
    nothing = [0, 0]
    with pytest.raises(InvalidInput, match=r"actions of 3 roles \(triage, escalation, reme"):
        team.step([nothing])
    with pytest.raises(InvalidInput, match="actions of escalation must be 2 integers, got int"):
        team.step([nothing, [0], nothing])
    with pytest.raises(InvalidInput, match=r"every action of escalation must lie in \[0, 5\)"):
        team.step([nothing, [0, 5], nothing])
