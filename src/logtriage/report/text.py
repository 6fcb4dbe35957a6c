"""Text for a page: short, and without control characters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from logtriage._lib.printable import spelled

if TYPE_CHECKING:  # it loads NumPy, and a page in a browser has none
    from logtriage.evaluation import Interval

#: The most characters of a model's text that are shown.
SHOWN_TEXT: Final = 600
_KEPT: Final = "\n\t"
NO_FIGURE: Final = "–"
#: A title with more names gives their number.
NAMED: Final = 3


def clean(text: str) -> str:
    """Text with control characters and lone surrogates spelled out; lines stay lines."""
    return spelled(text, _KEPT)


def clip(text: str, limit: int = SHOWN_TEXT) -> str:
    """Text cut to ``limit`` characters; a cut text says how long it was."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … ({len(text)} characters)"


def number(value: float | None, digits: int = 3) -> str:
    """A figure with a fixed number of places; a dash where there is none."""
    if value is None:
        return NO_FIGURE
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def signed(value: float | None, digits: int = 3) -> str:
    """A figure with its sign; ``0`` plain, a dash where there is none."""
    if value is None:
        return NO_FIGURE
    text = number(value, digits)
    if not float(f"{value:.{digits}f}"):
        return "0"
    return text if value < 0 else f"+{text}"


def percent(share: float | None) -> str:
    """A share as a whole percentage; a dash where there is none."""
    return NO_FIGURE if share is None else f"{100 * share:.0f} %"


def interval(estimate: "Interval | None", *, signs: bool = False) -> str:
    """A figure with its interval in brackets; a dash where there is none."""
    if estimate is None:
        return NO_FIGURE
    write = signed if signs else number
    return f"{write(estimate.mean)} [{write(estimate.low)}, {write(estimate.high)}]"


def titled(agents: Sequence[str], tasks: Sequence[str]) -> str:
    """Who played what, by name; if there are more than three, their number."""
    names = ", ".join(agents) if len(agents) <= NAMED else f"{len(agents)} agents"
    return f"{names} on {', '.join(tasks) if len(tasks) <= NAMED else f'{len(tasks)} tasks'}"
