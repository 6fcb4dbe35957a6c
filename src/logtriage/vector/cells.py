"""Cells of evidence as whole numbers: the layout in which batched beliefs take them.

A cell is five numbers, in the order of :class:`logtriage.world.channels.Evidence`:
channel, service, slot, start, token. The cells of N rows are an array (N, M, 5), with M the most
cells in any row; the channel of an empty place is :data:`NO_CELL`.

| number | is |
|---|---|
| channel | the place in :data:`CHANNELS` |
| service, slot, start | as in ``Evidence`` (service -1: of no service) |
| token of a service's cell | the place in :func:`shown_tokens` of its sort |
| token of the edge panel | the place in ``edge_tokens`` of the world |
| token of an effect | the place in :data:`EFFECTS` |
| token of a note | 0 for no news, else 1 + service x lines + the place in ``lines`` of the world |
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.topology import Topology
from logtriage.world.channels import DOWN, EASES, GAP, NO_CHANGE, NO_NEWS, Channel, Evidence
from logtriage.world.setting import Setting
from logtriage.world.tables import Place, alphabet, places
from logtriage.world.vocabulary import LOG

#: Any number of cells, (…, 5).
Cells = NDArray[np.int16]

#: Every channel; a cell names its own by its place here.
CHANNELS: Final = tuple(Channel)
#: The channel of what is no cell, but fills up a row.
NO_CELL: Final = -1
#: The numbers of a cell, in order.
FIELDS: Final = ("channel", "service", "slot", "start", "token")
#: What became of a remedy.
EFFECTS: Final = (EASES, NO_CHANGE)


def cell_numbers(setting: Setting, topology: Topology, evidence: Sequence[Evidence]) -> Cells:
    """Evidence as numbers (M, 5)."""
    rows = [
        (
            _CHANNEL_PLACE[item.channel],
            item.service,
            item.slot,
            item.start,
            _token_number(setting, topology, item),
        )
        for item in evidence
    ]
    return np.array(rows, np.int16).reshape(len(rows), len(FIELDS))


def shown_tokens(setting: Setting, sort: str, place: Place) -> tuple[str, ...]:
    """The tokens that a reading can show at a place: its alphabet, then a gap, then ``down``."""
    return (*alphabet(setting, sort, place), GAP, DOWN)


def padded(lists: Sequence[Cells]) -> Cells:
    """Lists of cells (M, 5) of different lengths as one array (N, M, 5)."""
    longest = max((len(cells) for cells in lists), default=0)
    whole = np.full((len(lists), longest, len(FIELDS)), NO_CELL, np.int16)
    for row, cells in enumerate(lists):
        whole[row, : len(cells)] = cells
    return whole


_CHANNEL_PLACE: Final = {channel: place for place, channel in enumerate(CHANNELS)}


def _token_number(setting: Setting, topology: Topology, item: Evidence) -> int:
    match item.channel:
        case Channel.EDGE:
            return setting.world.edge_tokens.index(item.token)
        case Channel.EFFECT:
            return EFFECTS.index(item.token)
        case Channel.NOTE:
            if item.token == NO_NEWS:
                return 0
            service, _, token = item.token.partition(":")
            lines = setting.world.lines
            return 1 + int(service) * len(lines) + lines.index(token)
        case _:
            sort = setting.world.sort_of(item.channel, item.slot)
            return _places_in(setting, topology, sort, item.service)[item.token]


@lru_cache(maxsize=4096)
def _places_in(setting: Setting, topology: Topology, sort: str, service: int) -> dict[str, int]:
    tokens = shown_tokens(setting, sort, places(topology)[service])
    return {token: place for place, token in enumerate(tokens)}


@lru_cache(maxsize=32)
def line_places(setting: Setting, topology: Topology) -> NDArray[np.int64]:
    """The number in notes of each log token of each service (n, K), or -1."""
    number = {token: place for place, token in enumerate(setting.world.lines)}
    rows = [
        [number.get(token, -1) for token in alphabet(setting, LOG, place)]
        for place in places(topology)
    ]
    widest = max(map(len, rows))
    return np.array([[*row, *[-1] * (widest - len(row))] for row in rows])
