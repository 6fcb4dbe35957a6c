"""Text and wire JSON become actions here, and nowhere else. Parsing is total.

Whatever a model writes becomes exactly one action or a :class:`Malformed` with the
reason; nothing is guessed, and a near miss (``payment`` for ``payment-service``) is
never corrected behind the agent's back: its reason names the choices.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from logtriage.actions import (
    ACTION_TYPES,
    ALL_SERVICES,
    REMEDIES,
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Malformed,
    Remediate,
    RequestMoreLogs,
    Resolve,
    action_name,
    action_value,
)
from logtriage.topology import Topology

#: Longer replies are refused unread, so that parsing time is bounded.
MAX_TEXT: Final = 200_000
#: At most this many opening braces are tried.
MAX_OBJECTS: Final = 1_000
#: How much of an unreadable reply a :class:`Malformed` keeps.
KEPT_TEXT: Final = 500
MALFORMED: Final = "malformed"

_DECODER: Final = json.JSONDecoder()
_SEVERITIES: Final = {str(one): one for one in SEVERITIES}
_REMEDIES: Final = {str(one): one for one in REMEDIES}
_VALUELESS: Final[dict[str, Action]] = {"resolve": Resolve(), "ignore": Ignore()}


def parse_action(text: str, topology: Topology) -> Action:
    """Read one action from what a model wrote.

    Looks for JSON objects with a key ``action_type``, fenced or in prose; other
    objects are prose. Two different actions in one reply are malformed, since the
    agent gets one action a step.
    """
    if len(text) > MAX_TEXT:
        return malformed(text, f"reply of {len(text)} characters; at most {MAX_TEXT} are read")
    found = _action_objects(text)
    if isinstance(found, str):
        return malformed(text, found)
    actions = [action_from_wire(one, topology) for one in found]
    if not actions:
        return malformed(text, 'no JSON object with a key "action_type" in the reply')
    if any(action != actions[0] for action in actions[1:]):
        return malformed(text, f"{len(actions)} different actions in one reply; send exactly one")
    if isinstance(actions[0], Malformed):
        return malformed(text, actions[0].reason)
    return actions[0]


def _action_objects(text: str) -> list[Mapping[str, Any]] | str:
    """The JSON objects that claim to be actions, or why there are none to be had."""
    found: list[Mapping[str, Any]] = []
    position = text.find("{")
    for _ in range(MAX_OBJECTS):
        if position < 0:
            return found
        try:
            value, end = _DECODER.raw_decode(text, position)
        except RecursionError:
            return "JSON nested too deeply"
        except ValueError:
            end = position + 1
        else:
            if "action_type" in value:
                found.append(value)
        position = text.find("{", end)
    return found if position < 0 else f"more than {MAX_OBJECTS} braces in the reply"


def action_from_wire(wire: Mapping[str, Any], topology: Topology) -> Action:
    """Read a wire action, ``{"action_type": …, "value": …, "confidence": …}``; total.

    Keys with None count as absent (tabular loaders pad with it); other keys are
    ignored. Anything wrong gives a :class:`Malformed` that says what was expected.
    """
    name = wire.get("action_type")
    value = wire.get("value")
    kind = ACTION_TYPES.get(name) if isinstance(name, str) else None
    if kind is None:
        if name == MALFORMED and isinstance(value, str):
            reason = wire.get("reason")
            return Malformed(value, reason if isinstance(reason, str) else "malformed")
        return _bad(wire, f"unknown action_type {_show(name)}; one of: {', '.join(ACTION_TYPES)}")
    if value is not None and not isinstance(value, str):
        return _bad(wire, f"value of {name} must be a string, got {_show(value)}")
    if kind is RequestMoreLogs:
        if value is None or value == ALL_SERVICES:
            return RequestMoreLogs(None)
        if value in topology:
            return RequestMoreLogs(value)
        return _bad(wire, _choices("service", value, (ALL_SERVICES, *topology.names)))
    closing = _VALUELESS.get(str(name))
    if closing is not None:
        return closing
    if kind is ClassifySeverity:
        severity = _SEVERITIES.get(value or "")
        if severity is None:
            return _bad(wire, _choices("severity", value, tuple(_SEVERITIES)))
        return ClassifySeverity(severity)
    if kind is IdentifyRootCause:
        if value not in topology:
            return _bad(wire, _choices("service", value, topology.names))
        confidence = wire.get("confidence")
        if confidence is not None and not _is_probability(confidence):
            return _bad(wire, f"confidence must be a number in [0, 1], got {_show(confidence)}")
        return IdentifyRootCause(str(value), confidence)
    if kind is Escalate:
        if value not in topology.teams:
            return _bad(wire, _choices("team", value, topology.teams))
        return Escalate(str(value))
    return _remediate(wire, value, topology)


def _remediate(wire: Mapping[str, Any], value: str | None, topology: Topology) -> Action:
    remedy_name, colon, service = (value or "").partition(":")
    if not colon:
        return _bad(wire, f"remediate wants '<remedy>:<service>', got {_show(value)}")
    remedy = _REMEDIES.get(remedy_name)
    if remedy is None:
        return _bad(wire, _choices("remedy", remedy_name, tuple(_REMEDIES)))
    if service not in topology:
        return _bad(wire, _choices("service", service, topology.names))
    return Remediate(remedy, service)


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _choices(what: str, given: object, known: tuple[str, ...]) -> str:
    return f"unknown {what} {_show(given)}; one of: {', '.join(known)}"


def _show(value: object) -> str:
    text = (
        repr(value)
        if value is None or isinstance(value, str | int | float | bool)
        else (f"a {type(value).__name__}")
    )
    return text if len(text) <= 80 else f"{text[:77]}..."


def _bad(wire: Mapping[str, Any], reason: str) -> Malformed:
    return Malformed(str(dict(wire))[:KEPT_TEXT], reason)


def malformed(text: str, reason: str) -> Malformed:
    """A :class:`Malformed` that keeps no more than :data:`KEPT_TEXT` characters."""
    return Malformed(text[:KEPT_TEXT], reason)


def action_to_wire(action: Action) -> dict[str, Any]:
    """The wire form of an action; :func:`action_from_wire` reads it back unchanged."""
    if isinstance(action, Malformed):
        return {"action_type": MALFORMED, "value": action.text, "reason": action.reason}
    wire: dict[str, Any] = {"action_type": action_name(action)}
    value = action_value(action)
    if value is not None:
        wire["value"] = value
    if isinstance(action, IdentifyRootCause) and action.confidence is not None:
        wire["confidence"] = action.confidence
    return wire


def render_action(action: Action) -> str:
    """An action as the JSON text that an agent would write."""
    return json.dumps(action_to_wire(action), ensure_ascii=False)
