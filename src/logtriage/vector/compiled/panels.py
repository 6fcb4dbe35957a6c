"""Logarithms in fixed point, and what the edge panel says of severities, row by row."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.belief.fixedpoint import BITS, EXP_BITS, LOST, MANTISSA, NEVER, ONE
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import BeliefState
from logtriage.vector.belief_tables import EDGE_RECOVERED, BeliefTables

#: An integer, Python's or the machine's.
Int = Any
Ints = NDArray[Any]

#: What :attr:`BeliefTables.errors` says of a benign incident.
CALM: Final = 2
#: A fraction's bits are looked up in two halves.
_HALF: Final = BITS // 2
_LOW: Final = (1 << _HALF) - 1
#: Half of a mantissa's bits: squares are taken in two parts, so that they fit 64 bits.
_SPLIT: Final = MANTISSA // 2
_LOW_SPLIT: Final = (1 << _SPLIT) - 1


@kernel
def exp2(down: Int, tables: BeliefTables) -> Int:
    """2 to the power of ``-down``, ``down`` at least 0, as the scalar ``exp2`` of ``-down``."""
    if down >= LOST:
        return np.int64(0)
    fraction = down & (ONE - 1)
    coarse = tables.coarse[np.uint64(fraction >> _HALF)]
    return (coarse * tables.fine[np.uint64(fraction & _LOW)] >> EXP_BITS) >> (down >> BITS)


@kernel
def log2(value: Int) -> Int:
    """As the scalar ``log2``, for whole numbers from 1 on."""
    whole = 0
    left = value
    for step in (32, 16, 8, 4, 2, 1):
        if left >> step > 0:
            left >>= step
            whole += step
    mantissa = (value << max(MANTISSA - whole, 0)) >> max(whole - MANTISSA, 0)
    fraction = np.int64(0)
    for _ in range(BITS):
        high, low = mantissa >> _SPLIT, mantissa & _LOW_SPLIT
        mantissa = high * high + ((2 * high * low + (low * low >> _SPLIT)) >> _SPLIT)
        bit = mantissa >> (MANTISSA + 1)
        mantissa >>= bit
        fraction = fraction << 1 | bit
    return whole * ONE + fraction


@kernel
def log_sum3(a: Int, b: Int, c: Int, tables: BeliefTables) -> Int:
    """The logarithm of a sum of three, given by theirs."""
    highest = max(a, b, c)
    if highest <= NEVER:
        return np.int64(NEVER)
    total = exp2(highest - a, tables) + exp2(highest - b, tables) + exp2(highest - c, tables)
    return highest + log2(total) - EXP_BITS * ONE


@kernel
def panel_terms(row: Int, errors: Int, when: Int, state: BeliefState, tables: BeliefTables) -> Any:
    """The panel's logarithms by severity if the fault was fixed in tick ``when``."""
    a, b, c = tables.severities[0], tables.severities[1], tables.severities[2]
    for start in range(state.panel.shape[1]):
        token = np.int64(state.panel[row, start])
        if token < 0:
            continue
        late = np.int64(start >= tables.severity_from)
        if start > when:
            told = tables.edge[late, token, EDGE_RECOVERED]
            a, b, c = a + told, b + told, c + told
        else:
            a += tables.edge[late, token, 3 * errors]
            b += tables.edge[late, token, 3 * errors + 1]
            c += tables.edge[late, token, 3 * errors + 2]
    return a, b, c


@kernel
def _write_severities(
    rows: Ints, state: BeliefState, tables: BeliefTables, usual: Longs, out: Longs
) -> None:
    for place in range(len(rows)):
        row = rows[place]
        for errors in range(CALM + 1):
            known_when, known = np.int64(-1), (np.int64(0), np.int64(0), np.int64(1))
            for one in range(out.shape[1]):
                if tables.errors[one] != errors:
                    continue
                when = np.int64(state.fixed_at[row, one])
                if errors != CALM and when != known_when:
                    a, b, c = panel_terms(row, errors, when, state, tables)
                    highest = max(a, b, c)
                    known = (usual[0], usual[1], usual[2])
                    if highest > NEVER:
                        known = (
                            exp2(highest - a, tables),
                            exp2(highest - b, tables),
                            exp2(highest - c, tables),
                        )
                    known_when = when
                out[place, one, 0], out[place, one, 1], out[place, one, 2] = known


def severities_of(
    state: BeliefState, tables: BeliefTables, rows: Ints, usual: tuple[int, ...]
) -> Longs:
    """The weights (R, H, 3) of P1, P2 and P3 under each hypothesis; ``usual`` are the prior's."""
    found = np.empty((len(rows), len(tables.prior), 3), np.int64)
    _write_severities(rows, state, tables, np.array(usual, np.int64), found)
    return found
