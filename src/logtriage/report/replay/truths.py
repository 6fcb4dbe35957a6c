"""The true condition of every service, which a reader of the page may show."""

from typing import Final

import attrs

from logtriage.incident import Incident
from logtriage.rendering import status_of
from logtriage.state import State
from logtriage.world.conditions import affected
from logtriage.world.model import HEALTHY, LOADED, WAITING
from logtriage.world.outcomes import left_at
from logtriage.world.simulation import Simulation

ROOT: Final = "root"
PATH: Final = "path"
LOOKALIKE: Final = "lookalike"
MINOR: Final = "minor"
NOISE: Final = "noise"
WELL: Final = "well"
_LEVELS: Final = {"failing": 100, "degraded": 60, "ok": 0}


@attrs.frozen
class Part:
    """How a service relates to the fault: ``part`` is a constant above, ``words`` its condition.

    ``hops`` counts calls to the nearest root cause; -1 if the service does not depend on any.
    """

    part: str
    words: str
    hops: int


def parts_of(incident: Incident) -> tuple[Part, ...]:
    """The part of every service, in index order."""
    topology = incident.topology
    roots = sorted(topology.index(name) for name in incident.truth.root_causes)
    from_roots = [topology.hops_from(root) for root in roots]
    hops = [
        min((away[service] for away in from_roots if away[service] >= 0), default=-1)
        for service in range(len(topology))
    ]
    named = _parts_and_words(incident, hops)
    return tuple(Part(part, words, away) for (part, words), away in zip(named, hops, strict=True))


def _parts_and_words(incident: Incident, hops: list[int]) -> list[tuple[str, str]]:
    telemetry = incident.telemetry
    if isinstance(telemetry, Simulation):
        return _of_world(telemetry)
    fault = incident.truth.fault
    root = "root cause" if fault is None else fault.kind
    below = {0: (ROOT, root), -1: (WELL, "")}
    return [below.get(away, (PATH, "depends on the root")) for away in hops]


def _of_world(world: Simulation) -> list[tuple[str, str]]:
    reached = affected(world.setting.world, world.topology, world.truth)
    roots = {service for _, service in world.truth.faults}
    parts = []
    for service, condition in enumerate(world.conditions):
        name = condition.name
        if service in roots:
            part = ROOT
        elif name in (WAITING, LOADED):
            part = PATH
        elif service in reached:
            part = LOOKALIKE
        elif name == HEALTHY:
            part = WELL
        else:
            part = NOISE if name in world.setting.world.unrelated else MINOR
        parts.append((part, "" if name == HEALTHY else name.replace("_", " ")))
    return parts


def levels(state: State) -> tuple[int, ...]:
    """How strongly each service is affected at the tick of a state, in per cent."""
    telemetry, facts = state.incident.telemetry, state.facts
    if isinstance(telemetry, Simulation):
        world, topology = telemetry.setting.world, telemetry.topology
        left = left_at(world, topology, telemetry.truth, facts.doings, state.tick)
        reached = affected(world, topology, left) if left is not None and left.faults else {}
        return tuple(100 if service in reached else 0 for service in range(len(topology)))
    strengths = []
    for service in range(len(state.incident.topology)):
        reading = telemetry.health(service, state.tick)
        strengths.append(0 if reading is None else _LEVELS[status_of(reading)])
    return tuple(strengths)
