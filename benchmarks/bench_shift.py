"""A shift, tick by tick. Read the ratios to one incident, not the seconds."""

from functools import lru_cache
from typing import Any

import pytest

from logtriage import RequestMetrics, State, Wait, initial_state, make_incident
from logtriage import observe as observe_incident
from logtriage import transition as transition_of_incident
from logtriage.shift import (
    On,
    ShiftAction,
    ShiftState,
    begin,
    make_shift,
    observe,
    render,
    shift_ids,
    transition,
)

Benchmark = Any


@lru_cache
def shift_steps() -> tuple[tuple[ShiftState, ShiftAction], ...]:
    """Every tick of some busy shifts in which a service of each open incident is asked in turn."""
    steps: list[tuple[ShiftState, ShiftAction]] = []
    for shift_id in shift_ids("busy_shift-v1", "train", 5):
        state = begin(make_shift(shift_id))
        while not state.is_over:
            systems = list(state.open)
            asked = RequestMetrics("user-db")
            action = On(systems[state.tick % len(systems)], asked) if systems else Wait()
            steps.append((state, action))
            state = transition(state, action)
    return tuple(steps)


@lru_cache
def incident_steps() -> tuple[State, ...]:
    """As many ticks of single incidents of the same task."""
    steps: list[State] = []
    number = 0
    while len(steps) < len(shift_steps()):
        state = initial_state(make_incident(f"cascading_failure-v3/train/{number}"))
        while not state.is_closed:
            steps.append(state)
            state = transition_of_incident(state, RequestMetrics("user-db"))
        number += 1
    return tuple(steps)


@pytest.mark.benchmark(group="shift tick")
def bench_transition(benchmark: Benchmark) -> None:
    benchmark.extra_info["calls_per_round"] = len(shift_steps())
    benchmark(lambda: [transition(*step) for step in shift_steps()])


@pytest.mark.benchmark(group="shift tick")
def bench_transition_and_observe(benchmark: Benchmark) -> None:
    benchmark.extra_info["calls_per_round"] = len(shift_steps())
    benchmark(lambda: [observe(transition(*step)) for step in shift_steps()])


@pytest.mark.benchmark(group="shift tick")
def bench_transition_and_screen(benchmark: Benchmark) -> None:
    benchmark.extra_info["calls_per_round"] = len(shift_steps())
    benchmark(lambda: [render(observe(transition(*step))) for step in shift_steps()])


@pytest.mark.benchmark(group="shift tick")
def bench_one_incident(benchmark: Benchmark) -> None:
    """The same of an incident that is alone."""
    asked = RequestMetrics("user-db")
    benchmark.extra_info["calls_per_round"] = len(incident_steps())
    benchmark(
        lambda: [observe_incident(transition_of_incident(one, asked)) for one in incident_steps()]
    )
