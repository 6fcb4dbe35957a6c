"""Cells of evidence as whole numbers: the layout in which batched beliefs take them.

A cell is five numbers, in the order of :class:`logtriage.world.channels.Evidence`:
channel, service, slot, start, token. Many are an array (N, M, 5), M the most of any row;
a channel of :data:`NO_CELL` stands where there is none.

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
from typing import Final, NamedTuple

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


def shown_tokens(setting: Setting, sort: str, place: Place) -> tuple[str, ...]:
    """What a reading of a sort can say at a place: its alphabet, then a gap, then ``down``."""
    return (*alphabet(setting, sort, place), GAP, DOWN)


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
            return setting.world.edge_tokens.index(one.token)
        case Channel.EFFECT:
            return EFFECTS.index(one.token)
        case Channel.NOTE:
            if one.token == NO_NEWS:
                return 0
            service, _, token = one.token.partition(":")
            lines = setting.world.lines
            return 1 + int(service) * len(lines) + lines.index(token)
        case _:
            sort = setting.world.sort_of(one.channel, one.slot)
            return _places_in(setting, topology, sort, one.service)[one.token]


@lru_cache(maxsize=4096)
def _places_in(setting: Setting, topology: Topology, sort: str, service: int) -> dict[str, int]:
    tokens = shown_tokens(setting, sort, places(topology)[service])
    return {token: place for place, token in enumerate(tokens)}


@lru_cache(maxsize=32)
def line_places(setting: Setting, topology: Topology) -> NDArray[np.int64]:
    """Where what each service's lines can be about (n, K) stands among what notes tell; or -1."""
    number = {token: place for place, token in enumerate(setting.world.lines)}
    rows = [
        [number.get(token, -1) for token in alphabet(setting, LOG, place)]
        for place in places(topology)
    ]
    widest = max(map(len, rows))
    return np.array([[*row, *[-1] * (widest - len(row))] for row in rows])
