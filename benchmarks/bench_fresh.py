"""Incidents that nobody has looked at: only what belongs to their world was made before.

Read the ratios within the group, not the seconds.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import attrs
import pytest

from benchmarks.workload import expert_steps
from logtriage import (
    Action,
    Incident,
    State,
    initial_state,
    observe,
    render_observation,
    transition,
)
from logtriage.beliefs import belief
from logtriage.drawing.generator import open_incident
from logtriage.grading import grade_actions
from logtriage.world.simulation import Simulation

Benchmark = Any
Episode = tuple[Incident, tuple[Action, ...]]
#: Actions in a list that is graded.
ACTIONS = 12


@lru_cache(maxsize=1)
def plans() -> tuple[Episode, ...]:
    """Incidents, with what the expert did in each."""
    lists: dict[Incident, list[Action]] = {}
    for state, action in expert_steps():
        lists.setdefault(state.incident, []).append(action)
    return tuple((incident, tuple(actions)) for incident, actions in lists.items())


def anew() -> list[Episode]:
    """The same, with nothing kept of any incident."""
    episodes = []
    for incident, actions in plans():
        world = incident.telemetry
        assert isinstance(world, Simulation)
        episodes.append((attrs.evolve(incident, telemetry=attrs.evolve(world)), actions))
    return episodes


def per_episode(benchmark: Benchmark, rounds: int, look: Callable[[State], object]) -> None:
    """Time episodes in which ``look`` is called on every open state; a unit is a step."""
    benchmark.extra_info["calls_per_round"] = sum(len(actions) for _, actions in plans())

    def run(episodes: list[Episode]) -> None:
        for incident, actions in episodes:
            state = initial_state(incident)
            look(state)
            for action in actions:
                state = transition(state, action)
                if not state.is_closed:
                    look(state)

    run(anew())
    benchmark.pedantic(run, setup=lambda: ((anew(),), {}), rounds=rounds)


@pytest.mark.benchmark(group="fresh incidents")
def bench_episode_observed(benchmark: Benchmark, rounds: Callable[[int], int]) -> None:
    per_episode(benchmark, rounds(10), observe)


@pytest.mark.benchmark(group="fresh incidents")
def bench_episode_rendered(benchmark: Benchmark, rounds: Callable[[int], int]) -> None:
    """Each screen as text."""
    per_episode(benchmark, rounds(10), lambda state: render_observation(observe(state)))


@pytest.mark.benchmark(group="fresh incidents")
def bench_episode_believed(benchmark: Benchmark, rounds: Callable[[int], int]) -> None:
    per_episode(benchmark, rounds(5), belief)


@pytest.mark.benchmark(group="fresh incidents")
@pytest.mark.parametrize("drawn", [True, False], ids=["drawn for it", "known"])
def bench_graded_list(benchmark: Benchmark, drawn: bool, rounds: Callable[[int], int]) -> None:
    lists = [(incident.id, (actions * ACTIONS)[:ACTIONS]) for incident, actions in plans()]
    benchmark.extra_info["calls_per_round"] = len(lists)

    def forget() -> None:
        if drawn:
            open_incident.cache_clear()

    def run() -> None:
        for incident_id, actions in lists:
            grade_actions(incident_id, actions)

    run()
    benchmark.pedantic(run, setup=forget, rounds=rounds(10))
