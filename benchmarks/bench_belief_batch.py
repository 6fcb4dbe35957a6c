"""Beliefs of many incidents at once beside the scalar belief. Read the ratios within the group.

Screens of ``cascading_failure-v4`` (seven services), a request for one of them in each tick: a unit
is one belief updated by one screen, its weights renewed. No incident comes twice in a batch. The
scalar beliefs are those of the same incidents.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from logtriage import State, all_actions, initial_state, make_incident, transition
from logtriage.beliefs import belief
from logtriage.grading import TRIAGE_3
from logtriage.vector import BatchedTriage, BeliefBatch
from logtriage.vector.tokens.compiled import TokenKernels

Benchmark = Any
TASK = "cascading_failure-v4"
COUNTS = (256, 4096)
#: Ticks that each incident is played for, and incidents of which scalar beliefs are held.
TICKS, SCALAR = 8, 8
GROUP = "belief, seven services, N at once"


@lru_cache(maxsize=1)
def requests() -> Any:
    """A request (ticks, N) for a service in each tick of N incidents."""
    topology = make_incident(f"{TASK}/val/0").topology
    kinds, services = 3, len(topology)
    first = len(all_actions(topology)) - 2 - kinds * services  # before resolve and ignore
    draws = np.random.default_rng(0)
    return first + draws.integers(0, kinds * services, (TICKS, max(COUNTS)))


@pytest.mark.benchmark(group=GROUP)
@pytest.mark.parametrize("count", COUNTS)
def bench_belief_batch(benchmark: Benchmark, count: int) -> None:
    engine = BatchedTriage(TASK)
    engine.reset("val", np.arange(count))
    setting, rows = engine.setting, np.arange(count)
    batch = BeliefBatch(*setting.models, count=count, horizon=engine.task.horizon)
    owners = engine.owners(rows)
    steps, kernels = [], TokenKernels(setting, TRIAGE_3)
    for acted in (None, *requests()[:-1, :count]):
        if acted is not None:
            engine.step(acted)
        cells = kernels.cells(engine.incidents, engine.episodes, rows)
        steps.append((cells, acted))

    def run() -> None:
        batch.reset(owners)
        for cells, acted in steps:
            batch.update(cells, acted)

    run()
    benchmark(run)
    benchmark.extra_info["calls_per_round"] = count * TICKS
    benchmark.extra_info["bytes_per_incident"] = batch.nbytes // count


@pytest.mark.benchmark(group=GROUP)
def bench_belief(benchmark: Benchmark) -> None:
    """The scalar belief, one state after another, none of which has derived anything yet."""
    states = []
    for number in range(SCALAR):
        state = initial_state(make_incident(f"{TASK}/val/{number}"))
        choices = all_actions(state.incident.topology)
        for acted in (None, *requests()[:-1, number].tolist()):
            state = state if acted is None else transition(state, choices[acted])
            states.append(state)

    def run() -> None:
        for one in states:
            belief(State(one.incident, one.tick, one.history, one.closing))

    run()
    benchmark(run)
    benchmark.extra_info["calls_per_round"] = len(states)
