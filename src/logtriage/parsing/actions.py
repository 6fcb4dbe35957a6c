"""Text and wire JSON become actions here, and nowhere else. Parsing is total.

Any text of a model becomes exactly one action or a :class:`Malformed` with the reason. Nothing is
guessed: a near miss (``payment`` for ``payment-service``) is malformed, and its reason names the
choices.
"""

import json
from collections.abc import Callable, Iterable, Mapping
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
    HandOver,
    IdentifyRootCause,
    Ignore,
    Malformed,
    Report,
    ReportImpact,
    RequestMoreLogs,
    Resolve,
    Wait,
    action_name,
    action_value,
    all_actions,
)
from logtriage.errors import InvalidInput, kind_of
from logtriage.parsing.calls import MALFORMED, malformed, malformed_wire, wire_from_call
from logtriage.parsing.marks import ANSWER, MAX_TEXT, TextCall, without_calls
from logtriage.parsing.replies import odd_mark, shielded, spoken
from logtriage.parsing.words import wires_in_words, word_of
from logtriage.topology import Topology

#: At most this many opening braces are tried.
MAX_OBJECTS: Final = 1_000
#: Reading stops once failed attempts at JSON have read WASTE characters and WASTE_RATE more for
#: each character of the reply: the time is linear in the length of the reply.
WASTE: Final = 4_000
WASTE_RATE: Final = 2
#: The fixed time of a failed attempt, in characters.
_ATTEMPT: Final = 128
#: Wire names of action types.
Kinds = frozenset[str]
SOLO_KINDS: Final[Kinds] = frozenset(
    ACTION_TYPES | RECORDED_ACTION_TYPES | HAND_OVER_TYPES | OPTIONAL_ACTION_TYPES
)
TEAM_KINDS: Final[Kinds] = frozenset(TEAM_ACTION_TYPES | HAND_OVER_TYPES)
#: Of the keys of an action without a type, this many characters are shown.
_KEYS_SHOWN: Final = 100
_WIRE_KEYS: Final = ("action_type", "value", "confidence")
#: How an action stands in a reply: as a JSON object or a call, or as one word on a line.
Form = Literal["json", "word"]

_DECODER: Final = json.JSONDecoder()
#: The decoder's message for a string without an end; its place is the beginning.
_UNTERMINATED: Final = "Unterminated string"
#: What may follow a bracket in JSON: after any other character there is nothing to try.
_AFTER: Final = {"{": frozenset('"} \t\r\n'), "[": frozenset('"{[]-0123456789tfnNI \t\r\n')}


def parse_action(
    text: str, topology: Topology, may: Kinds = SOLO_KINDS, form: Form = "json"
) -> Action:
    """Read an action from the reply of a model.

    Thoughts (``<think>…</think>``) are cut first; a reply that ends within one is
    malformed, and so is an action beside a mark that may set a thought apart. Looks for
    JSON objects with a key ``action_type``, fenced or in prose, and for calls in
    ``<tool_call>``; other objects are prose. Two different actions in one reply are
    malformed, since the agent gets one action a step. So is an action type that
    is not in ``may``: those of a single agent, or of a role. In the form ``word`` an action is
    a line of its own, such as ``escalate:sre-team``, and everything else is prose.

    Raises:
        InvalidInput: if ``text`` is no text.
    """
    reply = _spoken(text)
    return reply if isinstance(reply, Malformed) else _action_in(reply, topology, may, form)


def _spoken(text: object) -> str | Malformed:
    """A reply without its thoughts, or why it cannot be read."""
    if not isinstance(text, str):
        raise InvalidInput(
            f"expected the text of a reply, got {_show(text)}; a reply without text is ''"
        )
    reply, wrong = spoken(text)
    return reply if wrong is None else Malformed(text, wrong)


def wires_in(text: str, may: Kinds) -> list[Mapping[str, Any]] | Malformed:
    """The wire actions in the reply of a model, at least one; or why there are none.

    Raises:
        InvalidInput: if ``text`` is no text.
    """
    reply = _spoken(text)
    return reply if isinstance(reply, Malformed) else _wires_in(reply, may, "json")


def _wires_in(text: str, may: Kinds, form: Form) -> list[Mapping[str, Any]] | Malformed:
    if form == "word":
        wires: list[Mapping[str, Any]] = []
        answers: list[Any] | str = _too_long(text) or list(wires_in_words(text))
        missing = "no line of the reply is an action, such as resolve"
    else:
        prose, calls = without_calls(text)
        wires = [wire_of_text(call, may) for call in calls]
        answers = _answers(prose, "{", lambda value: "action_type" in value)
        missing = 'no JSON object with a key "action_type" in the reply'
    if isinstance(answers, str):
        return Malformed(text, answers)
    return [*wires, *answers] or Malformed(text, missing)


def _action_in(text: str, topology: Topology, may: Kinds, form: Form) -> Action:
    wires = _wires_in(text, may, form)
    if isinstance(wires, Malformed):
        return wires
    actions = actions_from_wire(wires, topology, may)
    if any(action != actions[0] for action in actions[1:]):
        return Malformed(text, f"{len(actions)} different actions in one reply; send exactly one")
    if isinstance(actions[0], Malformed):
        return Malformed(text, actions[0].reason)
    return actions[0]


def parse_plan(text: str, topology: Topology) -> list[Action]:
    """Read a whole plan from the reply of a model: a JSON array of wire actions.

    Thoughts are cut as by :func:`parse_action`. Looks for JSON arrays that hold an object
    with a key ``action_type``, fenced or in prose; other arrays are prose. Items of the array
    that are no actions are malformed, one step each. Two different arrays are
    malformed as a whole, and so is an array beside calls in ``<tool_call>``; such calls
    alone are a plan, too. Any other reply is read by :func:`parse_action`: a plan of one
    action.

    Raises:
        InvalidInput: if ``text`` is no text.
    """
    reply = _spoken(text)
    if isinstance(reply, Malformed):
        return [reply]
    prose, calls = without_calls(reply)
    plans = _answers(prose, "[", _is_plan)
    if isinstance(plans, str):
        return [Malformed(reply, plans)]
    if plans and calls:
        return [Malformed(reply, "a plan and calls in one reply; send exactly one of them")]
    if calls:
        return actions_from_wire([wire_of_text(call, SOLO_KINDS) for call in calls], topology)
    if not plans:
        return [_action_in(reply, topology, SOLO_KINDS, "json")]
    if any(plan != plans[0] for plan in plans[1:]):
        return [Malformed(reply, f"{len(plans)} different plans in one reply; send exactly one")]
    return [
        action_from_wire(item, topology)
        if isinstance(item, Mapping)
        else Malformed(_show(item), 'expected an object with a key "action_type"')
        for item in plans[0]
    ]


def _is_plan(items: Any) -> bool:
    return any(isinstance(item, dict) and "action_type" in item for item in items)


def _too_long(text: str) -> str | None:
    if len(text) <= MAX_TEXT:
        return None
    return f"reply of {len(text)} characters; at most {MAX_TEXT} are read"


def wire_of_text(call: TextCall, may: Kinds) -> Mapping[str, Any]:
    """The wire action of a call that stands in a text."""
    error = call.get("parse_error")
    if error is not None:
        return malformed(f"{call['name']}({call['arguments']})", error)
    return wire_from_call(call["name"], call["arguments"], may)


def _answers(text: str, opening: str, wanted: Callable[[Any], bool]) -> list[Any] | str:
    """The wanted JSON values that start with a bracket, or why the reply cannot be read.

    In ``text`` :data:`ANSWER` stands for each call.
    """
    if (wrong := _too_long(text)) is not None:
        return wrong
    values: list[Any] = []
    beside: list[str] = []
    left = WASTE + WASTE_RATE * len(text)
    position = text.find(opening)
    for _ in range(MAX_OBJECTS):
        if position < 0:
            break
        if text[position + 1 : position + 2] not in _AFTER[opening]:
            position = text.find(opening, position + 1)
            continue
        # The decoder counts lines for its errors, so text of earlier attempts is cut off.
        before, text = text[:position], text[position:]
        beside.append(before)
        try:
            value, end = _DECODER.raw_decode(text)
        except RecursionError:
            return "JSON nested too deeply"
        except json.JSONDecodeError as error:
            # An object inside a broken object may be whole, so every brace is tried.
            left -= _ATTEMPT + (len(text) if error.msg.startswith(_UNTERMINATED) else error.pos)
            if left < 0:
                return "too much broken JSON in the reply"
            end = 1
        except ValueError as error:  # a number of too many digits
            return f"JSON that cannot be read: {error}"
        else:
            if wanted(value):
                values.append(value)
                beside.append(ANSWER)
                text, end = text[end:], 0
        position = text.find(opening, end)
    if position >= 0:
        return f"more than {MAX_OBJECTS} braces in the reply"
    wrong = odd_mark("".join((*beside, text)))
    return values if wrong is None else wrong


def action_from_wire(
    wire: Mapping[str, Any], topology: Topology, may: Kinds = SOLO_KINDS
) -> Action:
    """Read a wire action, ``{"action_type": …, "value": …, "confidence": …}``; total.

    Keys with None or NaN count as absent (tabular loaders pad with them); other keys,
    and a value of ``resolve``, ``ignore`` or ``hand_over``, are ignored. Anything wrong gives a
    :class:`Malformed` with the reason.
    """
    return _read(wire, topology, may, _wire_table(topology, may))


def actions_from_wire(
    wires: Iterable[Mapping[str, Any]], topology: Topology, may: Kinds = SOLO_KINDS
) -> list[Action]:
    """:func:`action_from_wire` for a whole transcript."""
    table = _wire_table(topology, may)
    return [_read(wire, topology, may, table) for wire in wires]


def _read(
    wire: Mapping[str, Any],
    topology: Topology,
    may: Kinds,
    table: dict[tuple[Any, Any], Action],
) -> Action:
    # Well-formed actions are few and immutable: one table a topology holds them all.
    name, value = wire.get("action_type"), wire.get("value")
    try:
        action = table.get((name, value))
    except TypeError:  # a list or an object where a string belongs
        action = None
    if action is None:
        return _irregular(wire, name, value, topology, may)
    if type(action) is not IdentifyRootCause:
        return action
    confidence: Any = wire.get("confidence")
    if absent(confidence):
        return action
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if is_number and 0 <= confidence <= 1:
        return IdentifyRootCause(action.service, confidence)
    return _bad(wire, f"confidence must be a number in [0, 1], got {_show(confidence)}")


@lru_cache(maxsize=64)
def _wire_table(topology: Topology, may: Kinds) -> dict[tuple[Any, Any], Action]:
    table: dict[tuple[Any, Any], Action] = {
        (action_name(action), action_value(action)): action
        for action in (
            *all_actions(topology, hand_over=True),
            *map(ClassifyFault, FAULT_CATEGORIES),
            Wait(),
        )
        if action_name(action) in may
    }
    if action_name(RequestMoreLogs()) in may:
        table[action_name(RequestMoreLogs()), None] = RequestMoreLogs(None)
    return table


def _irregular(
    wire: Mapping[str, Any], name: Any, value: Any, topology: Topology, may: Kinds
) -> Action:
    """An action that is not in the table: with a text of its own, or malformed."""
    if absent(name):
        shown = ", ".join(map(str, wire))[:_KEYS_SHOWN] or "nothing"
        return _bad(wire, f"no field action_type; the action has: {shown}")
    if not isinstance(name, str) or (name not in may and name != MALFORMED):
        types = (*TEAM_ACTION_TYPES, *HAND_OVER_TYPES)
        kinds = ", ".join(kind for kind in types if kind in may)
        return _bad(wire, f"unknown action_type {_show(name)}; one of: {kinds}")
    if absent(value):
        value = None
    elif not isinstance(value, str):
        return _bad(wire, f"value of {name} must be a string, got {_show(value)}")
    match name:
        case "resolve":
            return Resolve()
        case "ignore":
            return Ignore()
        case "hand_over":
            return HandOver()
        case "wait":
            return Wait()
        case "report":
            if not value or len(value) > MAX_REPORT:
                return _bad(wire, f"report wants 1 to {MAX_REPORT} characters")
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
            return _bad(wire, _choices("team", value, topology.teams))
        case "request_more_logs":
            if value is None:
                return RequestMoreLogs(None)
            return _bad(wire, _choices("service", value, (ALL_SERVICES, *topology.names)))
        case "remediate":
            remedy, colon, service = (value or "").partition(":")
            if not colon:
                return _bad(wire, f"remediate wants '<remedy>:<service>', got {_show(value)}")
            if remedy not in topology.remedies:
                return _bad(wire, _choices("remedy", remedy, topology.remedies))
            return _bad(wire, _choices("service", service, topology.names))
        case _:  # a malformed action of an earlier parse, on its way back
            reason = wire.get("reason")
            reason = reason if isinstance(reason, str) else MALFORMED
            return Malformed(value or "", reason, _author(wire))


def _impact(wire: Mapping[str, Any], value: str, topology: Topology) -> Action:
    """``caller->callee, caller->callee``: every pair of services, called or not."""
    calls = []
    for part in value.split(","):
        caller, arrow, callee = (piece.strip() for piece in part.partition(CALLS))
        if not arrow:
            return _bad(
                wire, f"report_impact wants '<caller>{CALLS}<callee>, …', got {_show(part)}"
            )
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
    return f"unknown {what} {_show(value)}; one of: {', '.join(known)}"


def _show(value: object) -> str:
    """A short text for any value; a long or deep value is named by its type."""
    if isinstance(value, str):
        return repr(value[:60] + "…" if len(value) > 60 else value)
    if value is None or isinstance(value, bool | float):
        return repr(value)
    if isinstance(value, int) and value.bit_length() < 64:
        return repr(value)
    return f"a {type(value).__name__}"


def _bad(wire: Mapping[str, Any], reason: str) -> Malformed:
    shown = (f"{key}: {_show(wire[key])}" for key in _WIRE_KEYS if not absent(wire.get(key)))
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
    """An action as an agent would write it.

    Raises:
        InvalidInput: if it is no action, or has no form in one word.
    """
    if form == "word":
        return word_of(action)
    return shielded(json.dumps(action_to_wire(action), ensure_ascii=False))
