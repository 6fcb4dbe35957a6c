"""Parse the reply of a model into an action or a plan.

Parsing never fails: a text without an action gives a :class:`Malformed` with the reason.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from logtriage.actions import Action, Malformed
from logtriage.errors import InvalidInput
from logtriage.parsing.calls import malformed, wire_from_call
from logtriage.parsing.marks import ANSWER, MAX_TEXT, TextCall, without_calls
from logtriage.parsing.replies import odd_mark, spoken
from logtriage.parsing.wires import (
    SOLO_KINDS,
    Form,
    Kinds,
    action_from_wire,
    actions_from_wire,
    show,
)
from logtriage.parsing.words import wires_in_words
from logtriage.topology import Topology

#: At most this many opening brackets are tried as the beginning of JSON.
MAX_OBJECTS: Final = 1_000
#: Reading stops once failed attempts at JSON have read more than WASTE + WASTE_RATE * len(reply)
#: characters, so that the time is linear in the length of the reply.
WASTE: Final = 4_000
WASTE_RATE: Final = 2
#: The fixed cost of a failed attempt, counted as characters read.
_ATTEMPT: Final = 128
_DECODER: Final = json.JSONDecoder()
#: The decoder's message for a string that never ends; ``pos`` of that error is the string's start.
_UNTERMINATED: Final = "Unterminated string"
#: The characters that may follow each bracket in JSON; before any other, a bracket is skipped.
_AFTER: Final = {"{": frozenset('"} \t\r\n'), "[": frozenset('"{[]-0123456789tfnNI \t\r\n')}


def parse_action(
    text: str, topology: Topology, may: Kinds = SOLO_KINDS, form: Form = "json"
) -> Action:
    """Read the action in the reply of a model.

    Thoughts (``<think>…</think>``) are cut first. An action is a JSON object with a key
    ``action_type``, fenced or in prose, or a call in ``<tool_call>``; in the form ``word``, it is a
    line of its own, such as ``escalate:sre-team``. ``may`` holds the allowed action types. A reply
    is malformed if it has no action or two different ones, if the action is not allowed, if it ends
    within a thought, or if a mark suggests that the action is part of a thought
    (:func:`~logtriage.parsing.replies.odd_mark`).

    Raises:
        InvalidInput: if ``text`` is no text.
    """
    reply = _spoken(text)
    return reply if isinstance(reply, Malformed) else _action_in(reply, topology, may, form)


def _spoken(text: object) -> str | Malformed:
    """The reply without its thoughts; ``Malformed`` if it ends within one or has too many."""
    if not isinstance(text, str):
        raise InvalidInput(
            f"expected the text of a reply, got {show(text)}; a reply without text is ''"
        )
    reply, wrong = spoken(text)
    return reply if wrong is None else Malformed(text, wrong)


def wires_in(text: str, may: Kinds) -> list[Mapping[str, Any]] | Malformed:
    """The wire actions (at least one) in the reply of a model; ``Malformed`` if there are none."""
    reply = _spoken(text)
    return reply if isinstance(reply, Malformed) else _wires_in(reply, may, "json")


def _wires_in(text: str, may: Kinds, form: Form) -> list[Mapping[str, Any]] | Malformed:
    """:func:`wires_in` for a reply without thoughts, in either form."""
    if form == "word":
        problem = _length_problem(text)
        words: list[Mapping[str, Any]] = [] if problem else [*wires_in_words(text)]
        missing = "no line of the reply is an action, such as resolve"
        return words or Malformed(text, problem or missing)
    prose, calls = without_calls(text)
    objects = _answers(prose, "{", lambda value: "action_type" in value)
    if isinstance(objects, str):
        return Malformed(text, objects)
    wires = [*(wire_of_text(call, may) for call in calls), *objects]
    return wires or Malformed(text, 'no JSON object with a key "action_type" in the reply')


def _action_in(text: str, topology: Topology, may: Kinds, form: Form) -> Action:
    """The only action in a reply without thoughts; ``Malformed`` for none or different ones."""
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

    Thoughts are cut as by :func:`parse_action`. The array holds an object with a key
    ``action_type``, fenced or in prose; other arrays are prose. An item that is no action is a
    malformed step. Two different arrays make the whole reply malformed, and so does an array
    beside calls in ``<tool_call>``. Calls without an array are a plan, too. Any other reply is a
    plan of one action, read as by :func:`parse_action`.

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
        else Malformed(show(item), 'expected an object with a key "action_type"')
        for item in plans[0]
    ]


def _is_plan(items: list[Any]) -> bool:
    return any(isinstance(item, dict) and "action_type" in item for item in items)


def _length_problem(text: str) -> str | None:
    if len(text) <= MAX_TEXT:
        return None
    return f"reply of {len(text)} characters; at most {MAX_TEXT} are read"


def wire_of_text(call: TextCall, may: Kinds) -> Mapping[str, Any]:
    """The wire action of a call in a text; a malformed one if the call could not be read."""
    error = call.get("parse_error")
    if error is not None:
        return malformed(f"{call['name']}({call['arguments']})", error)
    return wire_from_call(call["name"], call["arguments"], may)


def _answers(text: str, opening: str, wanted: Callable[[Any], bool]) -> list[Any] | str:
    """The ``wanted`` JSON values that begin with ``opening``; a reason if the text is refused."""
    if (wrong := _length_problem(text)) is not None:
        return wrong
    values: list[Any] = []
    prose: list[str] = []
    waste_left = WASTE + WASTE_RATE * len(text)
    position = text.find(opening)
    for _ in range(MAX_OBJECTS):
        if position < 0:
            break
        if text[position + 1 : position + 2] not in _AFTER[opening]:
            position = text.find(opening, position + 1)
            continue
        # The decoder counts all lines before an error, so text of earlier attempts moves to
        # ``prose``, and ``position`` counts from here.
        before, text = text[:position], text[position:]
        prose.append(before)
        try:
            value, end = _DECODER.raw_decode(text)
        except RecursionError:
            return "JSON nested too deeply"
        except json.JSONDecodeError as error:
            unterminated = error.msg.startswith(_UNTERMINATED)
            waste_left -= _ATTEMPT + (len(text) if unterminated else error.pos)
            if waste_left < 0:
                return "too much broken JSON in the reply"
            end = 1  # an object inside a broken one may be whole
        except ValueError as error:  # a number of too many digits
            return f"JSON that cannot be read: {error}"
        else:
            if wanted(value):
                values.append(value)
                prose.append(ANSWER)
                text, end = text[end:], 0
        position = text.find(opening, end)
    if position >= 0:
        return f"more than {MAX_OBJECTS} braces in the reply"
    wrong = odd_mark("".join((*prose, text)))
    return values if wrong is None else wrong
