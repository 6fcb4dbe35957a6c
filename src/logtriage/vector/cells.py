"""Cells of evidence (:mod:`logtriage.world.channels`) as whole numbers, for batched beliefs.

A cell is five numbers, in the order of :class:`logtriage.world.channels.Evidence`:
channel, service, slot, start, token. The cells of N rows are an array (N, M, 5), with M the most
cells in any row; the channel of an empty place is :data:`NO_CELL`. A *place* is an index.

| number | is |
|---|---|
| channel | the place in :data:`CHANNELS` |
| service, slot, start | as in ``Evidence``; a note has the service that it is about |
| token of a service's cell | the place in the alphabet of its sort; -1 if the channel is down |
| token of an alert | whether it fires |
| token of the edge panel | the place in ``edge_tokens`` of the world |
| token of an effect | the place in :data:`EFFECTS` |
| token of a note | 0 for no news, else 1 + the place in the alphabet of log lines |

An array may leave out cells of a history (:mod:`logtriage.world.histories`) that follow from its
other cells: it was usual before a usual cell, and a token that it shows stays until a remedy.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.topology import Topology
from logtriage.world.channels import DOWN, EASES, NO_CHANGE, NO_NEWS, Channel, Evidence
from logtriage.world.setting import Setting
from logtriage.world.tables import alphabet, places
from logtriage.world.vocabulary import LOG

#: Any number of cells, (…, 5).
Cells = NDArray[np.int16]

#: Every channel; a cell names its own by its place here.
CHANNELS: Final = tuple(Channel)
#: The channel of places that pad a row and hold no cell.
NO_CELL: Final = -1
#: The numbers of a cell, in order.
FIELDS: Final = ("channel", "service", "slot", "start", "token")
#: The tokens of a remedy's effect.
EFFECTS: Final = (EASES, NO_CHANGE)
#: The token of a cell whose channel is down.
IS_DOWN: Final = -1


def cell_numbers(setting: Setting, topology: Topology, evidence: Sequence[Evidence]) -> Cells:
    """The cells (M, 5) of these M pieces of evidence."""
    rows = [_numbers(setting, topology, item) for item in evidence]
    return np.array(rows, np.int16).reshape(len(rows), len(FIELDS))


def padded(lists: Sequence[Cells]) -> Cells:
    """N lists of cells (M, 5) of different lengths as one array (N, M, 5)."""
    longest = max((len(cells) for cells in lists), default=0)
    whole = np.full((len(lists), longest, len(FIELDS)), NO_CELL, np.int16)
    for row, cells in enumerate(lists):
        whole[row, : len(cells)] = cells
    return whole


_CHANNEL_PLACE: Final = {channel: place for place, channel in enumerate(CHANNELS)}


def _numbers(
    setting: Setting, topology: Topology, item: Evidence
) -> tuple[int, int, int, int, int]:
    """The numbers of one cell, in the order of :data:`FIELDS`."""
    channel, service, slot, start, token = item
    world, number = setting.world, IS_DOWN
    match channel:
        case Channel.EDGE:
            number = world.edge_tokens.index(token)
        case Channel.EFFECT:
            number = EFFECTS.index(token)
        case Channel.ALERT:
            number = int(token != world.tokens.alert.ordinary)
        case Channel.NOTE:
            number = 0
            if token != NO_NEWS:
                about, _, token = token.partition(":")
                service = int(about)
                number = 1 + places_of(setting, topology, LOG, service)[token]
        case _ if token != DOWN:
            number = places_of(setting, topology, world.sort_of(channel, slot), service)[token]
    return _CHANNEL_PLACE[channel], service, slot, start, number


@lru_cache(maxsize=4096)
def places_of(setting: Setting, topology: Topology, sort: str, service: int) -> Mapping[str, int]:
    """The place of each token in the alphabet of a sort at a service."""
    tokens = alphabet(setting, sort, places(topology)[service])
    return {token: place for place, token in enumerate(tokens)}
