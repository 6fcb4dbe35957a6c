"""The draws of :mod:`logtriage.rng` for whole arrays: the same bits, with ``uint64``.

NumPy's unsigned arithmetic wraps modulo 2**64, which is what the scalar code masks for.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage.rng import GAMMA_A, MIX_1, MIX_2
from logtriage.rng import mix as mix_one

Bits = NDArray[np.uint64]
Ints = NDArray[np.signedinteger[Any]]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MIX_1: Final = np.uint64(MIX_1)
_MIX_2: Final = np.uint64(MIX_2)
_27: Final = np.uint64(27)
_30: Final = np.uint64(30)
_31: Final = np.uint64(31)
_32: Final = np.uint64(32)


def _scramble(value: Bits) -> Bits:
    """The finaliser, in place."""
    value ^= value >> _30
    value *= _MIX_1
    value ^= value >> _27
    value *= _MIX_2
    value ^= value >> _31
    return value


def subkey(seeds: Bits, stream: int) -> Bits:
    """As :func:`logtriage.rng.subkey`, for many seeds."""
    return _scramble(seeds + np.uint64(mix_one(stream)))


def offsets_a(counters: Any) -> Bits:
    """What many first counters add to a key."""
    return np.asarray(counters).astype(np.int64).astype(np.uint64) * np.uint64(GAMMA_A)


def draw(keys_and_offsets: Bits) -> Bits:
    """The random bits of keys that their counters' offsets were added to; in place."""
    return _scramble(keys_and_offsets)


def below(bits: Bits, n: Any) -> Ints:
    """As :func:`logtriage.rng.below`."""
    return (((bits >> _32) * np.asarray(n).astype(np.uint64)) >> _32).astype(np.int64)


def stacked(tables: Sequence[Any], fill: Any = 0) -> NDArray[Any]:
    """One table of each of W worlds as (W, …), those that are smaller filled up at their ends."""
    arrays = [np.asarray(one) for one in tables]
    shape = np.max([one.shape for one in arrays], axis=0, initial=0).astype(int)
    found = np.full((len(arrays), *shape), fill, arrays[0].dtype)
    for number, one in enumerate(arrays):
        corner: Any = (number, *map(slice, one.shape))
        found[corner] = one
    found.setflags(write=False)
    return found
