"""``grade_batch`` by kernels: their arguments, and the totals that have no kernel.

Needs the extra ``fast`` (numba).
"""

from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from logtriage.actions import SEVERITIES
from logtriage.grading import triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure
from logtriage.grading.grade import GRID
from logtriage.grading.kernels import DISCOUNTS, GATES
from logtriage.grading.plan import Floats, Plan, Totals, finish_all
from logtriage.grading.row_kernels import (
    BLOCK,
    ROWS,
    SLOTS,
    Answers,
    Facts,
    Letters,
    grade_rows,
)
from logtriage.grading.rubric import Rubric
from logtriage.grading.share_kernels import compiled_shares
from logtriage.grading.shares import Shares, share_levels, unescalated_shares
from logtriage.grading.total_kernels import UNESCALATED, Finish, Sums, total_rows
from logtriage.grading.truths import Truths


def _sums_up(plan: Plan, rubric: Rubric) -> bool:
    """Whether a kernel computes totals: small tables, and not both discounts and decimals."""
    every = (plan.real, *((plan.benign,) if plan.benign else ()))
    small = all(not one.rest and len(one.table) <= np.iinfo(np.uint16).max for one in every)
    return small and not (rubric.discounts and rubric.digits is not None)


def grade_compiled(
    truths: Truths,
    by_time: Ints,
    plan: Plan,
    rubric: Rubric,
    width: int,
    per_tick: int,
    dtype: Any,
) -> tuple[Floats, Facts, int]:
    """Scores and facts of lists of actions (T, N) of type ``dtype``, unsigned.

    The integer is the first incident whose list goes on after its padding, or -1.

    Raises:
        RubricError: for a real fault without a price of silence, where the rubric asks for one.
    """
    count, length = len(truths), len(by_time)
    any_benign = truths.any_benign
    measures = tuple(plan.wanted(any_benign))
    level_type = np.result_type(np.uint8, *(plan.level_types[one] for one in measures))
    facts = Facts(
        np.empty(count, np.int8),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int8),
        np.empty(count, np.uint8),
        np.empty(count, np.uint16),
        np.empty((len(measures), count), level_type),
    )
    answers = _answers(truths, per_tick, dtype)
    accepted = len(answers.roots) + len(answers.pages) + len(answers.remedies)
    index = np.arange(length)
    broken = grade_rows(
        by_time,
        index.astype(dtype),
        (index // per_tick).astype(dtype),
        _letters(truths, dtype),
        answers,
        np.array([SLOTS[one] for one in measures], np.int64),
        np.array([GATES.index(gate.holds) for gate in rubric.gates], np.int64),
        width,
        per_tick,
        np.empty((ROWS + accepted) * BLOCK, dtype),
        facts,
    )
    if broken >= 0:
        return np.empty(0), facts, int(broken)
    if truths.asked is not None or not _sums_up(plan, rubric):
        levels = dict(zip(measures, facts.levels, strict=True))
        return _totals(truths, by_time, plan, rubric, per_tick, facts, levels), facts, -1
    scores = np.empty(count)
    total_rows(
        _sums(plan.real, measures),
        _sums(plan.benign if any_benign else None, measures),
        _finish(rubric, truths, length),
        answers.benign,
        facts,
        np.empty(BLOCK, np.uint16),
        scores,
    )
    return scores, facts, -1


def _totals(
    truths: Truths,
    by_time: Ints,
    plan: Plan,
    rubric: Rubric,
    per_tick: int,
    facts: Facts,
    levels: dict[Measure, Ints],
) -> Floats:
    """The scores (N,) without a kernel for totals; fills in the levels of shares."""
    shares = None
    if truths.asked is not None:
        letters = _letters(truths, by_time.dtype.type)
        played = (by_time != letters.none).sum(axis=0) - facts.unplayed
        shares = compiled_shares(truths.asked, by_time, played, per_tick, letters)
        share_levels(shares, levels)
    scores = plan.real.of(levels)
    if plan.benign is not None and truths.any_benign:
        scores = np.where(truths.benign, plan.benign.of(levels), scores)
    for one in rubric.discounts:
        scores = scores * _left(one.factor, truths, facts, shares)
    if rubric.discounts:
        scores = finish_all(rubric, scores)
    scores[facts.gates >= 0] = 0.0
    return scores


def _left(discount: Any, truths: Truths, facts: Facts, shares: Shares | None) -> Floats:
    """The share (N,) that a discount leaves, 1 where it does not apply."""
    if discount is triage.unapproved:
        powers = _powers(int(facts.unapproved.max(initial=0)))
        return np.where(truths.benign, 1.0, powers.take(facts.unapproved))
    assert discount is triage.unescalated, discount
    left = np.where(truths.benign | (facts.paged != 0), 1.0, truths.silence)
    if shares is not None:
        left[shares.rows] = unescalated_shares(shares, truths.silence)
    return left


def _powers(most: int) -> Floats:
    """The share that 0, 1, ... ``most`` unapproved remedies leave."""
    return np.array([triage.UNAPPROVED_REMEDY**count for count in range(most + 1)])


def _letters(truths: Truths, dtype: Any) -> Letters:
    one = truths.ranges
    numbers = (
        len(SEVERITIES),
        one.root,
        one.root + one.roots,
        one.page,
        one.page + one.pages,
        one.remedy,
        one.remedy + one.remedies,
        one.resolve,
        one.ignore,
        np.iinfo(dtype).max,
    )
    return Letters(*map(dtype, numbers))


#: The answers of truths that are still at hand, by action in a tick and type.
_KNOWN: Final[WeakKeyDictionary[Truths, dict[tuple[int, Any], Answers]]] = WeakKeyDictionary()


def _answers(truths: Truths, per_tick: int, dtype: Any) -> Answers:
    """The answers of truths, made once."""
    known = _KNOWN.setdefault(truths, {})
    if (per_tick, dtype) not in known:
        known[per_tick, dtype] = _made_answers(truths, per_tick, dtype)
    return known[per_tick, dtype]


def _made_answers(truths: Truths, per_tick: int, dtype: Any) -> Answers:
    highest = np.iinfo(dtype).max
    roots, pages, remedies = (
        np.ascontiguousarray(one).astype(dtype, casting="unsafe")
        for one in (truths.accepted_roots, truths.accepted_pages, truths.accepted_remedies)
    )
    return Answers(
        roots,
        pages,
        remedies,
        truths.severity_or_far,
        truths.benign.view(np.uint8),
        truths.ignore_closes.view(np.uint8),
        # A copy, since kernels are compiled anew for arrays that are read-only.
        truths.wrong_page.astype(np.uint8),
        np.minimum(truths.horizon.astype(np.int64) * per_tick, highest).astype(dtype),
        np.minimum(truths.horizon, highest).astype(dtype),
        truths.clock_slot.astype(np.uint16),
    )


def _sums(totals: Totals | None, measures: tuple[Measure, ...]) -> Sums:
    strides = () if totals is None else totals.strides
    return Sums(
        np.array([measures.index(measure) for measure, _, _ in strides], np.int64),
        np.array([stride for _, stride, _ in strides], np.uint16),
        np.empty(0) if totals is None else totals.table,
    )


def _finish(rubric: Rubric, truths: Truths, length: int) -> Finish:
    used = [DISCOUNTS.index(row.factor) for row in rubric.discounts]
    return Finish(
        np.array(used, np.int64),
        truths.silence if UNESCALATED in used else np.empty(0),
        _powers(length),
        *rubric.bounds,
        GRID,
    )
