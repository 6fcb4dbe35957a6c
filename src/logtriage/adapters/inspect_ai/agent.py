"""Play an incident in Inspect: the store, the tools, and the agent that uses them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool as InspectTool
from inspect_ai.tool import ToolDef, ToolParam, ToolParams, ToolSource
from inspect_ai.util import StoreModel, store_as
from pydantic import Field

from logtriage.adapters.episode import Episode, answer, state_after
from logtriage.adapters.sources import Sources
from logtriage.adapters.turns import Message, Turn
from logtriage.conversations.tools import tools_of
from logtriage.conversations.wires import calls_of, no_call, wire_of
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.parsing.calls import Wire, wire_from_call
from logtriage.parsing.tools import Tool
from logtriage.transcript import check_drawn

#: Finds the incidents that samples name: drawn, recorded, or of your own tasks.
SOURCES = Sources()


class TriageStore(StoreModel):
    """The episode of a sample, for tools and the viewer; scores never read it."""

    incident: str | None = None
    bundle: str | None = None
    actions: list[dict[str, Any]] = Field(default_factory=list)

    def current(self) -> Incident:
        """The incident of the sample."""
        if self.incident is None:
            raise InvalidInput(
                "no incident in the store: a task with these tools needs setup=triage_setup() "
                "and samples with the metadata 'incident'"
            )
        return SOURCES(self.incident, self.bundle)

    def play(self, wire: Wire) -> str:
        """Take an action; returns the answer to it."""
        self.actions = [*self.actions, wire]
        return answer(self.current(), self.actions)

    def is_closed(self) -> bool:
        """Whether the incident is closed."""
        return state_after(self.current(), self.actions)[0].is_closed


def named_in_sample(state: TaskState) -> tuple[str, str | None]:
    """(id of the incident, its bundle or None), as named in the metadata of a sample."""
    metadata = state.metadata or {}
    incident, bundle = metadata.get("incident"), metadata.get("bundle")
    where = f"sample {state.sample_id!r}: metadata"
    if not isinstance(incident, str):
        raise InvalidInput(f"{where} 'incident': expected an incident id, got {incident!r}")
    if not isinstance(bundle, str | None):
        raise InvalidInput(f"{where} 'bundle': expected the name of a file, got {bundle!r}")
    return incident, bundle


def incident_of_sample(state: TaskState, bundle: str | None = None) -> Incident:
    """The incident of a sample; ``bundle``, if given, replaces the sample's own bundle."""
    incident, its_bundle = named_in_sample(state)
    drawn = SOURCES(incident, its_bundle if bundle is None else bundle)
    metadata = state.metadata or {}
    check_drawn(metadata.get("seal"), metadata.get("world"), drawn)
    return drawn


@solver
def triage_setup() -> Solver:
    """Put the incident of the sample into the store, for the tools to act on."""

    async def solve(state: TaskState, _: Generate) -> TaskState:
        incident_of_sample(state)  # refuses a wrong sample before the first turn
        store = state.store_as(TriageStore)
        store.incident, store.bundle = named_in_sample(state)
        return state

    return solve


def triage_tools() -> list[ToolSource]:
    """The tools of the sample's incident, for ``react`` or an agent of your own.

    Inspect refuses calls that do not fit the schema; they are graded as malformed all the same.
    """
    return [_SampleTools()]


class _SampleTools(ToolSource):
    async def tools(self) -> list[InspectTool]:
        return [tool.as_tool() for tool in tools_for(store_as(TriageStore).current())]


def tools_for(incident: Incident) -> list[ToolDef]:
    """The tools that an incident offers."""
    return list(map(_tool, tools_of(incident)))


def _tool(tool: Tool) -> ToolDef:
    async def execute(**kwargs: Any) -> str:
        return store_as(TriageStore).play(wire_from_call(tool.name, kwargs))

    return ToolDef(execute, tool.name, tool.description, parameters=parameters_of(tool))


def parameters_of(tool: Tool) -> ToolParams:
    """The parameters of a tool in Inspect's types."""
    properties = {arg.name: ToolParam(**arg.json_schema()) for arg in tool.parameters}
    return ToolParams(properties=properties, required=tool.json_schema()["required"])


@agent
def triage_agent() -> Agent:
    """Offer the tools and play each call as one action, until the incident is closed."""

    async def execute(state: AgentState) -> AgentState:
        store = store_as(TriageStore)
        episode = Episode(store.current())
        tools = tools_for(episode.incident)
        while not episode.done:
            state.output = await get_model().generate(state.messages, tools)
            state.messages.append(state.output.message)
            turn = episode.step(as_json(state.output.message))
            state.messages += answers(turn)
            store.actions = list(map(dict, episode.actions))
        return state

    return execute


def answers(turn: Turn) -> list[ChatMessage]:
    """The answers of a turn as messages of Inspect."""
    if turn.messages[0]["role"] == "user":
        return [ChatMessageUser(content=turn.text)]
    return [
        ChatMessageTool(content=answer["content"], tool_call_id=answer["tool_call_id"])
        for answer in turn.messages
    ]


def as_input(prompt: Sequence[Mapping[str, str]]) -> list[ChatMessage]:
    """The rules and the first screen as messages of Inspect."""
    rules, screen = (message["content"] for message in prompt)
    return [ChatMessageSystem(content=rules), ChatMessageUser(content=screen)]


def as_json(message: ChatMessage) -> Message:
    """The role, content and tool calls of a message, as JSON."""
    return message.model_dump(include={"role", "content", "tool_calls"})


def until_closed() -> Callable[[AgentState], Awaitable[bool | AgentState]]:
    """Go on until the incident is closed: ``react(on_continue=until_closed(), submit=False)``.

    A reply without a call costs its tick, as with :func:`triage_agent`.
    """

    async def go_on(state: AgentState) -> bool | AgentState:
        store = store_as(TriageStore)
        if state.output.message.tool_calls:
            return not store.is_closed()
        message = state.output.message
        wires = list(map(wire_of, calls_of(as_json(message)))) or [no_call(message.text)]
        text = "\n\n".join(map(store.play, wires))
        state.messages.append(ChatMessageUser(content=text))
        return False if store.is_closed() else state

    return go_on
