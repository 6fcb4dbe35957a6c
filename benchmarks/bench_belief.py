"""Beliefs beside the screens that they read. Read the ratios within the group.

The states are those of the expert on ``cascading_failure-v4`` (seven services), and one
on 200 services after three requests. Sets of faults are those of ``compound_failure-v4``.
"""

from functools import lru_cache
from typing import Any

import pytest

from logtriage import (
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    State,
    incident_ids,
    initial_state,
    make_incident,
    observe,
    transition,
)
from logtriage.beliefs import belief
from logtriage.beliefs.questions import Asked
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import parse_incident_id
from logtriage.policies.observer import requests_in_doubt
from logtriage.registry import make_policy
from logtriage.tasks import get_task
from logtriage.world.default import default_world
from logtriage.world.topologies import random_topology

FIVE_TEAMS = default_world().topologies["seven-services-five-teams"]

Benchmark = Any
TASK = "cascading_failure-v4"


@lru_cache(maxsize=1)
def seven() -> tuple[State, ...]:
    """Open states of the expert's episodes."""
    found = []
    for incident_id in incident_ids(TASK, "val", 8):
        incident = make_incident(incident_id)
        policy, state, memory = make_policy("expert")(incident), initial_state(incident), None
        while not state.is_closed:
            found.append(state)
            action, memory = policy.act(observe(state), memory)
            state = transition(state, action)
    return tuple(found)


@lru_cache(maxsize=1)
def two_hundred() -> State:
    """A state on 200 services."""
    graph = random_topology(7, 200, FIVE_TEAMS.teams)
    incident = draw_incident(get_task(TASK), parse_incident_id(f"{TASK}/val/3"), graph)
    state = initial_state(incident)
    for action in (RequestTraces, RequestMetrics, RequestMoreLogs):
        state = transition(state, action(graph.names[1]))
    return state


@lru_cache(maxsize=1)
def of_sets() -> State:
    """A state after two requests where one fault, two or three are possible."""
    state = initial_state(make_incident("compound_failure-v4/val/3"))
    for action in (RequestMetrics("payment-db"), RequestTraces("api-gateway")):
        state = transition(state, action)
    return state


def fresh(state: State) -> State:
    """The same state without what it has derived already."""
    return State(state.incident, state.tick, state.history, state.closing)


@pytest.mark.benchmark(group="belief, seven services")
@pytest.mark.parametrize("function", [observe, belief], ids=["observe", "belief"])
def bench_seven(benchmark: Benchmark, function: Any) -> None:
    benchmark.extra_info["calls_per_round"] = len(seven())

    def run() -> None:
        for state in seven():
            function(fresh(state))

    benchmark(run)


@pytest.mark.benchmark(group="belief, seven services")
def bench_best_plan(benchmark: Benchmark) -> None:
    held = [belief(state) for state in seven()]
    benchmark.extra_info["calls_per_round"] = len(held)

    def run() -> None:
        for one in held:
            one.best()

    benchmark(run)


@pytest.mark.benchmark(group="belief, 200 services")
@pytest.mark.parametrize("function", [observe, belief], ids=["observe", "belief"])
def bench_two_hundred(benchmark: Benchmark, function: Any) -> None:
    benchmark(lambda: function(fresh(two_hundred())))


@pytest.mark.benchmark(group="belief over sets of faults, seven services")
@pytest.mark.parametrize("function", [observe, belief], ids=["observe", "belief"])
def bench_sets(benchmark: Benchmark, function: Any) -> None:
    benchmark(lambda: function(fresh(of_sets())))


@pytest.mark.benchmark(group="belief over sets of faults, seven services")
def bench_set_plan(benchmark: Benchmark) -> None:
    held = belief(of_sets())
    benchmark(held.best)


@pytest.mark.benchmark(group="belief over sets of faults, seven services")
def bench_set_questions(benchmark: Benchmark) -> None:
    held = belief(of_sets())
    requests = requests_in_doubt(held)
    benchmark.extra_info["calls_per_round"] = len(requests)
    benchmark(lambda: Asked.of(held, requests).worths())
