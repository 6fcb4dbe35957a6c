"""Incidents drawn row by row, as :mod:`logtriage.drawing.incidents` draws one."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.drawing.incidents import DIRECTORY_STREAM, PRICES_OF_SILENCE, TRUTH_STREAM, Slot
from logtriage.vector.compiled.draws import Int, below, draw, premixed, subkey
from logtriage.vector.tokens.incidents import P3, PRICE_NUMBERS
from logtriage.vector.tokens.tables import OWNER
from logtriage.world.simulation import CONDITION_STREAM

_TRUTH: Final = premixed(TRUTH_STREAM)
_DIRECTORY: Final = premixed(DIRECTORY_STREAM)
_CONDITION: Final = premixed(CONDITION_STREAM)
_TRUTH_SLOT: Final = int(Slot.TRUTH)
_SEVERITY_SLOT: Final = int(Slot.SEVERITY)
_PRICE_SLOT: Final = int(Slot.PRICE)
_PRICES: Final = len(PRICES_OF_SILENCE)
_NUMBERS: Final = tuple(int(one) for one in PRICE_NUMBERS)
_SEVERITIES: Final = len(SEVERITIES)
_P3: Final = int(P3)
_OWNER: Final = int(OWNER)
_LOW: Final = np.uint64(0xFFFFFFFF)
_32: Final = np.uint64(32)
_48: Final = np.uint64(48)


@kernel
def high_product(bits: np.uint64, low: np.uint64, high: np.uint64) -> np.uint64:
    """``bits * whole >> 64``, of a whole number below 2**64, given by its halves."""
    middle = (bits >> _32) * low + ((bits & _LOW) * low >> _32)
    carried = (bits & _LOW) * high + (middle & _LOW)
    return (bits >> _32) * high + (middle >> _32) + (carried >> _32)


@kernel
def _bisected(steps: Any, point: np.uint64) -> Int:
    """How many of the steps a point reaches."""
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        if steps[middle] <= point:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _severity(bits: np.uint64, severities: Any) -> Int:
    point = below(bits, severities.sum())
    rank = 0
    passed = severities[0]
    while point >= passed:
        rank += 1
        passed += severities[rank]
    return rank


@kernel
def draw_rows(
    rows: Any,
    index: Any,
    seeds: Any,
    one: Any,
    tables: Any,
    owners: Any,
    severities: Any,
    total: Any,
) -> None:
    """Draw the incidents ``index`` (R,) with ``seeds`` (R,) into ``rows`` (R,) of ``one``.

    ``owners`` are the teams that may own a service, ``severities`` (3,) weights, ``total``
    (2,) the low and high half of the summed weights of the prior.
    """
    n = one.conditions.shape[1]
    for place in range(len(rows)):
        row, seed = np.uint64(rows[place]), seeds[place]
        one.index[row] = index[place]
        one.seed[row] = seed
        key = subkey(seed, _TRUTH)
        point = high_product(draw(key, _TRUTH_SLOT, 0), total[0], total[1])
        true = np.uint64(_bisected(tables.prior_steps, point))
        one.hypothesis[row] = true
        one.severity[row] = _P3
        if tables.recovers[true]:
            one.severity[row] = _severity(draw(key, _SEVERITY_SLOT, 0), severities)
        public = one.board[row, np.uint64(one.first_public) :]
        public[:] = 0
        public[0] = _NUMBERS[below(draw(key, _PRICE_SLOT, 0), _PRICES)]
        one.team[row] = tables.team[true]
        key = subkey(seed, _DIRECTORY)
        for service in range(n):
            pick = below(draw(key, 0, service), len(owners))
            public[np.uint64(1 + pick * n + service)] = 1
            if service == tables.root[true] and tables.team[true] == _OWNER:
                one.team[row] = owners[pick]
        key = subkey(seed, _CONDITION)
        for service in range(n):
            reached: Int = np.int64(tables.condition_of[true, service])
            if reached < 0:
                bits = np.int64(draw(key, service, 0) >> _48)
                reached = 0
                while tables.unaffected_steps[service, reached] <= bits:
                    reached += 1
            one.conditions[row, service] = reached
