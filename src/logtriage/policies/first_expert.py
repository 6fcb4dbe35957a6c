"""The expert of the first world (tasks of version 1, and the original's).

It classifies by the panel, follows complaints from caller to dependency until a
service names its own cause, looks up remedy and class in the runbook and the owner
in the directory, pages, fixes and resolves. Where an alert leads to no complaint
and no cause, it watches the trend and dismisses what settles by itself. That it
succeeds proves that incidents can be solved from what they show.

In a role it does of this what the role may do, with what the role sees, and reports
what it finds; where it does not know enough, it waits.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from logtriage.actions import (
    ACTION_TYPES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Report,
    RequestMoreLogs,
    Resolve,
    action_name,
)
from logtriage.board_words import NO_FAULT
from logtriage.faults import FaultClass, FaultKind, fault_kind
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.policies.board import heard
from logtriage.policies.first_reading import (
    Notes,
    likeliest,
    looks_benign,
    next_suspect,
    read,
    rising,
)
from logtriage.policies.team import idle
from logtriage.roles import SOLO, Role
from logtriage.runbook import responsible_team

#: Said of a cause that the service itself named, and of a guess.
SURE: Final = 0.97
GUESS: Final = 0.3
#: Ticks kept in hand for a last guess.
RESERVE: Final = 2
#: Who may do all this and sees everything closes on a guess: nobody else knows better.
_ALONE: Final = frozenset(ACTION_TYPES)
#: Pages for these go to a team of the topology, whoever owns the service.
_NO_OWNER_NEEDED: Final = (FaultClass.CAPACITY, FaultClass.SECURITY)


@attrs.frozen
class FirstExpertPolicy:
    """Plays by the public rules, alone or in a role; memory is :class:`Notes`."""

    role: Role | None = None

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Read the screen, then take the most useful step left."""
        (alone,) = SOLO.roles
        role = alone if self.role is None else self.role
        notes = read(observation, Notes() if memory is None else memory)
        for action in _steps(observation, notes, role):
            if action_name(action) in role.may:
                return action, notes
        return idle(role), notes


def _steps(observation: Observation, notes: Notes, role: Role) -> Iterator[Action]:
    """What is to be done, the most useful first; some of it may be for others to do."""
    if observation.severity is None and notes.worst is not None:
        yield ClassifySeverity(notes.worst)
    found = _finding(observation, notes)
    alone = role.may >= _ALONE and not observation.hidden
    if found is not None:
        yield from _respond(observation, *found, notes, role)
        return
    if _dismissed(observation) and not rising(observation):
        yield Ignore()
    if observation.ticks_left <= RESERVE:
        yield from _last_words(observation, notes, alone=alone)
        return
    suspect = next_suspect(observation, notes)
    if suspect is not None:
        yield RequestMoreLogs(suspect)
        return
    if looks_benign(observation, notes):
        # Nobody complains, nobody names a cause, no user is hurt: wait out the trend.
        if not rising(observation):
            yield Ignore()
            yield from _report(NO_FAULT, observation, role)
    elif alone:
        yield from _last_words(observation, notes, alone=alone)
    yield RequestMoreLogs(None)


def _finding(observation: Observation, notes: Notes) -> tuple[str, FaultKind] | None:
    """The root cause and its fault kind: as read in the logs, else as the board has them."""
    if notes.cause is not None:
        service, kind = notes.cause
        return service, fault_kind(kind)
    report = heard(observation)
    if report is None or report[0] == NO_FAULT:
        return None
    told = report[1] or observation.root_cause
    return None if told is None else (told, fault_kind(report[0]))


def _dismissed(observation: Observation) -> bool:
    report = heard(observation)
    return report is not None and report[0] == NO_FAULT


def _respond(
    observation: Observation, service: str, kind: FaultKind, notes: Notes, role: Role
) -> Iterator[Action]:
    """Declare, tell, page, fix, close: by the runbook and this incident's directory."""
    if observation.root_cause is None:
        yield IdentifyRootCause(service, SURE)
    if notes.cause is not None:
        declared = observation.root_cause == service
        yield from _report(kind.name if declared else f"{kind.name} {service}", observation, role)
    if not observation.pages and (observation.directory or kind.fault_class in _NO_OWNER_NEEDED):
        topology = observation.topology
        index = topology.index(service)
        yield Escalate(responsible_team(kind, index, topology, observation.directory))
    remedy = kind.remedies[0]
    fixed = (str(remedy), service) in observation.remedies
    if not fixed:
        yield Remediate(remedy, service)
    late = observation.ticks_left <= RESERVE
    sees_fixes = "effects" not in observation.hidden or "remediate" in role.may
    if (fixed if sees_fixes else late) and (late or _handed_over(observation, role)):
        yield Resolve()


def _handed_over(observation: Observation, role: Role) -> bool:
    """Whether root cause and page are in, as far as the role can see."""
    if "declarations" in observation.hidden:
        return bool(observation.pages) or "escalate" not in role.may
    return observation.root_cause is not None and bool(observation.pages)


def _report(message: str, observation: Observation, role: Role) -> Iterator[Action]:
    """Tell the others, once."""
    mine = Report(message, role.name)
    if all(one != mine for _, one in observation.reports):
        yield mine


def _last_words(observation: Observation, notes: Notes, *, alone: bool) -> Iterator[Action]:
    """Out of time or ideas: name the likeliest service, page nobody, close."""
    guess = likeliest(observation, notes)
    if observation.root_cause is None and guess is not None:
        yield IdentifyRootCause(guess, GUESS)
    if alone:
        yield Resolve()
