"""The draws of :mod:`logtriage.rng` for whole arrays: the same bits, with ``uint64``.

NumPy's unsigned arithmetic wraps modulo 2**64, which is what the scalar code masks for.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage.rng import GAMMA_A, GAMMA_B, MASK, MIX_1, MIX_2
from logtriage.rng import mix as mix_one

Bits = NDArray[np.uint64]
Ints = NDArray[np.signedinteger[Any]]
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


def mix(value: Bits) -> Bits:
    """As :func:`logtriage.rng.mix`."""
    return _scramble(value.copy())


def subkey(seeds: Bits, stream: int) -> Bits:
    """As :func:`logtriage.rng.subkey`, for many seeds."""
    return _scramble(seeds + np.uint64(mix_one(stream)))


def offset(a: int = 0, b: int = 0) -> np.uint64:
    """What the counters ``(a, b)`` add to a key."""
    return np.uint64((a * GAMMA_A + b * GAMMA_B) & MASK)


def offsets_a(counters: Any) -> Bits:
    """What many first counters add to a key."""
    return np.asarray(counters).astype(np.int64).astype(np.uint64) * np.uint64(GAMMA_A)


def offsets_b(counters: Any) -> Bits:
    """What many second counters add to a key."""
    return np.asarray(counters).astype(np.int64).astype(np.uint64) * np.uint64(GAMMA_B)


def draw(keys_and_offsets: Bits) -> Bits:
    """The random bits of keys that their counters' offsets were added to; in place."""
    return _scramble(keys_and_offsets)


def below(bits: Bits, n: Any) -> Ints:
    """As :func:`logtriage.rng.below`."""
    return (((bits >> _32) * np.asarray(n).astype(np.uint64)) >> _32).astype(np.int64)


def at(key: Bits, slot: int, index: int = 0) -> Bits:
    """The draws of a slot: (N,)."""
    return draw(key + offset(slot, index))


def each(key: Bits, slot: int, count: int) -> Bits:
    """The draws of a slot for every index below ``count``: (N, count)."""
    return draw((key + offset(slot))[:, None] + offsets_b(np.arange(count)))


def weighted(bits: Bits, weights: Any) -> Ints:
    """As :meth:`logtriage.rng.Draws.weighted`, with weights (N, k) per row."""
    point = below(bits, weights.sum(axis=1))
    passed: Ints = (point[:, None] >= weights.cumsum(axis=1)).sum(axis=1)
    return passed
