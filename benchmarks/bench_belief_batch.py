"""Beliefs of many incidents at once beside the scalar belief. Read the ratios within the group.

Whole screens of ``cascading_failure-v3`` (seven services) under the expert's actions, tick
after tick: a unit is one belief updated by one screen, its weights renewed. The scalar
beliefs are those of the same states.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from logtriage import (
    State,
    action_id,
    incident_ids,
    initial_state,
    make_incident,
    observe,
    transition,
)
from logtriage.belief import belief
from logtriage.registry import make_policy
from logtriage.vector import BeliefBatch
from logtriage.world.simulation import Simulation

Benchmark = Any
TASK = "cascading_failure-v3"
COUNTS = (256, 4096)
#: Episodes that are played; larger batches repeat them. The ticks of each that count.
PLAYED, TICKS = 64, 8


@lru_cache(maxsize=1)
def episodes() -> tuple[tuple[State, ...], ...]:
    """The first states of episodes of the expert that last long enough."""
    found: list[tuple[State, ...]] = []
    for incident_id in incident_ids(TASK, "val", 4 * PLAYED):
        incident = make_incident(incident_id)
        policy, states, memory = make_policy("expert")(incident), [initial_state(incident)], None
        while len(states) < TICKS and not states[-1].is_closed:
            action, memory = policy.act(observe(states[-1]), memory)
            states.append(transition(states[-1], action))
        if len(states) == TICKS:
            found.append(tuple(states))
    return tuple(found[:PLAYED])


def screen(state: State) -> list[Any]:
    world = state.incident.telemetry
    assert isinstance(world, Simulation)
    return list(world.shown(state.tick, state.facts.doings))


@pytest.mark.benchmark(group="belief, seven services, N at once")
@pytest.mark.parametrize("count", COUNTS)
def bench_belief_batch(benchmark: Benchmark, count: int) -> None:
    played = episodes()
    incident = played[0][0].incident
    topology, world = incident.topology, incident.telemetry
    assert isinstance(world, Simulation)
    batch = BeliefBatch(world.setting, topology, world.held, count=count, horizon=incident.horizon)
    rows = np.arange(count) % len(played)
    number = {team: place for place, team in enumerate(topology.teams)}
    owners = np.array([[number[one] for one in row[0].incident.directory] for row in played])
    steps = []
    for tick in range(TICKS):
        cells = batch.numbers([screen(row[tick]) for row in played])
        done = [row[tick].actions[-1:] for row in played]
        acted = np.array([action_id(one[0], topology) if one else -1 for one in done])
        steps.append((cells[rows], acted[rows]))

    def run() -> None:
        batch.reset(owners[rows])
        for cells, acted in steps:
            batch.update(cells, acted)

    run()
    benchmark(run)
    benchmark.extra_info["calls_per_round"] = count * TICKS
    benchmark.extra_info["bytes_per_incident"] = batch.nbytes // count


@pytest.mark.benchmark(group="belief, seven services, N at once")
def bench_belief(benchmark: Benchmark) -> None:
    """The scalar belief, one state after another, none of which has derived anything yet."""
    states = [state for row in episodes()[:8] for state in row]

    def run() -> None:
        for one in states:
            belief(State(one.incident, one.tick, one.history, one.closing))

    run()
    benchmark(run)
    benchmark.extra_info["calls_per_round"] = len(states)
