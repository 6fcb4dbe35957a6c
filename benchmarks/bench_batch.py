"""``grade_batch`` beside the scalar grader: transcripts of twelve actions, N at once.

Half of the actions of a list are useful ones; a third of the incidents come from each
task. ``transcripts_per_s`` stands in the extra info of every row. Batches of fewer than
:data:`logtriage.grading.batch.WORTH_A_KERNEL` are graded one by one.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
import pytest

from benchmarks.workload import SMALL
from logtriage import Action, Escalate, Incident, all_actions, incident_ids, make_incident
from logtriage.grading import TRIAGE_3, action_array, grade_actions, grade_batch, truths_of
from logtriage.grading.batch import Truths
from logtriage.policies import perfect_actions
from logtriage.world.default import default_world

FIVE_TEAMS = default_world().topologies["seven-services-five-teams"]

Benchmark = Any

#: Actions in a list, and the sizes of batches.
LENGTH = 12
SIZES = (1, 64, 1024, 16384, 65536)
#: Lists that are drawn; larger batches repeat them in a shuffled order.
DRAWN = 3 * 512


@lru_cache(maxsize=1)
def drawn() -> tuple[tuple[Incident, ...], tuple[tuple[Action, ...], ...]]:
    """Incidents with twelve actions each, of which only the last may close on purpose."""
    rng = np.random.default_rng(7)
    every = all_actions(FIVE_TEAMS)
    harmless = [one for one in every[:-2] if not isinstance(one, Escalate)]
    incidents, lists = [], []
    for task in SMALL:
        for one in map(make_incident, incident_ids(task, "test", DRAWN // 3)):
            *steps, last = perfect_actions(one)
            wasted = [harmless[i] for i in rng.integers(len(harmless), size=LENGTH)]
            listed: list[Action] = [*steps, *wasted][: LENGTH - 1]
            order = rng.permutation(len(listed))
            end = every[rng.integers(len(every))] if rng.random() < 0.25 else last
            incidents.append(one)
            lists.append((*(listed[i] for i in order), end))
    return tuple(incidents), tuple(lists)


@lru_cache(maxsize=len(SIZES))
def batch(size: int) -> tuple[Truths, Any]:
    """Truths and (N, 12) actions."""
    incidents, lists = drawn()
    rows = np.random.default_rng(size).permutation(np.arange(max(size, DRAWN)) % DRAWN)[:size]
    truths, actions = truths_of(incidents), action_array(FIVE_TEAMS, lists, hand_over=True)
    return truths.take(rows), np.ascontiguousarray(actions[rows])


def timed(benchmark: Benchmark, size: int, run: Callable[[], Any]) -> None:
    run()
    benchmark(run)
    benchmark.extra_info["transcripts"] = size
    if benchmark.stats is not None:
        benchmark.extra_info["transcripts_per_s"] = round(size / benchmark.stats.stats.median)


@pytest.mark.benchmark(group="grade 12-action transcripts")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("order", ["C", "F"], ids=["batch_major", "time_major"])
def bench_grade_batch(benchmark: Benchmark, order: Any, size: int) -> None:
    truths, actions = batch(size)
    actions = np.asarray(actions, order=order)
    timed(benchmark, size, lambda: grade_batch(truths, actions).scores)


@pytest.mark.benchmark(group="grade 12-action transcripts")
def bench_grade_batch_by_logtriage_3(benchmark: Benchmark) -> None:
    """The rubric under which a hand-over has a worth; one list in eight ends with it."""
    truths, actions = batch(SIZES[-1])
    draws = np.random.default_rng(0)
    worth = draws.choice([0.3, 0.5, 0.7, 0.8, 0.9], len(truths))
    truths = attrs.evolve(truths, worth_of_hand_over=worth)
    actions = np.ascontiguousarray(actions.T)
    actions[-1, draws.random(len(truths)) < 1 / 8] = truths.action_count - 1
    timed(benchmark, SIZES[-1], lambda: grade_batch(truths, actions.T, TRIAGE_3).scores)


@pytest.mark.benchmark(group="grade 12-action transcripts")
def bench_grade_batch_of_several_faults(benchmark: Benchmark) -> None:
    """Incidents with no, two or three faults; actions are drawn at random."""
    incidents = tuple(map(make_incident, incident_ids("compound_failure-v4", "test", 512)))
    draws = np.random.default_rng(0)
    truths = truths_of(incidents).take(draws.integers(len(incidents), size=SIZES[-2]))
    actions = draws.integers(truths.action_count - 3, size=(LENGTH, SIZES[-2])).astype(np.int8)
    timed(benchmark, SIZES[-2], lambda: grade_batch(truths, actions.T).scores)


@pytest.mark.benchmark(group="grade 12-action transcripts")
def bench_grade_batch_of_new_truths(benchmark: Benchmark) -> None:
    """Truths never seen before: what is derived from them once is part of the cost."""
    truths, actions = batch(SIZES[-1])
    actions = np.ascontiguousarray(actions.T)
    timed(benchmark, SIZES[-1], lambda: grade_batch(truths.take(slice(None)), actions.T).scores)


@pytest.mark.benchmark(group="grade 12-action transcripts")
def bench_grade_actions(benchmark: Benchmark) -> None:
    """The scalar grader, one transcript after another."""
    incidents, lists = drawn()

    def run() -> None:
        for incident, actions in zip(incidents, lists, strict=True):
            grade_actions(incident, actions)

    timed(benchmark, DRAWN, run)
