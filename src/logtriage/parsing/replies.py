"""Cut the thoughts from a model's reply, and read the calls in the rest.

Models that reason write their thoughts in front of the answer, and a server without a
parser for them passes both on. An action within a thought does not count.
"""

import re
from bisect import bisect_left
from typing import Final

from logtriage.parsing.marks import ANSWER, OPENED, TextCall, without_calls

MAX_THOUGHTS: Final = 1_000
#: Why a reply that ends within a thought is no action.
ENDED_THINKING: Final = "the reply ended while thinking"

_NAME: Final = (
    r"think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad"
    r"|(?:inner|internal)[_-](?:monologue|thoughts?)"
)
#: Marks that open and close a thought, by their shape. A closing mark has an ``_end`` group; it
#: closes a thought of the same shape and name.
_MARK: Final = re.compile(
    # <think>, <THINK>, <thought>, <seed:think>, <think effort="high">
    rf"<[ \t]{{0,4}}(?P<tag_end>/?)[ \t]{{0,4}}(?:[\w.-]{{1,40}}:)?(?P<tag>{_NAME})"
    rf"(?:\s[^<>]{{0,200}})?(?<!/)>"
    # Mistral's [THINK], Kimi's ◁think▷
    rf"|\[(?P<square_end>/?)(?P<square>(?-i:THINK))\]"
    rf"|◁(?P<arrow_end>/?)(?P<arrow>{_NAME})▷"
    # <|begin_of_thought|>, Cohere's <|START_THINKING|>, <|think|>
    rf"|<[|｜](?:(?P<bar_end>/|end[_▁](?:of[_▁])?)|(?:begin|start)[_▁](?:of[_▁])?)?"
    rf"(?P<bar>{_NAME})[|｜]>"
    # <|inner_prefix|> of Apertus, <unused94> and <|channel>thought of Gemma's
    r"|<\|(?P<inner>inner)_(?:prefix|(?P<inner_end>suffix))\|>"
    r"|<(?P<unused>unused)(?:94|(?P<unused_end>95))>"
    r"|<(?P<gemma>)(?:\|channel>thought|(?P<gemma_end>channel\|>))"
    # Harmony's <|channel|>analysis: any channel but final, commentary, and those to a tool
    r"|(?P<harmony><\|channel\|>)(?![ \t]{0,4}(?:final|commentary)\b|[ \t]{0,4}\w{1,20} to=)",
    re.IGNORECASE,
)
_SHAPES: Final = ("tag", "square", "arrow", "bar", "inner", "unused", "gemma")
#: Marks that end a channel of Harmony's; the next channel does, too.
_CHANNEL_END: Final = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
#: Marks with the shape of a thought's mark, whatever their name.
_ODD: Final = re.compile(
    r"<(?P<end>/?)(?P<tag>[A-Za-z][\w.:-]{0,60})"
    r"(?:\s{1,9}[\w:-]{1,40}\s?=\s?(?:\"[^\"<>]{0,99}\"|'[^'<>]{0,99}'|[^\s\"'<>]{1,99})){0,5}"
    r"\s{0,9}(?<!/)>"
    r"|<[|｜](?P<bar>[^<>|｜\n]{1,60})[|｜]>|<\|(?P<left>\w{1,60})>|<(?P<right>\w{1,60})\|>"
    r"|◁(?P<arrow>[^◁▷\n]{1,60})▷|\[/(?P<square>[A-Za-z]\w{0,60})\]"
)
_ODD_SHAPES: Final = ("tag", "bar", "left", "right", "arrow", "square")
#: Names of marks that set no thought apart: they hold answers, style a text, are placeholders, or
#: belong to a chat template.
_HARMLESS: Final = re.compile(
    r"(?:final_?)?answer|final|actions?|output|response|result|solution|json|arguments|parameter"
    r"|invoke|call|command|(?:tool|function)(?:_calls?)?(?:_section|_argument)?(?:_begin|_end)?"
    r"|a|b|i|u|em|strong|br|hr|p|code|pre|kbd|ul|ol|li|span|div|table|tr|td|th|h[1-6]"
    r"|service|remedy|team|severity|value|caller|callee"
    r"|s|bos|eos|pad|inst|message|channel|constrain|return|assistant|user|system|model|python_tag"
    r"|chatbot_token|(?:im_)?(?:start|end|sep)|(?:start|end)_header_id|eo[tm]_id|endoftext"
    r"|(?:start|end)_(?:response|action|text)"
    r"|(?:begin|start|end)_of_(?:text|sentence|solution|box|turn)(?:_token)?"
)


def spoken(text: str) -> tuple[str, str | None]:
    """Return the reply without its thoughts and None; or the whole reply and why it is unreadable.

    A thought ends at the first mark that closes it. A closing mark without an opening one ends a
    thought that the prompt opened: all text before the mark is thought.
    """
    parts: list[str] = []
    start = 0
    for _ in range(MAX_THOUGHTS + 1):
        mark = _MARK.search(text, start)
        if mark is None:
            return "\n".join(filter(None, (*parts, text[start:]))), None
        if any(mark[f"{shape}_end"] for shape in _SHAPES):
            parts.clear()
            start = mark.end()
            continue
        parts.append(text[start : mark.start()])
        closed = _end_of(text, mark)
        if closed is None:
            return text, ENDED_THINKING
        start = closed
    return text, f"more than {MAX_THOUGHTS} thoughts in the reply"


def _end_of(text: str, opened: re.Match[str]) -> int | None:
    """The position after the thought that a mark opens; None if the thought never ends."""
    if opened["harmony"] is not None:
        ended = _CHANNEL_END.search(text, opened.end())
        return None if ended is None else ended.start()
    shape = next(name for name in _SHAPES if opened[name] is not None)
    for mark in _MARK.finditer(text, opened.end()):
        if mark[f"{shape}_end"] and mark[shape].lower() == opened[shape].lower():
            return mark.end()
    return None


def odd_mark(text: str) -> str | None:
    """Why an action in the text may be part of a thought; None if no mark suggests that.

    ``text`` has :data:`ANSWER` where its actions were. A mark with an unknown name is suspicious if
    an action stands between it and its partner, after an opening mark that is never closed, or
    before a closing mark that is never opened (the prompt may have opened that thought).
    """
    places = [place for place, letter in enumerate(text) if letter == ANSWER]
    if not places:
        return None
    opened: dict[str, re.Match[str]] = {}
    suspect: list[re.Match[str]] = []
    for mark in _ODD.finditer(text):
        name = next(filter(None, mark.group(*_ODD_SHAPES))).lower()
        if _HARMLESS.fullmatch(name.rpartition(":")[2].replace("▁", "_")):
            continue
        if mark["tag"] is None and mark["square"] is None:
            suspect.append(mark)  # its shape does not tell whether it opens or closes
        elif mark["tag"] is not None and not mark["end"]:
            opened.setdefault(name, mark)
        else:
            begin = opened.pop(name, None)
            since = 0 if begin is None else begin.end()
            actions_between = bisect_left(places, mark.start()) - bisect_left(places, since)
            if actions_between > 0:
                return _suspicion(mark if begin is None else begin)
    for mark in (*suspect, *opened.values()):
        if mark.start() < places[-1]:
            return _suspicion(mark)
    return None


def _suspicion(mark: re.Match[str]) -> str:
    return f"{mark[0][:60]} may set a thought apart, and no action is read beside an unknown mark"


def calls_in(text: str) -> tuple[str, list[TextCall], str | None]:
    """Return the reply without its thoughts, its calls, and why it is unreadable (or None)."""
    answer, wrong = spoken(text)
    if wrong is None:
        prose, calls = without_calls(answer)
        wrong = odd_mark(prose)
    return (answer, calls, None) if wrong is None else (answer, [], wrong)


def shielded(text: str) -> str:
    """The JSON text, escaped so that nothing in it looks like a mark of a thought or a call."""
    if OPENED.search(text) is None and _MARK.search(text) is None:
        return text
    for mark in "<[◁=`":  # wire actions have these characters in strings alone
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text
