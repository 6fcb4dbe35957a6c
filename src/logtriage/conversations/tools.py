"""Write the tools of an incident in the schemas of providers, and actions as tool calls.

:func:`logtriage.parsing.calls.wire_from_call` makes exactly one wire action of any call;
:func:`call_from_action` goes the other way.
"""

from collections.abc import Container, Iterable
from typing import Any

import attrs

from logtriage import actions
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident
from logtriage.parsing.tools import ALL_TOOLS, Tool


def tools_of(incident: Incident, may: Container[str] | None = None) -> tuple[Tool, ...]:
    """The tools that an incident offers a single agent, or those that a role ``may`` call.

    ``remediate`` has the remedies of the incident's world as choices.
    """
    names = useful_actions(incident) if may is None else may
    tools = [tool for tool in ALL_TOOLS.values() if tool.name in names]
    for place, tool in enumerate(tools):
        if tool.name == "remediate":
            remedy, service = tool.parameters
            remedy = attrs.evolve(remedy, choices=incident.topology.remedies)
            tools[place] = attrs.evolve(tool, parameters=(remedy, service))
    return tuple(tools)


def openai_tools(incident: Incident, may: Container[str] | None = None) -> list[dict[str, Any]]:
    """:func:`tools_of` as OpenAI's chat API, vLLM and most chat templates take them."""
    return as_openai(tools_of(incident, may))


def as_openai(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Tools as OpenAI's chat API takes them."""
    functions = (
        {"name": tool.name, "description": tool.description, "parameters": tool.json_schema()}
        for tool in tools
    )
    return [{"type": "function", "function": function} for function in functions]


def anthropic_tools(incident: Incident, may: Container[str] | None = None) -> list[dict[str, Any]]:
    """:func:`tools_of` as Anthropic's messages API takes them."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.json_schema()}
        for tool in tools_of(incident, may)
    ]


def call_from_action(action: actions.Action) -> tuple[str, dict[str, Any]]:
    """(name, arguments) of the tool call for an action; a malformed action has an unknown name."""
    name, value = actions.action_name(action), actions.action_value(action)
    if isinstance(action, actions.Malformed):
        return name, {"text": action.text}
    if isinstance(action, actions.Remediate):
        return name, {"remedy": action.remedy, "service": action.service}
    if isinstance(action, actions.ReportImpact):  # read like a tool, though no schema offers it
        return name, {"calls": value}
    arguments: dict[str, Any] = {}
    if value is not None:
        arguments[ALL_TOOLS[name].parameters[0].name] = value
    if isinstance(action, actions.IdentifyRootCause) and action.confidence is not None:
        arguments["confidence"] = action.confidence
    return name, arguments
