"""The fixed point of :mod:`logtriage.belief.fixedpoint` for whole arrays: the same integers."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage.belief.fixedpoint import BITS, COARSE, EXP_BITS, FINE, LOST, MANTISSA, NEVER, ONE

Longs = NDArray[np.int64]

#: The tables of :func:`logtriage.belief.fixedpoint.exp2`.
COARSE_TABLE: Final = np.array(COARSE, np.int64)
FINE_TABLE: Final = np.array(FINE, np.int64)
HALF: Final = BITS // 2
LOW: Final = (1 << HALF) - 1
#: Half of a mantissa's bits: squares are taken in two parts, so that they fit 64 bits.
SPLIT: Final = MANTISSA // 2


def exp2(down: Any) -> Longs:
    """2 to the power of ``-down``, ``down`` at least 0, as the scalar ``exp2`` of ``-down``."""
    fraction = down & (ONE - 1)
    found: Longs = COARSE_TABLE.take(fraction >> HALF)
    found *= FINE_TABLE.take(fraction & LOW)
    found >>= EXP_BITS
    found >>= np.minimum(down >> BITS, EXP_BITS + 1)
    found *= down < LOST
    return found


def log2(values: Any) -> Longs:
    """As the scalar ``log2``, for whole numbers below 2**62; ``NEVER`` for what is not above 0."""
    whole_numbers = np.asarray(values, np.int64)
    given = np.maximum(whole_numbers, 1)
    # A float's exponent may be one too high where the number is rounded up to a power of 2.
    whole = np.frexp(given.astype(np.float64))[1].astype(np.int64) - 1
    whole -= (np.int64(1) << whole) > given
    mantissa = (given << np.maximum(MANTISSA - whole, 0)) >> np.maximum(whole - MANTISSA, 0)
    fraction = np.zeros_like(mantissa)
    for _ in range(BITS):
        high, low = mantissa >> SPLIT, mantissa & ((1 << SPLIT) - 1)
        mantissa = high * high + ((2 * high * low + (low * low >> SPLIT)) >> SPLIT)
        bit = mantissa >> (MANTISSA + 1)
        mantissa >>= bit
        fraction = fraction << 1 | bit
    found: Longs = np.where(whole_numbers > 0, whole * ONE + fraction, NEVER)
    return found
