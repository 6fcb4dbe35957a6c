"""The batched TorchRL environment of teams beside the engine and inputs that it stands on.

Needs the extra ``train-rl``; without it, nothing is measured.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from logtriage.roles.splits import BY_CHANNEL
from logtriage.vector import BatchedTeam

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from training.benchmarl.environment import GROUP, TeamEnv  # noqa: E402 (after the skips)
from training.marl.inputs import Inputs  # noqa: E402

TASK = "cascading_failure-v3-fog1"
SIZE = 512
TICKS = 16
Benchmark = Any
Rounds = Callable[[int], int]
GROUP_NAME = f"{TICKS} ticks of N = {SIZE} teams, closed rows go on"


def _drawn(masks: list[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
    """An allowed action (N,) for each role, drawn evenly."""
    return [(random.random(mask.shape) * mask.astype(bool)).argmax(-1) for mask in masks]


@pytest.mark.benchmark(group=GROUP_NAME)
def bench_engine_and_inputs(benchmark: Benchmark, rounds: Rounds) -> None:
    """What any learner needs: a step of the engine, fresh incidents, inputs as tensors."""
    batch, random = BatchedTeam(TASK, BY_CHANNEL), np.random.default_rng(0)
    inputs = Inputs(batch)
    screen = batch.reset("train", np.arange(SIZE))
    inputs.begin(screen)
    begun = SIZE

    def play() -> None:
        nonlocal screen, begun
        for _ in range(TICKS):
            screen = batch.step(_drawn(screen.masks, random))
            fresh = np.flatnonzero(screen.closing >= 0)
            if len(fresh):
                batch.restart(fresh, np.arange(begun, begun + len(fresh)))
                begun += len(fresh)
                screen = batch.look()
            inputs.read(screen, np.arange(SIZE), fresh)

    benchmark.extra_info["row_ticks"] = SIZE * TICKS
    benchmark.pedantic(play, rounds=rounds(5), warmup_rounds=1)


@pytest.mark.benchmark(group=GROUP_NAME)
def bench_torchrl_environment(benchmark: Benchmark, rounds: Rounds) -> None:
    """The same as tensordicts, roles padded and stacked."""
    env, random = TeamEnv(TASK, BY_CHANNEL, SIZE), np.random.default_rng(0)
    now = env.reset()

    def play() -> None:
        nonlocal now
        for _ in range(TICKS):
            masks = list(now[GROUP, "action_mask"].numpy().swapaxes(0, 1))
            drawn = np.stack(_drawn(masks, random), 1)
            now[GROUP, "action"] = torch.from_numpy(drawn)
            _, now = env.step_and_maybe_reset(now)

    benchmark.extra_info["row_ticks"] = SIZE * TICKS
    benchmark.pedantic(play, rounds=rounds(5), warmup_rounds=1)
