"""The words that numeric agents may report: groups of words, and your own words."""

from collections.abc import Iterable
from typing import Final

from logtriage.topology import Topology
from logtriage.world.model import World

#: The word that reports a benign incident.
NO_FAULT: Final = "no_fault"
#: Groups of words; :func:`words_of_groups` lists the words of each.
WORD_GROUPS: Final = ("kinds", "tokens", "services")


def report_words(world: World) -> tuple[str, ...]:
    """The default words of a role: the fault kinds, and ``no_fault``."""
    return (*world.kind_names, NO_FAULT)


def words_of_groups(words: Iterable[str], topology: Topology, world: World) -> tuple[str, ...]:
    """The words in order, each once, with the words of each group in place of its name."""
    groups = {"kinds": report_words(world), "tokens": world.board_words, "services": topology.names}
    return tuple(
        dict.fromkeys(spelling for word in words for spelling in groups.get(word, (word,)))
    )
