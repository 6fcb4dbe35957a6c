"""What the teacher writes before it acts: what the screen says, and what it suspects.

A small model cannot find cause, owner and remedy in one step. Notes take the steps apart: a
gauge is read where it stands, a suspect is named, its owner is looked up, and what is done
follows from words that stand close by.
"""

from collections.abc import Iterable
from typing import Final

from logtriage.observation import Observation, world_of
from logtriage.policies.expert import HAND_OVER_LEADS, SURE, lead_of, open_suspects
from logtriage.policies.notebook import Notebook
from logtriage.world.channels import SPANS, named_service
from logtriage.world.loading import load_world
from logtriage.world.vocabulary import ALERT, CHANGE

#: Before the suspect, its owner and what is settled.
SUSPECT, OWNER, NOBODY, EASED, FAILED = "suspect", "of", "nobody", "eased", "failed"
UNCHANGED: Final = "unchanged"
NONE: Final = "none"
#: Points by which the suspect leads the next one with another page, and the words for it. From
#: the first on the expert asks no more, from the others it pages where silence is worth that.
LEAD_WORDS: Final = (
    (SURE, "sure"),
    (HAND_OVER_LEADS[0.7], "likely"),
    (HAND_OVER_LEADS[0.5], "maybe"),
)
TORN: Final = "torn"


def note_words() -> tuple[str, ...]:
    """Every word of a note that is no name of a service or a team."""
    world = load_world("oncall")
    every = {
        sort: (ordinary, *(one.name for one in world.sorts[sort] if not one.dependency))
        for sort, ordinary in world.ordinary.items()
    }
    return tuple(
        dict.fromkeys(
            (
                *world.bands,
                *world.gauges,
                *SPANS,
                *(token for sort in (*world.gauges, ALERT) for token in every[sort]),
                *every[CHANGE][1:],
                UNCHANGED,
                *world.kind_names,
                *(one.name for one in world.benign),
                *(token for sort in SPANS for token in every[sort]),
                SUSPECT,
                OWNER,
                NOBODY,
                EASED,
                FAILED,
                *(word for _, word in LEAD_WORDS),
                TORN,
            )
        )
    )


def note(observation: Observation, book: Notebook, place: int = 0) -> str:
    """The words for a screen, and for a suspect by what was seen so far.

    ``place`` is the suspect's among those that are open: 0 for the first one. With fewer it is
    the last.
    """
    words = read_out(observation, book)
    for _, _, helped in observation.effects:
        words.append(EASED if helped else FAILED)
    if not book.eased:
        words += _suspected(observation, book, place)
    return " ".join(words)


def read_out(observation: Observation, book: Notebook) -> list[str]:
    """The words for the worst band so far, and for every reading that was asked for."""
    words = [tuple(world_of(observation).bands)[book.worst or 0]]
    for shown in observation.readings:
        words.append(shown.name)
        for token in shown.tokens:
            dependency = named_service(token)
            words.append(token if dependency is None else observation.topology.names[dependency])
    return words


def _suspected(observation: Observation, book: Notebook, place: int) -> Iterable[str]:
    ranked = open_suspects(observation, book)
    ranked = ranked[place:] or ranked[-1:]
    if not ranked:
        yield NOBODY
        return
    first, lead = ranked[0], lead_of(observation, ranked)
    yield from looked_up(observation, book, first.service)
    remedy, _ = first.remedy or (NONE, "")
    yield from (first.kind, first.team(observation) or NONE, remedy)
    yield next((word for least, word in LEAD_WORDS if lead >= least), TORN)


def looked_up(observation: Observation, book: Notebook, service: str) -> list[str]:
    """The words for a suspected service: its name, its owner, its alert, its change."""
    alert, change = (
        next((one.token for one in signs if one.service == service), nothing)
        for signs, nothing in ((book.alerts, NONE), (book.changes, UNCHANGED))
    )
    place = observation.topology.index(service)
    return [SUSPECT, service, OWNER, observation.directory[place], alert, change]
