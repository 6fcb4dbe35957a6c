"""Messages of any provider in one form: who wrote it, its text, its calls and its answers.

:data:`SHAPES` has a row for each way that messages are kept. Anything else is refused by its place,
so that no conversation is graded that was not understood.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import attrs

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.conversations.blocks import answer, block_of, first, plain, texts_in
from logtriage.errors import InvalidInput

Message = Mapping[str, Any]
Messages = list[dict[str, Any]]

#: The roles of the agent.
AGENT_ROLES: Final = frozenset({"assistant", "ai", "model"})
#: Other roles that may have written a message.
OTHER_ROLES: Final = frozenset(
    {"system", "developer", "user", "human", "tool", "function", "environment", "observation"}
    | {"exit", "ipython"}
)
#: Roles by the names that other tools have for them.
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
_OUTPUT_ITEMS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "computer_call_output"}
    | {"local_shell_call_output"}
)
_OTHER_ITEMS: Final = frozenset({"mcp_list_tools", "mcp_approval_request", "compaction"})
#: Types of blocks of calls.
CALL_BLOCKS: Final = frozenset({"tool_use", "mcp_tool_use"})
#: Fields of other dialects that hold calls and would otherwise go unseen.
_FOREIGN: Final = frozenset(
    {"toolcalls", "tooluse", "tooluses", "toolinvocations", "functioncalls"}
)
#: How deep responses within responses are followed.
_DEEPEST: Final = 3


@attrs.frozen
class Answer:
    """What was shown to the agent: the ``text``, and the id of the call that it answers, if any.

    ``to_call`` is whether it answers a call. ``refused``: the harness notes that the call was not
    carried out; None: it notes a failure.
    """

    text: str
    id: str | None = None
    to_call: bool = False
    refused: bool | None = False


class Shape(NamedTuple):
    """A way to keep messages: how it is recognised, and how it is read, with its place."""

    writers: str
    fits: Callable[[Message], bool]
    read: Callable[[Message, str], Messages]


def messages_of(raw: object) -> Messages:
    """The messages of a conversation, one reply as text, or a provider's raw response.

    Raises:
        InvalidInput: naming the message and the field, for what is none of these.
    """
    if isinstance(raw, str):
        return [{"role": "assistant", "content": raw}]
    if isinstance(raw, Mapping):
        return _read(raw, "")
    if not isinstance(raw, Sequence):
        raise InvalidInput(f"expected a list of messages, got {json_kind(raw)}")
    return _listed(raw, "")


def _listed(items: Sequence[Any], inside: str) -> Messages:
    messages: Messages = []
    for number, item in enumerate(items):
        where = f"{inside}[{number}]"
        if _object(item, where).get("object") == "chat.completion.chunk":
            raise InvalidInput(f"{where}: a chunk of a stream; put the whole reply together first")
        messages += ({"where": where, **message} for message in _read(item, where))
    return messages


def _object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{where}: expected an object, got {json_kind(value)}")
    return value


def _read(raw: Message, where: str) -> Messages:
    """The messages of an object, by the first shape that fits."""
    for shape in SHAPES:
        if shape.fits(raw):
            return shape.read(raw, where)
    return _split(_checked(raw, where))


def _among(value: object, names: Iterable[str]) -> bool:
    return isinstance(value, str) and value in names


# -- shapes of messages ----------------------------------------------------------------------


def _choice(field: str, inside: str) -> Callable[[Message, str], Messages]:
    def read(raw: Message, where: str) -> Messages:
        options = raw[field]
        place = f"{where}.{field}".removeprefix(".")
        if len(options) != 1 or not isinstance(options[0], Mapping):
            raise InvalidInput(f"{place}: expected one, got {len(options)}; a row is one reply")
        reply = _object(options[0].get(inside), f"{place}[0].{inside}")
        # Gemini leaves out the role, and the parts of an empty reply.
        return _split(_checked({"role": "assistant", "parts": [], **reply}, where))

    return read


def _has_list(field: str) -> Callable[[Message], bool]:
    return lambda raw: isinstance(raw.get(field), list) and "role" not in raw


def _holds(field: str) -> Callable[[Message], bool]:
    return lambda raw: isinstance(raw.get(field), list) and not {"role", "type", "kind"} & set(raw)


def _inside(field: str) -> Callable[[Message, str], Messages]:
    def read(raw: Message, where: str) -> Messages:
        if where.count(".") > _DEEPEST:
            raise InvalidInput(f"{where}.{field}: messages nested too deeply")
        return _listed(raw[field], f"{where}.{field}")

    return read


def _langchain(raw: Message, where: str) -> Messages:
    if "kwargs" in raw:
        kind = {"type": str(raw["id"][-1]).removesuffix("Chunk").removesuffix("Message").lower()}
        return _read({**kind, **_object(raw["kwargs"], f"{where}.kwargs")}, where)
    return _read({"role": raw["type"], **raw["data"]}, where)


def _pydantic(raw: Message, where: str) -> Messages:
    """A request or a response of Pydantic AI; each part of a request is a message."""
    parts = raw["parts"]
    if raw["kind"] == "response":
        return _split(_checked({"role": "assistant", "content": parts}, where))
    messages: Messages = []
    for number, part in enumerate(parts):
        blocks = block_of(part, f"{where}.parts[{number}]")
        role = "system" if part.get("part_kind") == "system-prompt" else "user"
        messages.append({"role": role, "content": blocks})
    return messages


def _autogen(raw: Message, where: str) -> Messages:
    """An event of AutoGen: calls, their results, or a text of the user or an agent."""
    content = raw["content"]
    if raw["type"] == "ToolCallRequestEvent":
        return _split(_checked({"role": "assistant", "content": "", "tool_calls": content}, where))
    if raw["type"] == "ToolCallExecutionEvent":
        items = (_object(item, f"{where}.content") for item in content)
        return [{"role": "tool", "content": [answer(item.get("call_id"), item)]} for item in items]
    if raw["type"] != "TextMessage":  # summaries and thoughts repeat what others say
        return []
    role = "user" if raw["source"] in ("user", "system") else "assistant"
    return [{"role": role, "content": plain(content)}]


def _spoken(raw: Message, where: str) -> Messages:
    return _read({"role": raw["from"], "content": raw["value"]}, where)


def _event(raw: Message, where: str) -> Messages:
    """An event of Google's ADK: the content of a model or of the user."""
    return _read({"role": "user", **raw["content"]}, where)


def _step(raw: Message, where: str) -> Messages:
    """A step of smolagents: the model's output, its calls, and what came of them."""
    said = {"role": "assistant", "content": plain(raw.get("model_output"))}
    calls = raw.get("tool_calls")
    messages = _split(_checked({**said, "tool_calls": [] if absent(calls) else calls}, where))
    if not absent(raw.get("observations")):
        messages.append({"role": "user", "content": plain(raw["observations"])})
    return messages


def _output_item(raw: Message, where: str) -> Messages:
    del where
    return [{"role": "tool", "content": [answer(raw.get("call_id"), raw)]}]


def _ran_item(raw: Message, where: str) -> Messages:
    """A call with its answer in one item, as of tools that the model's own server ran."""
    called = {key: raw[key] for key in raw if key not in ("output", "result", "error", "status")}
    number = first(raw, ("call_id", "id"))
    return [_checked(called, where), {"role": "tool", "content": [answer(number, raw)]}]


def _is_ran(raw: Message) -> bool:
    done = first(raw, ("output", "result", "error"))
    return _among(raw.get("type"), ("mcp_call", "mcp_tool_call")) and done is not None


_LANGCHAIN: Final = AGENT_ROLES | OTHER_ROLES
#: How messages are kept; the first shape that fits counts.
SHAPES: Final = (
    Shape("OpenAI: a raw response", _has_list("choices"), _choice("choices", "message")),
    Shape("Gemini: a raw response", _has_list("candidates"), _choice("candidates", "content")),
    Shape("OpenAI: a response", _holds("output"), _inside("output")),
    Shape("containers of messages", _holds("messages"), _inside("messages")),
    Shape(
        "LangChain",
        lambda raw: (
            (isinstance(raw.get("data"), Mapping) and _among(raw.get("type"), _LANGCHAIN))
            or (raw.get("lc") == 1 and isinstance(raw.get("id"), list) and bool(raw["id"]))
        ),
        _langchain,
    ),
    Shape(
        "Pydantic AI",
        lambda raw: (
            _among(raw.get("kind"), ("request", "response"))
            and isinstance(raw.get("parts"), list)
            and "role" not in raw
        ),
        _pydantic,
    ),
    Shape(
        "AutoGen",
        lambda raw: (
            isinstance(raw.get("source"), str)
            and isinstance(raw.get("type"), str)
            and raw["type"].endswith(("Event", "Message"))
            and "content" in raw
        ),
        _autogen,
    ),
    Shape("ShareGPT", lambda raw: "role" not in raw and {"from", "value"} <= set(raw), _spoken),
    Shape(
        "Google's ADK",
        lambda raw: isinstance(raw.get("content"), Mapping) and "parts" in raw["content"],
        _event,
    ),
    Shape(
        "smolagents",
        lambda raw: "role" not in raw and bool({"model_output", "observations"} & set(raw)),
        _step,
    ),
    Shape(
        "OpenAI: answers to calls",
        lambda raw: absent(raw.get("role")) and _among(raw.get("type"), _OUTPUT_ITEMS),
        _output_item,
    ),
    Shape("OpenAI, Codex: calls with their answers", _is_ran, _ran_item),
)


# -- one message -----------------------------------------------------------------------------


def _checked(raw: Message, where: str) -> dict[str, Any]:
    message = dict(raw)
    kind, role = message.get("type"), message.get("role")
    if not absent(role) or not _among(kind, CALL_ITEMS | _QUIET_ITEMS | _OTHER_ITEMS):
        message["role"] = _role_of(kind if absent(role) else role, kind, where)
    for others in ("parts", "blocks", "items"):
        if message.get("content") in (None, "") and isinstance(message.get(others), list):
            message["content"] = message[others]
    message.pop("parts", None)
    for other in ("toolCalls", "toolInvocations"):
        if isinstance(message.get(other), list) and absent(message.get("tool_calls")):
            message["tool_calls"] = message.pop(other)
    if isinstance(message.get("content"), Mapping) and not is_agents(message):
        message["content"] = plain(message["content"])
    for field, wanted, kinds in (
        ("tool_calls", "a list", list | tuple),
        ("content", "a string or a list", str | list | tuple),
    ):
        value = message.get(field)
        if not absent(value) and not isinstance(value, kinds):
            raise InvalidInput(f"{where}.{field}: expected {wanted}, got {json_kind(value)}")
    if is_agents(message):
        _read_agents(message, where)
    return message


def _role_of(named: object, kind: object, where: str) -> str:
    """The role that a message names, under our name for it."""
    if isinstance(named, Mapping):  # Semantic Kernel
        named = first(named, ("label", "value"))
    role = _ROLES.get(named.lower(), named.lower()) if isinstance(named, str) else None
    if _among(role, AGENT_ROLES | OTHER_ROLES):
        return str(role)
    if named is kind:
        raise InvalidInput(
            f"{where or 'the object'}: cannot tell who wrote it: no role, and "
            f"{'no type' if absent(kind) else f'the type {kind!r:.40}'}"
        )
    names = ", ".join(sorted(AGENT_ROLES | OTHER_ROLES))
    raise InvalidInput(f"{where}.role: unknown role {named!r:.40}; one of: {names}")


def is_agents(message: Message) -> bool:
    """Whether the agent wrote a message. Inspect marks messages that were given to it."""
    role = message.get("role")
    if absent(role):
        return _among(message.get("type"), CALL_ITEMS | _QUIET_ITEMS)
    return _among(role, AGENT_ROLES) and message.get("source") != "input"


def _read_agents(message: dict[str, Any], where: str) -> None:
    """Bring a message of the agent into one form, or refuse it by its field."""
    for key, value in message.items():
        letters = "".join(letter for letter in str(key).lower() if letter.isalpha())
        if letters in _FOREIGN and key != "tool_calls" and value:
            raise InvalidInput(f"{where}.{key}: not known; calls are read from tool_calls")
    calls = message.get("tool_calls")
    if not absent(calls) and calls is not None:
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
    if isinstance(raw, str):  # verifiers writes each call as a text of JSON
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            raise InvalidInput(f"{where}: expected an object, got a string") from None
    call = dict(_object(raw, where))
    function = call.get("function")
    name = function.get("name") if isinstance(function, Mapping) else function
    name = first(call, ("name", "tool_name", "toolName")) if absent(name) else name
    if absent(name) or name == "":
        raise InvalidInput(f"{where}: a call without a name")
    if absent(function):
        call["name"] = name
    number = first(call, ("id", "call_id", "toolCallId", "tool_call_id"))
    return call if absent(number) else {**call, "id": number}


def _split(message: dict[str, Any]) -> Messages:
    """A message of the agent as several, where its content or its calls hold answers, too."""
    content = message.get("content")
    blocks = content if isinstance(content, list) and is_agents(message) else ()
    calls = message.get("tool_calls") if is_agents(message) else ()
    results = [
        answer(call.get("id"), call)
        for call in calls or ()
        if not absent(call.get("result")) or call.get("status") in ("cancelled", "error")
    ]
    after = [{"role": "tool", "content": [result]} for result in results]
    if not any(_is_result(block) for block in blocks):
        return [message, *after]
    messages: Messages = []
    for block in blocks:
        role = "tool" if _is_result(block) else "assistant"
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].append(block)
        else:
            base = {"role": "tool"} if role == "tool" else {**message, "role": role}
            messages.append({**base, "content": [block]})
            if role == "assistant":
                message = {**message, "tool_calls": None}
    return [*messages, *after]


def _is_result(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"


def text_of(message: Message) -> str:
    """The text of a message; blocks of text are put together, others left out."""
    content = message.get("content")
    return content if isinstance(content, str) else "\n".join(texts_in(content))


def answers_of(message: Message) -> Iterator[Answer]:
    """What a message of others shows: its answers to calls, then its text."""
    content = message.get("content")
    shown = []
    for raw in content if isinstance(content, list | tuple) else ():
        try:
            shown += block_of(raw, "content")
        except InvalidInput:  # what others write need not be understood
            continue
    results = list(filter(_is_result, shown))
    text = content if isinstance(content, str) else "\n".join(texts_in(shown))
    if message.get("role") in ("tool", "function", "ipython") and not results:
        number = first(message, ("tool_call_id", "tool_use_id", "call_id"))
        results, text = [answer(number, message)], ""
    for block in results:
        yield Answer(block["content"], block["tool_use_id"], True, block["refused"])
    if text:
        yield Answer(text)
