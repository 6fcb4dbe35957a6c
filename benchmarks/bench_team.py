"""The batched team beside the batched single agent, at the same N in the same run."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

from logtriage.roles import DUO, SOLO, TRIO, RoleSplit
from logtriage.vector import CREDITS, BatchedTeam, BatchedTriage

TASK = "cascading_failure-v1"
SIZE = 4096
TICKS = 6
Benchmark = Callable[..., Any]


def _rounds(benchmark: Benchmark, begin: Callable[[int], Any], step: Callable[[], Any]) -> None:
    """Six ticks of fresh incidents a round; drawing the incidents is not counted."""
    fresh = count()

    def setup() -> None:
        begin(next(fresh) * SIZE)

    def ticks() -> None:
        for _ in range(TICKS):
            step()

    benchmark.extra_info["row_ticks"] = SIZE * TICKS
    benchmark.pedantic(ticks, setup=setup, rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group=f"six ticks of N = {SIZE}, joint play")
def bench_single_agent(benchmark: Benchmark) -> None:
    batch, random = BatchedTriage(TASK), np.random.default_rng(0)
    _rounds(
        benchmark,
        lambda start: batch.reset("train", np.arange(start, start + SIZE)),
        lambda: batch.step(random.integers(0, batch.action_count, SIZE)),
    )


@pytest.mark.benchmark(group=f"six ticks of N = {SIZE}, joint play")
@pytest.mark.parametrize("split", [SOLO, DUO, TRIO], ids=lambda split: split.name)
@pytest.mark.parametrize("credit", CREDITS)
def bench_team(benchmark: Benchmark, split: RoleSplit, credit: str) -> None:
    team, random = BatchedTeam(TASK, split, credit=credit), np.random.default_rng(0)
    _rounds(
        benchmark,
        lambda start: team.reset("train", np.arange(start, start + SIZE)),
        lambda: team.step([random.integers(0, one, SIZE) for one in team.action_counts]),
    )
