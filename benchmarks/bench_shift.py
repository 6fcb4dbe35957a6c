"""A shift, tick by tick. Read the ratios of a call to one incident's, not the seconds."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import pytest

from logtriage import RequestMetrics, Wait, initial_state, make_incident
from logtriage import observe as observe_incident
from logtriage import transition as transition_of_incident
from logtriage.shift import (
    On,
    ShiftState,
    begin,
    make_shift,
    observe,
    render,
    shift_ids,
    transition,
)

Benchmark = Any


def play(look: Callable[[ShiftState], object], shifts: Iterable[str]) -> int:
    """Busy shifts in which a service of each open incident is asked in turn; how many ticks."""
    ticks = 0
    for shift_id in shifts:
        state = begin(make_shift(shift_id))
        while not state.is_over:
            look(state)
            systems = [one.system for one, alone in state.arrived if alone.closing is None]
            asked = RequestMetrics("user-db")
            action = On(systems[state.tick % len(systems)], asked) if systems else Wait()
            state = transition(state, action)
        ticks += state.tick
    return ticks


def measure(benchmark: Benchmark, look: Callable[[ShiftState], object]) -> None:
    """Each round plays shifts that no round has played, since screens are kept."""
    rounds = 5
    fresh = iter(shift_ids("busy_shift-v1", "train", 2 * rounds))
    ticks: list[int] = []
    benchmark.pedantic(
        lambda shifts: ticks.append(play(look, shifts)),
        setup=lambda: (([next(fresh), next(fresh)],), {}),
        rounds=rounds,
    )
    benchmark.extra_info["calls_per_round"] = sum(ticks) / rounds


@pytest.mark.benchmark(group="shift tick")
def bench_transition(benchmark: Benchmark) -> None:
    measure(benchmark, lambda _: None)


@pytest.mark.benchmark(group="shift tick")
def bench_transition_and_observe(benchmark: Benchmark) -> None:
    measure(benchmark, observe)


@pytest.mark.benchmark(group="shift tick")
def bench_transition_and_screen(benchmark: Benchmark) -> None:
    measure(benchmark, lambda state: render(observe(state)))


@pytest.mark.benchmark(group="shift tick")
def bench_one_incident(benchmark: Benchmark) -> None:
    """The same of incidents that are alone."""
    numbers = count()
    ticks: list[int] = []

    def alone() -> None:
        asked, played = RequestMetrics("user-db"), 0
        for _ in range(40):
            state = initial_state(make_incident(f"cascading_failure-v4/train/{next(numbers)}"))
            while not state.is_closed:
                observe_incident(state)
                state = transition_of_incident(state, asked)
                played += 1
        ticks.append(played)

    benchmark.pedantic(alone, rounds=5)
    benchmark.extra_info["calls_per_round"] = sum(ticks) / len(ticks)
