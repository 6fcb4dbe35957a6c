"""Streamed messages put together again: chunks of a response, fragments of its calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.errors import InvalidInput

Call = Mapping[str, Any]


def is_chunk(one: Mapping[str, Any]) -> bool:
    """Whether an object is a chunk of a streamed chat completion, as OpenAI's API sends it."""
    choices = one.get("choices")
    if one.get("object") == "chat.completion.chunk":
        return True
    return isinstance(choices, list) and any(
        isinstance(choice, Mapping) and isinstance(choice.get("delta"), Mapping)
        for choice in choices
    )


def merged_chunks(chunks: Sequence[Mapping[str, Any]], where: str) -> dict[str, Any]:
    """The message that the chunks of one stream make.

    Raises:
        InvalidInput: naming the place, if they hold more than one reply or no delta.
    """
    text: list[str] = []
    calls: list[Any] = []
    for chunk in chunks:
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            delta = choice.get("delta") if isinstance(choice, Mapping) else None
            if not isinstance(delta, Mapping):
                raise InvalidInput(f"{where}: a chunk without a delta")
            if choice.get("index", 0) not in (0, None):
                raise InvalidInput(f"{where}: chunks of several choices; a row is one reply")
            piece = delta.get("content")
            if isinstance(piece, str):
                text.append(piece)
            fragments = delta.get("tool_calls")
            calls += fragments if isinstance(fragments, list) else ()
    return {"role": "assistant", "content": "".join(text), "tool_calls": calls}


def whole_calls(calls: Sequence[object], where: str) -> list[dict[str, Any]]:
    """The calls of a message; fragments of a stream are put together by their ``index``.

    A fragment with a name begins a call; one without continues the last of its index.

    Raises:
        InvalidInput: naming the place, for what is neither.
    """
    whole: list[dict[str, Any]] = []
    last: dict[int, int] = {}
    pieces: dict[int, list[str]] = {}
    for number, call in enumerate(calls):
        place = f"{where}.tool_calls[{number}]"
        if not isinstance(call, Mapping):
            raise InvalidInput(f"{place}: expected an object, got {json_kind(call)}")
        index = call.get("index")
        if _named(call):
            if isinstance(index, int):
                last[index] = len(whole)
            whole.append(dict(call))
        elif isinstance(index, int) and index in last:
            piece = _arguments(call)
            if not isinstance(piece, str) and not absent(piece):
                raise InvalidInput(f"{place}: a fragment's arguments: expected text")
            pieces.setdefault(last[index], []).append(piece or "")
        else:
            raise InvalidInput(
                f"{place}: a call without a name; a fragment of a stream has the index of its call"
            )
    for position, texts in pieces.items():
        whole[position] = _continued(whole[position], "".join(texts), where)
    return whole


def _named(call: Call) -> bool:
    function = call.get("function")
    name = function.get("name") if isinstance(function, Mapping) else function
    name = call.get("name") if absent(name) else name
    return not absent(name) and name != ""


def _arguments(call: Call) -> Any:
    function = call.get("function")
    return (function if isinstance(function, Mapping) else call).get("arguments")


def _continued(call: dict[str, Any], rest: str, where: str) -> dict[str, Any]:
    begun = _arguments(call)
    if absent(begun):
        begun = ""
    if not isinstance(begun, str):
        raise InvalidInput(f"{where}.tool_calls: fragments of a call whose arguments are not text")
    function = call.get("function")
    if isinstance(function, Mapping):
        return {**call, "function": {**function, "arguments": begun + rest}}
    return {**call, "arguments": begun + rest}
