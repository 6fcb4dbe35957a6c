"""The law of the batched team: row by row it is joint play on the scalar core."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from logtriage import State, Topology, initial_state, reward, vector
from logtriage.actions import Action, action_name
from logtriage.dynamics import transition_jointly
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.credit import credits_of
from logtriage.grading.grade import score
from logtriage.joint import observe_roles, requests_left
from logtriage.observation import Observation
from logtriage.policies import masked_actions, perfect_actions
from logtriage.roles import Role, RoleSplit, as_allowed, role_actions
from logtriage.tasks import TaskSpec
from property_tests.strategies import role_splits, topologies
from property_tests.test_vector_laws import incident_of, indices, tasks

splits = role_splits(settings=True)


def role_mask(observation: Observation, role: Role) -> Any:
    """Which of a role's actions could have an effect, by its screen."""
    sensible = set(masked_actions(observation, role))
    topology, world = observation.topology, observation.world
    choices = role_actions(role, topology, world, hand_over=observation.takes_hand_over)
    return np.array([choice in sensible for choice in choices], np.int8)


def same(wanted: Any, got: Any, blocks: dict[str, slice]) -> None:
    assert wanted.shape == got.shape
    if not np.array_equal(wanted, got):
        wrong = int(np.flatnonzero(wanted != got)[0])
        block = next(name for name, at in blocks.items() if at.start <= wrong < at.stop)
        raise AssertionError(f"{block}[{wrong}]: {wanted[wrong]} scalar, {got[wrong]} batched")


def agrees(team: vector.BatchedTeam, screen: vector.TeamStep, row: int, state: State) -> None:
    split = team.split
    same(vector.encode_team_tokens(state, split), screen.state[row], team.layout.blocks)
    together = np.zeros_like(screen.state[row])
    for lane, role in enumerate(split.roles):
        mine, layout = screen.observations[lane][row], team.layouts[lane]
        same(vector.encode_role_tokens(state, split, role), mine, layout.blocks)
        columns = np.searchsorted(team.layout.columns, layout.columns)
        together[columns] = np.maximum(together[columns], mine)
        assert np.array_equal(vector.role_token_mask(state, split, role), screen.masks[lane][row])
    late = any(role.hears_late for role in split.roles)
    assert (late & (together <= screen.state[row]) | (together == screen.state[row])).all()
    number = int(screen.closing[row])
    assert (None if number < 0 else CLOSINGS[number]) == state.closing
    assert int(screen.tick[row]) == state.tick
    assert screen.score[row] == score(state)


def choices_of(role: Role, state: State) -> tuple[Action, ...]:
    """Every action of the role by its integer, the hand-over last."""
    return role_actions(role, state.incident.topology, hand_over=True)


def choice(data: st.DataObject, state: State, role: Role) -> int:
    """Any action of the role; the right ones, requests and reports often."""
    choices = choices_of(role, state)
    right = [one for one in perfect_actions(state.incident) if one in choices]
    if right and data.draw(st.integers(0, 2)) == 0:
        return choices.index(data.draw(st.sampled_from(right)))
    kind = data.draw(st.sampled_from(sorted({action_name(one) for one in choices})))
    places = [place for place, one in enumerate(choices) if action_name(one) == kind]
    return data.draw(st.sampled_from(places))


def taken(state: State, split: RoleSplit, chosen: list[Any], row: int) -> list[Action]:
    """The actions that the roles take, by their integers."""
    topology = state.incident.topology
    return [
        as_allowed(
            choices_of(role, state)[one[row]], role, topology, requests_left(state, split, role)
        )
        for role, one in zip(split.roles, chosen, strict=True)
    ]


@given(
    st.data(), tasks, splits, indices, st.none() | topologies(12), st.sampled_from(vector.CREDITS),
    st.none() | st.integers(1, 20),
)  # fmt: skip
def test_batched_teams_and_joint_play_agree(
    data: st.DataObject,
    task: TaskSpec,
    split: RoleSplit,
    index: list[int],
    topology: Topology | None,
    credit: str,
    horizon: int | None,
) -> None:
    index = index[:2]
    team = vector.BatchedTeam(task, split, horizon=horizon, topology=topology, credit=credit)
    screen = team.reset("train", np.array(index))
    states = [initial_state(incident_of(team.task, "train", one, topology)) for one in index]
    for _ in range(team.task.horizon + 1):
        for row, state in enumerate(states):
            agrees(team, screen, row, state)
        if all(state.is_closed for state in states):
            break
        chosen = [np.array([choice(data, state, role) for state in states]) for role in split.roles]
        screen = team.step(chosen)
        for row, before in enumerate(states):
            if before.is_closed:
                assert not screen.rewards[:, row].any()
                continue
            acts = taken(before, split, chosen, row)
            states[row] = after = transition_jointly(before, acts)
            assert screen.reward[row] == reward(before, after)
            wanted = (reward(before, after),) * len(split)
            if credit == "counterfactual":
                wanted = credits_of(before, acts)
            assert tuple(screen.rewards[:, row]) == wanted


@settings(max_examples=15)
@given(st.data(), tasks, splits, indices, indices)
def test_restarted_rows_of_a_team_are_as_fresh_ones(
    data: st.DataObject, task: TaskSpec, split: RoleSplit, index: list[int], later: list[int]
) -> None:
    later = (later * len(index))[: len(index)]
    team, fresh = (vector.BatchedTeam(task, split) for _ in range(2))
    team.reset("train", index)
    random = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    for _ in range(3):
        team.step([random.integers(0, count, len(index)) for count in team.action_counts])
    team.restart(np.arange(len(index)), later)
    one, other = team.look(), fresh.reset("train", later)
    for _ in range(3):
        for name in ("observations", "masks"):
            for mine, theirs in zip(getattr(one, name), getattr(other, name), strict=True):
                assert np.array_equal(mine, theirs), name
        for name in ("state", "closing", "score", "tick"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        actions = [random.integers(0, count, len(index)) for count in team.action_counts]
        one, other = team.step(actions), fresh.step(actions)


@settings(max_examples=20)
@given(tasks, splits, st.integers(0, 1 << 40), st.data())
def test_a_state_that_was_played_is_encoded_as_its_history_is(
    task: TaskSpec, split: RoleSplit, index: int, data: st.DataObject
) -> None:
    state = initial_state(incident_of(task, "train", index, None))
    while True:
        fresh = State(state.incident, state.tick, state.history, state.closing)
        whole = vector.encode_team_tokens(state, split)
        assert np.array_equal(whole, vector.encode_team_tokens(fresh, split))
        for role, seen in zip(split.roles, observe_roles(state, split), strict=True):
            part = vector.encode_role_tokens(state, split, role)
            assert np.array_equal(part, vector.encode_role_tokens(fresh, split, role))
            mask = vector.role_token_mask(state, split, role)
            assert np.array_equal(mask, role_mask(seen, role))
            assert mask.any()
        if state.is_closed or state.tick == 5:
            break
        chosen = [np.array([choice(data, state, role)]) for role in split.roles]
        state = transition_jointly(state, taken(state, split, chosen, 0))
