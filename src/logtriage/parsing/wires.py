"""Read actions from wire JSON and write them to it. Reading never fails.

Nothing is guessed: a near miss (``payment`` for ``payment-service``) is malformed, and its reason
names the choices.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal

from logtriage._lib.jsonvalues import absent
from logtriage.actions import (
    ACTION_TYPES,
    ALL_SERVICES,
    CALLS,
    FAULT_CATEGORIES,
    HAND_OVER_TYPES,
    MAX_IMPACT,
    MAX_REPORT,
    OPTIONAL_ACTION_TYPES,
    RECORDED_ACTION_TYPES,
    SEVERITIES,
    TEAM_ACTION_TYPES,
    Action,
    ClassifyFault,
    IdentifyRootCause,
    Malformed,
    Report,
    ReportImpact,
    RequestMoreLogs,
    Wait,
    action_name,
    action_value,
    all_actions,
    no_teams,
)
from logtriage.errors import InvalidInput, kind_of
from logtriage.parsing.calls import MALFORMED, malformed_wire
from logtriage.parsing.replies import shielded
from logtriage.parsing.words import word_of
from logtriage.topology import Topology

Kinds = frozenset[str]
SOLO_KINDS: Final[Kinds] = frozenset(
    ACTION_TYPES | RECORDED_ACTION_TYPES | HAND_OVER_TYPES | OPTIONAL_ACTION_TYPES
)
TEAM_KINDS: Final[Kinds] = frozenset(TEAM_ACTION_TYPES | HAND_OVER_TYPES)
#: If an action has no type, the error lists its keys, cut to this many characters.
_KEYS_SHOWN: Final = 100
_WIRE_KEYS: Final = ("action_type", "value", "confidence")
#: Well-formed actions by name and value: they are few and immutable.
_Table = Mapping[tuple[Any, Any], Action]
#: How an action stands in a reply: as a JSON object or a call, or as one word on a line.
Form = Literal["json", "word"]


def action_from_wire(
    wire: Mapping[str, Any], topology: Topology, may: Kinds = SOLO_KINDS
) -> Action:
    """Read a wire action, ``{"action_type": …, "value": …, "confidence": …}``.

    Keys with None or NaN count as absent (tabular loaders pad with them). Other keys are ignored,
    and so is a value of ``resolve``, ``ignore``, ``hand_over`` or ``wait``. Anything wrong, or an
    action type not in ``may``, gives a :class:`Malformed` with the reason.
    """
    return _read(wire, topology, may, _wire_table(topology, may))


def actions_from_wire(
    wires: Iterable[Mapping[str, Any]], topology: Topology, may: Kinds = SOLO_KINDS
) -> list[Action]:
    """Read the wire actions of a whole transcript, each as by :func:`action_from_wire`."""
    table = _wire_table(topology, may)
    return [_read(wire, topology, may, table) for wire in wires]


def _read(wire: Mapping[str, Any], topology: Topology, may: Kinds, table: _Table) -> Action:
    name, value = wire.get("action_type"), wire.get("value")
    try:
        action = table.get((name, value))
    except TypeError:  # a list or an object where a string belongs
        action = None
    if action is None:
        return _irregular(wire, topology, may, table)
    if type(action) is not IdentifyRootCause:
        return action
    confidence: Any = wire.get("confidence")
    if absent(confidence):
        return action
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if is_number and 0 <= confidence <= 1:
        return IdentifyRootCause(action.service, confidence)
    return _bad(wire, f"confidence must be a number in [0, 1], got {show(confidence)}")


@lru_cache(maxsize=64)
def _wire_table(topology: Topology, may: Kinds) -> _Table:
    """The well-formed actions of the kinds in ``may``; nobody may change the table in the cache."""
    every = (*all_actions(topology, hand_over=True), *map(ClassifyFault, FAULT_CATEGORIES), Wait())
    table = {(action_name(action), action_value(action)): action for action in every}
    table["request_more_logs", None] = RequestMoreLogs(None)
    return {(name, value): action for (name, value), action in table.items() if name in may}


def _irregular(wire: Mapping[str, Any], topology: Topology, may: Kinds, table: _Table) -> Action:
    """Read an action that the table lacks: with free text or a needless value, or malformed."""
    name, value = wire.get("action_type"), wire.get("value")
    if absent(name):
        shown = ", ".join(map(str, wire))[:_KEYS_SHOWN] or "nothing"
        return _bad(wire, f"no field action_type; the action has: {shown}")
    if not isinstance(name, str) or (name not in may and name != MALFORMED):
        types = (*TEAM_ACTION_TYPES, *HAND_OVER_TYPES)
        kinds = ", ".join(kind for kind in types if kind in may)
        return _bad(wire, f"unknown action_type {show(name)}; one of: {kinds}")
    if absent(value):
        value = None
    elif not isinstance(value, str):
        return _bad(wire, f"value of {name} must be a string, got {show(value)}")
    match name:
        case "resolve" | "ignore" | "hand_over" | "wait":  # whatever their value
            return table[name, None]
        case "request_more_logs" if value is None:
            return table[name, None]
        case "report":
            if not value or len(value) > MAX_REPORT:
                return _bad(wire, f"report wants a text of 1 to {MAX_REPORT} characters")
            return Report(value, _author(wire))
        case "report_impact":
            return _impact(wire, value or "", topology)
        case "classify_severity":
            return _bad(wire, _choices("severity", value, SEVERITIES))
        case "classify_fault":
            return _bad(wire, _choices("fault class", value, FAULT_CATEGORIES))
        case "identify_root_cause" | "request_metrics" | "request_traces":
            return _bad(wire, _choices("service", value, topology.names))
        case "escalate":
            return _bad(wire, no_teams(topology) or _choices("team", value, topology.teams))
        case "request_more_logs":
            return _bad(wire, _choices("service", value, (ALL_SERVICES, *topology.names)))
        case "remediate":
            remedy, colon, service = (value or "").partition(":")
            if not colon:
                return _bad(wire, f"remediate wants '<remedy>:<service>', got {show(value)}")
            if remedy not in topology.remedies:
                return _bad(wire, _choices("remedy", remedy, topology.remedies))
            return _bad(wire, _choices("service", service, topology.names))
        case _:  # a malformed action that :func:`action_to_wire` wrote
            reason = wire.get("reason")
            reason = reason if isinstance(reason, str) else MALFORMED
            return Malformed(value or "", reason, _author(wire))


def _impact(wire: Mapping[str, Any], value: str, topology: Topology) -> Action:
    """Read ``caller->callee, …``; the services of a pair need not call each other."""
    calls = []
    for part in value.split(","):
        caller, arrow, callee = (piece.strip() for piece in part.partition(CALLS))
        if not arrow:
            return _bad(wire, f"report_impact wants '<caller>{CALLS}<callee>, …', got {show(part)}")
        for service in (caller, callee):
            if service not in topology:
                return _bad(wire, _choices("service", service, topology.names))
        calls.append((caller, callee))
    if len(set(calls)) > MAX_IMPACT:
        return _bad(wire, f"report_impact names at most {MAX_IMPACT} calls")
    return ReportImpact(tuple(calls))


def _author(wire: Mapping[str, Any]) -> str | None:
    by = wire.get("by")
    return by if isinstance(by, str) else None


def _choices(what: str, value: object, known: Iterable[str]) -> str:
    problem = f"no {what}" if value is None else f"unknown {what} {show(value)}"
    return f"{problem}; one of: {', '.join(known)}"


def show(value: object) -> str:
    """A short text for any value; a long or deep value is named by its type."""
    if isinstance(value, str):
        return repr(value[:60] + "…" if len(value) > 60 else value)
    if value is None or isinstance(value, bool | float):
        return repr(value)
    if isinstance(value, int) and value.bit_length() < 64:
        return repr(value)
    return f"a {type(value).__name__}"


def _bad(wire: Mapping[str, Any], reason: str) -> Malformed:
    shown = (f"{key}: {show(wire[key])}" for key in _WIRE_KEYS if not absent(wire.get(key)))
    return Malformed(", ".join(shown), reason)


def action_to_wire(action: Action) -> dict[str, Any]:
    """The wire form of an action; :func:`action_from_wire` reads it back unchanged.

    Raises:
        InvalidInput: if it is no action.
    """
    if not isinstance(action, Action):
        raise InvalidInput(f"expected an action, got {kind_of(action)}")
    if isinstance(action, Malformed):
        return malformed_wire(action)
    wire: dict[str, Any] = {"action_type": action_name(action)}
    if (value := action_value(action)) is not None:
        wire["value"] = value
    if isinstance(action, IdentifyRootCause) and action.confidence is not None:
        wire["confidence"] = action.confidence
    elif isinstance(action, Report) and action.by is not None:
        wire["by"] = action.by
    return wire


def render_action(action: Action, form: Form = "json") -> str:
    """The text of an action as an agent would write it, in JSON or in one word.

    Raises:
        InvalidInput: if it is no action, or has no form in one word.
    """
    if form == "word":
        return word_of(action)
    return shielded(json.dumps(action_to_wire(action), ensure_ascii=False))
