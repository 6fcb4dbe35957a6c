"""The expert on recordings: it follows complaints, and declares where they lead.

It classifies by the panel, asks the end of the chain of complaints, then services that alert or
are unwell. When there is no service left to ask, or no time, it names the service that was blamed
last. A role takes the steps that it may take, by its own slice.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from logtriage.actions import (
    ACTION_TYPES,
    SEVERITIES,
    Action,
    ClassifySeverity,
    IdentifyRootCause,
    RequestMoreLogs,
    Resolve,
    Severity,
)
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.policies.team import idle, may_take
from logtriage.roles import Role
from logtriage.roles.splits import SOLO
from logtriage.world.clues import complaint
from logtriage.world.runbook import severity_of
from logtriage.world.telemetry import ERROR_ALERT, LATENCY_ALERT, Reading

#: The stated confidence of a guess.
GUESS: Final = 0.3
#: Ticks kept in hand for a last guess.
RESERVE: Final = 2
#: A role that may do all this and sees everything closes on a guess: nobody else knows better.
_ALONE: Final = frozenset(ACTION_TYPES)


@attrs.frozen
class Heard:
    """The memory of :class:`RecordedExpertPolicy`.

    ``blame`` are the (caller, dependency) pairs of complaints, ``inspected`` the services whose
    logs were requested, ``worst`` the severest reading of the panel so far.
    """

    blame: tuple[tuple[str, str], ...] = ()
    inspected: frozenset[str] = frozenset()
    worst: Severity | None = None


@attrs.frozen
class RecordedExpertPolicy:
    """Plays recordings, alone or in a role; memory is :class:`Heard`."""

    role: Role | None = None

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Read the screen, then take the most useful step left."""
        (alone,) = SOLO.roles
        role = alone if self.role is None else self.role
        heard = _listen(observation, Heard() if memory is None else memory)
        for action in _steps(observation, heard, role):
            if may_take(role, action, observation):
                return action, heard
        return idle(role), heard


def _listen(observation: Observation, heard: Heard) -> Heard:
    """The memory after a screen: its complaints, requests and panel are noted."""
    blame = list(heard.blame)
    for line in (*observation.inspection, *observation.window):
        pair = complaint(line, observation.topology)
        if pair is not None and pair not in blame:
            blame.append(pair)
    worst = heard.worst
    if observation.slo is not None:
        seen = severity_of(observation.slo)
        worst = seen if worst is None else min(seen, worst, key=SEVERITIES.index)
    asked = {
        action.service
        for action in observation.last_actions
        if isinstance(action, RequestMoreLogs) and action.service is not None
    }
    return Heard(tuple(blame), heard.inspected | asked, worst)


def _steps(observation: Observation, heard: Heard, role: Role) -> Iterator[Action]:
    """The steps left, the most useful first; some of them may be for others to take."""
    if observation.severity is None and heard.worst is not None:
        yield ClassifySeverity(heard.worst)
    alone = role.may >= _ALONE and not observation.hidden
    suspect = _next_suspect(observation, heard, role)
    late = observation.ticks_left <= RESERVE
    if suspect is not None and not late:
        yield RequestMoreLogs(suspect)
    elif late or alone:
        guess = _likeliest(observation, heard)
        if observation.root_cause is None and guess is not None:
            yield IdentifyRootCause(guess, confidence=GUESS)
        if alone:
            yield Resolve()
    if not late:
        yield RequestMoreLogs(None)


def _next_suspect(observation: Observation, heard: Heard, role: Role) -> str | None:
    """The service to ask about next: ends of the chain of complaints, alerting services, edges.

    None if the role may ask about none of them any more.
    """
    blamed = [dependency for _, dependency in heard.blame]
    complaining = {caller for caller, _ in heard.blame}
    ends = [service for service in blamed if service not in complaining]
    alerting = [
        alert.service for alert in observation.alerts if alert.name in (ERROR_ALERT, LATENCY_ALERT)
    ]
    topology = observation.topology
    unwell = [
        name for name, reading in _known(observation) if severity_of(reading) is not Severity.P3
    ]
    edges = [topology.names[edge] for edge in topology.edges] if not alerting else []
    for service in (*reversed(ends), *alerting, *reversed(blamed), *unwell, *edges):
        wanted = RequestMoreLogs(service)
        if service not in heard.inspected and may_take(role, wanted, observation):
            return service
    return None


def _likeliest(observation: Observation, heard: Heard) -> str | None:
    """The service to name at the end: the last that was blamed, or the sickest."""
    if heard.blame:
        return heard.blame[-1][1]
    readings = dict(_known(observation))

    def badness(name: str) -> tuple[int, int]:
        return readings[name].error_bp or 0, readings[name].p99_ms - readings[name].earlier_p99_ms

    return max(readings, key=badness, default=None)


def _known(observation: Observation) -> Iterator[tuple[str, Reading]]:
    """(service, its reading) where there is one; a role without the health panel has no rows."""
    for name, reading in zip(observation.topology.names, observation.health, strict=False):
        if reading is not None:
            yield name, reading
