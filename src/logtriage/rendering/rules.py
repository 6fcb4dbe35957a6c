"""The system prompt: all public rules of an incident, for a single agent or for a role."""

import json
from collections.abc import Container, Iterable
from functools import lru_cache
from typing import Literal

from logtriage.actions import (
    ACTION_TYPES,
    FAULT_CATEGORIES,
    MAX_REPORT,
    RECORDED_ACTION_TYPES,
    REMEDIES,
    SEVERITIES,
    TEAM_ACTION_TYPES,
)
from logtriage.board_words import NO_FAULT
from logtriage.errors import InvalidInput
from logtriage.faults import FAULT_KINDS
from logtriage.grading import DEFAULT, RECORDED, RECORDED_2
from logtriage.grading.original import ORIGINAL
from logtriage.incident import Incident
from logtriage.rendering.briefing import briefing
from logtriage.rendering.compact import LONG_LIST
from logtriage.rendering.recordings import (
    USEFUL,
    USEFUL_ON_REQUEST,
    on_request_rules,
    recorded_rules,
    tick_seconds_of,
)
from logtriage.roles import VIEWS, Role, RoleSplit, watched
from logtriage.runbook import SEVERITY_RULE
from logtriage.telemetry import TICK_SECONDS
from logtriage.topology import Topology
from logtriage.world.setting import Setting

_VIEW_NAMES = {
    "alerts": "alerts",
    "slo": "the panel of the edge",
    "window": "the log window",
    "inspection": "requested logs",
    "health": "the health panel",
    "metrics": "requested metrics",
    "traces": "requested traces",
    "notes": "notes of responders",
    "changes": "recent changes",
    "directory": "the directory",
    "declarations": "what was declared",
    "effects": "remedies applied",
    "reports": "reports",
}
_WEIGHT = {row.name: f"{row.weight:.2f}" for row in DEFAULT.criteria}
_ORIGINAL_RULES = (
    "GRADE: severity, root cause, remedy and speed, by the original's formulas. "
    "First declarations count. Only resolve ends the incident, or ignoring a P1."
)
#: What an agent is told of its rubric.
_GRADING = {
    DEFAULT.id: f"GRADE: severity {_WEIGHT['severity']}, root cause {_WEIGHT['root_cause']}, "
    f"page {_WEIGHT['escalation']}, remedy {_WEIGHT['remediation']} (less for each wrong one), "
    f"prompt resolve after the fix {_WEIGHT['closure']}. Paging a wrong team, or ignoring a real "
    "fault, ends the incident with 0. First declarations count.",
    RECORDED.id: "GRADE: the root cause alone; the first declaration counts.",
    **{rubric.id: _ORIGINAL_RULES for rubric in ORIGINAL},
}


#: The views that a world does not have, by whether it is the second one.
_NOT_SHOWN = {True: frozenset({"health"}), False: frozenset({"metrics", "traces", "notes"})}

#: How an agent answers: one JSON object a turn, one tool call a turn, or all its
#: actions at once as a JSON array.
Reply = Literal["json", "tools", "plan"]


def system_prompt(
    incident: Incident,
    reply: Reply = "json",
    *,
    split: RoleSplit | None = None,
    role: str | None = None,
) -> str:
    """All public rules of an incident, and nothing that is its own.

    Services, how its world behaves, severity, runbook, paging, grading, actions.
    ``reply`` is how the agent is told to answer; with ``tools`` the actions are left to
    the schemas of :mod:`logtriage.adapters.tools`. With a ``split`` it is the prompt of
    its ``role``, who plays together with the others.

    Raises:
        UnknownName: for a role that the split does not have.
        InvalidInput: for a split without a role, or a role without a split.
    """
    return public_rules(
        incident.topology,
        incident.horizon,
        incident.rubric,
        incident.setting,
        reply,
        split=split,
        role=role,
        recording=tick_seconds_of(incident),
    )


@lru_cache(maxsize=64)
def public_rules(
    topology: Topology,
    horizon: int,
    rubric: str,
    setting: Setting | None,
    reply: Reply = "json",
    *,
    split: RoleSplit | None = None,
    role: str | None = None,
    recording: int | None = None,
) -> str:
    """:func:`system_prompt` of the parts that it is made of, where there is no incident yet.

    ``rubric`` is the id of the one that grades; of a rubric that is not built in, nothing
    is said. ``setting`` is the task's (:attr:`logtriage.tasks.TaskSpec.setting`), None
    outside the second world. ``recording`` are the seconds of a tick of a recorded
    incident, None for any other.

    Raises:
        UnknownName: for a role that the split does not have.
        InvalidInput: for a split without a role, or a role without a split.
    """
    if (split is None) != (role is None):
        raise InvalidInput("a role's prompt needs both the split and the role")
    seat = None if split is None or role is None else split.role(role)
    hidden = _NOT_SHOWN[setting is not None]
    if split is None or seat is None or len(split) == 1:
        opening = _opening(horizon, recording or TICK_SECONDS)
    else:
        opening = _team_opening(topology, horizon, recording or TICK_SECONDS, split, seat, hidden)
    useful = None if recording is None else USEFUL
    body: Iterable[str]
    if recording is not None and rubric == RECORDED_2.id:
        useful, body = USEFUL_ON_REQUEST, on_request_rules(topology)
    elif recording is not None:
        body = (*recorded_rules(topology), _GRADING.get(rubric, ""))
    elif setting is None:
        body = _first_rules(topology, rubric)
    else:
        body = briefing(topology, horizon, setting, rubric)
    listed = setting is not None
    actions = _action_rules(topology, horizon, reply, seat, useful, listed=listed)
    return "\n".join(filter(None, (opening, *body, *actions)))


def _first_rules(topology: Topology, rubric: str) -> Iterable[str]:
    """What there is to know of an incident outside the second world."""
    yield _graph(topology)
    yield _severity_rules()
    yield "RUNBOOK (fault class: fault, remedies, sign)"
    yield from _runbook_rows()
    yield (
        "WHOM TO PAGE: code and data faults: the owner of the root-cause service in the "
        f"incident's directory, which may differ from habit; capacity: {topology.capacity_team}; "
        f"security: {topology.security_team}. Teams: {', '.join(topology.teams)}."
    )
    yield (
        "HINTS: callers complain of the dependency they wait for; only the root names its own "
        "cause. Health is unknown until a service is inspected or alerts. The right remedy "
        "shows within two ticks. A load that settles by itself is benign: classify it P3, "
        "blame and page nobody, and ignore it."
    )
    if rubric in _GRADING:
        yield _GRADING[rubric]


def _opening(horizon: int, tick_seconds: int) -> str:
    return (
        "You are on call for one incident: find the root cause, not the loudest symptom. "
        f"You have {horizon} ticks of {tick_seconds} s; each action costs one tick, "
        "unreadable ones too."
    )


def _team_opening(
    topology: Topology,
    horizon: int,
    tick_seconds: int,
    split: RoleSplit,
    seat: Role,
    hidden: frozenset[str],
) -> str:
    others = "; ".join(
        f"{one.name} sees {_views(one, hidden)} and may {_kinds(one)}"
        for one in split.roles
        if one is not seat
    )
    talk = tuple(_talk_rules(seat, topology))
    return (
        f"You are {seat.name} in a team of {len(split)} that works on one incident together. "
        f"Find the root cause, not the loudest symptom. You have {horizon} ticks of "
        f"{tick_seconds} s; in each tick everyone acts once, in the order "
        f"{', '.join(split.names)}; an unreadable action does nothing. All share one grade.\n"
        f"YOU see {_views(seat, hidden)}. OTHERS: {others}." + "".join(f"\n{one}" for one in talk)
    )


def _talk_rules(seat: Role, topology: Topology) -> Iterable[str]:
    """What holds for this role alone: its part of the services, its board, its budget."""
    if seat.watches:
        names = ", ".join(topology.names[one] for one in sorted(watched(seat, topology)))
        yield f"YOUR SERVICES, of which alone you see and may request anything: {names or 'none'}."
    if seat.hears_late:
        late = f"reaches you {seat.delay} ticks late" if seat.delay else ""
        lost = f"{seat.loss} of 100 reports of others never reach you" if seat.loss else ""
        late = late and f"what others declare and report {late}"
        yield f"BOARD: {'; '.join(one for one in (late, lost) if one)}."
    if seat.budget is not None:
        yield f"BUDGET: you may make {seat.budget} requests."


def _views(role: Role, hidden: frozenset[str]) -> str:
    seen = [_VIEW_NAMES[view] for view in VIEWS if view in role.views and view not in hidden]
    return ", ".join(seen) or "nothing"


def _kinds(role: Role) -> str:
    return ", ".join(kind for kind in TEAM_ACTION_TYPES if kind in role.may)


def _graph(topology: Topology) -> str:
    """Who calls whom; of many services, the names alone."""
    if len(topology) > LONG_LIST:
        return f"SERVICES: {', '.join(topology.names)}"
    calls = "; ".join(
        f"{one.name} -> {', '.join(one.calls)}" for one in topology.services if one.calls
    )
    return f"SERVICES (caller -> dependencies): {calls}"


def _severity_rules() -> str:
    rows = [
        f"{severity} from {error_bp / 100:g}% errors or {p99_ms} ms p99"
        for severity, error_bp, p99_ms in SEVERITY_RULE
    ]
    return f"SEVERITY, by the SLO panel at the edge: {', '.join(rows)}, else {SEVERITIES[-1]}."


def _runbook_rows() -> Iterable[str]:
    for kind in FAULT_KINDS:
        remedies = " or ".join(kind.remedies)
        yield f"- {kind.fault_class}: {kind.name}, {remedies}: {kind.signature}"


def _action_rules(
    topology: Topology,
    horizon: int,
    reply: Reply,
    role: Role | None,
    useful: Container[str] | None,
    *,
    listed: bool,
) -> Iterable[str]:
    """How to answer, and with what.

    A single agent is told of ``useful`` kinds of action alone, unless that is None; a role of
    all that it may do. ``listed``: whether the runbook's heading says what a remedy is.
    """
    if reply == "tools":
        yield "ANSWER with one tool call a turn. Names of services and teams must be exact."
        return
    known = (ACTION_TYPES if useful is None else useful) if role is None else role.may
    may = tuple(kind for kind in (*TEAM_ACTION_TYPES, *RECORDED_ACTION_TYPES) if kind in known)
    example = _example(topology, may)
    if reply == "json":
        yield f"ANSWER with one JSON object, such as {example}"
    else:
        yield (
            "You see one screen and answer once, with all that you do. ANSWER with one JSON "
            f"array of at most {horizon} objects in order, such as [{example}]"
        )
    values = {
        "classify_severity": "|".join(SEVERITIES),
        "identify_root_cause": "<service>",
        "classify_fault": "|".join(FAULT_CATEGORIES),
        "escalate": "<team>",
        "remediate": f"<{'remedy' if listed else '|'.join(REMEDIES)}>:<service>",
        "request_more_logs": "<service>|all",
        "request_metrics": "<service>",
        "request_traces": "<service>",
        "report": f"<a fault of the runbook, {NO_FAULT}, or up to {MAX_REPORT} characters>",
    }
    rows = "; ".join(f"{name} {values[name]}" if name in values else name for name in may)
    yield f"ACTIONS: {rows}"


def _example(topology: Topology, may: tuple[str, ...]) -> str:
    """One of the actions that may be taken, as JSON."""
    last = topology.names[-1]
    values = {
        "remediate": f"restart:{last}",
        "identify_root_cause": last,
        "escalate": topology.teams[-1],
    }
    kind = next((one for one in values if one in may), may[0])
    example = {"action_type": kind}
    if kind in values:
        example["value"] = values[kind]
    return json.dumps(example)
