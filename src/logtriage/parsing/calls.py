"""Turn tool calls, from a framework or from a text, into wire actions."""

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.actions import ACTION_TYPES, HAND_OVER_TYPES, RECORDED_ACTION_TYPES, Malformed
from logtriage.parsing.marks import MAX_TEXT
from logtriage.parsing.tools import ALL_TOOLS, ARGUMENTS
from logtriage.parsing.words import wires_in_words

#: A wire action: an action as JSON data (see :func:`logtriage.parsing.wires.action_from_wire`).
Wire = dict[str, Any]

MALFORMED: Final = "malformed"
#: Tools that a call may name even if they are not on offer; the parser of wire actions refuses
#: those that are not allowed. ``act`` takes an action in one word.
_UNLISTED: Final = frozenset({"report_impact", "hand_over", "act"})
_SOLO: Final = frozenset((*ACTION_TYPES, *RECORDED_ACTION_TYPES, *HAND_OVER_TYPES))
#: Tools that do nothing without their first argument.
_NEEDING: Final = frozenset(
    tool.name for tool in ALL_TOOLS.values() if tool.parameters and tool.parameters[0].required
)
#: Further arguments of calls on a shift.
_OF_SHIFTS: Final = ("system", "ticks")
_NAME_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz_"


def tool_name(name: str) -> str:
    """The tool's name without a server's prefix, such as ``mcp__logtriage__`` or ``functions.``."""
    if name in ARGUMENTS:
        return name
    before = name.rstrip(_NAME_LETTERS)
    last = name[len(before) :]
    cut = last.rfind("__", 0, -1)  # at the very end no name follows
    if cut >= 0:
        return last[cut + 2 :]
    return last if last and before.endswith((".", "/", ":")) else name


def wire_from_call(name: object, arguments: object = None, tools: Collection[str] = _SOLO) -> Wire:
    """The wire action of a tool call; a call that cannot be read gives a malformed action.

    ``arguments`` are an object or its JSON text (once or twice encoded). They have the names of the
    schema, or one ``value`` as on the wire. Null and NaN count as absent; unknown arguments are
    ignored. If the tool is unknown and the arguments have an ``action_type``, they are the wire
    action. Services and teams are checked later, by the parser of wire actions. ``tools`` holds the
    names of the tools on offer. With ``note`` among them, the incident is on a shift, and the wire
    action keeps the arguments ``system`` and ``ticks``.
    """
    fields = _arguments(arguments)
    if isinstance(fields, str):
        return malformed(_shown(name, arguments), fields)
    known = tool_name(name) if isinstance(name, str) else ""
    if known not in _UNLISTED and (known not in tools or known not in ARGUMENTS):
        if "action_type" in fields:
            return dict(fields)
        choices = ", ".join(tool for tool in ARGUMENTS if tool in tools)
        shown = repr(name[:60]) if isinstance(name, str) else "without a name"
        return malformed(_shown(name, arguments), f"unknown tool {shown}; one of: {choices}")
    names = ARGUMENTS[known]
    named = {key: fields[key] for key in names if not absent(fields.get(key))}
    if known == "act":
        word = str(named.get("action", ""))
        return next(wires_in_words(word), malformed(word, "act wants an action in one word"))
    value = fields.get("value")
    if known == "remediate" and (named or not isinstance(value, str)):
        remedy, service = named.get("remedy"), named.get("service")
        if not (isinstance(remedy, str) and isinstance(service, str)):
            reason = "remediate wants the strings remedy and service"
            return malformed(_shown(name, arguments), reason)
        value = f"{remedy}:{service}"
    elif names:
        value = named.get(names[0], value)
    # Without any field, the parser of wire actions names the choices.
    if known in _NEEDING and absent(value) and fields:
        got = ", ".join(map(repr, fields))
        return malformed(_shown(name, arguments), f"{known} wants {names[0]}, got {got:.100}")
    wire: Wire = {"action_type": known}
    if names and not absent(value):
        wire["value"] = value
    if "confidence" in named:
        wire["confidence"] = named["confidence"]
    if "note" in tools:  # only a shift has this tool
        wire |= {key: fields[key] for key in _OF_SHIFTS if not absent(fields.get(key))}
    return wire


def _arguments(arguments: object) -> Mapping[str, Any] | str:
    """The arguments of a call as an object; a reason (a string) if they cannot be read."""
    for again in (False, True):  # some servers encode them twice
        if not isinstance(arguments, str):
            break
        if len(arguments) > MAX_TEXT:
            return f"arguments of {len(arguments)} characters; at most {MAX_TEXT} are read"
        if not arguments.strip():
            return {}  # how some servers write a call without arguments
        try:
            arguments = json.loads(arguments)
        except RecursionError:
            return "arguments nested too deeply"
        except ValueError as error:
            if again:
                break
            return f"arguments are not JSON: {error}"
    if absent(arguments):
        return {}
    if not isinstance(arguments, Mapping):
        return f"arguments must be an object, got {json_kind(arguments)}"
    return arguments


def _shown(name: object, arguments: object) -> str:
    """A call as text, for a malformed action."""
    text = arguments
    if not isinstance(text, str):
        try:
            text = json.dumps(arguments, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):
            text = f"a {type(arguments).__name__}"
    return f"{name if isinstance(name, str) else '?'}({text})"


def malformed(text: str, reason: str) -> Wire:
    """The wire form of a text that is no action."""
    return malformed_wire(Malformed(text, reason))


def malformed_wire(action: Malformed) -> Wire:
    """The wire form of a malformed action."""
    wire: Wire = {"action_type": MALFORMED, "value": action.text, "reason": action.reason}
    return wire if action.by is None else {**wire, "by": action.by}
