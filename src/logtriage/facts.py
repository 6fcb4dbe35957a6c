"""Summarise a history of actions into the facts that grading and telemetry read.

The rules of order stand here: first declarations stand, the first accepted remedy fixes a fault,
the first accepted page counts, and it approves remedies in later ticks.
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

#: An action with the tick in which it was taken: (tick, action).
Play = tuple[int, Action]


class Response(NamedTuple):
    """What was done about one fault: the ticks in which it was declared, paged for and fixed.

    None means not yet. With k faults, only the first k declared services count.
    """

    declared_at: int | None = None
    paged_at: int | None = None
    fixed_at: int | None = None

    @property
    def named(self) -> bool:
        """Whether the fault's service was declared, and no later than the fault was fixed."""
        said, fixed = self.declared_at, self.fixed_at
        return said is not None and (fixed is None or said <= fixed)


@attrs.frozen
class Facts:
    """The summary of a history.

    ``pages``, ``remedies``, ``requests`` (of logs), ``metrics``, ``traces`` and ``reports`` list
    all actions of a kind in order, the tick first. A request names a service by its index, -1 for
    all. ``noted`` are the pages that may bring a note of responders. ``paged_at`` is the tick in
    which an accepted team was first paged; ``unapproved_remedies`` counts the wrong remedies until
    that tick and in it. ``root_causes`` lists (tick, service) of declared services, each once.
    ``responses`` has what was done about each fault, in the order of the truth.
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
        """The tick in which the last fault was fixed; None while any fault is left."""
        ticks = [response.fixed_at for response in self.responses]
        fixed = [tick for tick in ticks if tick is not None]
        return max(fixed) if fixed and len(fixed) == len(ticks) else None

    @cached_property
    def doings(self) -> Doings:
        """The actions that decide which evidence is shown. Grading does not need them."""
        return Doings(self.requests, self.metrics, self.traces, self.remedies, self.noted)


#: The facts of an empty history.
UNTOUCHED: Final = Facts()


def facts_of(incident: Incident, history: tuple[Play, ...], before: Facts = UNTOUCHED) -> Facts:
    """The facts of a history, in order of ticks, that follows the facts ``before``."""
    truth, index = incident.truth, incident.topology.index
    parts, responses = truth.parts, before.responses
    if before is UNTOUCHED and parts:  # no incident, so no faults
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
                    responses = _first(responses, accepted, "declared_at", tick)
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
    # A wrong page that leaves the incident open brings no note.
    noted = pages
    if wrong_pages and not incident.wrong_page_closes:
        noted = tuple([page for page in pages if page[1] in truth.teams])
    return Facts(
        severity=severity,
        confidence=confidence,
        pages=pages,
        remedies=remedies,
        requests=requests,
        metrics=metrics,
        traces=traces,
        reports=reports,
        noted=noted,
        wrong_pages=wrong_pages,
        wrong_remedies=wrong_remedies,
        paged_at=paged_at,
        unapproved_remedies=unapproved_remedies,
        root_causes=root_causes,
        responses=responses,
        fault_category=fault_category,
    )


def _first(
    responses: tuple[Response, ...], accepted: list[bool], event: str, tick: int
) -> tuple[Response, ...]:
    """The responses with ``tick`` as the field ``event`` of ``accepted`` faults without one."""
    rows = zip(responses, accepted, strict=True)
    new = {event: tick}
    return tuple(
        [row._replace(**new) if here and getattr(row, event) is None else row for row, here in rows]
    )


def is_approved(paged_at: int | None, tick: int) -> bool:
    """Whether an accepted team, first paged in ``paged_at``, was paged in an earlier tick."""
    return paged_at is not None and paged_at < tick
