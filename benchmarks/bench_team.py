"""The batched team beside the batched single agent, at the same N in the same run."""

from collections.abc import Callable
from itertools import count
from typing import Any

import attrs
import numpy as np
import pytest

from logtriage.roles import BY_TIER, DUO, SOLO, TRIO, RoleSplit
from logtriage.vector import CREDITS, BatchedTeam, BatchedTriage

TASKS = ("cascading_failure-v2", "cascading_failure-v2")
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


every_task = pytest.mark.parametrize("task", TASKS)


@pytest.mark.benchmark(group=f"six ticks of N = {SIZE}, joint play")
@every_task
def bench_single_agent(benchmark: Benchmark, task: str) -> None:
    batch, random = BatchedTriage(task), np.random.default_rng(0)
    _rounds(
        benchmark,
        lambda start: batch.reset("train", np.arange(start, start + SIZE)),
        lambda: batch.step(random.integers(0, batch.action_count, SIZE)),
    )


def _bench(benchmark: Benchmark, team: BatchedTeam) -> None:
    random = np.random.default_rng(0)
    _rounds(
        benchmark,
        lambda start: team.reset("train", np.arange(start, start + SIZE)),
        lambda: team.step([random.integers(0, one, SIZE) for one in team.action_counts]),
    )


@pytest.mark.benchmark(group=f"six ticks of N = {SIZE}, joint play")
@every_task
@pytest.mark.parametrize("split", [SOLO, DUO, TRIO], ids=lambda split: split.name)
@pytest.mark.parametrize("credit", CREDITS)
def bench_team(benchmark: Benchmark, split: RoleSplit, credit: str, task: str) -> None:
    _bench(benchmark, BatchedTeam(task, split, credit=credit))


def _late() -> RoleSplit:
    roles = (attrs.evolve(role, delay=1, loss=10, budget=4) for role in BY_TIER.roles)
    return RoleSplit("by_tier_late", tuple(roles))


@pytest.mark.benchmark(group=f"six ticks of N = {SIZE}, joint play")
@pytest.mark.parametrize("split", [BY_TIER, _late()], ids=lambda split: split.name)
def bench_team_with_settings(benchmark: Benchmark, split: RoleSplit) -> None:
    _bench(benchmark, BatchedTeam("cascading_failure-v2", split))
