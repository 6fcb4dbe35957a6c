"""Steps a second in training: a round of PPO, playing and updating, on one core.

Needs the extra ``train-rl``; without it, nothing is measured.
"""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from training.ppo import Collector, Settings, learner_of, make_agent  # noqa: E402 (after the skips)

Benchmark = Any


@pytest.mark.benchmark(group="training")
def bench_ppo(benchmark: Benchmark, rounds: Callable[[int], int]) -> None:
    settings = Settings(task="cascading_failure-v4", imitation=0)
    torch.set_num_threads(1)
    agent = make_agent(settings)
    collector, learner = Collector(settings), learner_of(agent, settings)

    def run() -> None:
        learner.update(collector.collect(agent), 0.0)

    benchmark.pedantic(run, rounds=rounds(3), warmup_rounds=1)
    benchmark.extra_info["row_steps_per_round"] = settings.batch
