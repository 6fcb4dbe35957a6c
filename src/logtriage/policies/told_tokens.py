"""Evidence in words for reports, so that other roles can count it exactly.

A word is a cell and its token: ``user-db/cpu/3=high`` is the gauge as it was read in tick 3,
``user-db/alert.0/-6=errors`` an alert that fired in tick -6. A report
holds as many words as fit into one line.
"""

from collections.abc import Iterable
from typing import Final

from logtriage.actions import MAX_REPORT
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, EASES, NO_CHANGE, WINDOW_LINES, Channel, Evidence
from logtriage.world.model import World
from logtriage.world.schedule import Doings, edge_starts, scrapes
from logtriage.world.setting import Setting
from logtriage.world.tables import alphabet, places

#: Channels whose cells are named by their slot.
_NUMBERED: Final = {
    channel.value: channel
    for channel in (Channel.ALERT, Channel.LOGS, Channel.OVERVIEW, Channel.WINDOW)
}
#: Channels whose cells are named by their sort.
_BY_SORT: Final = (Channel.METRICS, Channel.TRACES)
_GAP: Final = " "


def spell(cell: Evidence, topology: Topology, world: World) -> str | None:
    """The word for a piece of evidence; None for a note, and if the channel is down."""
    if cell.channel is Channel.NOTE or cell.token == DOWN:
        return None
    if cell.service < 0:
        return f"{cell.channel}.{cell.slot}/{cell.start}={cell.token}"
    name = topology.names[cell.service]
    if cell.channel in _BY_SORT:
        what = world.sort_of(cell.channel, cell.slot)
    elif cell.channel.value in _NUMBERED:
        what = f"{cell.channel}.{cell.slot}"
    else:
        what = str(cell.channel)
    return f"{name}/{what}/{cell.start}={cell.token}"


def said_in(words: Iterable[str]) -> str:
    """A report of as many of these words as fit, in their order."""
    message = ""
    for word in words:
        longer = f"{message}{_GAP}{word}" if message else word
        if len(longer) > MAX_REPORT:
            break
        message = longer
    return message


def read(
    message: str, topology: Topology, setting: Setting, now: int, doings: Doings
) -> tuple[Evidence, ...]:
    """The evidence in a report of tick ``now``; words that are no evidence are passed over.

    ``doings`` are the actions so far: they decide which cells there are.
    """
    cells = (_read(word, topology, setting, now, doings) for word in message.split(_GAP))
    return tuple(cell for cell in cells if cell is not None)


def _read(
    word: str, topology: Topology, setting: Setting, now: int, doings: Doings
) -> Evidence | None:
    """The evidence that a word stands for; None if there is no such cell, or token in it."""
    cell, _, token = word.partition("=")
    where, _, tick = cell.rpartition("/")
    if not tick.removeprefix("-").isdecimal():
        return None
    name, slash, what = where.rpartition("/")
    kind, _, number = what.partition(".")
    world, start = setting.world, int(tick)
    slot = int(number) if number.isdecimal() else 0
    if not slash:
        applied = [when for when, _, _ in doings.remedies[slot : slot + 1]]
        edge = slot == 0 and start in edge_starts(now, doings) and token in world.edge_tokens
        effect = applied == [start - 1] and token in (EASES, NO_CHANGE)
        fits = {Channel.EDGE.value: edge, Channel.EFFECT.value: effect}
        return Evidence(Channel(kind), -1, slot, start, token) if fits.get(kind) else None
    if name not in topology.names:
        return None
    service = topology.index(name)
    by_sort = [
        (channel, place)
        for channel in _BY_SORT
        for place, sort in enumerate(world.slots[channel])
        if sort == kind
    ]
    if by_sort:
        channel, slot = by_sort[0]
    elif kind == Channel.CHANGE.value:
        channel, slot = Channel.CHANGE, 0
    elif kind in _NUMBERED and number.isdecimal():
        channel = _NUMBERED[kind]
    else:
        return None
    alert = world.tokens.alert
    slots = {Channel.ALERT: len(alert.tokens), Channel.WINDOW: WINDOW_LINES}.get(channel, 1)
    if channel not in _BY_SORT and slot >= slots:
        return None
    starts = range(now + 1) if channel is Channel.WINDOW else scrapes(now, doings)
    if start not in starts:
        return None
    if channel is Channel.ALERT:
        if token not in (alert.ordinary, alert.tokens[slot].name):
            return None
    elif token not in alphabet(setting, world.sort_of(channel, slot), places(topology)[service]):
        return None
    return Evidence(channel, service, slot, start, token)
