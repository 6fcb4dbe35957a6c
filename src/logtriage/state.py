"""State: an incident and what has been done to it. Everything else is derived.

A state is its history. The declarations, the remedies applied, the tick of the fix
and so on are :class:`Facts`, computed from the history by one function, so that a
state cannot contradict itself.
"""

from enum import StrEnum
from functools import cached_property
from typing import Any, Final, assert_never

import attrs

from logtriage.actions import (
    Action,
    ClassifyFault,
    ClassifySeverity,
    Escalate,
    FaultCategory,
    IdentifyRootCause,
    Remediate,
    Report,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Severity,
)
from logtriage.errors import InvalidInput, kind_of
from logtriage.incident import Incident
from logtriage.world.schedule import Doings


class Closing(StrEnum):
    """Why an incident is closed. Only ``OUT_OF_TIME`` is a truncation."""

    RESOLVED = "resolved"
    IGNORED = "ignored"
    MISROUTED = "misrouted"
    OUT_OF_TIME = "out_of_time"
    HANDED_OVER = "handed_over"


#: One action, after the tick in which it was taken.
Play = tuple[int, Action]


@attrs.frozen
class Facts:
    """What a history amounts to: everything that grading and telemetry read.

    ``pages``, ``remedies``, ``requests``, ``metrics``, ``traces`` and ``reports`` list every
    one with its tick, in order; a request for all services is -1. ``noted`` are the pages
    whose responders leave a note. ``fault_category`` is the one that was declared of a
    recording. Three ticks are None as long as it has not
    happened: ``root_cause_at``, in which the first root cause was declared, ``paged_at``, in
    which an accepted team was first paged, ``fixed_at``, in which an accepted remedy was
    first applied: of several faults, for the last of them. ``unapproved_remedies`` counts the
    wrong remedies that were applied while no accepted team had been paged in an earlier tick.
    ``root_causes`` lists the services declared with their ticks, each once, in order: of k
    faults the first k count.
    """

    severity: Severity | None
    root_cause: str | None
    confidence: float | None
    pages: tuple[tuple[int, str], ...]
    remedies: tuple[tuple[int, str, str], ...]
    requests: tuple[tuple[int, int], ...]
    metrics: tuple[tuple[int, int], ...]
    traces: tuple[tuple[int, int], ...]
    reports: tuple[tuple[int, Report], ...]
    noted: tuple[tuple[int, str], ...]
    fixed_at: int | None
    wrong_pages: int
    wrong_remedies: int
    root_cause_at: int | None
    paged_at: int | None
    unapproved_remedies: int
    root_causes: tuple[tuple[int, str], ...]
    fault_category: FaultCategory | None = None

    @cached_property
    def doings(self) -> Doings:
        """What of this decides which evidence is shown. Grading asks for none."""
        return Doings(self.requests, self.metrics, self.traces, self.remedies, self.noted)


#: The facts of an empty history.
UNTOUCHED: Final = Facts(
    severity=None,
    root_cause=None,
    confidence=None,
    pages=(),
    remedies=(),
    requests=(),
    metrics=(),
    traces=(),
    reports=(),
    noted=(),
    fixed_at=None,
    wrong_pages=0,
    wrong_remedies=0,
    root_cause_at=None,
    paged_at=None,
    unapproved_remedies=0,
    root_causes=(),
)


def facts_of(incident: Incident, history: tuple[Play, ...], before: Facts = UNTOUCHED) -> Facts:
    """Sum up a history, which is in order of ticks, after ``before``. First declarations stand."""
    if not history:
        return before
    truth, index = incident.truth, incident.topology.index
    severity, root_cause, confidence = before.severity, before.root_cause, before.confidence
    pages, remedies, requests = before.pages, before.remedies, before.requests
    metrics, traces, reports = before.metrics, before.traces, before.reports
    fault_category, root_cause_at = before.fault_category, before.root_cause_at
    paged_at, fixed_at = before.paged_at, before.fixed_at
    wrong_pages, wrong_remedies = before.wrong_pages, before.wrong_remedies
    unapproved_remedies = before.unapproved_remedies
    root_causes = before.root_causes
    for tick, action in history:
        if isinstance(action, RequestMoreLogs):
            service = -1 if action.service is None else index(action.service)
            requests = (*requests, (tick, service))
        elif isinstance(action, RequestMetrics):
            metrics = (*metrics, (tick, index(action.service)))
        elif isinstance(action, RequestTraces):
            traces = (*traces, (tick, index(action.service)))
        elif isinstance(action, ClassifySeverity):
            severity = severity or action.severity
        elif isinstance(action, IdentifyRootCause):
            if root_cause is None:
                root_cause, confidence = action.service, action.confidence
                root_cause_at = tick
            if all(service != action.service for _, service in root_causes):
                root_causes = (*root_causes, (tick, action.service))
        elif isinstance(action, ClassifyFault):
            fault_category = fault_category or action.fault_category
        elif isinstance(action, Escalate):
            pages = (*pages, (tick, action.team))
            if action.team not in truth.teams:
                wrong_pages += 1
            elif paged_at is None:
                paged_at = tick
        elif isinstance(action, Remediate):
            remedies = (*remedies, (tick, action.remedy, action.service))
            if (action.remedy, action.service) in truth.remedies:
                applied = {(remedy, service) for _, remedy, service in remedies}
                if fixed_at is None and all(applied & {*part.remedies} for part in truth.several):
                    fixed_at = tick
            else:
                wrong_remedies += 1
                unapproved_remedies += paged_at is None or paged_at >= tick
        elif isinstance(action, Report):
            reports = (*reports, (tick, action))
    # Where a mis-page does not end the incident, it brings no note of the responders.
    noted = pages
    if wrong_pages and not incident.wrong_page_closes:
        noted = tuple([page for page in pages if page[1] in truth.teams])
    return Facts(
        severity,
        root_cause,
        confidence,
        pages,
        remedies,
        requests,
        metrics,
        traces,
        reports,
        noted,
        fixed_at,
        wrong_pages,
        wrong_remedies,
        root_cause_at,
        paged_at,
        unapproved_remedies,
        root_causes,
        fault_category,
    )


@attrs.frozen(cache_hash=True)
class State:
    """One moment of an episode: immutable, hashable, comparable.

    Attributes:
        incident: the incident that is played.
        tick: ticks that have passed.
        history: every action so far, with the tick in which it was taken.
        closing: why the incident is closed; None while it is open.
    """

    incident: Incident
    tick: int = 0
    history: tuple[Play, ...] = ()
    closing: Closing | None = None
    _trace: Any = attrs.field(default=None, init=False, eq=False, repr=False)

    @cached_property
    def facts(self) -> Facts:
        """What the history amounts to."""
        trace = self._trace
        if trace is None:
            return facts_of(self.incident, self.history)
        return facts_of(self.incident, self.history[trace.plays :], trace.facts)

    @property
    def trace(self) -> Any:
        """What was kept of the screens so far (:mod:`logtriage.trace`); None if nothing was."""
        return self._trace

    def keep(self, trace: Any) -> None:
        """Keep a trace of this incident and of the beginning of this history."""
        object.__setattr__(self, "_trace", trace)

    def followed(self, tick: int, history: tuple[Play, ...], closing: Closing | None) -> "State":
        """A later state of the same episode, whose history goes on from this one."""
        after = State(self.incident, tick, history, closing)
        if self._trace is not None:
            object.__setattr__(after, "_trace", self._trace)
        return after

    def __reduce__(self) -> tuple[object, ...]:
        return State, (self.incident, self.tick, self.history, self.closing)

    @property
    def is_closed(self) -> bool:
        """Whether the incident is closed."""
        return self.closing is not None

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions played, in order."""
        return tuple([action for _, action in self.history])

    @property
    def schedule(self) -> tuple[int, ...] | None:
        """The tick of each action, in joint play; None where every tick has one action."""
        ticks = tuple([when for when, _ in self.history])
        return None if ticks == tuple(range(len(ticks))) else ticks

    @property
    def closed_at(self) -> int | None:
        """Ticks used when the incident was closed; None while it is open."""
        match self.closing:
            case None:
                return None
            case Closing.OUT_OF_TIME:
                return self.incident.horizon
            case Closing.RESOLVED | Closing.IGNORED | Closing.MISROUTED | Closing.HANDED_OVER:
                return self.history[-1][0] + 1
        assert_never(self.closing)


def initial_state(incident: Incident) -> State:
    """The moment at which the incident lands on the agent's screen.

    Raises:
        InvalidInput: for what is no incident, saying what to pass.
    """
    check_incident(incident)
    return State(incident)


def check_incident(value: object) -> None:
    """Refuse what is no incident.

    Raises:
        InvalidInput: saying what to pass.
    """
    if not isinstance(value, Incident):
        how = f"; make_incident({value!r:.80}) draws it" if isinstance(value, str) else ""
        raise InvalidInput(f"expected an incident, got {kind_of(value)}{how}")


def check_state(value: object) -> None:
    """Refuse what is no state.

    Raises:
        InvalidInput: saying what to pass.
    """
    if isinstance(value, State):
        return
    how = ""
    if isinstance(value, Incident):
        how = "; its first state is initial_state(incident)"
    elif isinstance(value, str):
        how = f"; its first state is initial_state(make_incident({value!r:.80}))"
    raise InvalidInput(f"expected a state, got {kind_of(value)}{how}")


def declared_in(state: State) -> tuple[str, ...] | None:
    """The services declared, in order; None where one fault at most is possible."""
    setting = state.incident.setting
    if setting is None or not setting.several:
        return None
    return tuple([service for _, service in state.facts.root_causes])


def is_settled(first: str | None, every: tuple[str, ...] | None, service: str) -> bool:
    """Whether to declare a service could have no effect any more.

    The first declared stands; where there may be several faults, each that was declared.
    ``every`` is of :func:`declared_in`.
    """
    return first is not None if every is None else service in every
