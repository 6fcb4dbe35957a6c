"""Where evidence comes from, and what it can be: channels, cells, tokens.

A *cell* is one place on a screen: a channel, a service, a slot and the tick of the reading, which
is negative before the incident. A cell holds one *token*, a string such as ``slow_reads``. The
*sort* of a cell says what its token is about: the logs, the changes, one gauge or one half of a
trace. A token that names a dependency ends in ``:`` and the index of that service.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple


class Channel(StrEnum):
    """The part of a screen that shows a piece of evidence."""

    ALERT = "alert"
    EDGE = "edge"
    WINDOW = "window"
    CHANGE = "change"
    LOGS = "logs"
    OVERVIEW = "overview"
    METRICS = "metrics"
    TRACES = "traces"
    NOTE = "note"
    EFFECT = "effect"


class Evidence(NamedTuple):
    """One cell that was shown, and the token in it.

    ``service`` is an index, -1 for the edge panel, notes and effects of remedies. ``slot`` is the
    place among gauges, trace halves, alert rules, window lines or, for an effect, remedies.
    """

    channel: Channel
    service: int
    slot: int
    start: int
    token: str

    @property
    def cell(self) -> tuple[Channel, int, int, int]:
        """The evidence without its token: equal cells are one piece of evidence."""
        return self[:4]


#: Ticks between two scrapes. Each scrape reads all cells of a service anew.
SCRAPE: Final = 3
#: Scrapes before the incident, about ten minutes.
SCRAPES_BEFORE: Final = 6
#: The tick of the earliest scrape that anybody sees.
EARLIEST: Final = -SCRAPES_BEFORE * SCRAPE
#: Log lines that the window shows in each tick.
WINDOW_LINES: Final = 3
#: Ticks between a right page and the note of the responders.
NOTE_DELAY: Final = 2

#: How the token of a log line begins that names its cause: ``names:slow_query``.
NAMES: Final = "names"

#: The two halves of a trace: where the time goes (slot 0), where errors start (slot 1).
SPANS: Final = ("time", "errors")

#: The token of all metrics, traces or requested logs of a service where these are down for the
#: whole incident. It tells nothing.
DOWN: Final = "down"

#: Tokens of a note without news, of a remedy that fixed a fault, and of any other remedy.
NO_NEWS: Final = "nothing"
EASES: Final = "eases"
NO_CHANGE: Final = "no_change"


def about(token: str, service: int) -> str:
    """The token that names a dependency, such as ``timeout:3``."""
    return f"{token}:{service}"


def about_kind(kind: str) -> str:
    """The token of a line that names a fault kind as its cause."""
    return f"{NAMES}:{kind}"


@lru_cache(maxsize=4096)
def named_service(token: str) -> int | None:
    """The index of the dependency that a token names; None if it names none."""
    name, _, index = token.partition(":")
    return int(index) if index.isdecimal() and name != NAMES else None
