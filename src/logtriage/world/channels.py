"""Where evidence comes from, and what it can be: channels, sorts of cells, tokens.

A *cell* is one place that evidence is read from: a channel, a service, a slot and a tick, which
lies before 0 for what was recorded before the incident. It holds one *token*: a categorical piece
of evidence. What a token is about decides its *sort*: a log line, a gauge, half of a trace. Tokens
are strings; those that name a dependency end in ``:`` and the index of the service.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple


class Channel(StrEnum):
    """Where a piece of evidence comes from."""

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

    ``service`` is an index, -1 for what belongs to no service (edge panel, notes, effects of
    remedies). ``slot`` numbers the lines, gauges or alert rules of one service.
    """

    channel: Channel
    service: int
    slot: int
    start: int
    token: str

    @property
    def cell(self) -> tuple[Channel, int, int, int]:
        """What identifies the cell: shown twice, it is the same evidence."""
        return self[:4]


#: Ticks between two scrapes: what is shown of a service is read anew at each.
SCRAPE: Final = 3
#: Scrapes of the ten minutes before the incident.
SCRAPES_BEFORE: Final = 6
#: The tick of the earliest scrape that anybody sees.
EARLIEST: Final = -SCRAPES_BEFORE * SCRAPE
#: Lines of the window in a tick.
WINDOW_LINES: Final = 3
#: Ticks between a right page and the note of the responders.
NOTE_DELAY: Final = 2

#: ``names:slow_query``: the line names its cause.
NAMES: Final = "names"

#: What a trace says: where the time goes (slot 0), where errors start (slot 1).
SPANS: Final = ("time", "errors")

#: What stands in the cells of a service whose metrics, traces or logs are down for the whole
#: incident. It tells nothing.
DOWN: Final = "down"

#: What a note says that tells nothing, and what became of a remedy.
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
