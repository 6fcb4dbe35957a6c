"""The draws of :mod:`logtriage.rng`, one at a time, in machine integers."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.rng import GAMMA_A, GAMMA_B, MIX_1, MIX_2, mix

#: An integer, Python's or the machine's.
Int = Any

_A: Final = np.uint64(GAMMA_A)
_B: Final = np.uint64(GAMMA_B)
_MIX_1: Final = np.uint64(MIX_1)
_MIX_2: Final = np.uint64(MIX_2)
_27: Final = np.uint64(27)
_30: Final = np.uint64(30)
_31: Final = np.uint64(31)
_32: Final = np.uint64(32)


def premixed(stream: int) -> np.uint64:
    """A stream as :func:`subkey` takes it: mixed beforehand."""
    return np.uint64(mix(stream))


@kernel
def scrambled(value: np.uint64) -> np.uint64:
    """The value as :func:`logtriage.rng.mix` mixes it."""
    value = (value ^ (value >> _30)) * _MIX_1
    value = (value ^ (value >> _27)) * _MIX_2
    return value ^ (value >> _31)


@kernel
def subkey(seed: np.uint64, stream: np.uint64) -> np.uint64:
    """:func:`logtriage.rng.subkey` for a stream that is :func:`premixed`."""
    return scrambled(seed + stream)


@kernel
def draw(key: np.uint64, a: Int, b: Int) -> np.uint64:
    """64 random bits, as :func:`logtriage.rng.draw`."""
    return scrambled(key + np.uint64(a) * _A + np.uint64(b) * _B)


@kernel
def below(bits: np.uint64, n: Int) -> Int:
    """The number below ``n`` that 64 random bits pick, as :func:`logtriage.rng.below`."""
    return np.int64(((bits >> _32) * np.uint64(n)) >> _32)


@kernel
def _write_chances(
    seeds: Any, first: np.uint64, second: np.uint64, ticks: Any, percent: Int, out: Any
) -> None:
    for row in range(len(out)):
        key = subkey(subkey(seeds[row], first), second)
        out[row] = below(draw(key, ticks[row], 0), 100) < percent


def chances(
    seeds: NDArray[np.uint64], streams: tuple[int, int], ticks: NDArray[Any], percent: int
) -> NDArray[np.bool_]:
    """Whether an event of ``percent`` per cent happens in each row (R,), by its seed and tick."""
    happens = np.empty(len(seeds), np.bool_)
    _write_chances(seeds, premixed(streams[0]), premixed(streams[1]), ticks, percent, happens)
    return happens
