"""Read the blocks of a message in one form: text, a call, an answer to a call, or other data.

Providers and frameworks write the same few blocks under different keys. :data:`BLOCKS` lists
their ways, each with the types and keys that it is recognised by.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import attrs

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.errors import InvalidInput

Block = Mapping[str, Any]

#: Keys that may hold the parts of a call or an answer; the first that is present counts.
_NAME: Final = ("name", "tool_name", "toolName", "function_name", "functionName")
ARGUMENTS_AT: Final = ("arguments", "input", "args", "parameters", "tool_kwargs", "rawInput")
_CALL_ID: Final = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id")
_ANSWERED_ID: Final = ("tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "call_id", "id")
_ANSWER: Final = ("content", "output", "result", "response", "value", "return_value", "errorText")
#: Keys of an object that hold its text, for answers that wrap it.
_INSIDE: Final = (*_ANSWER, "text", "contents", "message", "stdout", "data", "Ok", "Err")
#: How deep an answer is unwrapped.
_DEEPEST: Final = 8
#: Words with which a harness marks a call that it did not carry out.
_REFUSED: Final = frozenset(
    {"rejected", "denied", "declined", "cancelled", "canceled", "aborted", "approval", "prompt"}
)
_FAILED: Final = frozenset({"error", "failed", "failure", "incomplete"})


@attrs.frozen
class Answer:
    """A text shown to the agent. If ``to_call``, it answers the call with ``id`` (if known).

    ``refused``: the harness notes that the call was not carried out; None: it notes a failure, and
    the call may have been carried out or not.
    """

    text: str
    id: str | None = None
    to_call: bool = False
    refused: bool | None = False


#: Blocks in one form; answers stand among them.
Blocks = list[dict[str, Any] | Answer]


class Way(NamedTuple):
    """One way to write a block: its possible ``types``, or ``keys`` if it has no type.

    The value of such a key is the block. A type that ends with ``-`` is the beginning of a type.
    """

    read: Callable[[Block, str], Blocks]
    types: frozenset[str]
    keys: tuple[str, ...] = ()


def decoded(text: str) -> Any:
    """The value of a JSON text; None if the text is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def opened(value: Any) -> Any:
    """The object or list in a JSON text; any other value as it is."""
    is_json = isinstance(value, str) and value.lstrip()[:1] in ("{", "[")
    inside = decoded(value) if is_json else None
    return value if inside is None else inside


def at(row: object, path: str) -> Any:
    """The value at a dotted path; None if there is none. Objects on the path may be JSON texts."""
    for key in path.split("."):
        row = opened(row)  # the info of verifiers is a text
        row = row.get(key) if isinstance(row, Mapping) else None
    return row


def text_at(row: object, paths: Iterable[str]) -> str | None:
    """The first text at some dotted paths; None if there is none."""
    values = (at(row, path) for path in paths)
    return next((value for value in values if isinstance(value, str)), None)


def objects(value: object) -> Iterator[Block]:
    """The objects in a list; none in any other value."""
    items = value if isinstance(value, list | tuple) else ()
    return (item for item in items if isinstance(item, Mapping))


def first(block: Block, keys: tuple[str, ...]) -> Any:
    """The value of the first of some fields that is not absent; None if all are."""
    return next((block[key] for key in keys if not absent(block.get(key))), None)


def block_of(raw: object, where: str) -> Blocks:
    """Read a block, or a call with its answer; an InvalidInput names an unknown block."""
    if isinstance(raw, str):
        return [{"type": "text", "text": raw}]
    if isinstance(raw, Answer):
        return [raw]  # read already
    if not isinstance(raw, Mapping):
        raise InvalidInput(f"{where}: expected an object, got {json_kind(raw)}")
    kind = first(raw, ("type", "part_kind", "block_type", "content_type"))
    if absent(kind) and raw.get("thought") is True:
        return _thought(raw, where)
    for way in BLOCKS:
        if isinstance(kind, str):
            beginnings = tuple(name for name in way.types if name.endswith("-"))
            if kind in way.types or kind.startswith(beginnings):
                return way.read(_with_inner(raw, way.keys), where)
            continue
        for key in way.keys:
            if not absent(raw.get(key)):
                return way.read(_with_inner(raw, (key,)), f"{where}.{key}")
    shown = f"of type {kind!r:.40}" if isinstance(kind, str) else f"with {', '.join(raw)[:80]}"
    raise InvalidInput(
        f"{where}: a block {shown} is not known; calls are read from tool_use, functionCall "
        "and tool_calls"
    )


def _with_inner(raw: Block, keys: tuple[str, ...]) -> Block:
    """Merge a block with the fields of the objects that it wraps."""
    inside = first(raw, keys)
    if not isinstance(inside, Mapping):
        return raw
    value = inside.get("value")
    return {**raw, **inside, **(value if isinstance(value, Mapping) else {})}


def _text(block: Block, _: str) -> Blocks:
    return [{"type": "text", "text": plain(first(block, ("text", "content")))}]


def _thought(block: Block, _: str) -> Blocks:
    """Read a thought. It gives no action, but a transcript keeps it."""
    thought = plain(first(block, ("thinking", "reasoning", "text", "content")))
    return [{"type": "thinking", "thinking": thought} if thought else {"type": "data"}]


def _use(block: Block, where: str) -> Blocks:
    """Read a call. A call with ``tool_type`` was run by the model's own server: it is no action."""
    if "tool_type" in block:
        return [{"type": "data"}]
    name = first(block, _NAME)
    if absent(name):  # a type tool-NAME may hold it
        kind = block.get("type")
        prefix, _, name = kind.partition("-") if isinstance(kind, str) else ("", "", "")
        name = name if prefix == "tool" else None
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"{where}: expected an object with a name")
    used = {"type": "tool_use", "name": name, "input": first(block, ARGUMENTS_AT)}
    call_id = first(block, _CALL_ID)
    return [used if absent(call_id) else {**used, "id": call_id}]


def _result(block: Block, where: str) -> Blocks:
    if block.get("part_kind") == "retry-prompt" and absent(block.get("tool_name")):
        return _text(block, where)
    return [answer(first(block, _ANSWERED_ID), block)]


def answer(call_id: object, block: Block) -> Answer:
    """The answer to the call ``call_id`` in a block or a message."""
    call_id = call_id if isinstance(call_id, str) else None
    return Answer(plain(first(block, _ANSWER)), call_id, to_call=True, refused=_refusal(block))


def _refusal(block: Block) -> bool | None:
    """``refused`` of an :class:`Answer`, from words such as ``output-denied`` and from flags."""
    inside, error = first(block, _ANSWER), block.get("error")
    places = list(objects([block, inside, error]))
    noted = (each.get(key) for each in places for key in ("status", "state", "type", "part_kind"))
    words = {word.rpartition("-")[2].lower() for word in noted if isinstance(word, str)}
    if words & _REFUSED:
        return True
    flags = [each.get(key) for each in places for key in ("is_error", "isError")]
    failed = words & _FAILED or True in flags or not (absent(error) or error in ("", False))
    return None if failed else False


def _both(block: Block, where: str) -> Blocks:
    """Read a call, and its answer if the block holds one."""
    used = _use(block, where)
    state = block.get("state")
    done = first(block, ("output", "result", "errorText")) is not None
    denied = isinstance(state, str) and state.endswith("denied")
    if "tool_type" in block or not (done or denied):
        return used
    shown = {key: value for key, value in block.items() if key not in ("content", "value")}
    return [*used, answer(first(block, _CALL_ID), shown)]


#: The ways to write a block; the first that fits counts.
BLOCKS: Final = (
    Way(
        _text,
        frozenset({"text", "output_text", "input_text", "user-prompt", "system-prompt"}),
        ("text",),
    ),
    Way(
        _use,
        frozenset({"tool_use", "mcp_tool_use", "tool_call", "tool-call", "function_call"})
        | {"toolRequest", "toolCall", "FunctionCallContent"},
        ("functionCall", "function_call", "toolUse", "tool_call", "toolCall"),
    ),
    Way(
        _result,
        frozenset({"tool_result", "mcp_tool_result", "tool_call_response", "tool-result"})
        | {"tool-return", "retry-prompt", "toolResponse", "function_result", "toolResult"},
        ("functionResponse", "function_response", "toolResult", "tool_call_result"),
    ),
    Way(_thought, frozenset({"thinking", "reasoning", "thought"}), ("reasoningContent",)),
    Way(
        lambda *_: [{"type": "data"}],
        frozenset({"redacted_thinking", "refusal", "image", "image_url"})
        | {"input_image", "audio", "input_audio", "video", "document", "file", "data"}
        | {"server_tool_use", "web_search_tool_result", "builtin-tool-call", "step-start"}
        | {"builtin-tool-return", "source-url", "frontendToolRequest"},
        (
            *("executableCode", "codeExecutionResult", "inlineData"),
            *("inline_data", "fileData", "file_data", "image", "cachePoint", "document"),
        ),
    ),
    Way(_both, frozenset({"tool-", "tool-invocation", "dynamic-tool"}), ("toolInvocation",)),
)


def plain(value: object, depth: int = 0) -> str:
    """All text in an answer, whatever wraps it; the answer as JSON if it holds no text."""
    if isinstance(value, str):
        return value
    if depth < _DEEPEST:
        if isinstance(value, list | tuple):
            return "\n".join(filter(None, (plain(item, depth + 1) for item in value)))
        if isinstance(value, Mapping):
            inside = first(value, _INSIDE)
            if inside is not None and not isinstance(inside, int | float):
                return plain(inside, depth + 1)
    if absent(value):
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""
