"""The words of notation: all that screens of a topology can hold, and every action."""

from collections.abc import Iterator

from logtriage.actions import all_actions
from logtriage.drawing.incidents import PRICES_OF_HAND_OVER
from logtriage.parsing import render_action
from logtriage.rendering.notation import HEADINGS, word
from logtriage.state import Closing
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, LINES, NO_NEWS, WINDOW_LINES
from logtriage.world.model import World
from logtriage.world.vocabulary import ALERT, CHANGE, LOG


def words_of_actions(topology: Topology) -> tuple[str, ...]:
    """The one-word form of every action of a single agent, by its canonical integer."""
    actions = all_actions(topology, hand_over=True)
    return tuple(render_action(action, "word") for action in actions)


def words_of_screens(world: World, topology: Topology, horizon: int) -> tuple[str, ...]:
    """Every word that a screen can hold, each once; reports and reasons have words of their own."""
    return tuple(dict.fromkeys(_words(world, topology, horizon)))


def _words(world: World, topology: Topology, horizon: int) -> Iterator[str]:
    yield from (f"{tick}/{horizon}" for tick in range(horizon + 1))
    yield from (f"c{price:g}" for price in PRICES_OF_HAND_OVER)
    yield from (f"@{tick}" for tick in range(horizon + 1))
    yield from (f"*{count}" for count in range(2, max(WINDOW_LINES, LINES) + 1))
    yield from (f"{heading}:" for heading in HEADINGS)
    yield from (*map(str, Closing), DOWN, NO_NEWS)
    yield from (f"{errors}/{p99}" for errors in world.bands for p99 in world.bands)
    for name in topology.names:
        yield from (name, f">{name}")
    for team in topology.teams:
        yield from (team, f"{team}:")
    for kind in world.kind_names:
        yield from (f"={kind}", f"={kind}:")
    for sort, tokens in world.words.items():
        for token in tokens:
            short = word(world, sort, token)
            if sort in (ALERT, CHANGE, LOG):
                yield f"{short}:"
            if sort not in (ALERT, CHANGE):
                yield short
    yield from (f"{measured}?" for measured in (*world.gauges, *world.spans))
    for remedy in topology.remedies:
        yield from (f"{remedy}:{name}" for name in topology.names)
