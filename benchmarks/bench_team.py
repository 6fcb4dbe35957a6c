"""The batched team beside the batched single agent, at the same N in the same run."""

from collections.abc import Callable
from itertools import count
from typing import Any

import attrs
import numpy as np
import pytest

from logtriage.roles import RoleSplit
from logtriage.roles.splits import BY_TIER, DUO, SOLO, TRIO
from logtriage.vector import CREDITS, BatchedTeam, BatchedTriage

TASK = "cascading_failure-v4"
SIZE = 4096
TICKS = 6
Benchmark = Any
Rounds = Callable[[int], int]


def _play(
    benchmark: Benchmark, rounds: Rounds, begin: Callable[[int], Any], step: Callable[[], Any]
) -> None:
    """Six ticks of fresh incidents a round; drawing the incidents is not counted."""
    fresh = count()

    def setup() -> None:
        begin(next(fresh) * SIZE)

    def ticks() -> None:
        for _ in range(TICKS):
            step()

    benchmark.extra_info["row_ticks"] = SIZE * TICKS
    benchmark.pedantic(ticks, setup=setup, rounds=rounds(5), warmup_rounds=1)


@pytest.mark.benchmark(group=f"six ticks of N = {SIZE}, joint play")
def bench_single_agent(benchmark: Benchmark, rounds: Rounds) -> None:
    batch, random = BatchedTriage(TASK), np.random.default_rng(0)
    _play(
        benchmark,
        rounds,
        lambda start: batch.reset("train", np.arange(start, start + SIZE)),
        lambda: batch.step(random.integers(0, batch.action_count, SIZE)),
    )


def _bench(benchmark: Benchmark, rounds: Rounds, team: BatchedTeam) -> None:
    random = np.random.default_rng(0)
    _play(
        benchmark,
        rounds,
        lambda start: team.reset("train", np.arange(start, start + SIZE)),
        lambda: team.step([random.integers(0, one, SIZE) for one in team.action_counts]),
    )


@pytest.mark.benchmark(group=f"six ticks of N = {SIZE}, joint play")
@pytest.mark.parametrize("split", [SOLO, DUO, TRIO], ids=lambda split: split.name)
@pytest.mark.parametrize("credit", CREDITS)
def bench_team(benchmark: Benchmark, rounds: Rounds, split: RoleSplit, credit: str) -> None:
    _bench(benchmark, rounds, BatchedTeam(TASK, split, credit=credit))


def _late() -> RoleSplit:
    roles = (attrs.evolve(role, delay=1, loss=10, budget=4) for role in BY_TIER.roles)
    return RoleSplit("by_tier_late", tuple(roles))


@pytest.mark.benchmark(group=f"six ticks of N = {SIZE}, joint play")
@pytest.mark.parametrize("split", [BY_TIER, _late()], ids=lambda split: split.name)
def bench_team_with_settings(benchmark: Benchmark, rounds: Rounds, split: RoleSplit) -> None:
    _bench(benchmark, rounds, BatchedTeam(TASK, split))
