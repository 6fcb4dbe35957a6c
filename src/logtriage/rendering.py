"""Text for language models and people: the public rules, and one screenful each tick."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from logtriage.actions import (
    ACTION_TYPES,
    REMEDIES,
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Malformed,
    Remediate,
    Severity,
    describe,
)
from logtriage.faults import FAULT_KINDS
from logtriage.grading import DEFAULT, RECORDED
from logtriage.grading.original import ORIGINAL
from logtriage.observation import Observation
from logtriage.runbook import SEVERITY_RULE, severity_of
from logtriage.telemetry import TICK_SECONDS, TREND_TICKS, LogLine, Reading
from logtriage.topology import Topology

#: Beyond this many services the prompt names them without their dependencies.
_GRAPH_LIMIT = 20
_STATUS = {Severity.P1: "failing", Severity.P2: "degraded", Severity.P3: "ok"}


def status_of(reading: Reading) -> str:
    """``failing``, ``degraded`` or ``ok``: the thresholds of P1, P2 and P3, per service."""
    return _STATUS[severity_of(reading)]


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
    RECORDED.id: "GRADE: the root cause alone; the first declaration counts. This is a "
    "recording: no action changes what follows.",
    **{rubric.id: _ORIGINAL_RULES for rubric in ORIGINAL},
}


#: How an agent answers: one JSON object a turn, one tool call a turn, or all its
#: actions at once as a JSON array.
Reply = Literal["json", "tools", "plan"]


@lru_cache(maxsize=64)
def system_prompt(
    topology: Topology, horizon: int, rubric: str = DEFAULT.id, reply: Reply = "json"
) -> str:
    """All public rules of an incident: topology, severity, runbook, paging, grading, actions.

    ``rubric`` is the id of the one that grades it (``incident.rubric``); of a rubric
    that is not built in, nothing is said. ``reply`` is how the agent is told to answer;
    with ``tools`` the actions are left to the schemas of
    :mod:`logtriage.adapters.tools`.
    """
    ticks = f"{horizon} ticks of {TICK_SECONDS} s"
    rules = [
        "You are the on-call engineer of one incident. Find the root cause, not the loudest "
        f"symptom. You have {ticks}; each action costs one tick, unreadable ones too.",
        _graph(topology),
        _severity_rules(),
        "RUNBOOK (fault class: fault, remedies, sign)",
        *_runbook_rows(),
        "WHOM TO PAGE: code and data faults: the owner of the root-cause service in the "
        f"incident's directory, which may differ from habit; capacity: {topology.capacity_team}; "
        f"security: {topology.security_team}. Teams: {', '.join(topology.teams)}.",
        "HINTS: callers complain of the dependency they wait for; only the root names its own "
        "cause. Health is unknown until a service is inspected or alerts. The right remedy "
        "shows within two ticks. A load that settles by itself is benign: classify it P3, "
        "blame and page nobody, and ignore it.",
        *((_GRADING[rubric],) if rubric in _GRADING else ()),
        *_action_rules(topology, horizon, reply),
    ]
    return "\n".join(rules)


def _graph(topology: Topology) -> str:
    if len(topology) > _GRAPH_LIMIT:
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


def _action_rules(topology: Topology, horizon: int, reply: Reply) -> Iterable[str]:
    if reply == "tools":
        yield "ANSWER with one tool call a turn. Names of services and teams must be exact."
        return
    example = '{"action_type": "remediate", "value": "restart:' + topology.names[-1] + '"}'
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
        "escalate": "<team>",
        "remediate": f"<{'|'.join(REMEDIES)}>:<service>",
        "request_more_logs": "<service>|all",
    }
    rows = "; ".join(f"{name} {values[name]}" if name in values else name for name in ACTION_TYPES)
    yield f"ACTIONS: {rows}"


def render_observation(observation: Observation) -> str:
    """One observation as compact text; views that a role does not have are left out."""
    hidden = observation.hidden
    parts = [_header(observation)]
    if "effects" not in hidden and observation.last_actions:
        parts.append(
            f"LAST: {'; '.join(_effect(observation, a) for a in observation.last_actions)}"
        )
    if observation.closing is not None:
        parts.append(f"CLOSED: {observation.closing}")
    if observation.slo is not None:
        parts.append(f"SLO edge: {_reading(observation.slo)}")
    if "alerts" not in hidden:
        firing = [f"{one.name} {one.service} (tick {one.since})" for one in observation.alerts]
        parts.append(f"ALERTS: {', '.join(firing) or 'none'}")
    if observation.inspection:
        parts.append(_logs("REQUESTED LOGS", observation.inspection))
    if "window" not in hidden:
        parts.append(_logs("LOGS", observation.window))
    if "health" not in hidden:
        parts.append(_health(observation))
    if observation.changes:
        rows = (f"{c.minutes_ago} min ago {c.service} {c.detail}" for c in observation.changes)
        parts.append(f"CHANGES: {'; '.join(rows)}")
    if observation.directory:
        parts.append(_directory(observation))
    if "declarations" not in hidden:
        parts.append(_declared(observation))
    return "\n".join(parts)


def _header(observation: Observation) -> str:
    text = f"TICK {observation.tick}/{observation.horizon}"
    return f"{text} (recording: remedies change nothing)" if observation.open_loop else text


def _reading(reading: Reading) -> str:
    return (
        f"errors {reading.error_bp / 100:.2f}%, p99 {reading.p99_ms} ms "
        f"(was {reading.earlier_p99_ms})"
    )


def _logs(title: str, lines: Iterable[LogLine]) -> str:
    rows = (f"{one.second:+d}s {one.level} {one.service}: {one.message}" for one in lines)
    return "\n".join((f"{title}:", *rows))


def _health(observation: Observation) -> str:
    known, unknown = [], []
    for name, reading in zip(observation.topology.names, observation.health, strict=True):
        if reading is None:
            unknown.append(name)
        else:
            known.append(f"{name} {status_of(reading)}: {_reading(reading)}")
    if len(unknown) > _GRAPH_LIMIT:
        unknown = [f"{len(unknown)} services"]
    if unknown:
        known.append(f"unknown: {', '.join(unknown)}")
    minutes = TREND_TICKS * TICK_SECONDS // 60
    return "\n".join((f"HEALTH (was: p99 {minutes} min ago):", *known))


def _directory(observation: Observation) -> str:
    names = observation.topology.names
    rows = []
    for team in observation.topology.teams:
        owned = [n for n, owner in zip(names, observation.directory, strict=True) if owner == team]
        if len(owned) == len(names):
            rows.append(f"{team}: all services")
        elif owned:
            rows.append(f"{team}: {', '.join(owned)}")
    return f"DIRECTORY: {'; '.join(rows)}"


def _declared(observation: Observation) -> str:
    severity = observation.severity or "-"
    text = f"DECLARED: severity {severity}, root cause {observation.root_cause or '-'}"
    return f"{text}, paged {', '.join(observation.pages)}" if observation.pages else text


def _effect(observation: Observation, action: Action) -> str:
    """What came of an action, as far as the one who took it can tell."""
    if isinstance(action, Malformed):
        return f"not understood: {action.reason}"
    text = describe(action)
    match action:
        case ClassifySeverity(severity) if observation.severity not in (severity, None):
            return f"{text}: no effect, {observation.severity} stands"
        case IdentifyRootCause(service, _) if observation.root_cause not in (service, None):
            return f"{text}: no effect, {observation.root_cause} stands"
        case Escalate(_):
            handed_over = observation.closing == "misrouted"
            return f"{text}: {'the wrong people took it' if handed_over else 'acknowledged'}"
        case Remediate(_, _):
            return f"{text}: done, watch the panels"
        case _:
            return text
