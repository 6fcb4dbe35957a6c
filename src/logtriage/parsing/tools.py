"""The actions as tools, named as on the wire; all frameworks' tools are made from these schemas."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from logtriage.actions import ALL_SERVICES, FAULT_CATEGORIES, MAX_REPORT, SEVERITIES


@attrs.frozen
class Parameter:
    """One argument of a tool. ``kind`` is its JSON type, ``choices`` are its possible values."""

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
    """One action type as a tool. Descriptions are short, since every prompt holds them."""

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()

    def json_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, as MCP, OpenAI and Anthropic take it."""
        return {
            "type": "object",
            "properties": {arg.name: arg.json_schema() for arg in self.parameters},
            "required": [arg.name for arg in self.parameters if arg.required],
        }

    def docstring(self) -> str:
        """A Google-style docstring, for frameworks that read tools from Python functions.

        Choices are written as transformers reads them, ``(choices: ["a", "b"])``.
        """
        if not self.parameters:
            return self.description
        lines = []
        for arg in self.parameters:
            choices = f" (choices: {json.dumps(arg.choices)})" if arg.choices else ""
            lines.append(f"    {arg.name}: {arg.description}{choices}")
        return "\n".join((self.description, "", "Args:", *lines, ""))


_TOOLS: Final = (
    Tool(
        "classify_severity",
        "Declare the severity. The first declaration stands.",
        (Parameter("severity", "By the panel of the edge.", choices=tuple(map(str, SEVERITIES))),),
    ),
    Tool(
        "identify_root_cause",
        "Declare a root-cause service. The first declaration stands (of k faults, the first k).",
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
        (Parameter("remedy", "From the runbook."), Parameter("service", "The service to treat.")),
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
        "See where a service's time goes and errors start.",
        (Parameter("service", "The service to trace."),),
    ),
    Tool("resolve", "Close the incident as fixed."),
    Tool("ignore", "Close the incident as nothing to act on."),
    Tool("hand_over", "Hand the incident to the duty manager. Closes it."),
)
_TEAM_TOOLS: Final = (
    Tool(
        "report",
        "Tell the others what you suspect.",
        (Parameter("text", f"A fault of the runbook, or up to {MAX_REPORT} characters."),),
    ),
    Tool("wait", "Do nothing in this tick."),
)
_CATEGORIES: Final = tuple(map(str, FAULT_CATEGORIES))
#: Further tools of a single agent on recorded incidents.
_RECORDED_TOOLS: Final = (
    Tool(
        "classify_fault",
        "Declare the class of the fault. The first declaration stands.",
        (Parameter("fault_category", "What is at fault.", choices=_CATEGORIES),),
    ),
)
#: The tools of simulated incidents by name, in the order of the action types; the remedies of a
#: world are not among them.
TOOLS: Final = {tool.name: tool for tool in _TOOLS}
TEAM_TOOLS: Final = {tool.name: tool for tool in (*_TOOLS, *_TEAM_TOOLS)}
#: The tools that a single agent's calls may name, whatever the incident offers.
SOLO_TOOLS: Final = {tool.name: tool for tool in (*_TOOLS, *_RECORDED_TOOLS)}
_SYSTEM: Final = Parameter("system", "Whose incident it is.")
_SHIFT_TOOLS: Final = (
    *(attrs.evolve(tool, parameters=(_SYSTEM, *tool.parameters)) for tool in _TOOLS),
    Tool(
        "wait",
        "Let time pass until an incident arrives.",
        (Parameter("ticks", "At most so many; 1 if missing.", kind="integer", required=False),),
    ),
    Tool("note", "Write the notebook anew.", (Parameter("text", "What it then holds."),)),
)
#: The tools of a shift: those of an incident, with its system, and two more.
SHIFT_TOOLS: Final = {tool.name: tool for tool in _SHIFT_TOOLS}
ALL_TOOLS: Final = {tool.name: tool for tool in (*TEAM_TOOLS.values(), *_RECORDED_TOOLS)}
#: Argument names by tool, with tools that ALL_TOOLS lacks; the first holds the wire's value.
ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **{name: tuple(arg.name for arg in tool.parameters) for name, tool in ALL_TOOLS.items()},
        "note": ("text",),
        "report_impact": ("calls",),
        "act": ("action",),
    }
)
