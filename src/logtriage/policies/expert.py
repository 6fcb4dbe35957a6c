"""The expert: scripted, honest, and good. It sees only observations.

It classifies by the panel, follows complaints from caller to dependency until a
service names its own cause, looks up remedy and class in the runbook and the owner
in the directory, pages, fixes and resolves. Where an alert leads to no complaint
and no cause, it watches the trend and dismisses what settles by itself. That it
succeeds proves that incidents can be solved from what they show.
"""

from typing import Final

import attrs

from logtriage.actions import (
    SEVERITIES,
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
from logtriage.evidence import complaint, named_cause
from logtriage.faults import FaultKind, fault_kind
from logtriage.observation import Observation
from logtriage.phrases import FAULT_ALERTS
from logtriage.policies.base import Memory
from logtriage.runbook import responsible_team, severity_of
from logtriage.telemetry import Reading

#: Said of a cause that the service itself named, and of a guess.
SURE: Final = 0.97
GUESS: Final = 0.3
#: Ticks kept in hand for a last guess.
RESERVE: Final = 2


@attrs.frozen
class Notes:
    """What the expert remembers.

    ``blame`` are the (caller, dependency) pairs it heard, ``inspected`` the services
    it asked, ``cause`` the service that named a fault kind, ``worst`` the severest
    reading of the panel so far.
    """

    blame: tuple[tuple[str, str], ...] = ()
    inspected: frozenset[str] = frozenset()
    cause: tuple[str, str] | None = None
    worst: Severity | None = None


@attrs.frozen
class ExpertPolicy:
    """Plays by the public rules; memory is :class:`Notes`."""

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Read the screen, then take the most useful step left."""
        notes = _read(observation, Notes() if memory is None else memory)
        action = _decide(observation, notes)
        if isinstance(action, RequestMoreLogs) and action.service is not None:
            notes = attrs.evolve(notes, inspected=notes.inspected | {action.service})
        return action, notes


def _read(observation: Observation, notes: Notes) -> Notes:
    """Take note of complaints, named causes and the state of the panel."""
    blame, cause = list(notes.blame), notes.cause
    for line in (*observation.inspection, *observation.window):
        kind = named_cause(line)
        if kind is not None:
            cause = cause or (line.service, kind)
        pair = complaint(line, observation.topology)
        if pair is not None and pair not in blame:
            blame.append(pair)
    worst = notes.worst
    if observation.slo is not None:
        seen = severity_of(observation.slo)
        worst = seen if worst is None else min(seen, worst, key=SEVERITIES.index)
    return attrs.evolve(notes, blame=tuple(blame), cause=cause, worst=worst)


def _decide(observation: Observation, notes: Notes) -> Action:
    if observation.severity is None and notes.worst is not None:
        return ClassifySeverity(notes.worst)
    if notes.cause is not None:
        service, kind = notes.cause
        return _respond(observation, service, fault_kind(kind))
    if observation.ticks_left <= RESERVE:
        return _last_words(observation, notes)
    suspect = _next_suspect(observation, notes)
    if suspect is not None:
        return RequestMoreLogs(suspect)
    if not notes.blame and notes.worst is Severity.P3 and not observation.open_loop:
        # Nobody complains, nobody names a cause, no user is hurt: wait out the trend.
        return RequestMoreLogs(None) if _rising(observation) else Ignore()
    if observation.root_cause is None:
        return _last_words(observation, notes)
    return Resolve()


def _respond(observation: Observation, service: str, kind: FaultKind) -> Action:
    """Declare, page, fix, close: by the runbook and this incident's directory."""
    if observation.root_cause is None:
        return IdentifyRootCause(service, SURE)
    topology = observation.topology
    if not observation.pages:
        index = topology.index(service)
        return Escalate(responsible_team(kind, index, topology, observation.directory))
    remedy = kind.remedies[0]
    if (str(remedy), service) not in observation.remedies:
        return Remediate(remedy, service)
    return Resolve()


def _next_suspect(observation: Observation, notes: Notes) -> str | None:
    """Whom to ask next: the end of the chain of complaints, then whoever alerts, then edges."""
    blamed = [dependency for _, dependency in notes.blame]
    complaining = {caller for caller, _ in notes.blame}
    ends = [service for service in blamed if service not in complaining]
    alerting = [one.service for one in observation.alerts if one.name in FAULT_ALERTS]
    topology = observation.topology
    unwell = [
        name
        for name, reading in zip(topology.names, observation.health, strict=True)
        if reading is not None and severity_of(reading) is not Severity.P3
    ]
    edges = [topology.names[edge] for edge in topology.edges] if not alerting else []
    for service in (*reversed(ends), *alerting, *reversed(blamed), *unwell, *edges):
        if service not in notes.inspected:
            return service
    return None


def _rising(observation: Observation) -> bool:
    """Whether a known service still gets slower, beyond the noise of the readings."""
    return any(
        reading.p99_ms > reading.earlier_p99_ms * 1.1
        for reading in observation.health
        if reading is not None
    )


def _last_words(observation: Observation, notes: Notes) -> Action:
    """Out of time or ideas: name the likeliest service, page nobody, close."""
    if observation.root_cause is not None:
        return Resolve()
    blamed = [dependency for _, dependency in notes.blame]
    if blamed:
        return IdentifyRootCause(blamed[-1], GUESS)
    known = [
        (name, reading)
        for name, reading in zip(observation.topology.names, observation.health, strict=True)
        if reading is not None
    ]
    if not known:
        return Resolve()
    return IdentifyRootCause(max(known, key=_badness)[0], GUESS)


def _badness(item: tuple[str, Reading]) -> tuple[int, int]:
    _, reading = item
    return reading.error_bp, reading.p99_ms - reading.earlier_p99_ms
