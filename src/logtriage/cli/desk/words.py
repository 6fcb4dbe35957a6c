"""What can be typed: words, and the names that may follow each."""

from typing import Final

from logtriage.actions import (
    ACTION_TYPES,
    FAULT_CATEGORIES,
    PRICED_ACTION_TYPES,
    RECORDED_ACTION_TYPES,
    SEVERITIES,
)
from logtriage.cli.human import WORDS
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident

_ASKED: Final = ("logs", "metrics", "traces", "cause")
_ALONE: Final = (
    "resolve",
    "ignore",
    "handover",
    "map",
    "undo",
    "help",
    "rules",
    "screen",
    "quit",
)


def completions(typed: str, incident: Incident) -> list[str]:
    """The lines that begin with what was typed, at most one word longer."""
    word, blank, rest = typed.lower().partition(" ")
    topology = incident.topology
    services = (*_ASKED, *topology.remedies, "who")
    if not blank:
        first = ("severity", "page", "class", *services, *_ALONE)
        fitting = (offer for offer in first if word and offer.startswith(word))
        return [word for word in fitting if _offered(word, incident)]
    values: tuple[str, ...] = ()
    if word == "severity":
        values = tuple(map(str, SEVERITIES))
    elif word == "class":
        values = tuple(map(str, FAULT_CATEGORIES))
    elif word == "page":
        values = topology.teams
    elif word in services:
        values = topology.names
    return [f"{word} {value}" for value in values if value.lower().startswith(rest)]


def _offered(word: str, incident: Incident) -> bool:
    """Whether the incident offers the word's action; True for words without an action."""
    kind = "remediate" if word in incident.topology.remedies else WORDS.get(word, word)
    kinds = (*ACTION_TYPES, *RECORDED_ACTION_TYPES, *PRICED_ACTION_TYPES)
    return kind not in kinds or kind in useful_actions(incident)
