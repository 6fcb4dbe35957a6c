"""Read the wire actions of an agent from a conversation of any provider.

Only messages that the agent wrote count, and all of them do: a reply that cannot be read is a
malformed action.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import attrs

from logtriage._lib.jsonvalues import absent
from logtriage.actions import Malformed
from logtriage.conversations.blocks import ARGUMENTS_AT, first, objects
from logtriage.conversations.commands import SHELLS, has_blocks, wires_in_blocks, wires_of_command
from logtriage.conversations.dialects import messages_of
from logtriage.conversations.messages import (
    CALL_BLOCKS,
    CALL_ITEMS,
    Message,
    among,
    answers_of,
    is_from_agent,
    text_of,
)
from logtriage.errors import InvalidInput
from logtriage.parsing import Form, action_to_wire, parse_action, parse_plan
from logtriage.parsing.calls import Wire, malformed, tool_name, wire_from_call
from logtriage.parsing.replies import calls_in
from logtriage.parsing.tools import SOLO_TOOLS
from logtriage.topology import Topology

#: Why a reply without a call is no action.
NO_CALL: Final = "a reply without a tool call that can be read"


class Style(StrEnum):
    """How an agent says what it does.

    ``TOOLS``: each tool call is an action, in order; text beside a call is talk, and a reply
    without any is a malformed action. ``TEXT``: each reply is one action in JSON. ``WORD``: each
    reply is an action in one word. ``PLAN``: the last reply is a JSON array of actions. ``AUTO``:
    tools if there is any tool call (if all stand in texts, other replies may be actions in JSON); a
    plan if there is one reply and it holds an array of actions; else text.
    """

    AUTO = "auto"
    TOOLS = "tools"
    TEXT = "text"
    WORD = "word"
    PLAN = "plan"


@attrs.frozen
class Step:
    """A wire action, the index of its message, and the id of its call if it has one.

    ``by_shell``: a shell command gave the action; the agent may have written its output itself.
    """

    wire: Wire
    place: int
    id: str | None = None
    by_shell: bool = False


def actions_of_conversation(
    messages: object,
    topology: Topology,
    *,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
) -> list[Wire]:
    """The wire actions of an agent, in order, from its messages or its one reply.

    ``messages`` are a list of them, the text of a reply, or a provider's raw response
    (:func:`~logtriage.conversations.dialects.messages_of`). Text may name services and teams of the
    ``topology``. Calls of ``other_tools``, such as the harness's ``submit``, are no actions; a call
    of any other unknown tool is a malformed action.

    Raises:
        InvalidInput: naming the message and the field, if these are no messages.
    """
    read = messages_of(messages)
    steps = steps_of_conversation(read, topology, style=style, other_tools=other_tools)
    return [step.wire for step in steps]


def steps_of_conversation(
    messages: Sequence[Message],
    topology: Topology,
    *,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
) -> list[Step]:
    """The steps behind :func:`actions_of_conversation`, from messages that are read already."""
    style = Style(style)
    turns = list(_with_calls(messages))
    calls = [call for _, own in turns for _, call in own]
    if style is Style.TOOLS or (style is Style.AUTO and calls):
        may_be_json = style is Style.AUTO and all(map(is_in_text, calls))
        steps: list[Step] = []
        for turn, own in turns:
            for place, call in own:
                if not _is_named(call, other_tools):
                    steps += _steps_of(call, place)
            text = "\n".join(filter(None, (text_of(messages[place]) for place in turn)))
            if not own and may_be_json:
                steps += _read(text, topology, "json", turn[0])
            elif not own:
                steps.append(Step(no_call(text), turn[0]))
        return steps
    if not all(is_in_text(call) or _is_named(call, other_tools) for call in calls):
        raise InvalidInput(f"style {style}: the agent calls tools; read it by style tools or auto")
    replies = [(place, text_of(messages[place])) for place in _replies(messages)]
    if style is Style.PLAN or (style is Style.AUTO and len(replies) == 1):
        return [
            Step(action_to_wire(action), place)
            for place, reply in replies[-1:]
            for action in parse_plan(reply, topology)
        ]
    form: Form = "word" if style is Style.WORD else "json"
    return [step for place, text in replies for step in _read(text, topology, form, place)]


def _read(text: str, topology: Topology, form: Form, place: int) -> Iterator[Step]:
    """The action in a reply's text; if there is none, those of its blocks of shell code."""
    action = parse_action(text, topology, form=form)
    commands = wires_in_blocks(text) if isinstance(action, Malformed) else []
    for wire in commands or [action_to_wire(action)]:
        yield Step(wire, place, by_shell=has_blocks(text))


def _replies(messages: Sequence[Message]) -> Iterator[int]:
    """The places of the agent's replies; thoughts count only in a turn that has no more."""
    for turn, _ in turns_of(messages):
        yield from [place for place in turn if not _is_thought(messages[place])] or turn[:1]


def _is_thought(message: Message) -> bool:
    """Whether a message of the agent is an item or blocks without a text."""
    content = message.get("content")
    is_item = absent(message.get("role")) or (isinstance(content, list) and bool(content))
    return is_item and not text_of(message)


def turns_of(messages: Sequence[Message]) -> Iterator[tuple[list[int], list[Message]]]:
    """(indices of the agent's messages, messages of others up to the next turn) for each turn."""
    turn: list[int] = []
    answers: list[Message] = []
    for place, message in enumerate(messages):
        if not is_from_agent(message):
            answers.append(message)
            continue
        if turn and answers:
            yield turn, answers
            turn = []
        answers = []
        turn.append(place)
    if turn:
        yield turn, answers


def _with_calls(messages: Sequence[Message]) -> Iterator[tuple[list[int], list[tuple[int, Any]]]]:
    """(turn, its calls with their places) for each turn, without calls that were recorded twice.

    A call with the id of an earlier call was recorded twice, unless both have an answer: then the
    server's ids are not unique, and both were carried out.
    """
    for turn, answers in turns_of(messages):
        answered = Counter(each.id for message in answers for each in answers_of(message))
        known: dict[str, tuple[Any, int]] = {}  # by id: the call, how often in succession
        calls: list[tuple[int, Any]] = []
        for place in turn:
            for call in calls_of(messages[place]):
                call_id = id_of_call(call)
                if call_id is not None:
                    what = name_of(call), arguments_of(call)
                    earlier, times = known.get(call_id, (None, 0))
                    times = times + 1 if earlier == what else 1
                    if times > max(1, answered[call_id]):
                        continue
                    known[call_id] = what, times
                calls.append((place, call))
        yield turn, calls


def no_call(text: str) -> Wire:
    """The malformed action of a reply without a call."""
    answer, _, wrong = calls_in(text)
    return malformed(answer, NO_CALL if wrong is None else wrong)


def calls_of(message: Message) -> list[Any]:
    """The tool calls of a message, as its framework wrote them, or else those in its text."""
    if among(message.get("type"), CALL_ITEMS):
        return [message]
    calls = list(message.get("tool_calls") or ())
    if not calls and message.get("function_call") is not None:
        calls.append(message["function_call"])
    invalid = message.get("invalid_tool_calls")  # LangChain's, of what is no JSON
    calls += invalid if isinstance(invalid, list) else ()
    ids = {id_of_call(call) for call in calls} - {None}
    # A block with a tool_type is a tool that the model's own server ran. LangChain writes a call
    # twice, as a block and among the tool_calls.
    calls += [
        block
        for block in objects(message.get("content"))
        if among(block.get("type"), CALL_BLOCKS)
        and "tool_type" not in block
        and id_of_call(block) not in ids
    ]
    return calls or calls_in(text_of(message))[1]


def is_in_text(call: object) -> bool:
    """Whether a call of :func:`calls_of` was read from text, where no tool message answers it."""
    return isinstance(call, Mapping) and "function" not in call and id_of_call(call) is None


def wire_of(call: object, tools: Collection[str] = SOLO_TOOLS) -> Wire:
    """The wire action of a tool call of any framework; ``tools`` names the tools on offer."""
    if not isinstance(call, Mapping):
        return malformed(repr(call), "a tool call must be an object")
    error = call.get("parse_error")
    if isinstance(error, str):
        return malformed(f"{name_of(call)}({call.get('arguments')})", error)
    return wire_from_call(name_of(call), arguments_of(call), tools)


def _steps_of(call: object, place: int) -> list[Step]:
    """The step of a call, or those of the commands that it gives to a shell."""
    call_id = id_of_call(call)
    commands = wires_of_command(arguments_of(call)) if _is_named(call, SHELLS) else []
    if commands:
        return [Step(wire, place, call_id, by_shell=True) for wire in commands]
    return [Step(wire_of(call), place, call_id)]


def id_of_call(call: object) -> str | None:
    """The id of a tool call, as its answer names it; None if it has none."""
    if not isinstance(call, Mapping):
        return None
    value = call.get("call_id" if "call_id" in call else "id")
    return value if isinstance(value, str) and value else None


def name_of(call: object) -> Any:
    """The name of the tool that a call of any framework names; None without one."""
    if not isinstance(call, Mapping):
        return None
    function = call.get("function")
    if isinstance(function, Mapping):
        function = function.get("name")
    name = call.get("name") if function is None else function
    return tool_name(name) if isinstance(name, str) else name


def _is_named(call: object, names: Collection[str]) -> bool:
    name = name_of(call)
    return isinstance(name, str) and name in names


def arguments_of(call: Any) -> Any:
    """The arguments of a call of any framework, as they are written; None without any."""
    if not isinstance(call, Mapping):
        return None
    function = call.get("function")
    inside = first(function, ARGUMENTS_AT) if isinstance(function, Mapping) else None
    return first(call, ARGUMENTS_AT) if inside is None else inside
