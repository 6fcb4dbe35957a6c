"""A model's reply as text: what of it is said and not only thought, and the calls in it.

Models that reason write their thoughts in front of the answer, and a server without a
parser for them passes both on. What is only thought is no action.
"""

import json
import re
from typing import Any, Final

#: Longer texts are refused unread, so that reading time is bounded. Thoughts do not count.
MAX_TEXT: Final = 200_000
#: At most this many thoughts are cut.
MAX_THOUGHTS: Final = 1_000
#: At most this many calls in a text are read.
MAX_CALLS: Final = 100
#: Why a reply that ends within a thought is no action.
ENDED_THINKING: Final = "the reply ended while thinking"

#: What opens and closes a thought: DeepSeek, Qwen and most others; prompts of Anthropic's;
#: Mistral.
_MARK: Final = re.compile(r"</?think(?:ing)?>|\[/?THINK\]")
_CALL: Final = "<tool_call>"
_CALL_END: Final = "</tool_call>"
#: A call as Qwen's coders write it: `<function=NAME> <parameter=KEY> VALUE </parameter> …`.
_FUNCTION: Final = re.compile(r"\s*<function=([^<>\s]+)>")
_PARAMETER: Final = "<parameter="
_PARAMETER_END: Final = "</parameter>"

#: A call in a text: its ``name`` and ``arguments``, or a ``parse_error`` that says why not.
TextCall = dict[str, Any]


def spoken(text: str) -> tuple[str, str | None]:
    """A reply without its thoughts; and why it cannot be read, if so: then it is whole.

    A thought ends at the first mark that closes it. A mark that closes what was never
    opened ends a thought that the prompt opened: all before it is one, too.
    """
    said: list[str] = []
    start = 0
    for _ in range(MAX_THOUGHTS + 1):
        mark = _MARK.search(text, start)
        if mark is None:
            return "\n".join(filter(None, (*said, text[start:]))), None
        if mark[0].startswith(("</", "[/")):
            said.clear()
            start = mark.end()
            continue
        said.append(text[start : mark.start()])
        end = f"{mark[0][0]}/{mark[0][1:]}"
        closed = text.find(end, mark.end())
        if closed < 0:
            return text, ENDED_THINKING
        start = closed + len(end)
    return text, f"more than {MAX_THOUGHTS} thoughts in the reply"


def without_calls(text: str) -> tuple[str, list[TextCall]]:
    """A spoken text without the ``<tool_call>`` blocks in it, and the calls in these.

    The last block may be open: servers cut at the mark that closes it.
    """
    said: list[str] = []
    calls: list[TextCall] = []
    start = 0
    while len(calls) < MAX_CALLS:
        opened = text.find(_CALL, start)
        if opened < 0:
            break
        said.append(text[start:opened])
        inside = opened + len(_CALL)
        closed = text.find(_CALL_END, inside)
        calls.append(_call(text[inside : closed if closed >= 0 else len(text)]))
        start = len(text) if closed < 0 else closed + len(_CALL_END)
    return ("\n".join((*said, text[start:])) if said else text), calls


def _call(body: str) -> TextCall:
    if len(body) > MAX_TEXT:
        reason = f"a call of {len(body)} characters; at most {MAX_TEXT} are read"
        return {"name": "tool_call", "arguments": body[:500], "parse_error": reason}
    function = _FUNCTION.match(body)
    if function is not None:
        return {"name": function[1], "arguments": _parameters(body)}
    try:
        found = json.loads(body)
    except RecursionError:
        found, reason = None, "nested too deeply"
    except ValueError as error:
        found, reason = None, str(error)
    else:
        reason = "an object with a name and arguments was expected"
    if isinstance(found, dict) and isinstance(found.get("name"), str):
        return {"name": found["name"], "arguments": found.get("arguments", found.get("parameters"))}
    if isinstance(found, dict) and "action_type" in found:
        return {"name": "tool_call", "arguments": found}
    reason = f"the text of a tool_call cannot be read: {reason}"
    return {"name": "tool_call", "arguments": body, "parse_error": reason}


def _parameters(body: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in body.split(_PARAMETER)[1:]:
        name, _, value = part.partition(">")
        value = value.partition(_PARAMETER_END)[0].strip("\n")
        found[name] = _number(value) if name == "confidence" else value
    return found


def _number(text: str) -> Any:
    """All values are text in this form; the one number among our arguments is not."""
    try:
        return float(text)
    except ValueError:
        return text


def shielded(text: str) -> str:
    """JSON of ours in which no string looks like a mark of a thought or a call."""
    if _CALL not in text and _MARK.search(text) is None:
        return text
    # Outside strings, wire actions have neither of the two characters.
    return text.replace("<", "\\u003c").replace("[", "\\u005b")
