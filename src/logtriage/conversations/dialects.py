"""Read the messages of any provider or framework in one form.

:data:`SHAPES` lists the known forms. Anything else is an error that names the place, so that no
conversation is graded that was not understood.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.conversations.blocks import answer, at, block_of, first, plain
from logtriage.conversations.counts import USED, noted, usage_in
from logtriage.conversations.failures import failure_of_message
from logtriage.conversations.messages import (
    AGENT_ROLES,
    OTHER_ROLES,
    OUTPUT_ITEMS,
    Message,
    Messages,
    among,
    as_object,
    read_message,
)
from logtriage.errors import InvalidInput

#: How the text of a stream of server-sent events begins.
_STREAM: Final = re.compile(r"\s*(?:data: ?[{\[]|event: ?\S+\s*\n\s*data:)")
#: How deep responses within responses are followed.
_DEEPEST: Final = 3
#: The field of a row with the number of its first line among those it was made of.
LINE: Final = "logtriage.line"


class Shape(NamedTuple):
    """A form in which others keep data: ``fits`` recognises it, and ``read`` brings it into ours.

    Readers of messages take the value and its place.
    """

    writers: str
    fits: Callable[[Any], bool]
    read: Callable[..., Any]


def messages_of(raw: object) -> Messages:
    """The messages of a conversation, one reply as text, or a provider's raw response.

    Raises:
        InvalidInput: naming the message and the field, if ``raw`` is none of these.
    """
    if isinstance(raw, str):
        if _STREAM.match(raw):
            raise InvalidInput("a raw stream of events; put the whole reply together first")
        return [{"role": "assistant", "content": raw}]
    if isinstance(raw, Mapping):
        return _read(raw, "")
    if not isinstance(raw, Sequence):
        raise InvalidInput(f"expected a list of messages, got {json_kind(raw)}")
    return _listed(raw, "")


def are_messages(value: Any) -> bool:
    """Whether a value is a list of messages, by its first item."""
    if not isinstance(value, list) or not value or not isinstance(value[0], Mapping):
        return False
    try:
        return bool(messages_of(value[:1])) and "messages" not in value[0]
    except InvalidInput:
        return False


def _listed(items: Sequence[Any], inside: str) -> Messages:
    messages: Messages = []
    for number, item in enumerate(items):
        where = f"{inside}[{number}]"
        read = _read(as_object(item, where), where)
        messages += ({"where": where, **message} for message in read)
    return messages


def _read(raw: Message, where: str) -> Messages:
    """The messages of an object, by the first shape that fits, with its usage."""
    what = where or "the response"
    if not raw:
        raise InvalidInput(f"{what}: empty, and no error or status says why")
    if raw.get("object") == "chat.completion.chunk":
        raise InvalidInput(f"{what}: a chunk of a stream; put the whole reply together first")
    shape = next((shape for shape in SHAPES if shape.fits(raw)), None)
    messages: Messages = read_message(raw, where) if shape is None else shape.read(raw, where)
    counts = usage_in(raw)
    if not counts or any(USED in message for message in messages):
        return messages
    key = raw.get("id") if raw.get("type") == "message" else None  # lines of Claude Code share it
    return noted(messages, counts, key if isinstance(key, str) else where)


def _choice(field: str, inside: str) -> Callable[[Message, str], Messages]:
    """A reader of responses whose only reply stands in a list at ``field``, under ``inside``."""

    def read(raw: Message, where: str) -> Messages:
        option = raw[field]
        place = f"{where}.{field}".removeprefix(".")
        while isinstance(option, list) and len(option) == 1:  # LangChain has lists in lists
            (option,) = option
        if not isinstance(option, Mapping):
            raise InvalidInput(f"{place}: expected one, got {len(raw[field])}; a row is one reply")
        error, reply = failure_of_message(option), option.get(inside)
        reply = {} if error and reply is None else as_object(reply, f"{place}[0].{inside}")
        noted_error = {"error": error} if error else {}
        # Gemini leaves out the role, and the parts of an empty reply.
        return _read({"role": "assistant", "parts": [], **reply, **noted_error}, where)

    return read


def _holds(field: str, but_no: tuple[str, ...] = ()) -> Callable[[Message], bool]:
    return lambda raw: isinstance(raw.get(field), list) and not {"role", *but_no} & set(raw)


def _inside(field: str) -> Callable[[Message, str], Messages]:
    def read(raw: Message, where: str) -> Messages:
        if where.count(".") > _DEEPEST:  # a dot for each level
            raise InvalidInput(f"{where}.{field}: messages nested too deeply")
        return _listed(raw[field], f"{where}.{field}")

    return read


def _langchain(raw: Message, where: str) -> Messages:
    """A message of LangChain as its constructor, such as ``AIMessageChunk``, and arguments."""
    *_, name = raw["id"] if isinstance(raw["id"], list) else [raw["id"]]
    kind = {"type": str(name).removesuffix("Chunk").removesuffix("Message").lower()}
    return _read({**kind, **raw["kwargs"]}, where)


def _pydantic(raw: Message, where: str) -> Messages:
    """A request or a response of Pydantic AI; each part of a request is a message."""
    parts = raw["parts"]
    if raw["kind"] == "response":
        return read_message({"role": "assistant", "content": parts}, where)
    messages: Messages = []
    for number, part in enumerate(parts):
        blocks = block_of(part, f"{where}.parts[{number}]")
        role = "system" if at(part, "part_kind") == "system-prompt" else "user"
        messages.append({"role": role, "content": blocks})
    return messages


def _autogen(raw: Message, where: str) -> Messages:
    """An event of AutoGen: calls, their results, or a text of the user or an agent."""
    content = raw["content"]
    if raw["type"].startswith("ToolCall") and not isinstance(content, list | str):
        raise InvalidInput(f"{where}.content: expected a list, got {json_kind(content)}")
    if raw["type"] == "ToolCallRequestEvent":
        return read_message({"role": "assistant", "content": "", "tool_calls": content}, where)
    if raw["type"] == "ToolCallExecutionEvent":
        items = (as_object(item, f"{where}.content") for item in content)
        return [{"role": "tool", "content": [answer(item.get("call_id"), item)]} for item in items]
    if raw["type"] != "TextMessage":  # summaries and thoughts repeat what others say
        return []
    role = "user" if raw["source"] in ("user", "system") else "assistant"
    return [{"role": role, "content": plain(content)}]


def _step(raw: Message, where: str) -> Messages:
    """A step of smolagents: the model's output, its calls, and their results."""
    reply = {"role": "assistant", "content": plain(raw.get("model_output"))}
    calls = raw.get("tool_calls")
    messages = read_message({**reply, "tool_calls": [] if absent(calls) else calls}, where)
    if not absent(raw.get("observations")):
        messages.append({"role": "user", "content": plain(raw["observations"])})
    return messages


def _ran_item(raw: Message, where: str) -> Messages:
    """An item that holds a call and its answer, as for tools that the model's own server ran."""
    called = {key: raw[key] for key in raw if key not in ("output", "result", "error", "status")}
    call_id = first(raw, ("call_id", "id"))
    return [*read_message(called, where), {"role": "tool", "content": [answer(call_id, raw)]}]


def _is_ran(raw: Message) -> bool:
    done = first(raw, ("output", "result", "error"))
    return among(raw.get("type"), ("mcp_call", "mcp_tool_call")) and done is not None


_TYPED: Final = ("type", "kind")
_LANGCHAIN: Final = AGENT_ROLES | OTHER_ROLES
#: The known forms of messages; the first that fits counts.
SHAPES: Final = (
    Shape("OpenAI: a raw response", _holds("choices"), _choice("choices", "message")),
    Shape("Gemini: a raw response", _holds("candidates"), _choice("candidates", "content")),
    Shape("LangChain: a result", _holds("generations"), _choice("generations", "message")),
    Shape("OpenAI: a response", _holds("output", but_no=_TYPED), _inside("output")),
    Shape("containers of messages", _holds("messages", but_no=_TYPED), _inside("messages")),
    Shape(
        "LangChain",
        lambda raw: isinstance(raw.get("data"), Mapping) and among(raw.get("type"), _LANGCHAIN),
        lambda raw, where: _read({"role": raw["type"], **raw["data"]}, where),
    ),
    Shape(
        "LangChain: constructors",
        lambda raw: raw.get("lc") == 1 and raw.get("id") and isinstance(raw.get("kwargs"), Mapping),
        _langchain,
    ),
    Shape(
        "Pydantic AI",
        lambda raw: (
            among(raw.get("kind"), ("request", "response"))
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
    Shape(
        "ShareGPT",
        lambda raw: "role" not in raw and {"from", "value"} <= set(raw),
        lambda raw, where: _read({"role": raw["from"], "content": raw["value"]}, where),
    ),
    Shape(
        "Google's ADK",
        lambda raw: isinstance(raw.get("content"), Mapping) and "parts" in raw["content"],
        lambda raw, where: _read({"role": "user", **raw["content"]}, where),
    ),
    Shape(
        "smolagents",
        lambda raw: "role" not in raw and bool({"model_output", "observations"} & set(raw)),
        _step,
    ),
    Shape(
        "OpenAI: answers to calls",
        lambda raw: absent(raw.get("role")) and among(raw.get("type"), OUTPUT_ITEMS),
        lambda raw, _: [{"role": "tool", "content": [answer(raw.get("call_id"), raw)]}],
    ),
    Shape("OpenAI, Codex: calls with their answers", _is_ran, _ran_item),
)
