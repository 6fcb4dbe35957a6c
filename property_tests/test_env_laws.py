"""The law of the environments: a vector environment is so many scalar ones with autoreset."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from logtriage import Topology
from logtriage.tasks import TaskSpec
from property_tests.strategies import topologies

if find_spec("gymnasium") is None or find_spec("numba") is None:
    pytest.skip("needs the extras env and fast", allow_module_level=True)

from logtriage.env import TriageEnv, TriageVectorEnv
from property_tests.test_vector_laws import DRAWN

seeds = st.integers(0, (1 << 63) - 1)


@settings(max_examples=20)
@given(
    st.data(), st.sampled_from(DRAWN), st.none() | topologies(12), st.integers(1, 3), seeds,
    st.sampled_from((0.02, 0.3)),
)  # fmt: skip
def test_a_vector_environment_is_scalar_ones_that_restart(
    data: st.DataObject,
    task: TaskSpec,
    topology: Topology | None,
    count: int,
    seed: int,
    closing: float,
) -> None:
    """Played at random; ``closing`` is how often an action is one of the last three."""
    assume(topology is not None or task.topology is not None)
    envs = TriageVectorEnv(task.id, count, topology=topology, show_id=True)
    single = [TriageEnv(task.id, topology=topology, show_id=True) for _ in range(count)]
    rng = np.random.default_rng(data.draw(seeds))
    observations, infos = envs.reset(seed=seed)
    choices = infos["action_mask"].shape[1]
    screens = [env.reset(options={"id": int(infos["index"][r])}) for r, env in enumerate(single)]
    played = set(infos["index"].tolist())
    closed = np.zeros(count, bool)
    for _ in range(task.horizon + 4):
        for row, (observation, info) in enumerate(screens):
            assert np.array_equal(observation, observations[row])
            assert all(np.array_equal(value, infos[name][row]) for name, value in info.items())
        assert observations in envs.observation_space
        last = rng.integers(choices - 3, choices, count)
        actions = np.where(rng.random(count) < closing, last, rng.integers(0, choices, count))
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        for row, env in enumerate(single):
            if closed[row]:
                index = int(infos["index"][row])
                assert index not in played
                played.add(index)
                screens[row] = env.reset(options={"id": index})
                assert (rewards[row], terminations[row], truncations[row]) == (0.0, False, False)
            else:
                observation, *told, info = env.step(actions[row])
                screens[row] = observation, info
                assert told == [rewards[row], terminations[row], truncations[row]]
        closed = terminations | truncations


@settings(max_examples=20)
@given(st.sampled_from([task for task in DRAWN if task.topology is not None]), seeds)
def test_one_seed_is_one_sequence_in_both(task: TaskSpec, seed: int) -> None:
    env = TriageEnv(task.id, show_id=True)
    envs = TriageVectorEnv(task.id, 3, show_id=True)
    observation, info = env.reset(seed=seed)
    observations, infos = envs.reset(seed=seed)
    assert info["index"] == infos["index"][0]
    assert np.array_equal(observation, observations[0])
    for row in (1, 2):
        observation, info = env.reset()
        assert info["index"] == infos["index"][row]
        assert np.array_equal(observation, observations[row])
