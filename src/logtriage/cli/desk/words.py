"""What can be typed: words, and the names that may follow each."""

from typing import Final

from logtriage.actions import REMEDIES, SEVERITIES
from logtriage.topology import Topology

_SERVICES: Final = ("logs", "metrics", "traces", "cause", *REMEDIES, "who")
_ALONE: Final = (
    "resolve",
    "ignore",
    "map",
    "undo",
    "help",
    "rules",
    "screen",
    "quit",
)
#: The first words that can be completed.
FIRST: Final = ("severity", "page", *_SERVICES, *_ALONE)


def completions(typed: str, topology: Topology) -> list[str]:
    """The lines that a typed beginning may become, each one word longer at most."""
    word, blank, rest = typed.lower().partition(" ")
    if not blank:
        return [one for one in FIRST if one.startswith(word)] if word else []
    values: tuple[str, ...] = ()
    if word == "severity":
        values = tuple(map(str, SEVERITIES))
    elif word == "page":
        values = topology.teams
    elif word in _SERVICES:
        values = topology.names
    return [f"{word} {one}" for one in values if one.lower().startswith(rest)]
