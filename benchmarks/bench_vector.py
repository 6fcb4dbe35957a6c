"""The batched engine beside Gymnasium's vectorised CartPole, at the same N in the same run.

Read the ratio within a group. A round is ``STEPS`` steps of all N rows: random actions, a
few of which close an incident, autoreset, and an observation of every row.
"""

from collections.abc import Callable
from typing import Any

import attrs
import gymnasium
import numpy as np
import pytest

from logtriage import Topology
from logtriage.actions import RequestMoreLogs, action_id
from logtriage.env import ENV_IDS, TriageVectorEnv
from logtriage.tasks import BENCHMARK_FOG, TaskSpec, get_task
from logtriage.vector import BatchedTriage
from logtriage.vector.engine import DTYPES
from logtriage.world.default import default_world
from logtriage.world.topologies import random_topology

FIVE_TEAMS = default_world().topologies["seven-services-five-teams"]

Benchmark = Any
Rounds = Callable[[int], int]
COUNTS = (1, 64, 1024, 16384, 65536)
TASK = "cascading_failure-v4"
STEPS = 12
SERVICES = (7, 50, 200)
HORIZONS = (8, 12, 15, 30, 60)


def is_batched(task: TaskSpec) -> bool:
    """Whether a batch plays it, on its own topology: those of several faults it refuses."""
    assert task.setting is not None, "a drawn task"
    return task.topology is not None and max(task.setting.counts) == 1


#: Those of the benchmark's fog.
ENV_NAMES = [
    name
    for name, task in ENV_IDS.items()
    if get_task(task).fog in (None, BENCHMARK_FOG) and is_batched(get_task(task))
]


def per_row(benchmark: Benchmark, envs: Any, actions: Any) -> None:
    """Time ``STEPS`` steps; afterwards ``extra_info`` says how many row steps a second."""
    envs.reset(seed=0)
    for chosen in actions:  # so that rows are at all ticks, and caches warm
        envs.step(chosen)

    def run() -> None:
        for chosen in actions:
            envs.step(chosen)

    benchmark(run)
    count = STEPS * envs.num_envs
    benchmark.extra_info["row_steps_per_round"] = count
    if benchmark.stats is not None:
        benchmark.extra_info["row_steps_per_second"] = round(count / benchmark.stats["median"])


def random_actions(envs: Any) -> list[Any]:
    choices = envs.single_action_space.n
    return list(np.random.default_rng(0).integers(0, choices, (STEPS, envs.num_envs)))


def nbytes(thing: Any) -> int:
    """The bytes of all arrays that an object holds, at whatever depth; shared ones once."""
    seen: dict[int, int] = {}

    def visit(one: Any) -> None:
        if isinstance(one, np.ndarray):
            while isinstance(one.base, np.ndarray):
                one = one.base
            seen[id(one)] = one.nbytes
        elif isinstance(one, dict):
            for value in one.values():
                visit(value)
        elif isinstance(one, list | tuple):
            for value in one:
                visit(value)
        elif attrs.has(type(one)):
            for field in attrs.fields(type(one)):
                visit(getattr(one, field.name, None))

    visit(vars(thing))
    return sum(seen.values())


def bytes_per_incident(topology: Topology, count: int = 4096, horizon: int | None = None) -> int:
    """What each further row of a batch keeps; tables of the task and topology not counted."""
    sizes = []
    task = get_task(TASK)
    task = attrs.evolve(task, horizon=task.horizon if horizon is None else horizon)
    for rows in (count, 2 * count):
        batch = BatchedTriage(task, topology=topology)
        batch.reset("train", np.arange(rows))
        batch.step(np.zeros(rows, int))
        sizes.append(nbytes(batch))
    return round((sizes[1] - sizes[0]) / count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("env_id", ["CartPole-v1", *ENV_NAMES])
def bench_steps(benchmark: Benchmark, env_id: str, count: int) -> None:
    benchmark.group = f"vector environments, N = {count}"
    mode = "vector_entry_point"
    envs = gymnasium.make_vec(env_id, count, vectorization_mode=mode)
    per_row(benchmark, envs, random_actions(envs))


def play_asking(
    benchmark: Benchmark, rounds: int, batch: BatchedTriage, steps: int, count: int
) -> None:
    """Time steps in which nothing ends early: every row asks for logs."""
    topology = batch.topology
    ids = [action_id(RequestMoreLogs(name), topology) for name in (None, *topology.names)]
    asks = np.random.default_rng(0).choice(ids, (steps, count))

    def begin() -> None:
        batch.reset("train", np.arange(count))

    def run() -> None:
        for chosen in asks:
            batch.step(chosen)

    begin()
    run()
    benchmark.pedantic(run, setup=begin, rounds=rounds)
    benchmark.extra_info["row_steps_per_round"] = steps * count


@pytest.mark.benchmark(group="batched engine, N = 16384")
@pytest.mark.parametrize("dtype", DTYPES)
def bench_engine_without_autoreset(benchmark: Benchmark, rounds: Rounds, dtype: str) -> None:
    """Steps alone; as bytes, each observation is copied as it is kept, not made figures of."""
    play_asking(benchmark, rounds(7), BatchedTriage(TASK, dtype=dtype), STEPS, 16384)


@pytest.mark.benchmark(group="batched engine, N = 16384")
def bench_engine_reset(benchmark: Benchmark) -> None:
    """Drawing 16,384 incidents, and their first observations."""
    batch = BatchedTriage(TASK)
    batch.reset("train", np.arange(16384))
    benchmark(batch.reset, "train", np.arange(16384))
    benchmark.extra_info["rows_per_round"] = 16384


@pytest.mark.benchmark(group="batched engine by horizon, N = 4096")
@pytest.mark.parametrize("horizon", HORIZONS)
def bench_horizon(benchmark: Benchmark, rounds: Rounds, horizon: int) -> None:
    """Whole episodes of a task whose horizon is another: does a step get dearer with it?"""
    task = attrs.evolve(get_task(TASK), horizon=horizon)
    play_asking(benchmark, rounds(7), BatchedTriage(task), horizon, 4096)
    benchmark.extra_info["bytes_per_incident"] = bytes_per_incident(FIVE_TEAMS, 256, horizon)


@pytest.mark.benchmark(group="batched engine by services, as bytes, N = 1024")
@pytest.mark.parametrize("services", SERVICES)
def bench_services_as_bytes(benchmark: Benchmark, rounds: Rounds, services: int) -> None:
    topology = FIVE_TEAMS if services == 7 else random_topology(1, services, FIVE_TEAMS.teams)
    batch = BatchedTriage(TASK, topology=topology, dtype="uint8")
    play_asking(benchmark, rounds(7), batch, STEPS, 1024)


@pytest.mark.benchmark(group="batched engine by services, N = 1024")
@pytest.mark.parametrize("services", SERVICES)
def bench_services(benchmark: Benchmark, services: int) -> None:
    topology = FIVE_TEAMS if services == 7 else random_topology(1, services, FIVE_TEAMS.teams)
    envs = TriageVectorEnv(TASK, 1024, topology=topology)
    benchmark.extra_info["bytes_per_incident"] = bytes_per_incident(topology, 256)
    benchmark.extra_info["observation_bytes"] = 4 * int(envs.observation_space.shape[1])
    per_row(benchmark, envs, random_actions(envs))
