"""The batched engine beside Gymnasium's vectorised CartPole, in one run.

Read the ratio within a group. A round is a few steps of all N rows: random actions, a
new incident in every row that is closed, and an observation of every row.
"""

from typing import Any

import gymnasium
import numpy as np
import pytest

from benchmarks.bench_vector import STEPS, nbytes, per_row, random_actions
from logtriage import Topology
from logtriage.vector import BatchedTriage
from logtriage.world.default import default_world
from logtriage.world.topologies import random_topology

FIVE_TEAMS = default_world().topologies["seven-services-five-teams"]

Benchmark = Any
TASKS = ("single_crash-v4", "cascading_failure-v4", "silent_degradation-v4")
COUNTS = (1024, 16384)
SERVICES = (7, 50, 200)


class Autoreset:
    """Steps a batch and begins new incidents in closed rows, as a vector environment does."""

    def __init__(self, batch: BatchedTriage, count: int) -> None:
        self.batch, self.num_envs = batch, count
        self.single_action_space = gymnasium.spaces.Discrete(batch.action_count)

    def reset(self, seed: int) -> None:
        self._closing = self.batch.reset(
            "train", self.batch.nth(np.arange(self.num_envs) + seed)
        ).closing
        self._next = self.num_envs + seed

    def step(self, actions: Any) -> None:
        active = self._closing < 0
        free = np.flatnonzero(~active)
        if len(free):
            self.batch.restart(free, self.batch.nth(self._next + np.arange(len(free))))
            self._next += len(free)
        self._closing = self.batch.step(actions, active).closing


def bytes_per_incident(task: str, topology: Topology | None, count: int = 1024) -> int:
    """What each further row of a batch keeps; tables of the task and topology not counted."""
    sizes = []
    for rows in (count, 2 * count):
        batch = BatchedTriage(task, topology=topology)
        batch.reset("train", np.arange(rows))
        batch.step(np.zeros(rows, int))
        sizes.append(nbytes(batch))
    return round((sizes[1] - sizes[0]) / count)


@pytest.mark.parametrize("count", COUNTS)
def bench_cartpole(benchmark: Benchmark, count: int) -> None:
    benchmark.group = f"token engine, N = {count}"
    envs = gymnasium.make_vec("CartPole-v1", count, vectorization_mode="vector_entry_point")
    per_row(benchmark, envs, random_actions(envs))


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("task", TASKS)
def bench_tokens(benchmark: Benchmark, task: str, count: int) -> None:
    benchmark.group = f"token engine, N = {count}"
    envs = Autoreset(BatchedTriage(task), count)
    benchmark.extra_info["bytes_per_incident"] = bytes_per_incident(task, None)
    per_row(benchmark, envs, random_actions(envs))


@pytest.mark.parametrize("count", COUNTS)
def bench_drawn_worlds(benchmark: Benchmark, count: int) -> None:
    """Rows of 64 worlds in one batch."""
    benchmark.group = f"token engine, N = {count}"
    envs = Autoreset(BatchedTriage("unseen_world-v4"), count)
    per_row(benchmark, envs, random_actions(envs))


@pytest.mark.parametrize("count", COUNTS)
def bench_memcpy(benchmark: Benchmark, count: int) -> None:
    """As many bytes as the observation of each row has."""
    benchmark.group = f"token engine, N = {count}"
    source = np.ones((count, BatchedTriage(TASKS[1]).layout.size), np.float32)
    target = np.empty_like(source)

    def run() -> None:
        for _ in range(STEPS):
            np.copyto(target, source)

    benchmark(run)
    benchmark.extra_info["row_steps_per_round"] = STEPS * count


@pytest.mark.benchmark(group="token engine, drawing, N = 16384")
def bench_tokens_reset(benchmark: Benchmark) -> None:
    """Drawing 16,384 incidents, and their first observations."""
    batch = BatchedTriage(TASKS[1])
    batch.reset("train", np.arange(16384))
    benchmark(batch.reset, "train", np.arange(16384))
    benchmark.extra_info["rows_per_round"] = 16384


@pytest.mark.benchmark(group="token engine by services, N = 1024")
@pytest.mark.parametrize("services", SERVICES)
def bench_tokens_services(benchmark: Benchmark, services: int) -> None:
    """How much dearer a step gets with more services."""
    topology = FIVE_TEAMS if services == 7 else random_topology(1, services, FIVE_TEAMS.teams)
    batch = BatchedTriage("fleet_outage-v4", topology=topology)
    benchmark.extra_info["bytes_per_incident"] = bytes_per_incident("fleet_outage-v4", topology)
    per_row(benchmark, Autoreset(batch, 1024), random_actions(Autoreset(batch, 1024)))
