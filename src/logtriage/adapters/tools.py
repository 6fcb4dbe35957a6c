"""The actions as tools: the one schema that every framework's tools are made from.

A tool is named as the action type on the wire. :func:`wire_from_call` turns any call of
a tool into exactly one wire action, :func:`call_from_action` goes the other way.
"""

import json
import re
from collections.abc import Container, Mapping
from typing import Any, Final

import attrs

from logtriage.actions import (
    ALL_SERVICES,
    MAX_REPORT,
    REMEDIES,
    SEVERITIES,
    Action,
    IdentifyRootCause,
    Malformed,
    Remediate,
    action_name,
    action_value,
)
from logtriage.codec import json_kind
from logtriage.parsing import MAX_TEXT, absent, action_to_wire

Wire = dict[str, Any]


@attrs.frozen
class Parameter:
    """One argument of a tool. ``kind`` is its JSON type, ``choices`` are all it may be."""

    name: str
    description: str
    kind: str = "string"
    choices: tuple[str, ...] = ()
    required: bool = True

    def json_schema(self) -> dict[str, Any]:
        """The JSON schema of the argument."""
        schema: dict[str, Any] = {"type": self.kind}
        if self.choices:
            schema["enum"] = list(self.choices)
        return {**schema, "description": self.description}


@attrs.frozen
class Tool:
    """One action type as a tool. Descriptions are short: they are paid for in every prompt."""

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()

    def json_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, as MCP, OpenAI and Anthropic take it."""
        return {
            "type": "object",
            "properties": {one.name: one.json_schema() for one in self.parameters},
            "required": [one.name for one in self.parameters if one.required],
        }

    def docstring(self) -> str:
        """A Google-style docstring, for frameworks that read tools from Python functions.

        Choices are written as transformers reads them, ``(choices: ["a", "b"])``.
        """
        if not self.parameters:
            return self.description
        rows = []
        for one in self.parameters:
            choices = f" (choices: {json.dumps(one.choices)})" if one.choices else ""
            rows.append(f"    {one.name}: {one.description}{choices}")
        return "\n".join((self.description, "", "Args:", *rows, ""))


_TOOLS: Final = (
    Tool(
        "classify_severity",
        "Declare the severity. The first declaration stands.",
        (Parameter("severity", "By the SLO panel.", choices=tuple(map(str, SEVERITIES))),),
    ),
    Tool(
        "identify_root_cause",
        "Declare the root-cause service. The first declaration stands.",
        (
            Parameter("service", "The service that started it."),
            Parameter("confidence", "From 0 to 1.", kind="number", required=False),
        ),
    ),
    Tool(
        "escalate",
        "Page a team. A wrong one ends the incident with 0.",
        (Parameter("team", "The team to page."),),
    ),
    Tool(
        "remediate",
        "Apply a remedy to a service.",
        (
            Parameter("remedy", "From the runbook.", choices=tuple(map(str, REMEDIES))),
            Parameter("service", "The service to treat."),
        ),
    ),
    Tool(
        "request_more_logs",
        "Read a service's own recent lines.",
        (Parameter("service", f"A service, or {ALL_SERVICES}.", required=False),),
    ),
    Tool(
        "request_metrics",
        "Read a service's gauges.",
        (Parameter("service", "The service to measure."),),
    ),
    Tool(
        "request_traces",
        "See where a service's time goes and its errors start.",
        (Parameter("service", "The service to trace."),),
    ),
    Tool("resolve", "Close the incident as fixed."),
    Tool("ignore", "Close the incident as nothing to act on."),
)
#: What roles in joint play may do besides.
_TEAM_TOOLS: Final = (
    Tool(
        "report",
        "Tell the others what you suspect.",
        (Parameter("text", f"A fault of the runbook, or up to {MAX_REPORT} characters."),),
    ),
    Tool("wait", "Do nothing in this tick."),
)
#: The tools by name, in the order of the action types.
TOOLS: Final = {tool.name: tool for tool in _TOOLS}
#: The same with those of roles in joint play.
TEAM_TOOLS: Final = {tool.name: tool for tool in (*_TOOLS, *_TEAM_TOOLS)}

#: Servers and gateways put their own name in front: ``mcp__logtriage__escalate``.
_PREFIX: Final = re.compile(r"^.*(?:__|[./:])(?=[a-z_]+$)", re.DOTALL)


def openai_tools(may: Container[str] = TOOLS) -> list[dict[str, Any]]:
    """The tools as OpenAI's chat API, vLLM and most chat templates take them.

    ``may`` holds the names of those wanted, such as the action types of a role.
    """
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.json_schema(),
            },
        }
        for tool in TEAM_TOOLS.values()
        if tool.name in may
    ]


def anthropic_tools() -> list[dict[str, Any]]:
    """The tools as Anthropic's messages API takes them."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.json_schema()}
        for tool in TOOLS.values()
    ]


def tool_name(name: str) -> str:
    """The name of a tool without what a server puts in front, ``mcp__logtriage__``."""
    return name if name in TEAM_TOOLS else _PREFIX.sub("", name)


def wire_from_call(
    name: object, arguments: object = None, tools: Mapping[str, Tool] = TOOLS
) -> Wire:
    """The wire action that a tool call stands for; total.

    ``arguments`` are an object or its JSON text, by the names of the schema or as the
    wire's ``value``. Null and NaN count as absent, other arguments are ignored. A call
    of an unknown tool whose arguments have an ``action_type`` is that wire action. What
    cannot be read is a malformed action with the text of the call and the reason;
    whether a named service or team exists is for the parser of wire actions to say.
    ``tools`` are those on offer, by name.
    """
    given = _arguments(arguments)
    if isinstance(given, str):
        return malformed(_shown(name, arguments), given)
    known = tools.get(tool_name(name)) if isinstance(name, str) else None
    if known is None:
        if "action_type" in given:
            return dict(given)
        choices = ", ".join(tools)
        shown = repr(name[:60]) if isinstance(name, str) else "without a name"
        return malformed(_shown(name, arguments), f"unknown tool {shown}; one of: {choices}")
    named = {
        one.name: given[one.name] for one in known.parameters if not absent(given.get(one.name))
    }
    if known.name == action_name(_REMEDIATE):
        value = _remedy_and_service(named, given)
        if value is None:
            reason = "remediate wants the strings remedy and service"
            return malformed(_shown(name, arguments), reason)
    else:
        subject = next((one.name for one in known.parameters), "value")
        value = named.get(subject, given.get("value"))
    wire: Wire = {"action_type": known.name}
    if known.parameters and not absent(value):
        wire["value"] = value
    if "confidence" in named:
        wire["confidence"] = named["confidence"]
    return wire


_REMEDIATE: Final = Remediate(REMEDIES[0], "")


def _remedy_and_service(named: Mapping[str, Any], given: Mapping[str, Any]) -> str | None:
    if not named and isinstance(given.get("value"), str):
        return str(given["value"])
    remedy, service = named.get("remedy"), named.get("service")
    if isinstance(remedy, str) and isinstance(service, str):
        return f"{remedy}:{service}"
    return None


def _arguments(arguments: object) -> Mapping[str, Any] | str:
    """The arguments of a call as an object, or why they are none."""
    if isinstance(arguments, str):
        if len(arguments) > MAX_TEXT:
            return f"arguments of {len(arguments)} characters; at most {MAX_TEXT} are read"
        if not arguments.strip():
            return {}  # how some servers write a call without arguments
        try:
            arguments = json.loads(arguments)
        except RecursionError:
            return "arguments nested too deeply"
        except ValueError as error:
            return f"arguments are not JSON: {error}"
    if absent(arguments):
        return {}
    if not isinstance(arguments, Mapping):
        return f"arguments must be an object, got {json_kind(arguments)}"
    return arguments


def _shown(name: object, arguments: object) -> str:
    """A call as text, for the record of what could not be read."""
    if isinstance(arguments, str):
        text = arguments
    else:
        try:
            text = json.dumps(arguments, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):
            text = f"a {type(arguments).__name__}"
    return f"{name if isinstance(name, str) else '?'}({text})"


def malformed(text: str, reason: str) -> Wire:
    """The wire form of what could not be read as an action."""
    return action_to_wire(Malformed(text, reason))


def call_from_action(action: Action) -> tuple[str, dict[str, Any]]:
    """The tool call, name and arguments, that an agent would make for an action.

    A :class:`Malformed` is a call of the unknown tool ``malformed``.
    """
    name, value = action_name(action), action_value(action)
    if isinstance(action, Malformed):
        return name, {"text": action.text}
    if isinstance(action, Remediate):
        return name, {"remedy": str(action.remedy), "service": action.service}
    arguments: dict[str, Any] = {}
    if value is not None:
        arguments[TEAM_TOOLS[name].parameters[0].name] = value
    if isinstance(action, IdentifyRootCause) and action.confidence is not None:
        arguments["confidence"] = action.confidence
    return name, arguments
