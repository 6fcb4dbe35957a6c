"""Text that others wrote, made fit for a page: short, and without control characters."""

from collections.abc import Iterable
from typing import Final

from logtriage._lib.printable import spelled

#: How much of a model's own text is shown.
SHOWN_TEXT: Final = 600
_LABEL: Final = 20
_KEPT: Final = "\n\t"


def clean(text: str) -> str:
    """Text with control characters and lone surrogates spelled out; lines stay lines."""
    return spelled(text, _KEPT)


def clip(text: str, limit: int = SHOWN_TEXT) -> str:
    """Text of at most ``limit`` characters, and how long it was."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … ({len(text)} characters)"


def labels(names: Iterable[str]) -> dict[str, str]:
    """A short label for each name; names that begin alike are numbered."""
    found: dict[str, str] = {}
    for name in names:
        text = spelled(name)
        label = text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
        number = 2
        while label in found.values():
            label = f"{text[: _LABEL - 4]}… {number}"
            number += 1
        found[name] = label
    return found


def number(value: float | None, digits: int = 3) -> str:
    """A figure with a fixed number of places; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def signed(value: float | None, digits: int = 3) -> str:
    """A figure with its sign; ``0`` plain, a dash where there is none."""
    if value is None:
        return "–"
    text = number(value, digits)
    if not float(f"{value:.{digits}f}"):
        return "0"
    return text if value < 0 else f"+{text}"


def percent(share: float | None) -> str:
    """A share as a whole percentage; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.0f} %"
