"""Foreign text made printable: text of an agent, a file or a server, before anyone reads it.

Control characters move a terminal's cursor, a line break forges the next line of a log, and
bidirectional marks show a text in another order than it has. All of them, and lone
surrogates, are unprintable in the sense of :meth:`str.isprintable`.
"""

from collections.abc import Mapping
from typing import Any
from unicodedata import category


def spelled(text: str, keep: str = "") -> str:
    r"""The text with unprintable characters spelled out, as in ``\x1b[2J`` or ``\n``.

    Blanks of every width become a plain one. Characters in ``keep`` stay as they are:
    line breaks, where a text may have several lines. Spelling a text twice changes nothing more.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep else _spell(character)
        for character in text
    )


def spelled_data(data: Any) -> Any:
    """JSON data with every string in it, and every key, as :func:`spelled` has it."""
    if isinstance(data, str):
        return spelled(data)
    if isinstance(data, Mapping):
        return {spelled(key): spelled_data(value) for key, value in data.items()}
    return [spelled_data(item) for item in data] if isinstance(data, list) else data


def masked(text: str) -> str:
    """The text with U+FFFD for each unprintable character; of the same length."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def _spell(character: str) -> str:
    if category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode()
