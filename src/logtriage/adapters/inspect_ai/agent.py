"""Playing an incident in Inspect: the store, the tools, and the agent that uses them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    execute_tools,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool as InspectTool
from inspect_ai.tool import ToolCall, ToolDef, ToolParam, ToolParams, ToolSource
from inspect_ai.util import StoreModel, store_as
from pydantic import Field

from logtriage.actions import Malformed, action_name
from logtriage.adapters.episode import answer, state_after
from logtriage.adapters.sources import Sources
from logtriage.conversations.tools import Tool, Wire, call_from_action, tools_of, wire_from_call
from logtriage.conversations.wires import calls_of, no_call, wire_of
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.parsing import action_from_wire
from logtriage.transcript import check_drawn

#: Finds what samples name: drawn and recorded incidents, and those of tasks of one's own.
SOURCES = Sources()


class TriageStore(StoreModel):
    """The episode of a sample: its incident's name, and the wire actions so far.

    ``bundle`` is the file of a recorded incident that is not shipped. It serves the tools and
    the viewer; scores never come from it.
    """

    incident: str | None = None
    bundle: str | None = None
    actions: list[dict[str, Any]] = Field(default_factory=list)

    def current(self) -> Incident:
        """The incident of the sample.

        Raises:
            InvalidInput: if none was set.
        """
        if self.incident is None:
            raise InvalidInput(
                "no incident in the store: a task with these tools needs setup=triage_setup() "
                "and samples with the metadata 'incident'"
            )
        return SOURCES(self.incident, self.bundle)

    def play(self, wire: Wire) -> str:
        """Take an action; returns what the agent is told."""
        self.actions = [*self.actions, wire]
        return answer(self.current(), self.actions)

    def is_closed(self) -> bool:
        """Whether the incident is closed."""
        return state_after(self.current(), self.actions)[0].is_closed


def named_in_sample(state: TaskState) -> tuple[str, str | None]:
    """The incident that the metadata of a sample names, and the bundle that it is from.

    Raises:
        InvalidInput: if it names none, naming the field.
    """
    metadata = state.metadata or {}
    incident, bundle = metadata.get("incident"), metadata.get("bundle")
    where = f"sample {state.sample_id!r}: metadata"
    if not isinstance(incident, str):
        raise InvalidInput(f"{where} 'incident': expected an incident id, got {incident!r}")
    if not isinstance(bundle, str | None):
        raise InvalidInput(f"{where} 'bundle': expected the name of a file, got {bundle!r}")
    return incident, bundle


def incident_of_sample(state: TaskState, bundle: str | None = None) -> Incident:
    """The incident of a sample; a recorded one of ``bundle``, if one is given.

    Raises:
        UnknownName, InvalidInput: if there is none.
        SealError: for a sealed incident without its key, or with another one.
    """
    incident, its_bundle = named_in_sample(state)
    found = SOURCES(incident, its_bundle if bundle is None else bundle)
    metadata = state.metadata or {}
    check_drawn(metadata.get("seal"), metadata.get("world"), found)
    return found


@solver
def triage_setup() -> Solver:
    """Put the incident of the sample into the store, for the tools to act on."""

    async def solve(state: TaskState, _: Generate) -> TaskState:
        incident_of_sample(state)  # what cannot be had is refused before the first turn
        store = state.store_as(TriageStore)
        store.incident, store.bundle = named_in_sample(state)
        return state

    return solve


def triage_tools() -> list[ToolSource]:
    """The tools of the sample's incident, for ``react`` or an agent of your own.

    Which they are is asked at each turn. Inspect refuses calls that do not fit the schema
    before a tool sees them. They are graded as malformed actions all the same;
    :func:`triage_agent` also shows them so.
    """
    return [_SampleTools()]


class _SampleTools(ToolSource):
    async def tools(self) -> list[InspectTool]:
        return [one.as_tool() for one in tools_for(store_as(TriageStore).current())]


def tools_for(incident: Incident) -> list[ToolDef]:
    """The tools that an incident offers."""
    return [_tool(one) for one in tools_of(incident)]


def _tool(tool: Tool) -> ToolDef:
    async def execute(**kwargs: Any) -> str:
        return store_as(TriageStore).play(wire_from_call(tool.name, kwargs))

    return ToolDef(execute, tool.name, tool.description, parameters=parameters_of(tool))


def parameters_of(tool: Tool) -> ToolParams:
    """The parameters of a tool in Inspect's words."""
    properties = {one.name: ToolParam(**one.json_schema()) for one in tool.parameters}
    required = [one.name for one in tool.parameters if one.required]
    return ToolParams(properties=properties, required=required)


@agent
def triage_agent() -> Agent:
    """Offer the tools and play each call as one action, until the incident is closed.

    A call that cannot be read, or a reply without one, is a malformed action and costs
    its tick.
    """

    async def execute(state: AgentState) -> AgentState:
        store = store_as(TriageStore)
        tools = tools_for(store.current())
        while not store.is_closed():
            state.output = await get_model().generate(state.messages, tools)
            message = state.output.message
            state.messages.append(message)
            for call in message.tool_calls or ():
                state.messages += await _played(message, call, tools, store)
            if not message.tool_calls:
                state.messages.append(_spoken_to(message, store))
        return state

    return execute


def _spoken_to(message: ChatMessageAssistant, store: TriageStore) -> ChatMessageUser:
    """The answer to a reply in words alone: to the calls in its text, or to there being none."""
    calls = calls_of(message.model_dump(include={"role", "content"}))
    wires = [wire_of(call) for call in calls] or [no_call(message.text)]
    return ChatMessageUser(content="\n\n".join([store.play(wire) for wire in wires]))


async def _played(message: Any, call: ToolCall, tools: list[ToolDef], store: TriageStore) -> Any:
    """The messages that answer one call."""
    wire = wire_of(vars(call))
    action = action_from_wire(wire, store.current().topology)
    offered = {one.name for one in tools}
    if isinstance(action, Malformed) or action_name(action) not in offered:
        told = store.play(wire)  # which Inspect would refuse without a tick
        return [ChatMessageTool(content=told, tool_call_id=call.id, function=call.function)]
    name, arguments = call_from_action(action)
    exact = replace(call, function=name, arguments=arguments)
    done = await execute_tools([message.model_copy(update={"tool_calls": [exact]})], tools)
    return done.messages


def until_closed() -> Callable[[AgentState], Awaitable[bool | AgentState]]:
    """For ``react(on_continue=until_closed(), submit=False)``: go on until it is closed.

    A reply without a call costs its tick, as with :func:`triage_agent`.
    """

    async def go_on(state: AgentState) -> bool | AgentState:
        store = store_as(TriageStore)
        if state.output.message.tool_calls:
            return not store.is_closed()
        state.messages.append(_spoken_to(state.output.message, store))
        return False if store.is_closed() else state

    return go_on
