"""Spec: logtriage.facts, logtriage.grading.grade; law: property_tests/test_batch_laws.py.

The steps and scores of lists as kernels call them. Needs the extra ``fast`` (numba).
"""

from logtriage._lib.jit import callable_by_kernels
from logtriage.grading.scores import (
    discount_at,
    finished,
    gate_of,
    handed_over,
    levels_of,
    score_row,
    share_at,
    share_left,
)
from logtriage.grading.steps import (
    add_share,
    closing_after,
    counts,
    facts_step,
    move_of,
    response_step,
    untouched,
)

__all__ = [
    "add_share",
    "closing_after",
    "counts",
    "discount_at",
    "facts_step",
    "finished",
    "gate_of",
    "handed_over",
    "levels_of",
    "move_of",
    "response_step",
    "score_row",
    "share_at",
    "share_left",
    "untouched",
]

callable_by_kernels(add_share, closing_after, counts, facts_step, move_of, response_step, untouched)
callable_by_kernels(discount_at, gate_of, finished, handed_over, levels_of, score_row)
callable_by_kernels(share_at, share_left)
