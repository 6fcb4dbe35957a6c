"""What a history of actions amounts to: everything that grading and telemetry read of it.

Rules of order stand here: first declarations stand, the first accepted remedy fixes a fault, the
first accepted page counts, and it approves what comes in a later tick.
:mod:`logtriage.grading.steps` has the same rules in whole numbers, for plans and batches.
"""

from functools import cached_property
from typing import Final, NamedTuple

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
from logtriage.incident import Incident
from logtriage.world.schedule import Doings

#: One action, after the tick in which it was taken.
Play = tuple[int, Action]


class Response(NamedTuple):
    """The ticks in which one fault was named, its team first paged, and it was fixed, or None.

    Of k faults the first k services declared are counted.
    """

    said_at: int | None = None
    paged_at: int | None = None
    fixed_at: int | None = None

    @property
    def named(self) -> bool:
        """Whether its service was declared, and no later than it was fixed."""
        said, fixed = self.said_at, self.fixed_at
        return said is not None and (fixed is None or said <= fixed)


@attrs.frozen
class Facts:
    """What a history amounts to.

    ``pages``, ``remedies``, ``requests``, ``metrics``, ``traces`` and ``reports`` list every
    one with its tick, in order; a request for all services is -1. ``noted`` are the pages
    whose responders leave a note. ``paged_at`` is the tick in which an accepted team was first
    paged; ``unapproved_remedies`` counts the wrong remedies until then and in it. ``root_causes``
    lists the services declared with their ticks, each once. ``responses`` says what was done about
    each fault, in the order of the truth.
    """

    severity: Severity | None = None
    confidence: float | None = None
    pages: tuple[tuple[int, str], ...] = ()
    remedies: tuple[tuple[int, str, str], ...] = ()
    requests: tuple[tuple[int, int], ...] = ()
    metrics: tuple[tuple[int, int], ...] = ()
    traces: tuple[tuple[int, int], ...] = ()
    reports: tuple[tuple[int, Report], ...] = ()
    noted: tuple[tuple[int, str], ...] = ()
    wrong_pages: int = 0
    wrong_remedies: int = 0
    paged_at: int | None = None
    unapproved_remedies: int = 0
    root_causes: tuple[tuple[int, str], ...] = ()
    responses: tuple[Response, ...] = ()
    fault_category: FaultCategory | None = None

    @property
    def root_cause(self) -> str | None:
        """The service that was declared first."""
        return self.root_causes[0][1] if self.root_causes else None

    @property
    def root_cause_at(self) -> int | None:
        """The tick in which a service was first declared."""
        return self.root_causes[0][0] if self.root_causes else None

    @property
    def fixed_at(self) -> int | None:
        """The tick in which an accepted remedy was first applied: the last fault's, of several."""
        ticks = [response.fixed_at for response in self.responses]
        fixed = [tick for tick in ticks if tick is not None]
        return max(fixed) if fixed and len(fixed) == len(ticks) else None

    @cached_property
    def doings(self) -> Doings:
        """What of this decides which evidence is shown. Grading asks for none."""
        return Doings(self.requests, self.metrics, self.traces, self.remedies, self.noted)


#: The facts of an empty history.
UNTOUCHED: Final = Facts()


def facts_of(incident: Incident, history: tuple[Play, ...], before: Facts = UNTOUCHED) -> Facts:
    """Sum up a history, which is in order of ticks, after ``before``."""
    truth, index = incident.truth, incident.topology.index
    parts, responses = truth.parts, before.responses
    if before is UNTOUCHED and parts:
        responses = (Response(),) * len(parts)
    severity, confidence, fault_category = before.severity, before.confidence, before.fault_category
    pages, remedies, requests = before.pages, before.remedies, before.requests
    metrics, traces, reports = before.metrics, before.traces, before.reports
    wrong_pages, wrong_remedies = before.wrong_pages, before.wrong_remedies
    unapproved_remedies, root_causes = before.unapproved_remedies, before.root_causes
    paged_at = before.paged_at
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
            name = action.service
            confidence = confidence if root_causes else action.confidence
            if all(service != name for _, service in root_causes):
                if len(root_causes) < len(parts):
                    accepted = [name in part.root_causes for part in parts]
                    responses = _first(responses, accepted, "said_at", tick)
                root_causes = (*root_causes, (tick, name))
        elif isinstance(action, ClassifyFault):
            fault_category = fault_category or action.fault_category
        elif isinstance(action, Escalate):
            pages = (*pages, (tick, action.team))
            if action.team in truth.teams:
                paged_at = tick if paged_at is None else paged_at
                accepted = [action.team in part.teams for part in parts]
                responses = _first(responses, accepted, "paged_at", tick)
            else:
                wrong_pages += 1
        elif isinstance(action, Remediate):
            pair = (action.remedy, action.service)
            remedies = (*remedies, (tick, *pair))
            if pair in truth.remedies:
                accepted = [pair in part.remedies for part in parts]
                responses = _first(responses, accepted, "fixed_at", tick)
            else:
                wrong_remedies += 1
                unapproved_remedies += not is_approved(paged_at, tick)
        elif isinstance(action, Report):
            reports = (*reports, (tick, action))
    # Where a mis-page does not end the incident, it brings no note of the responders.
    noted = pages
    if wrong_pages and not incident.wrong_page_closes:
        noted = tuple([page for page in pages if page[1] in truth.teams])
    return Facts(
        severity,
        confidence,
        pages,
        remedies,
        requests,
        metrics,
        traces,
        reports,
        noted,
        wrong_pages,
        wrong_remedies,
        paged_at,
        unapproved_remedies,
        root_causes,
        responses,
        fault_category,
    )


def _first(
    responses: tuple[Response, ...], accepted: list[bool], event: str, tick: int
) -> tuple[Response, ...]:
    """The responses, with a tick where some faults see an event for the first time."""
    rows = zip(responses, accepted, strict=True)
    new = {event: tick}
    return tuple(
        [row._replace(**new) if here and getattr(row, event) is None else row for row, here in rows]
    )


def is_approved(paged_at: int | None, tick: int) -> bool:
    """Whether an accepted team, first paged in ``paged_at``, was paged in an earlier tick."""
    return paged_at is not None and paged_at < tick
