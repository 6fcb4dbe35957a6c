"""Messages of any provider in one form: who wrote it, its text, and its calls.

OpenAI's chat messages, items, responses and chunks of a stream, Anthropic's and Bedrock's
blocks, Gemini's parts, LangChain's and Inspect's messages. Anything else is refused by its place,
so that no conversation is graded that was not understood.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.errors import InvalidInput

Message = Mapping[str, Any]

#: The roles of the agent.
AGENT_ROLES: Final = frozenset({"assistant", "ai", "model"})
#: Other roles that may have written a message.
OTHER_ROLES: Final = frozenset(
    {"system", "developer", "user", "human", "tool", "function", "environment", "observation"}
)
#: Items of OpenAI's responses by the agent: calls, and other work.
CALL_ITEMS: Final = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_QUIET_ITEMS: Final = frozenset(
    {"reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "computer_call"}
)
_OTHER_ITEMS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "computer_call_output", "mcp_list_tools"}
)
#: Types of blocks: calls, text, and others.
CALL_BLOCKS: Final = frozenset({"tool_use", "mcp_tool_use"})
_TEXT_BLOCKS: Final = frozenset({"text", "output_text", "input_text"})
_QUIET_BLOCKS: Final = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "refusal", "image", "image_url", "input_image"}
    | {"audio", "input_audio", "video", "document", "file", "data", "server_tool_use"}
    | {"web_search_tool_result", "mcp_tool_result", "tool_result"}
)
#: The type of blocks without a type (Gemini's parts, Bedrock's), by their key.
_UNTYPED: Final = {
    "text": "text",
    "functionCall": "tool_use",
    "function_call": "tool_use",
    "toolUse": "tool_use",
    **dict.fromkeys(("functionResponse", "function_response", "toolResult"), "tool_result"),
    **dict.fromkeys(("reasoningContent", "executableCode", "codeExecutionResult"), "data"),
    **dict.fromkeys(("inlineData", "inline_data", "fileData", "file_data", "image"), "data"),
}
#: Fields of other dialects that hold calls and would otherwise go unseen.
_FOREIGN: Final = frozenset(
    {"toolcalls", "tooluse", "tooluses", "toolinvocations", "functioncalls"}
)

#: How deep responses within responses are followed.
_DEEPEST: Final = 3


def messages_of(raw: object) -> list[dict[str, Any]]:
    """The messages of a conversation, one reply as text, or a provider's raw response.

    Raises:
        InvalidInput: naming the message and the field, for what is none of these.
    """
    if isinstance(raw, str):
        return [{"role": "assistant", "content": raw}]
    if isinstance(raw, Mapping):
        return _unwrapped(raw, "")
    if not isinstance(raw, Sequence):
        raise InvalidInput(f"expected a list of messages, got {json_kind(raw)}")
    return _listed(raw, "")


def _listed(items: Sequence[Any], inside: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, item in enumerate(items):
        where = f"{inside}[{number}]"
        if _object(item, where).get("object") == "chat.completion.chunk":
            raise InvalidInput(f"{where}: a chunk of a stream; put the whole reply together first")
        messages += _unwrapped(item, where)
    return messages


def _object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{where}: expected an object, got {json_kind(value)}")
    return value


def _unwrapped(raw: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """The messages of an object: itself, or those of a provider's response."""
    for field, inside in (("choices", "message"), ("candidates", "content")):
        options = raw.get(field)
        if isinstance(options, list) and "role" not in raw:
            place = f"{where}.{field}".removeprefix(".")
            if len(options) != 1 or not isinstance(options[0], Mapping):
                raise InvalidInput(f"{place}: expected one, got {len(options)}; a row is one reply")
            reply = _object(options[0].get(inside), f"{place}[0].{inside}")
            # Gemini leaves out the role, and the parts of an empty reply.
            return [_checked({"role": "assistant", "parts": [], **reply}, where)]
    for field in ("output", "messages"):
        if isinstance(raw.get(field), list) and "role" not in raw and "type" not in raw:
            if where.count(".") > _DEEPEST:
                raise InvalidInput(f"{where}.{field}: messages nested too deeply")
            return _listed(raw[field], f"{where}.{field}")
    if isinstance(raw.get("data"), Mapping) and _among(raw.get("type"), AGENT_ROLES | OTHER_ROLES):
        raw = {"role": raw["type"], **raw["data"]}  # LangChain's messages_to_dict
    return [_checked(raw, where)]


def _checked(raw: Mapping[str, Any], where: str) -> dict[str, Any]:
    message = dict(raw)
    if absent(message.get("role")):
        kind = message.get("type")
        if _among(kind, AGENT_ROLES | OTHER_ROLES):  # LangChain's messages
            message["role"] = kind
        elif not _among(kind, CALL_ITEMS | _QUIET_ITEMS | _OTHER_ITEMS):
            raise InvalidInput(
                f"{where or 'the object'}: cannot tell who wrote it: no role, and "
                f"{'no type' if absent(kind) else f'the type {kind!r:.40}'}"
            )
    elif not _among(message["role"], AGENT_ROLES | OTHER_ROLES):
        known = ", ".join(sorted(AGENT_ROLES | OTHER_ROLES))
        raise InvalidInput(f"{where}.role: unknown role {message['role']!r:.40}; one of: {known}")
    parts = message.pop("parts", None)
    if message.get("content") is None and parts is not None:
        message["content"] = parts
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


def _among(value: object, names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in names


def is_agents(message: Message) -> bool:
    """Whether the agent wrote a message. Inspect marks messages that were given to it."""
    role = message.get("role")
    if absent(role):
        return _among(message.get("type"), CALL_ITEMS | _QUIET_ITEMS)
    return _among(role, AGENT_ROLES) and message.get("source") != "input"


def _read_agents(message: dict[str, Any], where: str) -> None:
    """Bring a message of the agent into one form, or refuse it by its field."""
    for key, value in message.items():
        plain = "".join(letter for letter in str(key).lower() if letter.isalpha())
        if plain in _FOREIGN and key != "tool_calls" and value:
            raise InvalidInput(f"{where}.{key}: not known; calls are read from tool_calls")
    calls = message.get("tool_calls")
    if not absent(calls) and calls is not None:
        message["tool_calls"] = [
            _call(call, f"{where}.tool_calls[{number}]") for number, call in enumerate(calls)
        ]
    content = message.get("content")
    if isinstance(content, list | tuple):
        message["content"] = [
            _block(block, f"{where}.content[{number}]") for number, block in enumerate(content)
        ]
    elif "content" not in message and not absent(message.get("role")):
        calls_at = ("tool_calls", "function_call", "invalid_tool_calls")
        if not any(message.get(field) for field in calls_at):
            raise InvalidInput(
                f"{where or 'the object'}: a reply with neither content nor tool_calls; it has: "
                f"{', '.join(map(str, message))}"
            )


def _call(raw: object, where: str) -> dict[str, Any]:
    call = _object(raw, where)
    function = call.get("function")
    name = function.get("name") if isinstance(function, Mapping) else function
    name = call.get("name") if absent(name) else name
    if absent(name) or name == "":
        raise InvalidInput(f"{where}: a call without a name")
    return dict(call)


def _block(raw: object, where: str) -> dict[str, Any]:
    """A block of the agent's content with its type."""
    if isinstance(raw, str):
        return {"type": "text", "text": raw}
    block = _object(raw, where)
    kind = block.get("type")
    if _among(kind, _TEXT_BLOCKS | CALL_BLOCKS | _QUIET_BLOCKS):
        return dict(block)
    if absent(kind):
        if block.get("thought") is True:
            return {"type": "thinking"}
        for key, meaning in _UNTYPED.items():
            if not absent(block.get(key)):
                inside = block[key]
                if meaning != "tool_use":
                    return {"type": "text", "text": inside} if key == "text" else {"type": "data"}
                if not (isinstance(inside, Mapping) and isinstance(inside.get("name"), str)):
                    raise InvalidInput(f"{where}.{key}: expected an object with a name")
                ids = {} if absent(inside.get("toolUseId")) else {"id": inside["toolUseId"]}
                return {**inside, **ids, "type": "tool_use"}
    shown = f"of type {kind!r:.40}" if isinstance(kind, str) else f"with {', '.join(block)[:80]}"
    raise InvalidInput(
        f"{where}: a block {shown} is not known; calls are read from tool_use, functionCall "
        "and tool_calls"
    )


def text_of(message: Message) -> str:
    """The text of a message; blocks of text are put together, others left out."""
    content = message.get("content")
    if isinstance(content, list | tuple):
        texts: Iterable[object] = (
            block.get("text") if isinstance(block, Mapping) else block for block in content
        )
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""
