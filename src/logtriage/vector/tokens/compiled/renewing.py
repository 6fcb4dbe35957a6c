"""Observations brought up to date where what they count has changed."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.vector.compiled.draws import Int

_BYTES: Final = np.uint64(8)
#: Words of eight bytes that are compared at a time: most of what a wide screen counts stays.
_BLOCK: Final = np.uint64(8)
#: Bytes of a block.
BLOCK_BYTES: Final = int(_BLOCK * _BYTES)


@kernel
def _renew_word(first: Int, column: Int, numbers: Any, units: Any, out: Any) -> None:
    """Write eight columns from ``first`` on, which is a ``column`` of its row."""
    width = np.uint64(len(units))
    if column + _BYTES <= width:
        for at in range(_BYTES):
            out[first + at] = np.float32(numbers[first + at]) * units[column + at]
        return
    for at in range(_BYTES):  # the rest of the row, and the beginning of the next
        place = column + at
        place = place - width if place >= width else place
        out[first + at] = np.float32(numbers[first + at]) * units[place]


@kernel
def renew_all(numbers: Any, now: Any, old: Any, units: Any, shown: Any, out: Any) -> None:
    """Bring ``shown``, and what ``out`` makes of it, to the state of ``numbers``.

    All are flat, with rows of more than a block; ``now`` and ``old`` are ``numbers`` and
    ``shown`` by eight bytes, as far as whole blocks of these go.
    """
    width, words = np.uint64(len(units)), np.uint64(len(now))
    column = np.uint64(0)  # of the block's first byte; counted up, since to divide is slow
    for block in range(np.uint64(0), words, _BLOCK):
        differs = np.uint64(0)
        for at in range(_BLOCK):
            differs |= now[block + at] ^ old[block + at]
        if differs != 0:
            for at in range(_BLOCK):
                word = block + at
                if now[word] != old[word]:
                    place = column + at * _BYTES
                    place = place - width if place >= width else place
                    _renew_word(word * _BYTES, place, numbers, units, out)
                    old[word] = now[word]
        column += _BLOCK * _BYTES
        column = column - width if column >= width else column
    for at in range(words * _BYTES, np.uint64(len(numbers))):
        out[at] = np.float32(numbers[at]) * units[at % width]
        shown[at] = numbers[at]
