"""The chain follower: it falls for decoys.

It classifies by the first screen, follows complaints in the logs down to a service that
complains about no other, asks for its logs, and believes the first line there that tells of
trouble.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    RequestMoreLogs,
    Resolve,
    Severity,
)
from logtriage.observation import Observation, world_of
from logtriage.policies.base import Memory
from logtriage.policies.notebook import Notebook, blamed, write_down
from logtriage.world.schema.parts import Kind
from logtriage.world.vocabulary import LOG

#: Ticks kept for the steps after its only question.
_STEPS: Final = 6


@attrs.frozen
class ChainPolicy:
    """Follows complaints and believes the logs at their end; memory is its :class:`Notebook`.

    It reads logs alone: no metrics, no traces, no changes. It pages whatever a hand-over is worth.
    """

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Ask for the logs at the end of the chain, or act on them."""
        book = write_down(observation, Notebook() if memory is None else memory)
        return next(_steps(observation, book)), book


def _steps(observation: Observation, book: Notebook) -> Iterator[Action]:
    if observation.severity is None:
        yield ClassifySeverity(book.severity or Severity.P1)
    end = _end(observation, book)
    fault = _fault_told(end, book, observation)
    question = RequestMoreLogs(end)
    if observation.ticks_left > _STEPS and question not in book.asked:
        yield question
    if fault is None:
        yield Ignore() if book.severity is Severity.P3 else Resolve()
        return
    if observation.root_cause is None:
        yield IdentifyRootCause(end)
    topology = observation.topology
    if not observation.pages:
        service, directory = topology.index(end), observation.directory
        yield Escalate(world_of(observation).team_of(topology, directory, fault.name, service))
    if not observation.remedies:
        yield Remediate(fault.remedies[0], end)
    yield Resolve()


def _end(observation: Observation, book: Notebook) -> str:
    """The end of the chain: the declared service, else where the first complaints lead."""
    topology = observation.topology
    if observation.root_cause is not None:
        return observation.root_cause
    complaints: dict[str, str] = {}
    for line in book.lines:
        dependency = blamed(line, topology)
        if dependency is not None:
            complaints.setdefault(line.service, dependency)
    # A service that complains and is blamed by nobody stands at the top of a chain.
    tops = [name for name in complaints if name not in complaints.values()] or list(complaints)
    if tops:
        here = tops[0]
    else:  # nobody complains: the first service that alerts, else the edge
        here = book.alerts[0].service if book.alerts else topology.names[topology.edges[0]]
    passed = {here}
    while here in complaints and complaints[here] not in passed:
        here = complaints[here]
        passed.add(here)
    return here


def _fault_told(service: str, book: Notebook, observation: Observation) -> Kind | None:
    """The kind of fault that the service's lines tell of; a line that names the kind goes first."""
    world = world_of(observation)
    for kind, where in book.named:
        if where == service:
            return world.kind(kind)
    tier = observation.topology.services[observation.topology.index(service)].tier
    for line in book.lines:
        if line.service != service:
            continue
        fitting = [kind for kind in world.kinds_at(tier) if kind.signature[LOG].get(line.token)]
        if fitting:
            return max(fitting, key=lambda kind: kind.signature[LOG][line.token])
    return None
