"""The expert: scripted, honest, and by rules of thumb. It sees only observations.

It starts at the edge and follows complaints down to the service whose failure explains
most of them. It looks at that service's traces and metrics and counts the signs that fit each kind
of fault in the runbook (:mod:`logtriage.policies.suspicion`). Then it asks for the channel that
best tells the top suspect from the next one with another page or remedy, and looks at the other
suspects. It asks each question once. When the time for questions is over, it hands the incident
over if its lead is not worth the risk. Else it pages, declares, fixes and resolves, or dismisses
an incident that troubles nobody. It knows no probabilities.

A role takes the steps that it may take, by its own slice of the screen, and reports its diagnosis.
A role that cannot diagnose goes by the reports; until there is one, it waits, and without any it
hands over when it is late. Recordings have no
tokens: :mod:`logtriage.policies.recorded_expert` plays them.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Report,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    Severity,
    action_name,
)
from logtriage.observation import Observation, world_of
from logtriage.policies.base import Memory
from logtriage.policies.notebook import Notebook, write_down
from logtriage.policies.recorded_expert import RecordedExpertPolicy
from logtriage.policies.suspicion import (
    HARDLY_NOTICED,
    Suspect,
    differences,
    heard,
    structures,
    suspects,
)
from logtriage.policies.team import idle, may_take
from logtriage.roles import Role
from logtriage.roles.splits import SOLO
from logtriage.roles.words import NO_FAULT
from logtriage.world.channels import SPANS
from logtriage.world.vocabulary import LOG

#: Ticks for the steps after the questions: page, severity, root cause, remedy, resolve.
STEPS: Final = 5
#: It keeps horizon / SPARE ticks for late answers.
SPARE: Final = 7
#: The lead in points that acting needs, by the worth of a hand-over from which it is needed.
HAND_OVER_LEADS: Final = {0.3: 0, 0.5: 3, 0.7: 6, 0.8: 9, 0.9: 10}
#: With a lead of this many points, it asks no more.
SURE: Final = 12
#: Extra points of a fault that a report names, for a role that cannot diagnose.
TOLD: Final = 4
#: At most this many remedies are tried after a page; without a page, only one.
TRIES: Final = 3
#: With so few ticks left, it waits for nobody.
LATE: Final = 3
#: Views without which nobody can tell where the fault is.
_DIAGNOSIS: Final = frozenset({"window", "inspection", "traces"})
_LOOK: Final = (RequestTraces, RequestMetrics, RequestMoreLogs)

Question = RequestTraces | RequestMetrics | RequestMoreLogs


@attrs.frozen
class ExpertPolicy:
    """Plays by the public rules, alone or in a role; memory is its :class:`Notebook`."""

    role: Role | None = None

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Read the screen, then take the most useful step left."""
        if observation.open_loop:
            return RecordedExpertPolicy(self.role).act(observation, memory)
        (alone,) = SOLO.roles
        role = alone if self.role is None else self.role
        book = write_down(observation, Notebook() if memory is None else memory)
        for action in _steps(observation, book, role):
            if may_take(role, action, observation):
                return action, book
        return idle(role), book


def _steps(observation: Observation, book: Notebook, role: Role) -> Iterator[Action]:
    """The steps left, the most useful first; some of them may be for others to take."""
    by_board = observation.hidden >= _DIAGNOSIS
    acted = observation.pages or observation.remedies
    if by_board and heard(observation) is None and observation.root_cause is None:
        if observation.worth_of_hand_over and not acted and observation.ticks_left <= LATE:
            yield HandOver()
        return
    ranked = open_suspects(observation, book)
    if not ranked:
        yield from _close(observation, book, role)
        return
    in_time = observation.ticks_left > STEPS + observation.horizon // SPARE
    lead = lead_of(observation, ranked)
    if not by_board and not acted and in_time and lead < SURE:
        useful = _by_use(observation, book, ranked, role)
        # An answer shows all that began by then, so nothing is asked twice.
        yield from (question for question in useful if question not in book.asked)
        if observation.hidden:  # others still ask
            return
    top = ranked[0]
    worth = observation.worth_of_hand_over
    if worth is not None and not acted:
        needed = [points for least, points in HAND_OVER_LEADS.items() if least <= worth]
        if lead < max(needed, default=0):
            yield HandOver()
    if top.benign:
        if observation.severity is None:
            yield ClassifySeverity(Severity.P3)
        yield from _report(NO_FAULT, observation, role)
        yield Ignore()
        return
    unchecked = RequestMetrics(top.service) not in book.asked
    if by_board and unchecked and observation.ticks_left > LATE:
        yield RequestMetrics(top.service)
    if by_board and heard(observation) is None and observation.ticks_left > LATE:
        return
    yield from _respond(observation, book, role, top)


def open_suspects(observation: Observation, book: Notebook) -> list[Suspect]:
    """The suspects, most suspect first, that actions and reports so far have not ruled out."""
    ranked = suspects(observation, book)
    if observation.hidden >= _DIAGNOSIS:
        ranked = _as_reported(observation, ranked)
    return [suspect for suspect in ranked if _is_open(suspect, observation, book)]


def _as_reported(observation: Observation, ranked: tuple[Suspect, ...]) -> tuple[Suspect, ...]:
    """The suspects at the reported service, and no others: for a role that cannot diagnose."""
    word, named = heard(observation) or (None, None)
    service = named or observation.root_cause
    if word == NO_FAULT:
        return tuple(row for row in ranked if row.benign)
    rows = [
        attrs.evolve(row, points=row.points + TOLD * (row.kind == word))
        for row in ranked
        if row.service == service and not row.benign
    ]
    return tuple(sorted(rows, key=lambda row: -row.points))


def _is_open(suspect: Suspect, observation: Observation, book: Notebook) -> bool:
    """Whether nothing that was done or noted so far rules a suspect out."""
    blamed = observation.root_cause
    if suspect.benign:
        noticed = book.worst is not None and book.worst > HARDLY_NOTICED
        return not (noticed or blamed or observation.pages or book.eased)
    if blamed is not None and blamed != suspect.service and not book.failed:
        return False
    # A page that left the incident open was right; without a directory teams are guesses.
    right = observation.pages if observation.directory else ()
    if right and suspect.team(observation) not in right:
        return False
    if book.noted is not None and suspect.service != book.noted:
        return False
    return suspect.remedy not in book.failed


def lead_of(observation: Observation, ranked: list[Suspect]) -> int:
    """The lead in points of the first suspect over the next with another page, else ``SURE``."""
    team = ranked[0].team(observation)
    rivals = [row for row in ranked if row.team(observation) != team]
    return ranked[0].points - rivals[0].points if rivals else SURE


# --- what to ask ---------------------------------------------------------------------


def _by_use(
    observation: Observation, book: Notebook, ranked: list[Suspect], role: Role
) -> Iterator[Question]:
    """The questions that the role may ask, the most telling first."""
    looks = [look for look in _LOOK if action_name(look("any")) in role.may]
    topology, world, top = observation.topology, world_of(observation), ranked[0]
    if structures(topology, book)[top.service] <= 0:
        # Nobody is known to wait: start at the edge.
        yield from (RequestTraces(topology.names[edge]) for edge in topology.edges)
    yield from (look(top.service) for look in looks[:2])  # alone: its logs come later, if at all
    response = top.remedy, top.team(observation)
    others = (row for row in ranked if (row.remedy, row.team(observation)) != response)
    rival = next(others, top)
    if rival.service == top.service:
        shown = {RequestTraces: SPANS, RequestMetrics: (*world.gauges,), RequestMoreLogs: (LOG,)}
        apart = {look: differences(world, top.kind, rival.kind, shown[look]) for look in looks}
        yield from (look(top.service) for look in sorted(looks, key=lambda look: -apart[look]))
    else:
        yield from (look(suspect.service) for look in looks for suspect in (top, rival))
    yield from (look(suspect.service) for suspect in ranked for look in looks)


# --- what to do ----------------------------------------------------------------------


def _respond(
    observation: Observation, book: Notebook, role: Role, top: Suspect
) -> Iterator[Action]:
    """The steps of a response by runbook and directory: page, declare, report, fix, close."""
    # Some faults belong to a fixed team of the topology, whoever owns the service.
    pages = world_of(observation).pages(top.kind, observation.topology)
    known = observation.directory or pages is not None
    if not observation.pages and known:
        team = top.team(observation)
        assert team is not None
        yield Escalate(team)
    # A role declares the root cause at once, since others wait for it. A lone agent does so after
    # the severity, since by then a note of the responders may name another service.
    if "report" not in role.may:
        yield from _classify(observation, book)
    if observation.root_cause is None:
        yield IdentifyRootCause(top.service)
    by_board = observation.hidden >= _DIAGNOSIS
    if not by_board:
        # A declared service is on the board already.
        declared = observation.root_cause is not None
        yield from _report(top.kind if declared else f"{top.kind} {top.service}", observation, role)
    yield from _classify(observation, book)
    tries = TRIES if observation.pages else 1
    if not book.eased and len(observation.remedies) < tries and observation.ticks_left > 1:
        if _waits_for_nobody(observation, role):
            assert top.remedy is not None  # it is a fault
            yield Remediate(*top.remedy)
        return  # it does not close while a remedy is left to try
    yield from _close(observation, book, role)


def _classify(observation: Observation, book: Notebook) -> Iterator[Action]:
    if observation.severity is None and book.severity is not None:
        yield ClassifySeverity(book.severity)


def _close(observation: Observation, book: Notebook, role: Role) -> Iterator[Action]:
    yield from _classify(observation, book)
    if _waits_for_nobody(observation, role):
        yield Resolve()


def _waits_for_nobody(observation: Observation, role: Role) -> bool:
    """Whether root cause and page are declared, as far as the role can see; True when it is late.

    A role that may declare both waits for nobody.
    """
    if observation.ticks_left <= LATE:
        return True
    declares_both = role.may >= {"identify_root_cause", "escalate"}
    if not declares_both and "declarations" not in observation.hidden:
        return observation.root_cause is not None and bool(observation.pages)
    return declares_both or bool(observation.pages) or "escalate" not in role.may


def _report(message: str, observation: Observation, role: Role) -> Iterator[Action]:
    """Report to the others, but only once: a second report would confuse them."""
    if all(report.by != role.name for _, report in observation.reports):
        yield Report(message, role.name)
