"""The vocabulary of reports by numeric agents: groups of words, and your own words."""

from collections.abc import Iterable
from typing import Final

from logtriage.topology import Topology
from logtriage.world.model import World

#: What a report says if there is nothing to act on.
NO_FAULT: Final = "no_fault"
#: Groups of words; ``services`` stands for the names of the topology's.
WORD_GROUPS: Final = ("kinds", "tokens", "services")


def report_words(world: World) -> tuple[str, ...]:
    """The default words of a role: the fault kinds, and ``no_fault``."""
    return (*world.kind_names, NO_FAULT)


def spelt(words: Iterable[str], topology: Topology, world: World) -> tuple[str, ...]:
    """The words with groups written out, each once, in order."""
    groups = {"kinds": report_words(world), "tokens": world.board_words, "services": topology.names}
    return tuple(
        dict.fromkeys(spelling for word in words for spelling in groups.get(word, (word,)))
    )
