"""What text costs where one worker plays many episodes at once, a turn of each after the other.

A step reads a reply, applies it, and renders the next screen; what a model thinks is not in it.
"""

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np
import pytest

from benchmarks.bench_fresh import anew
from logtriage import (
    State,
    grade,
    initial_state,
    observe,
    parse_action,
    render_observation,
    transition,
)
from logtriage.parsing import render_action

Benchmark = Any
#: Episodes that are under way at once.
EPISODES = 256


def played(episodes: list[tuple[State, list[str]]], spent: list[float]) -> list[State]:
    """Play replies in turns; ``spent`` collects the seconds of a core of each step."""
    states, turn = [state for state, _ in episodes], 0
    going = range(len(episodes))
    while going:
        for place in going:
            began, state = thread_time(), states[place]
            action = parse_action(episodes[place][1][turn], state.incident.topology)
            states[place] = state = transition(state, action)
            if not state.is_closed:
                render_observation(observe(state))
            spent.append(thread_time() - began)
        turn += 1
        going = [place for place in going if not states[place].is_closed]
    return states


def begun() -> list[tuple[State, list[str]]]:
    """Episodes at their first screens, with the replies that an expert gives."""
    return [
        (initial_state(incident), [f"```json\n{render_action(one)}\n```" for one in actions])
        for incident, actions in anew()[:EPISODES]
    ]


def tell(benchmark: Benchmark, spent: list[float], rounds: int) -> None:
    benchmark.extra_info["calls_per_round"] = len(spent) // rounds
    for name, share in (("p50", 50), ("p99", 99)):
        benchmark.extra_info[name] = float(np.percentile(spent, share))


@pytest.mark.benchmark(group=f"text, {EPISODES} episodes in one worker")
def bench_text_step(benchmark: Benchmark, rounds: Callable[[int], int]) -> None:
    spent: list[float] = []
    played(begun(), [])
    benchmark.pedantic(
        lambda episodes: played(episodes, spent),
        setup=lambda: ((begun(),), {}),
        rounds=rounds(3),
    )
    tell(benchmark, spent, rounds(3))


@pytest.mark.benchmark(group=f"text, {EPISODES} episodes in one worker")
def bench_text_grade(benchmark: Benchmark, rounds: Callable[[int], int]) -> None:
    """The grade of an episode at its end, every criterion with its reason."""
    spent: list[float] = []

    def run(states: list[State]) -> None:
        for state in states:
            began = thread_time()
            str(grade(state))
            spent.append(thread_time() - began)

    benchmark.pedantic(run, setup=lambda: ((played(begun(), []),), {}), rounds=rounds(3))
    tell(benchmark, spent, rounds(3))
