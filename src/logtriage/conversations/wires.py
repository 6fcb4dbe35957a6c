"""The actions of an agent in a conversation of any provider, as wire actions.

A message counts if the agent wrote it. None of its replies is dropped: a reply that cannot be read
is a malformed action.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from logtriage._lib.jsonvalues import absent
from logtriage.conversations.messages import (
    CALL_BLOCKS,
    CALL_ITEMS,
    Message,
    is_agents,
    messages_of,
    text_of,
)
from logtriage.conversations.tools import SOLO_TOOLS, Wire, wire_from_call
from logtriage.conversations.words import beside, own_words
from logtriage.parsing import Form, action_to_wire, parse_action, parse_plan
from logtriage.parsing.calls import malformed, tool_name
from logtriage.parsing.replies import calls_in
from logtriage.topology import Topology

#: Why a reply without a call is no action.
NO_CALL: Final = "a reply without a tool call that can be read"


class Style(StrEnum):
    """How an agent says what it does.

    ``TOOLS``: each tool call is an action, in order; text beside a call is talk, and a
    reply without any is a malformed action. ``TEXT``: each reply is one action in JSON.
    ``WORD``: each reply is an action in one word. ``PLAN``: the last reply is a JSON array of
    actions. ``AUTO``: tools if there is any tool call; a plan if there is one reply and it holds
    an array of actions; else text.
    """

    AUTO = "auto"
    TOOLS = "tools"
    TEXT = "text"
    WORD = "word"
    PLAN = "plan"


def actions_of_conversation(
    messages: object,
    topology: Topology,
    *,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
) -> list[Wire]:
    """The wire actions of an agent, in order, from its messages or its one reply.

    ``messages`` are a list of them, the text of a reply, or a provider's raw response
    (:func:`~logtriage.conversations.messages.messages_of`). ``topology`` is needed to read
    text, which may name services and teams. Calls of ``other_tools``, such as the harness's
    ``submit``, are no actions; a call of any other unknown tool is a malformed action.

    Raises:
        InvalidInput: naming the message and the field, if these are no messages.
    """
    acts = acts_of_conversation(messages, topology, style=style, other_tools=other_tools)
    return [wire for wire, _ in acts]


def acts_of_conversation(
    messages: object,
    topology: Topology,
    *,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
) -> list[tuple[Wire, str | None]]:
    """:func:`actions_of_conversation`, each with the agent's own words beside it."""
    style = Style(style)
    read = messages_of(messages)
    acts: list[tuple[Wire, str | None]] = []
    if style in (Style.AUTO, Style.TOOLS):
        turns = list(_with_calls(read))
        if style is Style.TOOLS or any(calls for _, calls in turns):
            others = frozenset(other_tools)
            for turn, calls in turns:
                wires = [wire_of(call) for call in calls if _name(call) not in others]
                if not calls:
                    wires.append(no_call("\n".join(filter(None, map(text_of, turn)))))
                acts += zip(wires, beside(own_words(turn), len(wires)), strict=True)
            return acts
    replies = [message for message in read if is_agents(message)]
    if style is Style.PLAN:
        replies = replies[-1:]
    plan = style is Style.PLAN or (style is Style.AUTO and len(replies) == 1)
    form: Form = "word" if style is Style.WORD else "json"
    for reply in replies:
        text = text_of(reply)
        actions = parse_plan(text, topology) if plan else [parse_action(text, topology, form=form)]
        wires = list(map(action_to_wire, actions))
        acts += zip(wires, beside(own_words([reply]), len(wires)), strict=True)
    return acts


def _turns(messages: Sequence[Message]) -> Iterator[tuple[list[Message], list[Message]]]:
    """The agent's turns, each up to the next answer, with the answers to it."""
    turn: list[Message] = []
    answers: list[Message] = []
    for message in messages:
        if not is_agents(message):
            answers.append(message)
            continue
        if turn and answers:
            yield turn, answers
            turn = []
        answers = []
        turn.append(message)
    if turn:
        yield turn, answers


def _with_calls(messages: Sequence[Message]) -> Iterator[tuple[list[Message], list[Any]]]:
    """Each turn with its calls, without calls that were recorded twice.

    A call with the id of an earlier call was recorded twice, unless both have an answer: then the
    server's ids are not unique, and both were carried out.
    """
    for turn, answers in _turns(messages):
        answered = Counter(number for answer in answers for number in _answered(answer))
        known: dict[str, tuple[Any, int]] = {}
        calls: list[Any] = []
        for call in (call for message in turn for call in calls_of(message)):
            number = _id(call)
            if number is not None:
                what = _name(call), _call_arguments(call)
                same, times = known.get(number, (None, 0))
                times = times + 1 if same == what else 1
                if times > max(1, answered[number]):
                    continue
                known[number] = what, times
            calls.append(call)
        yield turn, calls


def _answered(message: Message) -> Iterator[str]:
    """The ids of the calls that a message answers."""
    content = message.get("content")
    for part in (message, *(content if isinstance(content, list | tuple) else ())):
        if isinstance(part, Mapping):
            named = (part.get(key) for key in ("tool_call_id", "tool_use_id", "call_id"))
            yield from (number for number in named if isinstance(number, str))


def no_call(text: str) -> Wire:
    """The malformed action of a reply without a call."""
    said, _, wrong = calls_in(text)
    return malformed(said, NO_CALL if wrong is None else wrong)


def calls_of(message: Message) -> list[Any]:
    """The tool calls of a message, in order, as its framework wrote them.

    Without any, the calls in its text, such as ``<tool_call>``.
    """
    if message.get("type") in CALL_ITEMS:
        return [message]
    calls = list(message.get("tool_calls") or ())
    if not calls and message.get("function_call") is not None:
        calls.append(message["function_call"])
    calls += message.get("invalid_tool_calls") or ()  # LangChain's, of what is no JSON
    numbers = {_id(call) for call in calls} - {None}
    content = message.get("content")
    if isinstance(content, list | tuple):
        # A block with a tool_type is a tool that the model's own server ran. LangChain says
        # a call twice, as a block and among the tool_calls.
        calls += [
            block
            for block in content
            if isinstance(block, Mapping)
            and block.get("type") in CALL_BLOCKS
            and "tool_type" not in block
            and _id(block) not in numbers
        ]
    return calls or calls_in(text_of(message))[1]


def is_in_text(call: object) -> bool:
    """Whether a call of :func:`calls_of` stands in a text: no tool's message can answer it."""
    return isinstance(call, Mapping) and "function" not in call and _id(call) is None


def wire_of(call: object, tools: Collection[str] = SOLO_TOOLS) -> Wire:
    """The wire action of a tool call of any framework; ``tools`` names the tools on offer."""
    if not isinstance(call, Mapping):
        return malformed(repr(call), "a tool call must be an object")
    error = call.get("parse_error")
    if isinstance(error, str):
        return malformed(f"{_name(call)}({call.get('arguments')})", error)
    return wire_from_call(_name(call), _call_arguments(call), tools)


def _id(call: object) -> str | None:
    if not isinstance(call, Mapping):
        return None
    number = call.get("call_id") if absent(call.get("id")) or "call_id" in call else call["id"]
    return number if isinstance(number, str) and number else None


def _name(call: object) -> Any:
    if not isinstance(call, Mapping):
        return None
    function = call.get("function")
    if isinstance(function, Mapping):
        function = function.get("name")
    name = call.get("name") if function is None else function
    return tool_name(name) if isinstance(name, str) else name


def _call_arguments(call: Any) -> Any:
    if not isinstance(call, Mapping):
        return None
    function = call.get("function")
    places = (function, call) if isinstance(function, Mapping) else (call,)
    values = (place.get(key) for place in places for key in ("arguments", "input", "args"))
    return next((value for value in values if value is not None), None)
