"""A pool of drawn worlds in one batch: rows of different worlds equal the scalar core."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from logtriage import InvalidInput, State, initial_state, make_incident, transition
from logtriage.actions import all_actions
from logtriage.beliefs import belief
from logtriage.dynamics import transition_jointly
from logtriage.env import TriageEnv, TriageVectorEnv
from logtriage.grading import score
from logtriage.roles import role_actions
from logtriage.roles.splits import TRIO
from logtriage.vector import (
    BatchedTeam,
    BatchedTriage,
    BeliefScreens,
    TeamBeliefs,
    belief_batch,
    encode_role_tokens,
    encode_team_tokens,
    encode_tokens,
)
from logtriage.world.topologies import random_topology

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

TASK = "unseen_world-v4"
#: Worlds of a pool, in no order; their kinds are of different numbers.
POOL = (9, 1, 3)


def begun(index: Any, split: str = "test", task: str = TASK) -> list[State]:
    return [initial_state(make_incident(f"{task}/{split}/{one}")) for one in index]


def assert_believed(weights: Any, state: State, role: Any = None) -> None:
    """The weights of a row are those of the state, with none behind them."""
    wanted = belief(state, role).weights
    assert weights[: len(wanted)].tolist() == list(wanted)
    assert not weights[len(wanted) :].any()


@pytest.mark.parametrize(("task", "split"), [(TASK, "test"), (f"{TASK}-fog0", "ood")])
def test_rows_of_several_worlds_are_those_of_the_scalar_core(task: str, split: str) -> None:
    batch = BatchedTriage(task, pool=POOL)
    index = batch.nth(np.arange(2 * len(POOL)))
    screen = batch.reset(split, index)
    beliefs = BeliefScreens(batch)
    beliefs.begin(screen)
    states, rng = begun(index, split, task), np.random.default_rng(0)
    assert len({state.incident.topology for state in states}) == len(POOL)
    for _ in range(batch.task.horizon):
        for row, state in enumerate(states):
            assert np.array_equal(screen.observation[row], encode_tokens(state))
            assert screen.score[row] == score(state)
            if screen.closing[row] < 0:
                assert_believed(beliefs.beliefs.weights[row], state)
        actions = rng.integers(0, batch.action_count, len(index))
        for row in np.flatnonzero(screen.closing < 0).tolist():
            choices = all_actions(states[row].incident.topology, hand_over=True)
            states[row] = transition(states[row], choices[actions[row]])
        screen = batch.step(actions)
        beliefs.read(screen, actions)
    many = belief_batch(states)
    doubt = many.marginals().doubt
    for row, state in enumerate(states):
        assert_believed(many.weights[row], state)
        now = belief(state)
        # The pool's widest world does not count.
        assert doubt[row, 0] == pytest.approx(now.entropy / np.log2(len(now.weights)), abs=1e-5)
        for place, team in enumerate(state.incident.topology.teams):
            assert many.teams()[row, place] == pytest.approx(now.teams.get(team, 0.0), abs=1e-5)


def test_a_row_that_begins_anew_may_be_of_another_world() -> None:
    batch = BatchedTriage(TASK, pool=POOL)
    batch.reset("val", [9, 9])
    batch.restart([1], [256 + 3])
    screen, states = batch.look(), begun([9, 259], "val")
    for row, state in enumerate(states):
        assert np.array_equal(screen.observation[row], encode_tokens(state))


def test_teams_play_and_believe_in_several_worlds() -> None:
    team = BatchedTeam(TASK, TRIO, pool=POOL)
    index = team.engine.nth(np.arange(len(POOL)))
    screen = team.reset("train", index)
    beliefs, states = TeamBeliefs(team), begun(index, "train")
    beliefs.begin()
    rng = np.random.default_rng(1)
    for _ in range(6):
        for row, state in enumerate(states):
            assert np.array_equal(screen.state[row], encode_team_tokens(state, TRIO))
            for lane, role in enumerate(TRIO.roles):
                wanted = encode_role_tokens(state, TRIO, role)
                assert np.array_equal(screen.observations[lane][row], wanted)
                if screen.closing[row] < 0:
                    assert_believed(beliefs.of[lane].weights[row], state, role)
        chosen = [rng.integers(0, count, len(index)) for count in team.action_counts]
        for row, state in enumerate(states):
            if not state.is_closed:
                place, world = state.incident.topology, state.incident.world
                acts = [
                    role_actions(role, place, world, hand_over=True)[one[row]]
                    for role, one in zip(TRIO.roles, chosen, strict=True)
                ]
                states[row] = transition_jointly(state, acts)
        screen = team.step(chosen)
        beliefs.follow()
        assert screen.score.tolist() == [score(state) for state in states]


def test_an_environment_plays_the_incidents_of_its_pool() -> None:
    envs = TriageVectorEnv(TASK, 5, pool=POOL, show_id=True)
    _, infos = envs.reset(seed=3)
    played = [infos["index"]]
    for _ in range(20):
        *_, infos = envs.step(np.full(5, envs.single_action_space.n - 1))  # type: ignore[attr-defined]
        played.append(infos["index"])
    every = np.unique(played)
    assert set((every % 256).tolist()) == set(POOL)
    assert len(every) == 5 * 11
    envs.reset(options={"ids": [f"{TASK}/train/{one}" for one in (1, 3, 9, 257, 259)]})


def test_what_is_no_pool_is_refused() -> None:
    for pool, message in (
        (range(65), "pool: expected 1 to 64 different worlds of a split, got 65"),
        ((), "pool: expected 1 to 64 different worlds of a split, got 0"),
        ((1, 1), "pool: expected 1 to 64 different worlds of a split, got 2"),
        ((256,), r"pool\[0\]: 256 is not in 0 to 255"),
        ((1.5,), "pool: expected integers, got an array of float64"),
    ):
        with pytest.raises(InvalidInput, match=message):
            BatchedTriage(TASK, pool=pool)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="'single_crash-v4' has one world, and needs none"):
        BatchedTriage("single_crash-v4", pool=(1,))
    with pytest.raises(InvalidInput, match="each world of task 'unseen_world-v4' has a topology"):
        BatchedTriage(TASK, topology=random_topology(4, 12))
    batch = BatchedTriage(TASK, pool=POOL)
    with pytest.raises(InvalidInput, match=r"incident 256 is of world 0, which is none of the 3"):
        batch.reset("train", [1, 256])


def test_one_environment_plays_a_pool_as_a_batch_of_one_does() -> None:
    env, batch = TriageEnv(TASK, pool=POOL), TriageVectorEnv(TASK, 1, pool=POOL)
    assert env.observation_space == batch.single_observation_space
    assert env.action_space == batch.single_action_space
    seen, info = env.reset(seed=5)
    rows, infos = batch.reset(seed=5)
    rng, closed = np.random.default_rng(0), 0
    while closed < len(POOL):
        assert np.array_equal(seen, rows[0])
        assert np.array_equal(info["action_mask"], infos["action_mask"][0])
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        seen, reward, terminated, truncated, info = env.step(action)
        rows, rewards, *_, infos = batch.step(np.array([action]))
        assert reward == rewards[0]
        if terminated or truncated:
            closed += 1
            seen, info = env.reset()
            rows, *_, infos = batch.step(np.array([0]))
