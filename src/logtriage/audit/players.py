"""Policies that only an audit needs: reflexes to the first screen."""

from typing import Final

import attrs

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Remediate,
    Remedy,
    Resolve,
)
from logtriage.observation import Observation
from logtriage.policies import Memory
from logtriage.runbook import severity_of

#: What someone who has never seen the system would look for in a log, and would then do.
KEYWORDS: Final = (
    ("deploy", Remedy.ROLLBACK),
    ("release", Remedy.ROLLBACK),
    ("query", Remedy.KILL_QUERY),
    ("lock", Remedy.KILL_QUERY),
    ("cache", Remedy.FLUSH_CACHE),
    ("session", Remedy.FLUSH_CACHE),
    ("queue", Remedy.SCALE),
    ("connections", Remedy.SCALE),
    ("memory", Remedy.RESTART),
    ("exit", Remedy.RESTART),
    ("crash", Remedy.RESTART),
)


def _reflex(screen: Observation, service: str, remedy: Remedy, page: bool) -> tuple[Action, ...]:
    """Everything at once: panel, this service, its owner, this remedy, done."""
    plan: list[Action] = []
    if screen.slo is not None:
        plan.append(ClassifySeverity(severity_of(screen.slo)))
    plan.append(IdentifyRootCause(service))
    if page and screen.directory:
        plan.append(Escalate(screen.directory[screen.topology.index(service)]))
    return (*plan, Remediate(remedy, service), Resolve())


def _first_alerting(screen: Observation) -> str:
    if screen.alerts:
        return screen.alerts[0].service
    return screen.topology.names[screen.topology.edges[0]]


@attrs.frozen
class FirstAlerter:
    """Blames the first service that alerts, pages its owner if ``page``, restarts it."""

    page: bool = True

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action of what the first screen triggered; memory is the rest of it."""
        if memory is None:
            service = _first_alerting(observation)
            memory = _reflex(observation, service, Remedy.RESTART, self.page)
        return memory[0], memory[1:]


@attrs.frozen
class Keyword:
    """Takes the first line with a telling word, blames who wrote it, does what fits the word."""

    page: bool = True

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The next action of what the first screen triggered; memory is the rest of it."""
        if memory is None:
            memory = _reflex(observation, *_told(observation), self.page)
        return memory[0], memory[1:]


def _told(screen: Observation) -> tuple[str, Remedy]:
    for line in screen.window:
        for word, remedy in KEYWORDS:
            if word in line.message.lower():
                return line.service, remedy
    return _first_alerting(screen), Remedy.RESTART
