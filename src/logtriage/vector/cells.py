"""Cells of evidence as whole numbers: the layout in which batched beliefs take them.

A cell is five numbers, in the order of :class:`logtriage.world.channels.Evidence`:
channel, service, slot, start, token. Many are an array (N, M, 5), M the most of any row;
a channel of :data:`NO_CELL` stands where there is none.

| number | is |
|---|---|
| channel | the place in :data:`CHANNELS` |
| service, slot, start | as in ``Evidence`` (service -1: of no service) |
| token of a service's cell | the place in :func:`logtriage.world.tables.alphabet` of its sort |
| token of the edge panel | the place in :data:`logtriage.world.tables.EDGE_TOKENS` |
| token of an effect | the place in :data:`EFFECTS` |
| token of a note | 0 for no news, else 1 + service x 18 + the place in :data:`LINES` |
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.topology import Topology
from logtriage.world.channels import (
    EASES,
    GAUGES,
    LOG_TOKENS,
    NO_CHANGE,
    NO_NEWS,
    SPANS,
    Channel,
    Evidence,
    sort_of,
)
from logtriage.world.setting import Setting
from logtriage.world.tables import EDGE_TOKENS, alphabet, places

#: Any number of cells, (…, 5).
Cells = NDArray[np.int16]

#: Every channel; a cell names its own by its place here.
CHANNELS: Final = tuple(Channel)
#: The channel of what is no cell, but fills up a row.
NO_CELL: Final = -1
#: The numbers of a cell, in order.
FIELDS: Final = ("channel", "service", "slot", "start", "token")
#: What a service's cell can be about, in the order of the numbers of sorts.
SORTS: Final = ("alert", "change", "window", "log", *GAUGES, *SPANS)
#: What became of a remedy.
EFFECTS: Final = (EASES, NO_CHANGE)
#: What a note can tell of a service.
LINES: Final = tuple(LOG_TOKENS)

_MOST_SLOTS: Final = {Channel.METRICS: len(GAUGES), Channel.TRACES: len(SPANS)}
#: How many slots a channel has whose slots are of different sorts; 0: all are of one.
SLOTS: Final = tuple(_MOST_SLOTS.get(one, 0) for one in CHANNELS)
#: The number of the sort of a channel's first slot; -1: its cells belong to no service.
FIRST_SORT: Final = tuple(
    -1 if one in (Channel.EDGE, Channel.NOTE, Channel.EFFECT) else SORTS.index(sort_of(one, 0))
    for one in CHANNELS
)


class FlatCells(NamedTuple):
    """K cells of many rows, row after row: the row of each, and its five numbers (K,)."""

    row: NDArray[np.int64]
    channel: NDArray[np.int64]
    service: NDArray[np.int64]
    slot: NDArray[np.int64]
    start: NDArray[np.int64]
    token: NDArray[np.int64]


def flattened(cells: Cells) -> FlatCells:
    """The cells of an array (R, M, 5), without what fills up its rows."""
    listed = cells.reshape(-1, len(FIELDS))
    places = np.flatnonzero(listed[:, 0] != NO_CELL)
    numbers = np.ascontiguousarray(listed.take(places, axis=0).T, np.int64)
    return FlatCells(places // max(1, cells.shape[1]), *numbers)


def cell_numbers(setting: Setting, topology: Topology, evidence: Sequence[Evidence]) -> Cells:
    """Evidence as numbers (M, 5)."""
    rows = [
        (
            _CHANNEL_PLACE[one.channel],
            one.service,
            one.slot,
            one.start,
            _token_number(setting, topology, one),
        )
        for one in evidence
    ]
    return np.array(rows, np.int16).reshape(len(rows), len(FIELDS))


def padded(lists: Sequence[Cells]) -> Cells:
    """Lists of cells (M, 5) of different lengths as one array (N, M, 5)."""
    longest = max((len(one) for one in lists), default=0)
    found = np.full((len(lists), longest, len(FIELDS)), NO_CELL, np.int16)
    for row, one in enumerate(lists):
        found[row, : len(one)] = one
    return found


_CHANNEL_PLACE: Final = {one: place for place, one in enumerate(CHANNELS)}


def _token_number(setting: Setting, topology: Topology, one: Evidence) -> int:
    match one.channel:
        case Channel.EDGE:
            return EDGE_TOKENS.index(one.token)
        case Channel.EFFECT:
            return EFFECTS.index(one.token)
        case Channel.NOTE:
            if one.token == NO_NEWS:
                return 0
            service, _, token = one.token.partition(":")
            return 1 + int(service) * len(LINES) + LINES.index(token)
        case _:
            sort = sort_of(one.channel, one.slot)
            return _places_in(setting, topology, sort, one.service)[one.token]


@lru_cache(maxsize=4096)
def _places_in(setting: Setting, topology: Topology, sort: str, service: int) -> dict[str, int]:
    tokens = alphabet(sort, places(topology)[service], setting.fog)
    return {token: place for place, token in enumerate(tokens)}
