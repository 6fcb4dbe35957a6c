"""RLlib's wrappers play the environments of teams: run by ``make test-multi-frameworks``."""

import math

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")
pytest.importorskip("pettingzoo")

from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402 (after the skips)
from ray.rllib.env.wrappers.pettingzoo_env import (  # noqa: E402
    ParallelPettingZooEnv,
    PettingZooEnv,
)
from ray.tune.registry import register_env  # noqa: E402

from logtriage.multi import triage_team_v1  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
AGENTS = {"triage_0", "escalation_0", "remediation_0"}


@pytest.mark.parametrize("observations", ["dict", "flat"])
def test_whole_episodes_in_parallel(observations):
    env = ParallelPettingZooEnv(triage_team_v1.parallel_env(observations=observations))
    for seed in range(5):
        seen, infos = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            assert seen in env.observation_space
            assert seen.keys() == AGENTS
            actions = {agent: env.action_space[agent].sample() for agent in seen}
            seen, rewards, terminated, truncated, infos = env.step(actions)
            over = terminated["__all__"] or truncated["__all__"]
            total += rewards["triage_0"]
        assert total == pytest.approx(infos["triage_0"]["score"])


@pytest.mark.parametrize("observations", ["dict", "flat"])
def test_whole_episodes_by_turns(observations):
    env = PettingZooEnv(triage_team_v1.env(observations=observations))
    for seed in range(5):
        seen, _ = env.reset(seed=seed)
        turns, over = 0, False
        while not over:
            (agent,) = seen
            assert seen[agent] in env.observation_spaces[agent]
            turns += 1
            seen, _, terminated, truncated, _ = env.step({agent: env.action_spaces[agent].sample()})
            over = terminated["__all__"] or truncated["__all__"]
        assert seen.keys() == AGENTS
        assert turns % len(AGENTS) == 0


def test_ppo_trains_a_policy_for_each_role():
    register_env(
        "triage_team",
        lambda config: ParallelPettingZooEnv(
            triage_team_v1.parallel_env("single_crash-v3", observations="flat", **config)
        ),
    )
    config = (
        PPOConfig()
        .environment("triage_team", env_config={"credit": "counterfactual"})
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
        .multi_agent(policies=AGENTS, policy_mapping_fn=lambda agent, *_, **__: agent)
    )
    ray.init(num_cpus=1, include_dashboard=False)
    try:
        algorithm = config.build_algo()
        result = algorithm.train()
        algorithm.stop()
    finally:
        ray.shutdown()
    runners = result["env_runners"]
    assert runners["num_episodes"] > 0
    assert runners["agent_episode_returns_mean"].keys() == AGENTS
    assert all(math.isfinite(one) for one in runners["agent_episode_returns_mean"].values())
    assert result["learners"].keys() >= AGENTS
