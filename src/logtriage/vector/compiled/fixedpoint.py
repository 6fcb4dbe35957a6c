"""The functions of :mod:`logtriage.beliefs.fixedpoint` for kernels, equal to the last unit."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.beliefs.fixedpoint import BITS, EXP_BITS, INDEX, LOST, NEVER, ONE, PER_E, SHORT
from logtriage.vector.belief_tables import INVERSE_BITS, Powers
from logtriage.vector.compiled.draws import Int

#: A fraction's bits are looked up in two halves.
_HALF: Final = BITS // 2
_LOW: Final = (1 << _HALF) - 1
#: The bits of a short mantissa below those that index the table, and their mask.
_REST: Final = SHORT - INDEX
_LOW_REST: Final = (1 << _REST) - 1
_LOW_INDEX: Final = (1 << INDEX) - 1


@kernel
def exp2(down: Int, powers: Powers) -> Int:
    """2 to the power of ``-down`` for ``down`` >= 0, equal to the scalar ``exp2(-down)``."""
    fraction = down & (ONE - 1)
    coarse = np.int64(powers.coarse[np.uint64(fraction >> _HALF)])
    power = coarse * np.int64(powers.fine[np.uint64(fraction & _LOW)]) >> EXP_BITS
    shift = EXP_BITS + 1 if down >= LOST else down >> BITS  # a shift of 64 is undefined
    return power >> shift


@kernel
def log2s(value: Int, powers: Powers) -> Int:
    """The logarithm of a whole number from 2**30 to 2**52, equal to the scalar ``log2s``."""
    # Sums of a few terms, below 2**33, never enter the loop.
    whole = SHORT + np.int64(value >> (SHORT + 1) > 0) + np.int64(value >> (SHORT + 2) > 0)
    while value >> whole > 1:
        whole += 1
    mantissa = value >> (whole - SHORT)
    upper = np.uint64((mantissa >> _REST) & _LOW_INDEX)
    # The product divides by the upper bits, and for numbers below 2**30 it is never one too many.
    rest = ((mantissa & _LOW_REST) << INDEX) * np.int64(powers.inverse[upper]) >> INVERSE_BITS
    rest -= rest * rest >> (SHORT + 1)
    logs = np.int64(powers.upper[upper]) + (rest * PER_E >> SHORT)
    return whole * ONE + (logs >> (SHORT - BITS))


@kernel
def log_sum3(a: Int, b: Int, c: Int, powers: Powers) -> Int:
    """The logarithm of a sum, from the logarithms of its three terms."""
    highest = max(a, b, c)
    if highest <= NEVER:
        return np.int64(NEVER)
    total = exp2(highest - a, powers) + exp2(highest - b, powers) + exp2(highest - c, powers)
    return highest + log2s(total, powers) - EXP_BITS * ONE


@kernel
def log_sum(terms: Any, count: Int, powers: Powers) -> Int:
    """The logarithm of a sum from those of its first ``count`` terms, as ``log_sums``."""
    highest = np.int64(NEVER)
    for place in range(count):
        highest = max(highest, terms[place])
    if highest <= NEVER:
        return np.int64(NEVER)
    total = np.int64(0)
    for place in range(count):
        total += exp2(highest - terms[place], powers)
    return highest + log2s(total, powers) - EXP_BITS * ONE
