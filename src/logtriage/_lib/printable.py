"""Making text of an agent, a file or a server printable, before anyone reads it.

Unprintable are control characters, line breaks, bidirectional marks and lone surrogates (see
:meth:`str.isprintable`), and characters that show nothing, such as fillers: they can hide a text.
"""

import re
from math import copysign
from typing import Final
from unicodedata import category

#: Characters that Python calls printable, but that nobody sees.
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
#: The opening bracket of a mark that chat templates or tokenizers take for more than text: the
#: beginning of a turn, a call of a tool, its result, a thought, an image.
_MARK: Final = re.compile(
    r"<(?=[|｜]|/?(?:tools?|tool_calls?|tool_response|tool_results?|function(?:_calls?|_results?)?"
    r"|(?:start|end)_(?:of_\w+|function_\w+)|im_(?:start|end)|invoke|parameter|arg_(?:key|value)"
    r"|think(?:ing)?|minimax:\w+)\b|/?(?:s|bos|eos|unk|pad|mask|cls|sep|image|img|audio|video)>|<?/?SYS>"
    # Tokens of code models, SmolLM2 among them, and spare ones.
    r"|(?:fim|issue|jupyter|commit)_\w+>|(?:repo_?name|file_?(?:sep|name)|gh_stars|empty_output)>"
    r"|(?:unused|extra_id_|ctrl)\d+>)"
    r"|\[(?=/?(?:INST|THINK|ARGS|CALL_ID|SYSTEM_PROMPT|TOOL_\w+|AVAILABLE_TOOLS)\])",
    re.IGNORECASE,
)
#: What replaces the bracket of a mark.
_HARMLESS: Final = {"<": "‹", "[": "⁅"}


def counted(count: int, thing: str, things: str | None = None) -> str:
    """A count with what is counted, in the singular or the plural: ``1 row``, ``1,200 rows``."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def nudged(value: float) -> float:
    """A figure to be formatted: a half goes away from 0, also where a sum misses it by a hair."""
    return value + copysign(1e-6, value)  # a belief's value is off by less


def is_shown(text: str) -> bool:
    """Whether a text is printable, and every character of it can be seen."""
    return text.isprintable() and (text.isascii() or not _UNSEEN.search(text))


def inert(text: str) -> str:
    """The text with unprintable characters :func:`spelled`, and marks :func:`unmarked`.

    The bracket of a chat template's mark is replaced, as in ``‹tool_call>``. So a screen with this
    text neither calls a tool nor ends the turn.
    """
    return unmarked(spelled(text))


def unmarked(text: str) -> str:
    """The text with the brackets of chat templates' marks replaced; its length stays the same."""
    if "<" not in text and "[" not in text:
        return text
    return _MARK.sub(lambda bracket: _HARMLESS[bracket[0]], text)


def spelled(text: str, keep: str = "") -> str:
    r"""The text with unprintable characters spelled out, as in ``\x1b[2J`` or ``\n``.

    Blanks of every width become plain blanks. Characters in ``keep`` stay as they are, such as
    line breaks in a text of several lines. Spelling a text twice changes nothing more.
    """
    if is_shown(text):
        return text
    return "".join(
        character if is_shown(character) or character in keep else _spell(character)
        for character in text
    )


def masked(text: str) -> str:
    """The text with U+FFFD for each unprintable character; of the same length."""
    if is_shown(text):
        return text
    return "".join(
        character if is_shown(character) else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def _spell(character: str) -> str:
    if category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode()
