"""Scores a report of the damage's path beside the rubric: which calls wait, which carry load.

Services and calls are scored by F1, and the set of root causes is right as a whole or not, as in
OpenRCA 2.0. None of it enters a grade.
"""

from collections.abc import Set

import attrs

from logtriage.actions import ReportImpact
from logtriage.errors import InvalidInput
from logtriage.state import State
from logtriage.topology import Topology
from logtriage.world.conditions import Hypothesis, affected
from logtriage.world.model import LOADED, WAITING, World
from logtriage.world.simulation import Simulation

#: (caller, callee), by name.
Call = tuple[str, str]


@attrs.frozen
class Path:
    """The path of the damage: the services that it reached, and the calls along which it spread."""

    services: frozenset[str]
    calls: frozenset[Call]


@attrs.frozen
class Impact:
    """The score of a reported path: F1 of services (nodes) and calls (edges).

    Both are None if nothing was reported. ``exact_roots`` is whether exactly the root causes were
    declared.
    """

    node_f1: float | None
    edge_f1: float | None
    exact_roots: bool


def path_of(world: World, topology: Topology, truth: Hypothesis) -> Path:
    """The path of the damage under a hypothesis; empty if it is benign."""
    if not truth.faults:
        return Path(frozenset(), frozenset())
    names, reached = topology.names, affected(world, topology, truth)
    calls: set[tuple[int, int]] = set()
    for caller, condition in reached.items():
        if condition.name == WAITING:
            calls.update((caller, callee) for callee in condition.sick)
    pouring = {service for kind, service in truth.faults if world.kind(kind).pours_load}
    loaded = {service for service, condition in reached.items() if condition.name == LOADED}
    for caller in pouring | loaded:
        calls.update((caller, callee) for callee in topology.calls[caller] if callee in loaded)
    named = frozenset((names[caller], names[callee]) for caller, callee in calls)
    return Path(frozenset(names[service] for service in reached), named)


def impact_of(state: State) -> Impact:
    """The score of the last report of the impact; declared root causes count among its services.

    Raises InvalidInput for a recorded incident, whose path is not known.
    """
    simulation = state.incident.telemetry
    if not isinstance(simulation, Simulation):
        raise InvalidInput(f"{state.incident.id}: the path of its damage is not known")
    declared = frozenset(service for _, service in state.facts.root_causes)
    exact = declared == state.incident.truth.root_causes
    reports = [action for action in state.actions if isinstance(action, ReportImpact)]
    if not reports:
        return Impact(None, None, exact)
    world, topology = simulation.setting.world, simulation.topology
    calls, truth = frozenset(reports[-1].calls), path_of(world, topology, simulation.truth)
    services = declared.union(*calls)
    return Impact(f1(services, truth.services), f1(calls, truth.calls), exact)


def reported_impact(state: State) -> Impact | None:
    """:func:`impact_of` if an impact was reported and the incident is simulated, else None."""
    reported = ReportImpact in [type(action) for _, action in state.history]
    if reported and isinstance(state.incident.telemetry, Simulation):
        return impact_of(state)
    return None


def f1(named: Set[object], true: Set[object]) -> float:
    """The harmonic mean of precision and recall; 1 where both are empty."""
    if not named and not true:
        return 1.0
    return 2 * len(named & true) / (len(named) + len(true))
