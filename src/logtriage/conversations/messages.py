"""Bring one message into one form, and read who wrote it, its text, calls and answers."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.conversations.blocks import Answer, answer, block_of, first, objects, opened, plain
from logtriage.errors import InvalidInput

Message = Mapping[str, Any]
Messages = list[dict[str, Any]]

AGENT_ROLES: Final = frozenset({"assistant", "ai", "model"})
#: Other roles that may have written a message.
OTHER_ROLES: Final = frozenset(
    {"system", "developer", "user", "human", "tool", "function", "environment", "observation"}
    | {"exit", "ipython"}
)
#: Our roles by other names for them.
_ROLES: Final = {
    **dict.fromkeys(("gpt", "chatbot", "gemini", "bot_message"), "assistant"),
    **dict.fromkeys(("tool-call", "function_call"), "assistant"),
    **dict.fromkeys(("tool-response", "tool_response", "toolresult", "tool_result"), "tool"),
    **dict.fromkeys(("info", "warning", "error"), "system"),
}
#: Items of OpenAI's responses by the agent: calls, and other work.
CALL_ITEMS: Final = frozenset({"function_call", "custom_tool_call", "mcp_call", "mcp_tool_call"})
_QUIET_ITEMS: Final = frozenset(
    {"reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "computer_call"}
    | {"local_shell_call", "image_generation_call"}
)
#: Items of OpenAI's responses that answer calls.
OUTPUT_ITEMS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "computer_call_output"}
    | {"local_shell_call_output"}
)
_OTHER_ITEMS: Final = frozenset({"mcp_list_tools", "mcp_approval_request", "compaction"})
CALL_BLOCKS: Final = frozenset({"tool_use", "mcp_tool_use"})
#: Fields of other dialects that hold calls and would otherwise go unseen.
_FOREIGN: Final = frozenset(
    {"toolcalls", "tooluse", "tooluses", "toolinvocations", "functioncalls"}
)


def among(value: object, names: Iterable[str]) -> bool:
    """Whether a value is one of some names."""
    return isinstance(value, str) and value in names


def as_object(value: object, where: str) -> Mapping[str, Any]:
    """Return ``value`` if it is an object; else InvalidInput names the place."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{where}: expected an object, got {json_kind(value)}")
    return value


def _checked(raw: Message, where: str) -> dict[str, Any]:
    """A copy of a message, with its role, calls and blocks in one form and under our names."""
    message = dict(raw)
    kind, role = message.get("type"), message.get("role")
    if not absent(role) or not among(kind, CALL_ITEMS | _QUIET_ITEMS | _OTHER_ITEMS):
        message["role"] = _role_of(role, kind, where)
    _rename_fields(message)
    for field, wanted, kinds in (
        ("tool_calls", "a list", list | tuple),
        ("content", "a string or a list", str | list | tuple),
    ):
        value = message.get(field)
        if field in message and absent(value):
            message[field] = None
        elif not absent(value) and not isinstance(value, kinds):
            raise InvalidInput(f"{where}.{field}: expected {wanted}, got {json_kind(value)}")
    if is_from_agent(message):
        _read_agents(message, where)
    return message


def _rename_fields(message: dict[str, Any]) -> None:
    """Bring content and calls that stand in fields of other dialects to ours, in place."""
    for others in ("parts", "blocks", "items"):
        if message.get("content") in (None, "") and isinstance(message.get(others), list):
            message["content"] = message[others]
    message.pop("parts", None)
    for other in ("toolCalls", "toolInvocations"):
        if isinstance(message.get(other), list) and absent(message.get("tool_calls")):
            message["tool_calls"] = message.pop(other)
    kwargs = message.get("additional_kwargs")  # where LangChain keeps what OpenAI sent
    kinds = (block.get("type") for block in objects(message.get("content")))
    has_calls = message.get("tool_calls") or any(among(kind, CALL_BLOCKS) for kind in kinds)
    if isinstance(kwargs, Mapping) and not has_calls:
        message |= {key: kwargs[key] for key in ("tool_calls", "function_call") if kwargs.get(key)}
    if isinstance(message.get("content"), Mapping) and not is_from_agent(message):
        message["content"] = plain(message["content"])


def _role_of(role: object, kind: object, where: str) -> str:
    """Our name for a role, or for the type of a message without a role; else InvalidInput."""
    named = kind if absent(role) else role
    if isinstance(named, Mapping):  # Semantic Kernel
        named = first(named, ("label", "value"))
    ours = _ROLES.get(named.lower(), named.lower()) if isinstance(named, str) else ""
    if ours in AGENT_ROLES | OTHER_ROLES:
        return ours
    if absent(role):
        raise InvalidInput(
            f"{where or 'the object'}: cannot tell who wrote it: no role, and "
            f"{'no type' if absent(kind) else f'the type {kind!r:.40}'}"
        )
    names = ", ".join(sorted(AGENT_ROLES | OTHER_ROLES))
    raise InvalidInput(f"{where}.role: unknown role {named!r:.40}; one of: {names}")


def is_from_agent(message: Message) -> bool:
    """Whether the agent wrote a message. Inspect marks messages that were given to it."""
    role = message.get("role")
    if absent(role):
        return among(message.get("type"), CALL_ITEMS | _QUIET_ITEMS)
    return among(role, AGENT_ROLES) and message.get("source") != "input"


def _read_agents(message: dict[str, Any], where: str) -> None:
    """Bring the calls and blocks of an agent's message into one form, in place."""
    for key, value in message.items():
        letters = "".join(letter for letter in str(key).lower() if letter.isalpha())
        if letters in _FOREIGN and key != "tool_calls" and value:
            raise InvalidInput(f"{where}.{key}: not known; calls are read from tool_calls")
    calls = message.get("tool_calls")
    if calls is not None:
        message["tool_calls"] = [
            _call(call, f"{where}.tool_calls[{number}]") for number, call in enumerate(calls)
        ]
    content = message.get("content")
    if isinstance(content, list | tuple):
        message["content"] = [
            block
            for number, raw in enumerate(content)
            for block in block_of(raw, f"{where}.content[{number}]")
        ]
    elif "content" not in message and not absent(message.get("role")):
        calls_at = ("tool_calls", "function_call", "invalid_tool_calls")
        if not any(message.get(field) for field in calls_at):
            raise InvalidInput(
                f"{where or 'the object'}: a reply with neither content nor tool_calls; it has: "
                f"{', '.join(map(str, message))}"
            )


def _call(raw: object, where: str) -> dict[str, Any]:
    """A call with its ``name`` (unless in ``function``) and ``id``, whatever they are called."""
    call = dict(as_object(opened(raw), where))  # verifiers writes each call as a text of JSON
    function = call.get("function")
    name = function.get("name") if isinstance(function, Mapping) else function
    name = first(call, ("name", "tool_name", "toolName")) if absent(name) else name
    if absent(name) or name == "":
        raise InvalidInput(f"{where}: a call without a name")
    if absent(function):
        call["name"] = name
    call_id = first(call, ("id", "call_id", "toolCallId", "tool_call_id"))
    return call if absent(call_id) else {**call, "id": call_id}


def read_message(raw: Message, where: str) -> Messages:
    """Bring a message into one form; an InvalidInput names a field that is not understood.

    A message of the agent that also holds answers to calls becomes several messages.
    """
    message = _checked(raw, where)
    if not is_from_agent(message):
        return [message]
    after = [
        {"role": "tool", "content": [answer(call.get("id"), call)]}
        for call in message.get("tool_calls") or ()
        if not absent(call.get("result")) or call.get("status") in ("cancelled", "error")
    ]
    content = message.get("content")
    if not isinstance(content, list) or not any(map(_is_answer, content)):
        return [message, *after]
    messages: Messages = []
    for is_answer, blocks in groupby(content, _is_answer):
        if is_answer:
            messages.append({"role": "tool", "content": list(blocks)})
        else:
            messages.append({**message, "role": "assistant", "content": list(blocks)})
            message = {**message, "tool_calls": None}  # the first part has them
    return [*messages, *after]


def _is_answer(block: object) -> bool:
    return isinstance(block, Answer)


def text_of(message: Message) -> str:
    """The text of a message: all its text blocks, joined by line breaks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list | tuple) else ()
    texts = (block.get("text") if isinstance(block, Mapping) else block for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


def answers_of(message: Message) -> Iterator[Answer]:
    """The answers to calls in a message that the agent did not write, then its text."""
    content = message.get("content")
    shown = []
    for raw in content if isinstance(content, list | tuple) else ():
        try:
            shown += block_of(raw, "content")
        except InvalidInput:  # what others write need not be understood
            continue
    results = [block for block in shown if isinstance(block, Answer)]
    text = content if isinstance(content, str) else text_of({"content": shown})
    if message.get("role") in ("tool", "function", "ipython") and not results:
        call_id = first(message, ("tool_call_id", "tool_use_id", "call_id"))
        results, text = [answer(call_id, message)], ""
    yield from results
    if text:
        yield Answer(text)
