"""What an agent did in a conversation, as wire actions, whoever recorded it.

A message counts if the agent wrote it. Calls are read from OpenAI's and TRL's
``tool_calls``, OpenAI's ``function_call`` items, Anthropic's ``tool_use`` blocks,
Inspect's and verifiers' ``tool_calls``. Nothing that the agent did is dropped: what
cannot be read is a malformed action.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from logtriage.adapters.tools import TOOLS, Tool, Wire, malformed, tool_name, wire_from_call
from logtriage.errors import InvalidInput
from logtriage.jsonvalues import json_kind
from logtriage.parsing import action_to_wire, parse_action, parse_plan
from logtriage.topology import Topology

#: Who wrote a message, where it is the agent.
AGENT_ROLES: Final = frozenset({"assistant", "ai", "model"})

#: Why a reply without a call is no action.
NO_CALL: Final = "a reply without a tool call that can be read"

Message = Mapping[str, Any]


class Style(StrEnum):
    """How an agent says what it does.

    ``TOOLS``: each tool call is an action, in order; text is talk and costs nothing.
    ``TEXT``: each reply is one action in JSON. ``PLAN``: the last reply is a JSON array
    of actions. ``AUTO``: tools if there is any tool call; a plan if there is one reply
    and it holds an array of actions; else text.
    """

    AUTO = "auto"
    TOOLS = "tools"
    TEXT = "text"
    PLAN = "plan"


def actions_of_conversation(
    messages: str | Sequence[Message],
    topology: Topology,
    *,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
) -> list[Wire]:
    """The wire actions of an agent, in order, from its messages or its one reply.

    ``topology`` is needed to read text, which may name services and teams. Calls of
    ``other_tools``, the harness's own such as ``submit``, are no actions; calls of any
    other unknown tool are malformed ones.

    Raises:
        InvalidInput: naming the message and the field, if these are no messages.
    """
    style = Style(style)
    if isinstance(messages, str):
        messages = [{"role": "assistant", "content": messages}]
    written = [one for one in checked_messages(messages) if is_agents(one)]
    if style in (Style.AUTO, Style.TOOLS):
        calls = [call for message in written for call in calls_of(message)]
        if calls or style is Style.TOOLS:
            others = tuple(other_tools)
            return [wire_of(call) for call in calls if _name(call) not in others]
    replies = [text_of(message) for message in written]
    if style is Style.PLAN:
        return _wires(parse_plan(replies[-1], topology)) if replies else []
    if style is Style.AUTO and len(replies) == 1:
        return _wires(parse_plan(replies[0], topology))
    return _wires(parse_action(reply, topology) for reply in replies)


def _wires(actions: Iterable[Any]) -> list[Wire]:
    return [action_to_wire(action) for action in actions]


def checked_messages(messages: object) -> Sequence[Message]:
    """The messages of a conversation, if that is what they are.

    Raises:
        InvalidInput: naming the message and the field.
    """
    if not isinstance(messages, Sequence):
        raise InvalidInput(f"expected a list of messages, got {json_kind(messages)}")
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise InvalidInput(f"[{number}]: expected an object, got {json_kind(message)}")
        for field in ("tool_calls", "content"):
            value = message.get(field)
            if not (value is None or isinstance(value, list | tuple)) and (
                field == "tool_calls" or not isinstance(value, str)
            ):
                wanted = "a list" if field == "tool_calls" else "a string or a list"
                raise InvalidInput(f"[{number}].{field}: expected {wanted}, got {json_kind(value)}")
    return messages


def is_agents(message: Message) -> bool:
    """Whether the agent wrote a message, and was not given it (Inspect notes the source)."""
    if message.get("type") == "function_call":
        return True
    return message.get("role") in AGENT_ROLES and message.get("source") != "input"


def calls_of(message: Message) -> list[Any]:
    """The tool calls of a message, in order, as its framework wrote them."""
    if message.get("type") == "function_call":
        return [message]
    calls = list(message.get("tool_calls") or ())
    if message.get("function_call") is not None:
        calls.append(message["function_call"])
    content = message.get("content")
    if isinstance(content, list | tuple):
        # A block with a tool_type is a tool that the model's own server ran.
        calls += [
            block
            for block in content
            if isinstance(block, Mapping)
            and block.get("type") == "tool_use"
            and "tool_type" not in block
        ]
    return calls


def wire_of(call: object, tools: Mapping[str, Tool] = TOOLS) -> Wire:
    """The wire action of one tool call, in the words of any of the frameworks.

    ``tools`` are those that were on offer, by name.
    """
    if not isinstance(call, Mapping):
        return malformed(repr(call), "a tool call must be an object")
    error = call.get("parse_error")
    if isinstance(error, str):
        return malformed(f"{_name(call)}({call.get('arguments')})", error)
    return wire_from_call(_name(call), _call_arguments(call), tools)


def _name(call: object) -> Any:
    if not isinstance(call, Mapping):
        return None
    function = call.get("function")
    if isinstance(function, Mapping):
        function = function.get("name")
    name = call.get("name") if function is None else function
    return tool_name(name) if isinstance(name, str) else name


def _call_arguments(call: Mapping[str, Any]) -> Any:
    function = call.get("function")
    places = (function, call) if isinstance(function, Mapping) else (call,)
    for place in places:
        for key in ("arguments", "input", "args"):
            if place.get(key) is not None:
                return place[key]
    return None


def text_of(message: Message) -> str:
    """The text of a message; blocks of text are put together, others left out."""
    content = message.get("content")
    if isinstance(content, list | tuple):
        texts = (block.get("text") for block in content if isinstance(block, Mapping))
        return "\n".join(text for text in texts if isinstance(text, str))
    return content or ""
