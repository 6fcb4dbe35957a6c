"""Read tool calls from the text of a reply. Each model writes marks of its own around them.

A server turns the marks into tool calls; a server without a parser for the model leaves them in
the text. :data:`EXTENTS` holds the marks that open and close a call, :data:`BODIES` the readers of
the text between (the body). Any body may stand in any marks: models are tuned from one another.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from logtriage._lib.jsonvalues import absent
from logtriage.parsing.tools import ARGUMENTS

#: Longer texts are refused unread, so that reading time is bounded. Thoughts do not count.
MAX_TEXT: Final = 200_000
MAX_CALLS: Final = 100
#: Sections of calls may be nested this deep.
_DEEPEST: Final = 3
_MAX_PYTHON: Final = 2_000  # characters of calls in Python
#: Stands in a text for each call or action that was read and cut out.
ANSWER: Final = "\0"

#: A call in a text: ``name`` and ``arguments``, and ``parse_error`` if it could not be read.
TextCall = dict[str, Any]


class Extent(NamedTuple):
    """The marks (regular expressions) around a call; the end of the text also ends it."""

    models: str
    opened: str
    closed: str


_TAG: Final = r"(?:[\w.-]{1,20}[:_])?(?:tool_?calls?|function_calls?)"
EXTENTS: Final = (
    Extent("Qwen, Hermes, GLM, MiniMax, Seed, Nemotron, Jamba, Olmo", f"<{_TAG}>", f"</{_TAG}>"),
    Extent("Qwen's coders, Llama, Functionary", r"<(?=function=)", r"</function>"),
    Extent(
        "Claude, MiniMax, Step, DeepSeek's DSML",
        r"<(?=(?:\w{1,20}:|｜DSML｜)?invoke\s)",
        r"</(?:\w{1,20}:|｜DSML｜)?invoke>",
    ),
    Extent(
        "Kimi, DeepSeek, LFM",
        r"<[|｜]tool[_▁]call[_▁](?:begin|start)[|｜]>",
        r"<[|｜]tool[_▁]call[_▁]end[|｜]>",
    ),
    Extent("Granite, Phi", r"<\|tool_call\|>", r"<\|/tool_call\|>"),
    Extent("Mistral", r"\[TOOL_CALLS\]", r"(?=\[TOOL_CALLS\])|</s>"),
    Extent("Llama", r"<\|python_(?:tag|start)\|>", r"<\|(?:eom_id|eot_id|python_end)\|>"),
    Extent("InternLM", r"<\|action_start\|>(?:\s*<\|\w{1,20}\|>)?", r"<\|action_end\|>"),
    Extent("Command", r"<\|START_ACTION\|>", r"<\|END_ACTION\|>"),
    Extent("Apertus", r"<\|tools_prefix\|>", r"<\|tools_suffix\|>"),
    Extent("Phi, FireFunction", r"functools(?=\[)", r"(?!)"),  # never closed
    Extent("Gemma", r"```tool_(?:code|calls?)\n", r"```"),
    Extent(  # gpt-oss names the tool in the header; marks may be lost on the way
        "gpt-oss (Harmony)",
        r"\bto=(?P<head>[\w.-]{1,80})(?:<\|channel\|>\w{1,20})?[ \w]{0,20}"
        r"(?:<\|constrain\|>[ \w]{0,20})?(?:<\|message\|>|(?<=json)\s{0,9}(?=\{))",
        r"<\|(?:call|end|return|start|channel)\|>",
    ),
)
#: Group n is the n-th extent's, and ``lastindex`` of a match is that n: only the last extent has a
#: group of its own inside, which closes before the extent's.
OPENED: Final = re.compile("|".join(f"({extent.opened})" for extent in EXTENTS), re.IGNORECASE)
_CLOSED: Final = tuple(re.compile(extent.closed, re.IGNORECASE) for extent in EXTENTS)


def without_calls(text: str) -> tuple[str, list[TextCall]]:
    """Return the text with :data:`ANSWER` in place of each marked call, and the calls.

    Thoughts are cut already. The last call may lack its closing mark, since servers cut there. A
    text that consists of calls alone, in JSON or Python, needs no marks.
    """
    text = text.replace(ANSWER, " ")
    prose, calls = _marked(text)
    if not calls and len(text) <= MAX_TEXT and (bare := _bare(text)):
        return ANSWER, bare
    return f"\n{ANSWER}\n".join(prose), calls


def _marked(text: str, depth: int = 1) -> tuple[list[str], list[TextCall]]:
    """Return the texts between marked calls, and the calls. ``depth`` 1 is outside any section."""
    prose: list[str] = []
    calls: list[TextCall] = []
    start = 0
    while len(calls) < MAX_CALLS:
        opened = OPENED.search(text, start)
        if opened is None:
            break
        assert opened.lastindex is not None
        prose.append(text[start : opened.start()])
        closed = _CLOSED[opened.lastindex - 1].search(text, opened.end())
        end, start = (len(text), len(text)) if closed is None else closed.span()
        body = text[opened.end() : end]
        if opened["head"] is not None:  # it has the tool's name
            body = f"{opened['head']} {body}"
        calls += _calls(body, depth)
    return [*prose, text[start:]], calls


def _calls(body: str, depth: int) -> list[TextCall]:
    """The calls in a body or in its section; at least one, which may be unreadable."""
    if len(body) > MAX_TEXT:
        reason = f"a call of {len(body)} characters; at most {MAX_TEXT} are read"
        return [_unreadable(body[:500], reason)]
    _, inner = _marked(body, depth + 1) if depth < _DEEPEST else ([], [])
    if inner:
        return inner
    for read in BODIES:
        if calls := read(body):
            return calls
    try:
        json.loads(_unfenced(body))
    except RecursionError:
        reason = "nested too deeply"
    except ValueError as error:
        reason = str(error)
    else:
        reason = "an object with a name and arguments was expected"
    return [_unreadable(body, f"the text of a tool_call cannot be read: {reason}")]


def _unreadable(body: str, reason: str) -> TextCall:
    return {"name": "tool_call", "arguments": body, "parse_error": reason}


def _bare(text: str) -> list[TextCall]:
    """The calls of a text that consists of calls without marks; none in any other text."""
    return _json_calls(text, strict=True) or [
        call for call in _python_calls(text) if call["name"] in ARGUMENTS
    ]


_INVOKE: Final = re.compile(r"invoke\s+name=[\"']?([\w.:-]{1,80})[\"']?[^<>]{0,40}>")
_KEY: Final = re.compile(r"parameter\s+name=[\"']?([\w.-]{1,80})[\"']?[^<>]{0,40}>")
_FUNCTION: Final = re.compile(r"\s*<?function=([^<>\s]{1,80})>")
_PARAMETER: Final = re.compile(r"<parameter=([^<>\s]{1,80})>")
_PAIRED: Final = re.compile(r"\s*([\w.:-]{1,80})\s*(?:<tool_sep>\s*)?(?=<(?:\w{1,20}_)?arg_key>)")
_ARGUMENT: Final = re.compile(r"<(?:\w{1,20}_)?arg_key>([^<>]{1,80})</(?:\w{1,20}_)?arg_key>")
_VALUE: Final = re.compile(r"<(?:\w{1,20}_)?arg_value>")
_SEPARATED: Final = r"(?:<[|｜]?tool[_▁](?:sep|call[_▁]argument[_▁]begin)[|｜]?>|\[ARGS\])"
#: A name, and its arguments in JSON.
_NAMED: Final = re.compile(
    rf"\s*(?:function\s*{_SEPARATED})?\s*([\w.-]{{1,80}})(?::\d{{1,6}})?\s*"
    rf"(?:\[CALL_ID\][\w-]{{0,40}}\s*)?(?:{_SEPARATED})?\s*(?:```(?:json)?)?\s*(\{{.*\}}|)\s*"
    r"(?:```)?\s*",
    re.DOTALL,
)
_JSON: Final = json.JSONDecoder()


def _parts(mark: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    """(name in the mark, text up to the next mark) for each mark in a text."""
    _, *parts = mark.split(text)
    return zip(parts[::2], parts[1::2], strict=True)


def _invokes(body: str) -> list[TextCall]:
    """``<invoke name="…"> <parameter name="…">…</parameter> … </invoke>``."""
    return [_texts(name, _parts(_KEY, inside)) for name, inside in _parts(_INVOKE, body)]


def _functions(body: str) -> list[TextCall]:
    """``<function=NAME> <parameter=KEY> VALUE </parameter> …``, or arguments in JSON."""
    match = _FUNCTION.match(body)
    if match is None:
        return []
    inside = body[match.end() :]
    if inside.lstrip().startswith("{"):
        return [{"name": match[1], "arguments": inside.partition("</function>")[0]}]
    return [_texts(match[1], _parts(_PARAMETER, inside))]


def _pairs(body: str) -> list[TextCall]:
    """``NAME <arg_key>KEY</arg_key> <arg_value>VALUE</arg_value> …``."""
    match = _PAIRED.match(body)
    if match is None:
        return []
    pairs = ((key, _VALUE.split(inside)[-1]) for key, inside in _parts(_ARGUMENT, body))
    return [_texts(match[1], pairs)]


def _texts(name: str, pairs: Iterable[tuple[str, str]]) -> TextCall:
    """A call of (key, text up to the next key) pairs; a value ends at the mark that closes it."""
    arguments: dict[str, Any] = {
        key.strip(): value.partition("</")[0].strip("\n") for key, value in pairs
    }
    for key, number in (("confidence", float), ("ticks", int)):
        with suppress(KeyError, ValueError):
            arguments[key] = number(arguments[key])
    return {"name": name, "arguments": arguments}


def _json_calls(body: str, *, strict: bool = False) -> list[TextCall]:
    """Calls as JSON objects; none if any object is no call (``strict``: or lacks arguments)."""
    calls: list[TextCall] = []
    for value in _json_values(_unfenced(body)):
        for item in value if isinstance(value, list) else [value]:
            call = _call(item, strict=strict)
            if call is None:
                return []
            calls.append(call)
    return calls


def _json_values(text: str) -> Iterator[Any]:
    """The JSON values that make up a text; where a part is not JSON, None ends them."""
    at, end = 0, len(text.rstrip())
    while at < end:
        if text[at] in " \t\r\n;,":
            at += 1
            continue
        try:
            value, at = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, at = None, end
        yield value


def _call(value: Any, *, strict: bool) -> TextCall | None:
    """The call in a JSON value; None if it holds none (``strict``: or none with arguments)."""
    if not isinstance(value, Mapping):
        return None
    if "action_type" in value:
        return None if strict else {"name": "tool_call", "arguments": dict(value)}
    inner = value.get("function")
    if isinstance(inner, Mapping):
        value = inner
    names = (value.get(key) for key in ("name", "tool_name", "function"))
    name = next((name for name in names if isinstance(name, str)), None)
    if name is None and len(value) == 1:  # Apertus: {"NAME": {…}}
        name, arguments = next(iter(value.items()))
        return {"name": name, "arguments": arguments} if name in ARGUMENTS else None
    keys = ("arguments", "parameters", "args", "input")
    passed = next((value[key] for key in keys if not absent(value.get(key))), None)
    if name is None or (strict and passed is None):
        return None
    return {"name": name, "arguments": passed}


def _named(body: str) -> list[TextCall]:
    """A tool's name, then its arguments in JSON. Only a known tool may lack arguments."""
    match = _NAMED.fullmatch(body)
    if match is None:
        return []
    name, arguments = match[1], match[2].strip()
    if not arguments.startswith("{") and name.rpartition(".")[2] not in ARGUMENTS:
        return []
    return [{"name": name, "arguments": arguments}]


def _python_calls(body: str) -> list[TextCall]:
    """``[name(key="value"), …]``, or one call."""
    text = _unfenced(body).strip()
    if len(text) > _MAX_PYTHON or not text.endswith((")", "]")):
        return []
    try:
        tree = ast.parse(text, mode="eval").body
        nodes = tree.elts if isinstance(tree, ast.List) else [tree]
        return [_python_call(node) for node in nodes]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _python_call(node: ast.expr) -> TextCall:
    """The call in an expression; ValueError if it is none, or an argument is no literal."""
    if not isinstance(node, ast.Call):
        raise ValueError("no call")
    name = ast.unparse(node.func)
    if name == "print" and len(node.args) == 1:
        return _python_call(node.args[0])
    places = ARGUMENTS.get(name.rpartition(".")[2], ())
    positional = dict(zip(places, map(ast.literal_eval, node.args), strict=False))
    named = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
    return {"name": name, "arguments": {**positional, **named}}


def _unfenced(text: str) -> str:
    """The lines in a fence of backticks, if nothing stands outside it; else the text as it is."""
    inside = text.strip()
    if inside.startswith("```") and inside.endswith("```") and "\n" in inside:
        return inside.partition("\n")[2].removesuffix("```")
    return text


#: The readers of the text between a call's marks; the first that finds calls counts.
BODIES: Final[tuple[Callable[[str], list[TextCall]], ...]] = (
    _invokes,
    _functions,
    _pairs,
    _json_calls,
    _named,
    _python_calls,
)
