"""The loop around RLlib's algorithm: train, evaluate now and then, keep a checkpoint."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from ray.rllib.algorithms.ppo import PPO

from training.common.settings import CHOICE_SPLIT
from training.ppo.evaluate import evaluate
from training.rllib import store
from training.rllib.configuration import configuration
from training.rllib.directory import AGENT, CURVE, last_checkpoint, save_checkpoint
from training.rllib.networks import Agent, make_agent
from training.rllib.settings import Settings
from training.rllib.store import Point

#: The name that RLlib gives the only module of an algorithm.
MODULE = "default_policy"
Report = Callable[[int, dict[str, Any], Point | None], None]


def train(settings: Settings, out: Path, report: Report) -> list[Point]:
    """Train, from the last checkpoint on if there is one; ``report`` is told of every round.

    Ray is up already. ``report`` gets the rounds so far, RLlib's result of the last one (empty
    before the first), and the point of the curve where one was measured.
    """
    last = last_checkpoint(out)
    begun = 0 if last is None else last[0]
    points = [one for one in store.load_curve(out / CURVE) if one.rounds <= begun]
    earlier = points[-1].seconds if points else 0.0
    start = time.perf_counter()
    algorithm = configuration(settings, begun).build_algo()
    try:
        if last is not None:
            algorithm.restore_from_path(str(last[1]))
        agent = make_agent(settings)

        def measure(rounds: int, result: dict[str, Any]) -> Point:
            take_over(algorithm, agent)
            val = evaluate(agent, settings.task, settings.eval_incidents, split=CHOICE_SPLIT)
            seconds = earlier + time.perf_counter() - start
            point = Point(rounds, seconds, rounds * settings.batch, *_measured(result), val)
            points.append(point)
            store.save_agent(out / AGENT, agent)
            store.save_curve(out / CURVE, points)
            return point

        report(begun, {}, measure(0, {}) if not points else None)
        for rounds in range(begun + 1, settings.rounds + 1):
            result = algorithm.train()
            due = rounds % settings.eval_every == 0 or rounds == settings.rounds
            point = measure(rounds, result) if due else None
            if due:
                save_checkpoint(out, rounds, algorithm.save_to_path)
            report(rounds, result, point)
    finally:
        algorithm.stop()
    return points


def take_over(algorithm: PPO, agent: Agent) -> None:
    """Give an agent the weights that the learner has now."""
    weights = algorithm.get_weights([MODULE])[MODULE]
    state = {name.removeprefix("networks."): torch.as_tensor(one) for name, one in weights.items()}
    agent.networks.load_state_dict(state)


def _measured(result: dict[str, Any]) -> tuple[float | None, float | None]:
    """The mean grade of the incidents that ended, and the entropy of the policy."""
    train = result.get("env_runners", {}).get("episode_return_mean")
    entropy = result.get("learners", {}).get(MODULE, {}).get("entropy")
    return (None if train is None else float(train), None if entropy is None else float(entropy))
