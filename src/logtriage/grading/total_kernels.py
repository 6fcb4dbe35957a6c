"""The kernel of totals: levels are looked up in the tables of :mod:`logtriage.grading.plan`."""

from typing import Any, Final, NamedTuple

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.grading import triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.kernels import DISCOUNTS
from logtriage.grading.plan import Floats
from logtriage.grading.row_kernels import BLOCK, Facts, Int

_ROWS: Final = np.uint64(BLOCK)
_ZERO: Final = np.uint64(0)
UNESCALATED: Final = DISCOUNTS.index(triage.unescalated)


class Sums(NamedTuple):
    """How levels make a total: their rows, their strides, and the table of totals."""

    rows: Ints
    strides: Ints
    table: Floats


class Finish(NamedTuple):
    """What follows the sum: discounts by number, their factors, bounds, and the grid or none."""

    discounts: Ints
    silence: Floats
    powers: Floats
    low: float
    high: float
    grid: float


@kernel
def _look_up(n: Int, first: Int, sums: Sums, levels: Ints, code: Any) -> None:
    for at in range(n):
        code[at] = 0
    for number in range(np.uint64(len(sums.rows))):
        row, stride = np.uint64(sums.rows[number]), sums.strides[number]
        for at in range(n):
            code[at] += levels[row, first + at] * stride


@kernel
def total_rows(
    real: Sums,
    calm: Sums,
    finish: Finish,
    benign: Any,
    facts: Facts,
    code: Any,
    scores: Floats,
) -> None:
    """The scores (N,), by the same multiplications and roundings as the scalar grader's."""
    count = np.uint64(len(scores))
    for first in range(_ZERO, count, _ROWS):
        n = min(_ROWS, count - first)
        _look_up(n, first, real, facts.levels, code)
        for at in range(n):
            scores[first + at] = real.table[np.uint64(code[at])]
        if len(calm.table) > 0:
            _look_up(n, first, calm, facts.levels, code)
            for at in range(n):
                if benign[first + at] != 0:
                    scores[first + at] = calm.table[np.uint64(code[at])]
        for number in range(len(finish.discounts)):
            if finish.discounts[number] == UNESCALATED:
                for at in range(n):
                    spared = (benign[first + at] != 0) | (facts.paged[first + at] != 0)
                    scores[first + at] *= 1.0 if spared else finish.silence[first + at]
            else:
                for at in range(n):
                    share = finish.powers[np.uint64(facts.unapproved[first + at])]
                    scores[first + at] *= 1.0 if benign[first + at] != 0 else share
        if len(finish.discounts) > 0:
            for at in range(n):
                score = scores[first + at]
                score = score if score > finish.low else finish.low
                score = score if score < finish.high else finish.high
                scores[first + at] = np.rint(score * finish.grid) / finish.grid
        for at in range(n):
            score = scores[first + at]
            scores[first + at] = 0.0 if facts.gates[first + at] >= 0 else score
