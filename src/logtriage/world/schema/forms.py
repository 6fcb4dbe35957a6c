"""The closed forms of figures and texts that a world's files may use; nothing in them is executed.

A figure is a whole number, or a version, that a seed, a service and the figure's key decide.
A text holds bare placeholders such as ``{ms}``: no attributes, no format specifications.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Protocol

import attrs

from logtriage._lib.printable import inert, is_shown
from logtriage.errors import InvalidInput

#: The placeholders that a log line may have, whatever it is about.
LINE_PLACEHOLDERS: Final = ("n", "ms", "fast", "pct", "mb", "bytes", "v", "id", "ip")
#: The placeholders of the frame that a technology puts around a message; it must have ``text``.
TEXT: Final = "text"
LEVEL: Final = "level"
FRAME_PLACEHOLDERS: Final = (TEXT, LEVEL, "trace", "pod", "pid")
#: The placeholder of the service that is called, in topics that name a dependency.
DEPENDENCY: Final = "dep"
#: The placeholder of a fault that is over, as a noun phrase, in other topics.
CAUSE: Final = "cause"
#: The most characters of a text of any kind.
MAX_TEXT: Final = 300
_BRACED: Final = re.compile(r"\{([^{}]*)\}")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


class Source(Protocol):
    """Where the figures of one reading come from; service -1 is the edge."""

    @property
    def level(self) -> "Source":
        """The source of figures as they usually are, without the jitter of a reading."""

    def figure(self, service: int, key: str, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high`` that belongs to a service and a key."""

    def climbing(self, service: int, key: str, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high`` that rises from reading to reading."""

    def requests(self, service: int, key: str, low: int, high: int) -> int:
        """Requests a second: ``low`` to ``high`` at an entry, elsewhere the sum of its callers."""

    def version(self, service: int, key: str) -> str:
        """A version such as ``3.12.4`` that belongs to a service and a key."""


@attrs.frozen
class Range:
    """A whole number in [low, high]."""

    low: int
    high: int


@attrs.frozen
class Climb:
    """A whole number in [low, high] that rises from reading to reading."""

    low: int
    high: int


@attrs.frozen
class Requests:
    """Requests: from ``low`` to ``high`` at an entry, elsewhere the sum of those of its callers."""

    low: int
    high: int


@attrs.frozen
class ScaledRange:
    """The level of another figure times a percentage in [low, high]."""

    of: str
    low: int
    high: int


@attrs.frozen
class Version:
    """A version such as ``3.12.4``, another one for each token."""


Form = Range | Climb | Requests | ScaledRange | Version


@attrs.frozen
class Figure:
    """A named figure. ``key`` names its draw: another key, another figure for every seed."""

    name: str
    form: Form
    key: str


def value_of(
    figures: Mapping[str, Figure], name: str, source: Source, service: int, token: str
) -> int | str:
    """The value of figure ``name`` at a service; a version depends on ``token``, too."""
    figure = figures[name]
    key = figure.key
    match figure.form:
        case Range() as form:
            return source.figure(service, key, form.low, form.high)
        case Climb(low, high):
            return source.climbing(service, key, low, high)
        case Requests(low, high):
            return source.requests(service, key, low, high)
        case ScaledRange(of, low, high):
            whole = int(value_of(figures, of, source.level, service, token))
            return whole * source.figure(service, key, low, high) // 100
        case Version():
            return source.version(service, f"{key} {token}")


@lru_cache(maxsize=8192)
def pieces(text: str) -> tuple[str, ...]:
    """A text split at its placeholders: in turn the text between them, and their names."""
    return tuple(_BRACED.split(text))


def said(
    split: tuple[str, ...], figures: Mapping[str, Figure], source: Source, service: int, token: str
) -> str:
    """The :func:`pieces` of a text with its figures filled in."""
    parts = list(split)
    for place in range(1, len(parts), 2):
        parts[place] = str(value_of(figures, parts[place], source, service, token))
    return "".join(parts)


def placeholders(text: str) -> tuple[str, ...]:
    """The placeholders of a text, in order.

    Raises:
        InvalidInput: for an empty, long or unprintable text, for a mark of chat templates, for a
            brace that belongs to no placeholder, and for a placeholder that is more than a bare
            name.
    """
    if not text or len(text) > MAX_TEXT or not is_shown(text):
        raise InvalidInput(
            f"expected one printable line of 1 to {MAX_TEXT} characters, got {text!a:.80}"
        )
    if inert(text) != text:
        raise InvalidInput(
            f"expected no mark of a chat template, such as <tool_call>, got {text!r:.80}"
        )
    names = tuple(_BRACED.findall(text))
    wrong = [f"{{{name}}}" for name in names if not _NAME.fullmatch(name)]
    if wrong or re.search("[{}]", _BRACED.sub("", text)):
        got = f", got {wrong[0]!r:.40}" if wrong else ""
        raise InvalidInput(
            f"{text!r:.80}: a brace belongs to a bare placeholder such as {{ms}}{got}"
        )
    return names


def check_figures(figures: Mapping[str, Figure]) -> None:
    """Refuse a figure scaled from any other than an existing range or requests.

    So no figure is made from itself, and none takes long to work out.

    Raises:
        InvalidInput: naming the figure.
    """
    plain = [name for name, figure in figures.items() if isinstance(figure.form, Range | Requests)]
    for name, figure in figures.items():
        if isinstance(figure.form, ScaledRange) and figure.form.of not in plain:
            raise InvalidInput(
                f"figures.{name}: cannot be made from {figure.form.of!r}; a range or requests "
                f"can: {', '.join(plain) or 'there is none'}"
            )
