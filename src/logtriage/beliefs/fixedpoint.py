"""Logarithms and exponentials in whole numbers: the same on every machine.

Base 2, in units of 2**-20. ``log2`` squares a mantissa bit by bit (the digit-by-digit
method of Knuth, TAOCP volume 1, section 1.2.2, exercise 25); ``exp2`` multiplies two
table entries that are made of integer square roots, for whole arrays.
"""

from functools import lru_cache
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
#: Fraction bits of a logarithm, and of an exponential.
BITS: Final = 20
ONE: Final = 1 << BITS
EXP_BITS: Final = 30
#: Stands for the logarithm of 0: far below any sum of logarithms of weights.
NEVER: Final = -(1 << 44)
#: A hypothesis with a logarithm below this is ruled out: no possible one comes near.
RULED_OUT: Final = NEVER // 2
#: A term that lies this far below the largest term adds nothing to a sum.
LOST: Final = EXP_BITS * ONE
#: Bits of a mantissa below its leading 1.
MANTISSA: Final = 48


@lru_cache(maxsize=1 << 17)
def log2(value: int) -> int:
    """The base-2 logarithm of a whole number, rounded down; :data:`NEVER` for 0."""
    if value <= 0:
        return NEVER
    whole = value.bit_length() - 1
    mantissa = value << MANTISSA >> whole
    fraction = 0
    for _ in range(BITS):
        mantissa = mantissa * mantissa >> MANTISSA
        bit = mantissa >> (MANTISSA + 1)
        mantissa >>= bit
        fraction = fraction << 1 | bit
    return whole * ONE + fraction


#: Bits of a mantissa whose square fits 64, and those of them that index a table.
SHORT: Final = 30
INDEX: Final = 12
#: 1 / ln(2) in units of 2**-30.
PER_E: Final = 1_549_082_005


def log2s(values: Longs) -> Longs:
    """The base-2 logarithms of whole numbers below 2**52, within 2 units of :func:`log2`."""
    # The exponent of a float is exact for such numbers.
    whole = np.frexp(np.maximum(values, 1).astype(np.float64))[1].astype(np.int64) - 1
    down = whole - SHORT
    mantissa = np.where(down > 0, values >> np.maximum(down, 0), values << np.maximum(-down, 0))
    # UPPER holds the logarithm of the upper bits; the rest adds ln(1 + x) = x - x * x / 2.
    upper = mantissa >> (SHORT - INDEX)
    rest = ((mantissa & ((1 << (SHORT - INDEX)) - 1)) << INDEX) // np.maximum(upper, 1)
    rest -= rest * rest >> (SHORT + 1)
    logs = UPPER[upper & ((1 << INDEX) - 1)] + (rest * PER_E >> SHORT)
    return np.where(values > 0, (whole << BITS) + (logs >> (SHORT - BITS)), NEVER)


def _upper_logs() -> Longs:
    """The logarithms of 1 + i / 2**12 in units of 2**-30, bit by bit as in :func:`log2`."""
    mantissa = (np.arange(1 << INDEX, dtype=np.int64) << (SHORT - INDEX)) + (1 << SHORT)
    logs = np.zeros(1 << INDEX, np.int64)
    for _ in range(SHORT):
        mantissa = mantissa * mantissa >> SHORT
        bit = mantissa >> (SHORT + 1)
        mantissa >>= bit
        logs = logs << 1 | bit
    return logs


#: The logarithm of the upper bits of a mantissa.
UPPER: Final = _upper_logs()


def _roots() -> tuple[int, ...]:
    """2**(-1/2), 2**(-1/4), … with 60 fraction bits."""
    roots, value = [], 1 << 59
    for _ in range(BITS):
        value = isqrt(value << 60)
        roots.append(value)
    return tuple(roots)


def _powers(roots: tuple[int, ...]) -> tuple[int, ...]:
    """For each index, the product of the roots at its set bits; the highest bit comes first."""
    rows = []
    for index in range(1 << len(roots)):
        value = 1 << 60
        for place, root in enumerate(roots):
            if index >> (len(roots) - 1 - place) & 1:
                value = value * root >> 60
        rows.append(value >> (60 - EXP_BITS))
    return tuple(rows)


_ROOTS: Final = _roots()
#: 2**-x for the upper and the lower half of the fraction bits of x.
COARSE: Final = np.array(_powers(_ROOTS[: BITS // 2]), np.int64)
FINE: Final = np.array(_powers(_ROOTS[BITS // 2 :]), np.int64)
_LOW: Final = (1 << BITS // 2) - 1


def exp2(values: Longs) -> Longs:
    """2 to the power of ``values``, at most 0 and in units of 2**-20; results are in 2**-30."""
    down = np.negative(values)
    fraction = down & (ONE - 1)
    powers: Longs = COARSE[fraction >> BITS // 2] * FINE[fraction & _LOW]
    powers >>= EXP_BITS
    powers >>= np.where(down >= LOST, EXP_BITS + 1, down >> BITS)  # a shift of 64 is undefined
    return powers


def log_sums(terms: Longs) -> Longs:
    """The logarithm of the sum of 2**term over the first axis of logarithms ``terms``."""
    highest = terms.max(axis=0)
    totals = exp2(terms - highest).sum(axis=0)
    return np.where(highest <= NEVER, NEVER, highest + log2s(totals) - EXP_BITS * ONE)
