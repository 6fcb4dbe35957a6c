"""What numeric agents can report: a bounded vocabulary, in groups and in words of one's own."""

from collections.abc import Iterable
from typing import Final

from logtriage.topology import Topology
from logtriage.world.channels import EVERYDAY, GAUGE_TOKENS, LOG_TOKENS, TIER_TOKENS, USUAL
from logtriage.world.faults import FAULT_KINDS

#: What a report says if there is nothing to act on.
NO_FAULT: Final = "no_fault"
#: A fault kind, or that there is none: what roles report if their words are not given.
REPORT_WORDS: Final = (*(kind.name for kind in FAULT_KINDS), NO_FAULT)
#: What is seen of a service, in a word: what a line is about, a gauge that is not as usual.
TOKEN_WORDS: Final = (
    *(token for token in LOG_TOKENS if token != EVERYDAY),
    *(f"{gauge}_{one}" for gauge, tokens in GAUGE_TOKENS.items() for one in tokens if one != USUAL),
    *dict.fromkeys(one for tokens in TIER_TOKENS.values() for one in tokens if one != USUAL),
)
#: Groups of words; ``services`` stands for the names of the topology's.
WORD_GROUPS: Final = ("kinds", "tokens", "services")


def spelt(words: Iterable[str], topology: Topology) -> tuple[str, ...]:
    """The words themselves, with groups written out; each once, in the order given."""
    groups = {"kinds": REPORT_WORDS, "tokens": TOKEN_WORDS, "services": topology.names}
    return tuple(dict.fromkeys(one for word in words for one in groups.get(word, (word,))))
