"""Text and wire JSON become actions here, and nowhere else. Parsing is total.

Whatever a model writes becomes exactly one action or a :class:`Malformed` with the
reason; nothing is guessed, and a near miss (``payment`` for ``payment-service``) is
never corrected behind the agent's back: its reason names the choices.
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
    MAX_IMPACT,
    MAX_REPORT,
    OPTIONAL_ACTION_TYPES,
    PRICED_ACTION_TYPES,
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
from logtriage.parsing.replies import (
    ANSWER,
    MAX_TEXT,
    TextCall,
    odd_mark,
    shielded,
    spoken,
    without_calls,
)
from logtriage.parsing.words import wires_in_words, word_of
from logtriage.topology import Topology

#: At most this many opening braces are tried.
MAX_OBJECTS: Final = 1_000
#: Reading stops once so many characters, and as many for each character of the reply,
#: went into what then was no JSON: the time is linear in the length of the reply.
WASTE: Final = 4_000
WASTE_RATE: Final = 2
#: A failed attempt takes the time of about so many characters beside those it read.
_ATTEMPT: Final = 128
#: Action types by their wire names; a set that can be hashed.
Kinds = frozenset[str]
SOLO_KINDS: Final[Kinds] = frozenset(
    ACTION_TYPES | RECORDED_ACTION_TYPES | PRICED_ACTION_TYPES | OPTIONAL_ACTION_TYPES
)
TEAM_KINDS: Final[Kinds] = frozenset(TEAM_ACTION_TYPES | PRICED_ACTION_TYPES)
_WIRE_KEYS: Final = ("action_type", "value", "confidence")
#: How an action stands in a reply: as a JSON object or a call, or as one word on a line.
Form = Literal["json", "word"]

_DECODER: Final = json.JSONDecoder()
#: How the decoder says that a string has no end; it names the place of its beginning.
_UNTERMINATED: Final = "Unterminated string"
#: What may follow a bracket in JSON: after any other character there is nothing to try.
_AFTER: Final = {"{": frozenset('"} \t\r\n'), "[": frozenset('"{[]-0123456789tfnNI \t\r\n')}


def parse_action(
    text: str, topology: Topology, may: Kinds = SOLO_KINDS, form: Form = "json"
) -> Action:
    """Read one action from what a model wrote.

    Thoughts (``<think>…</think>``) are cut first; a reply that ends within one is
    malformed, and so is an action beside a mark that may set a thought apart. Looks for
    JSON objects with a key ``action_type``, fenced or in prose, and for calls in
    ``<tool_call>``; other objects are prose. Two different actions in one reply are
    malformed, since the agent gets one action a step. So is an action type that
    is not in ``may``: those of a single agent, or of a role. In the form ``word`` an action is
    a line of its own, such as ``escalate:sre-team``, and everything else is prose.

    Raises:
        InvalidInput: for what is no text.
    """
    said, wrong = spoken(checked_text(text))
    return Malformed(text, wrong) if wrong is not None else _action_in(said, topology, may, form)


def checked_text(text: object) -> str:
    """What a model wrote, if it is text.

    Raises:
        InvalidInput: if it is not, saying what to pass.
    """
    if isinstance(text, str):
        return text
    raise InvalidInput(
        f"expected the text of a reply, got {_show(text)}; a reply without text is ''"
    )


def wires_in(text: str, may: Kinds) -> list[Mapping[str, Any]] | Malformed:
    """The wire actions in what a model wrote, at least one; or why there are none.

    Raises:
        InvalidInput: for what is no text.
    """
    said, wrong = spoken(checked_text(text))
    return Malformed(text, wrong) if wrong is not None else _wires_in(said, may)


def _words_in(text: str) -> list[Mapping[str, Any]] | Malformed:
    if len(text) > MAX_TEXT:
        return Malformed(text, f"reply of {len(text)} characters; at most {MAX_TEXT} are read")
    wires: list[Mapping[str, Any]] = list(wires_in_words(text))
    return wires or Malformed(text, "no line of the reply is an action, such as resolve")


def _wires_in(text: str, may: Kinds) -> list[Mapping[str, Any]] | Malformed:
    prose, calls = without_calls(text)
    answers = _answers(prose, "{", _is_action_object)
    if isinstance(answers, str):
        return Malformed(text, answers)
    wires = [*(wire_of_text(call, may) for call in calls), *answers]
    return wires or Malformed(text, 'no JSON object with a key "action_type" in the reply')


def _action_in(text: str, topology: Topology, may: Kinds, form: Form = "json") -> Action:
    wires = _words_in(text) if form == "word" else _wires_in(text, may)
    if isinstance(wires, Malformed):
        return wires
    actions = actions_from_wire(wires, topology, may)
    if any(action != actions[0] for action in actions[1:]):
        return Malformed(text, f"{len(actions)} different actions in one reply; send exactly one")
    if isinstance(actions[0], Malformed):
        return Malformed(text, actions[0].reason)
    return actions[0]


def parse_plan(text: str, topology: Topology) -> list[Action]:
    """Read a whole plan from what a model wrote: a JSON array of wire actions.

    Thoughts are cut as by :func:`parse_action`. Looks for JSON arrays that hold an object
    with a key ``action_type``, fenced or in prose; other arrays are prose. What stands in
    the array and is no action is malformed, one step each. Two different arrays are
    malformed as a whole, and so is an array beside calls in ``<tool_call>``; such calls
    alone are a plan, too. Any other reply is read by :func:`parse_action`: a plan of one
    action.

    Raises:
        InvalidInput: for what is no text.
    """
    said, wrong = spoken(checked_text(text))
    return [Malformed(text, wrong)] if wrong is not None else _plan_in(said, topology)


def _plan_in(text: str, topology: Topology) -> list[Action]:
    prose, calls = without_calls(text)
    answers = _answers(prose, "[", _is_plan)
    if isinstance(answers, str):
        return [Malformed(text, answers)]
    if answers and calls:
        return [Malformed(text, "a plan and calls in one reply; send exactly one of them")]
    if calls:
        return actions_from_wire([wire_of_text(call, SOLO_KINDS) for call in calls], topology)
    if not answers:
        return [_action_in(text, topology, SOLO_KINDS)]
    if any(plan != answers[0] for plan in answers[1:]):
        return [Malformed(text, f"{len(answers)} different plans in one reply; send exactly one")]
    return [
        action_from_wire(one, topology)
        if isinstance(one, Mapping)
        else Malformed(_show(one), 'expected an object with a key "action_type"')
        for one in answers[0]
    ]


def wire_of_text(call: TextCall, may: Kinds) -> Mapping[str, Any]:
    """The wire action of a call that stands in a text."""
    error = call.get("parse_error")
    if error is not None:
        return malformed(f"{call['name']}({call['arguments']})", error)
    return wire_from_call(call["name"], call["arguments"], may)


def _is_action_object(value: Any) -> bool:
    return "action_type" in value


def _is_plan(value: Any) -> bool:
    return any(isinstance(one, dict) and "action_type" in one for one in value)


def _answers(text: str, opening: str, wanted: Callable[[Any], bool]) -> list[Any] | str:
    """The wanted JSON values that start with a bracket, or why the reply cannot be read.

    ``text`` has :data:`ANSWER` for each call that was in it.
    """
    if len(text) > MAX_TEXT:
        return f"reply of {len(text)} characters; at most {MAX_TEXT} are read"
    found: list[Any] = []
    beside: list[str] = []
    left = WASTE + WASTE_RATE * len(text)
    position = text.find(opening)
    for _ in range(MAX_OBJECTS):
        if position < 0:
            break
        if text[position + 1 : position + 2] not in _AFTER[opening]:
            position = text.find(opening, position + 1)
            continue
        # An error counts the lines before it: those of earlier attempts are left behind.
        before, text = text[:position], text[position:]
        beside.append(before)
        try:
            value, end = _DECODER.raw_decode(text)
        except RecursionError:
            return "JSON nested too deeply"
        except json.JSONDecodeError as error:
            # An object inside a broken one may be whole, so every brace is tried.
            left -= _ATTEMPT + (len(text) if error.msg.startswith(_UNTERMINATED) else error.pos)
            if left < 0:
                return "too much broken JSON in the reply"
            end = 1
        except ValueError as error:  # a number of too many digits
            return f"JSON that cannot be read: {error}"
        else:
            if wanted(value):
                found.append(value)
                beside.append(ANSWER)
                text, end = text[end:], 0
        position = text.find(opening, end)
    if position >= 0:
        return f"more than {MAX_OBJECTS} braces in the reply"
    wrong = odd_mark("".join((*beside, text)))
    return found if wrong is None else wrong


def action_from_wire(
    wire: Mapping[str, Any], topology: Topology, may: Kinds = SOLO_KINDS
) -> Action:
    """Read a wire action, ``{"action_type": …, "value": …, "confidence": …}``; total.

    Keys with None or NaN count as absent (tabular loaders pad with them); other keys,
    and a value of ``resolve``, ``ignore`` or ``hand_over``, are ignored. Anything wrong gives a
    :class:`Malformed` that says what was expected.
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
    confidence = wire.get("confidence")
    if absent(confidence):
        return action
    if _is_probability(confidence):
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
    """What is not in the table: text of one's own, or why there is no action."""
    if not isinstance(name, str) or (name not in may and name != MALFORMED):
        types = (*TEAM_ACTION_TYPES, *PRICED_ACTION_TYPES)
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
        caller, arrow, callee = (one.strip() for one in part.partition(CALLS))
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


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _choices(what: str, given: object, known: Iterable[str]) -> str:
    return f"unknown {what} {_show(given)}; one of: {', '.join(known)}"


def _show(value: object) -> str:
    """A short text for any value; what is long or deep is named by its type."""
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
        InvalidInput: for what is no action.
    """
    if not isinstance(action, Action):
        raise InvalidInput(f"expected an action, got {kind_of(action)}")
    wire: dict[str, Any]
    if isinstance(action, Malformed):
        return malformed_wire(action)
    wire = {"action_type": action_name(action)}
    value = action_value(action)
    if value is not None:
        wire["value"] = value
    if isinstance(action, IdentifyRootCause) and action.confidence is not None:
        wire["confidence"] = action.confidence
    elif isinstance(action, Report) and action.by is not None:
        wire["by"] = action.by
    return wire


def render_action(action: Action, form: Form = "json") -> str:
    """An action as an agent would write it.

    Raises:
        InvalidInput: for what is no action, or has no form in one word.
    """
    if form == "word":
        return word_of(action)
    return shielded(json.dumps(action_to_wire(action), ensure_ascii=False))
