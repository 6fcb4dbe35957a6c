"""Actions: a closed union of frozen types, and their canonical integers."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Final

import attrs

from logtriage._lib.printable import masked
from logtriage.errors import InvalidInput, UnknownName, kind_of
from logtriage.topology import NO_TEAM, Topology


class Severity(StrEnum):
    """P1 user-facing outage, P2 user-facing degradation, P3 no user impact."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class FaultCategory(StrEnum):
    """The class of a recording's fault: a resource (CPU, memory, disk), the network, or code."""

    RESOURCE = "resource"
    NETWORK = "network"
    CODE = "code"


SEVERITIES: Final = tuple(Severity)
FAULT_CATEGORIES: Final = tuple(FaultCategory)


def _as_confidence(value: float | None) -> float | None:
    if value is None:
        return None
    try:
        confidence = float(value)
    except (TypeError, ValueError):
        confidence = -1.0  # refused below
    if not 0.0 <= confidence <= 1.0:
        raise InvalidInput(f"confidence must lie in [0, 1], got {value!r}")
    return confidence


def _as_severity(value: str) -> Severity:
    try:
        return Severity(value)
    except ValueError:
        raise UnknownName("severity", value, SEVERITIES) from None


def _as_fault_category(value: str) -> FaultCategory:
    try:
        return FaultCategory(value)
    except ValueError:
        raise UnknownName("fault class", value, FAULT_CATEGORIES) from None


@attrs.frozen
class ClassifySeverity:
    """Declare how bad it is. The first declaration stands."""

    severity: Severity = attrs.field(converter=_as_severity)


@attrs.frozen
class IdentifyRootCause:
    """Declare a root-cause service. The first declaration stands (of k faults, the first k).

    ``confidence`` in [0, 1] is optional, never graded, and used for calibration.
    """

    service: str
    confidence: float | None = attrs.field(default=None, converter=_as_confidence)


@attrs.frozen
class ClassifyFault:
    """Declare the class of the fault, in a recording. The first declaration stands."""

    fault_category: FaultCategory = attrs.field(converter=_as_fault_category)


@attrs.frozen
class Escalate:
    """Page a team. A team that is not accepted closes the incident and zeroes the grade."""

    team: str


@attrs.frozen
class Remediate:
    """Apply a remedy of the world to a service."""

    remedy: str
    service: str


@attrs.frozen
class RequestMoreLogs:
    """Ask for one service's recent lines, or with ``None`` for a shallow look at all."""

    service: str | None = None


@attrs.frozen
class RequestMetrics:
    """Ask for the gauges of one service."""

    service: str


@attrs.frozen
class RequestTraces:
    """Ask where one service's time goes, and where its errors start."""

    service: str


@attrs.frozen
class Resolve:
    """Close the incident as fixed."""


@attrs.frozen
class Ignore:
    """Close the incident as nothing to act on."""


@attrs.frozen
class HandOver:
    """Hand the incident to the duty manager; that closes it where a hand-over has a worth."""


#: The most characters of an unreadable reply, and of the reason, that :class:`Malformed` keeps.
KEPT_TEXT: Final = 500
KEPT_REASON: Final = 400


def _beginning(text: str) -> str:
    return text[:KEPT_TEXT]


def _one_line(reason: str) -> str:
    return masked(reason[:KEPT_REASON])


@attrs.frozen
class Malformed:
    """Text that could not be read as an action: an ordinary step that costs its tick.

    The text is cut, and the ``reason`` is one printable line. ``by`` names the role that wrote it.
    """

    text: str = attrs.field(converter=_beginning)
    reason: str = attrs.field(converter=_one_line)
    by: str | None = None


#: The longest message of a :class:`Report`, in characters.
MAX_REPORT: Final = 200


def _as_message(message: str) -> str:
    if not 1 <= len(message) <= MAX_REPORT:
        raise InvalidInput(f"a report has 1 to {MAX_REPORT} characters, got {len(message)}")
    return masked(message)


@attrs.frozen
class Report:
    """Tell the other roles something (joint play only, never graded). ``by`` names its author.

    Raises:
        InvalidInput: for an empty message, or more than :data:`MAX_REPORT` characters.
    """

    message: str = attrs.field(converter=_as_message)
    by: str | None = None


#: The most calls that one report of an impact names.
MAX_IMPACT: Final = 400


def _as_calls(calls: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    once = tuple(dict.fromkeys((caller, callee) for caller, callee in calls))
    if not 1 <= len(once) <= MAX_IMPACT:
        raise InvalidInput(f"an impact names 1 to {MAX_IMPACT} calls, got {len(once)}")
    return once


@attrs.frozen
class ReportImpact:
    """Say how the damage spread: (caller, callee) for each call that waits or carries load.

    The whole path is one action; a later report replaces it. Graded beside the rubric and never in
    its total (:mod:`logtriage.grading.impact`). It has no canonical integer.

    Raises:
        InvalidInput: if there is no call, or more than :data:`MAX_IMPACT`.
    """

    calls: tuple[tuple[str, str], ...] = attrs.field(converter=_as_calls)


@attrs.frozen
class Wait:
    """Do nothing in this tick (joint play only)."""


#: Any action: of a single agent, or of a role in joint play.
Action = (
    ClassifySeverity
    | IdentifyRootCause
    | ClassifyFault
    | Escalate
    | Remediate
    | RequestMoreLogs
    | RequestMetrics
    | RequestTraces
    | Resolve
    | Ignore
    | HandOver
    | Malformed
    | Report
    | ReportImpact
    | Wait
)

#: The actions of a single agent: wire names in canonical order, each with its type.
ACTION_TYPES: Final[dict[str, type[Action]]] = {
    "classify_severity": ClassifySeverity,
    "identify_root_cause": IdentifyRootCause,
    "escalate": Escalate,
    "remediate": Remediate,
    "request_more_logs": RequestMoreLogs,
    "request_metrics": RequestMetrics,
    "request_traces": RequestTraces,
    "resolve": Resolve,
    "ignore": Ignore,
}
#: The action beside them for recordings that are graded by it. Elsewhere it only costs its tick.
#: It has no canonical integer.
RECORDED_ACTION_TYPES: Final[dict[str, type[Action]]] = {"classify_fault": ClassifyFault}
#: The action beside them where a hand-over has a worth; it closes the incident. Only there it is
#: offered, and has a canonical integer.
HAND_OVER_TYPES: Final[dict[str, type[Action]]] = {"hand_over": HandOver}
#: :data:`ACTION_TYPES`, and the actions of roles in joint play.
TEAM_ACTION_TYPES: Final[dict[str, type[Action]]] = {**ACTION_TYPES, "report": Report, "wait": Wait}
#: An action beside them that prompt and tools do not list.
OPTIONAL_ACTION_TYPES: Final[dict[str, type[Action]]] = {"report_impact": ReportImpact}
ACTION_NAMES: Final[dict[type[Action], str]] = {
    kind: name
    for name, kind in (
        TEAM_ACTION_TYPES | RECORDED_ACTION_TYPES | HAND_OVER_TYPES | OPTIONAL_ACTION_TYPES
    ).items()
}
#: What stands between a caller and its callee in a report of an impact.
CALLS: Final = "->"
#: How ``RequestMoreLogs(None)`` is written.
ALL_SERVICES: Final = "all"


def action_name(action: Action) -> str:
    """The wire name of an action's type; InvalidInput for what is no action."""
    if isinstance(action, Malformed):
        return "malformed"
    if type(action) not in ACTION_NAMES:
        raise InvalidInput(no_action(action))
    return ACTION_NAMES[type(action)]


def action_value(action: Action) -> str | None:
    """The wire value, such as ``restart:user-db``, or None; InvalidInput for what is no action."""
    match action:
        case ClassifySeverity(severity):
            return str(severity)
        case IdentifyRootCause(service, _):
            return service
        case ClassifyFault(fault_category):
            return str(fault_category)
        case Escalate(team):
            return team
        case Remediate(remedy, service):
            return f"{remedy}:{service}"
        case RequestMoreLogs(service):
            return ALL_SERVICES if service is None else service
        case RequestMetrics(service) | RequestTraces(service):
            return service
        case Report(message, _):
            return message
        case ReportImpact(calls):
            return ", ".join(f"{caller}{CALLS}{callee}" for caller, callee in calls)
        case Resolve() | Ignore() | HandOver() | Wait() | Malformed():
            return None
        case _:
            raise InvalidInput(no_action(action))


def signed(action: Action, role: str) -> Action:
    """The action with ``role`` as its author if it is malformed or a report, else as it is."""
    return attrs.evolve(action, by=role) if isinstance(action, Malformed | Report) else action


def describe(action: Action) -> str:
    """An action in one short line, for people."""
    if isinstance(action, Malformed):
        return f"malformed ({action.reason})"
    value = action_value(action)
    return action_name(action) if value is None else f"{action_name(action)} {value}"


@lru_cache(maxsize=64)
def all_actions(topology: Topology, *, hand_over: bool = False) -> tuple[Action, ...]:
    """Every well-formed action of a topology; its index is its canonical integer.

    n services have ``3 + n + teams + remedies * n + (1 + 3 n) + 2`` actions. ``hand_over`` adds
    the hand-over as the last, for incidents where it has a worth.
    """
    names = topology.names
    return (
        *(ClassifySeverity(severity) for severity in SEVERITIES),
        *(IdentifyRootCause(name) for name in names),
        *(Escalate(team) for team in topology.teams),
        *(Remediate(remedy, name) for remedy in topology.remedies for name in names),
        RequestMoreLogs(None),
        *(RequestMoreLogs(name) for name in names),
        *(RequestMetrics(name) for name in names),
        *(RequestTraces(name) for name in names),
        Resolve(),
        Ignore(),
        *((HandOver(),) if hand_over else ()),
    )


@lru_cache(maxsize=64)
def _action_ids(topology: Topology, hand_over: bool) -> dict[Action, int]:
    return {action: n for n, action in enumerate(all_actions(topology, hand_over=hand_over))}


def action_id(action: Action, topology: Topology, *, hand_over: bool = False) -> int:
    """The canonical integer of an action; a confidence makes no difference.

    Raises:
        UnknownName: if the action names a service, team or remedy that the topology lacks.
        InvalidInput: for an action that :func:`all_actions` lacks, such as :class:`HandOver`
            without ``hand_over``, :class:`Wait` or :class:`Malformed`; and for what is no action.
    """
    if isinstance(action, IdentifyRootCause) and action.confidence is not None:
        action = IdentifyRootCause(action.service)
    try:
        return _action_ids(topology, hand_over)[action]
    except (KeyError, TypeError):  # TypeError: not hashable, so no action
        check_action(action, topology)
        raise InvalidInput(f"{action_name(action)} has no canonical integer") from None


def check_action(action: Action, topology: Topology) -> None:
    """Raise UnknownName for a name that the topology lacks, InvalidInput for what is no action."""
    match action:
        case (
            IdentifyRootCause(service, _)
            | Remediate(_, service)
            | RequestMoreLogs(service)
            | RequestMetrics(service)
            | RequestTraces(service)
        ):
            if isinstance(action, Remediate) and action.remedy not in topology.remedies:
                raise UnknownName("remedy", action.remedy, topology.remedies)
            if service is not None and service not in topology:
                every = type(action) is RequestMoreLogs and service == ALL_SERVICES
                where = "RequestMoreLogs() asks for all" if every else ""
                raise UnknownName("service", service, topology.names, where)
        case ReportImpact(calls):
            for service in chain.from_iterable(calls):
                if service not in topology:
                    raise UnknownName("service", service, topology.names)
        case Escalate(team):
            if team not in topology.teams:
                raise UnknownName("team", team, topology.teams, no_teams(topology))
        case _:
            if not isinstance(action, Action):
                raise InvalidInput(no_action(action))


def no_teams(topology: Topology) -> str:
    """What to do instead of paging where a topology names no teams; empty if it names some."""
    if topology.teams != (NO_TEAM,):
        return ""
    return (
        "a recording names no teams to page: declare the cause (identify_root_cause) and the class "
        "(classify_fault)"
    )


def no_action(value: object) -> str:
    """Why something is no action, and what to pass in its place."""
    if isinstance(value, str):
        how = "parse_action(text, topology) reads what a model wrote"
    elif isinstance(value, Mapping):
        how = "logtriage.parsing.action_from_wire(wire, topology) reads a wire action"
    elif isinstance(value, int):
        how = f"the action of this canonical integer is all_actions(topology)[{value}]"
    elif isinstance(value, type) and issubclass(value, Action):
        return f"expected an action, got the type {value.__name__}; pass {value.__name__}(…)"
    else:
        how = "pass one such as Resolve() or Escalate(team)"
    shown = repr(value)
    shown = shown if len(shown) <= 80 else kind_of(value)
    return f"expected an action, got {shown}; {how}"
