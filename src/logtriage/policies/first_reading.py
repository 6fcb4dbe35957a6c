"""How the experts of the first world read a screen: what they note, and what follows from it."""

from collections.abc import Iterator
from typing import Final

import attrs

from logtriage.actions import SEVERITIES, RequestMoreLogs, Severity
from logtriage.clues import complaint, named_cause
from logtriage.observation import Observation
from logtriage.phrases import FAULT_ALERTS
from logtriage.runbook import severity_of
from logtriage.telemetry import Reading

#: Without these, nobody can tell a benign incident from a fault that is still silent.
_TO_DISMISS: Final = frozenset({"alerts", "slo", "inspection"})
#: A latency that rose by more than the readings wobble.
_RISE: Final = 1.1


@attrs.frozen
class Notes:
    """What an expert remembers.

    ``blame`` are the (caller, dependency) pairs it heard, ``inspected`` the services
    that were asked, ``cause`` the service that named a fault kind, ``worst`` the severest
    reading of the panel so far.
    """

    blame: tuple[tuple[str, str], ...] = ()
    inspected: frozenset[str] = frozenset()
    cause: tuple[str, str] | None = None
    worst: Severity | None = None


def read(observation: Observation, notes: Notes) -> Notes:
    """Take note of complaints, named causes, requests and the state of the panel."""
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
    asked = {
        one.service
        for one in observation.last_actions
        if isinstance(one, RequestMoreLogs) and one.service is not None
    }
    return Notes(tuple(blame), notes.inspected | asked, cause, worst)


def next_suspect(observation: Observation, notes: Notes) -> str | None:
    """Whom to ask next: the end of the chain of complaints, then whoever alerts, then edges."""
    blamed = [dependency for _, dependency in notes.blame]
    complaining = {caller for caller, _ in notes.blame}
    ends = [service for service in blamed if service not in complaining]
    alerting = [one.service for one in observation.alerts if one.name in FAULT_ALERTS]
    topology = observation.topology
    unwell = [
        name for name, reading in _known(observation) if severity_of(reading) is not Severity.P3
    ]
    edges = [topology.names[edge] for edge in topology.edges] if not alerting else []
    for service in (*reversed(ends), *alerting, *reversed(blamed), *unwell, *edges):
        if service not in notes.inspected:
            return service
    return None


def looks_benign(observation: Observation, notes: Notes) -> bool:
    """Whether nobody complains and no user is hurt, for whoever sees enough to say so."""
    return (
        not notes.blame
        and notes.worst is Severity.P3
        and not observation.open_loop
        and observation.hidden.isdisjoint(_TO_DISMISS)
    )


def rising(observation: Observation) -> bool:
    """Whether a known service still gets slower; without the health panel, the edge."""
    readings = [reading for _, reading in _known(observation)]
    if "health" in observation.hidden and observation.slo is not None:
        readings = [observation.slo]
    return any(one.p99_ms > one.earlier_p99_ms * _RISE for one in readings)


def likeliest(observation: Observation, notes: Notes) -> str | None:
    """The service to name if one must be named: the last one blamed, or the sickest."""
    if notes.blame:
        return notes.blame[-1][1]
    return max(_known(observation), key=_badness, default=(None, None))[0]


def _known(observation: Observation) -> Iterator[tuple[str, Reading]]:
    # A role without the health panel has no row for any service.
    for name, reading in zip(observation.topology.names, observation.health, strict=False):
        if reading is not None:
            yield name, reading


def _badness(item: tuple[str, Reading]) -> tuple[int, int]:
    _, reading = item
    return reading.error_bp or 0, reading.p99_ms - reading.earlier_p99_ms
