"""The words of a fitted world: log topics, and the gauge of the network."""

from types import MappingProxyType
from typing import Final

import attrs

from logtriage.world.model import World
from logtriage.world.schema.forms import Figure, Range
from logtriage.world.schema.parts import Phrasings, Technology, Topic
from logtriage.world.schema.tokens import Gauge, Metric, Reading, Token

#: Users see errors first from this share of own errors on, in per cent.
SHOWS: Final = 50

NETWORK_GAUGE: Final = Gauge(
    name="network",
    ordinary="usual",
    tokens=(Token("high", "slow network"),),
    readings=(
        Reading(
            label="network ms",
            shows=MappingProxyType({"usual": "usual", "high": "high"}),
            metric=Metric("network.delay", "ms"),
        ),
    ),
    figures=MappingProxyType(
        {
            "usual": Figure("usual", Range(1, 5), "network usual"),
            "high": Figure("high", Range(60, 400), "network high"),
        }
    ),
)
#: Lines that are new, more frequent or rarer than in the baseline, by topic.
_LINES: Final = {
    "exceptions": ("~new error", "ERROR", "a kind of error that is new"),
    "risen": ("~risen", "WARN", "a complaint that is more frequent than usual"),
    "vanished": ("~vanished", "INFO", "work as usual, in fewer requests than before"),
}


def topics_of(like: World) -> tuple[Topic, ...]:
    """The ordinary topic of a world, and those that a recording can show."""
    ordinary = next(topic for topic in like.topics if topic.ordinary)
    tiers = tuple(tier.name for tier in like.rules.tiers)
    return (
        attrs.evolve(ordinary, order=0),
        *(
            Topic(name, order, tiers, word, phrasings=phrasings(level, text))
            for order, (name, (word, level, text)) in enumerate(_LINES.items(), start=1)
        ),
    )


def technologies_of(like: World, topics: tuple[Topic, ...]) -> tuple[Technology, ...]:
    """The technologies of a world, which word the ordinary topic alone."""
    ordinary = {topic.name for topic in topics if topic.ordinary}
    return tuple(
        attrs.evolve(
            row, topics={name: row.topics[name] for name in row.topics if name in ordinary}
        )
        for row in like.technologies
    )


def phrasings(level: str, text: str) -> Phrasings:
    """A line in the three groups of phrasings."""
    train, test, ood = worded(text)
    return Phrasings(((level, train),), ((level, test),), ((level, ood),))


def worded(text: str) -> tuple[str, str, str]:
    """A text in three wordings, since no text may stand in two groups of phrasings."""
    return text, f"{text}, seen", f"{text}, noted"
