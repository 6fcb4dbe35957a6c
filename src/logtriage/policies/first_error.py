"""The habit that this project exists to break: blaming the service that logs the loudest error."""

import attrs

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Remediate,
    Resolve,
)
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.world.runbook import severity_of

_LOUDNESS = {"FATAL": 3, "ERROR": 2, "WARN": 1}


@attrs.frozen
class FirstErrorPolicy:
    """Believes the loudest line on the first screen.

    Classifies by the panel, blames the service with the loudest lines, pages its
    owner, applies the remedy that mends most kinds of fault and resolves.
    """

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next step of the habit; memory is (suspect, number of the step)."""
        suspect, step = (_loudest(observation), 0) if memory is None else memory
        topology = observation.topology
        match step:
            case 0:
                panel = observation.slo or observation.edge
                severity = None if panel is None else severity_of(panel, observation.world)
                action: Action = ClassifySeverity(severity or "P1")
            case 1:
                action = IdentifyRootCause(suspect, confidence=0.9)
            case 2:
                # Recordings may lack a directory of owners: any team will do.
                owners = observation.directory or topology.teams[:1] * len(topology)
                action = Escalate(owners[topology.index(suspect)])
            case 3:
                action = Remediate(usual_remedy(observation), suspect)
            case _:
                action = Resolve()
        return action, (suspect, step + 1)


def usual_remedy(observation: Observation) -> str:
    """The remedy that mends most kinds of fault of the world; for a recording, the first remedy."""
    world = observation.world
    return (observation.topology.remedies if world is None else world.likely_remedies())[0]


def _loudest(observation: Observation) -> str:
    """The service whose lines weigh most by their levels, else the first that alerts."""
    weights: dict[str, int] = {}
    for line in observation.window:
        weight = 10 ** _LOUDNESS.get(line.level, 0)
        weights[line.service] = weights.get(line.service, 0) + weight
    if weights:
        return max(weights, key=weights.__getitem__)
    if observation.alerts:
        return observation.alerts[0].service
    return observation.topology.names[0]
