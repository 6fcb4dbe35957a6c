"""``grade_batch`` by kernels that Numba compiles: nothing is kept longer than a block.

Here stands what the kernels are given. Needs the extra ``fast`` (numba).
"""

from typing import Any, Final
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from logtriage.actions import SEVERITIES
from logtriage.grading import triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure
from logtriage.grading.grade import GRID
from logtriage.grading.locked import Bools
from logtriage.grading.plan import Floats, Plan, Totals, summed
from logtriage.grading.row_kernels import (
    BLOCK,
    GATE_NUMBERS,
    ROWS,
    SLOTS,
    Answers,
    Facts,
    Letters,
    grade_rows,
)
from logtriage.grading.rubric import Rubric
from logtriage.grading.shares import share_levels
from logtriage.grading.total_kernels import (
    DISCOUNT_NUMBERS,
    UNESCALATED,
    Finish,
    Sums,
    total_rows,
)
from logtriage.grading.truths import Truths


def takes(plan: Plan, rubric: Rubric) -> bool:
    """Whether the kernels can grade by a plan: one table, and rounding that is binary."""
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

    The last is the first incident whose list goes on after its padding, -1 if none does.
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
        np.array([GATE_NUMBERS.index(gate.holds) for gate in rubric.gates], np.int64),
        width,
        per_tick,
        np.empty((ROWS + accepted) * BLOCK, dtype),
        facts,
    )
    scores = np.empty(count)
    if broken < 0 and truths.asked is not None:
        levels = dict(zip(measures, facts.levels, strict=True))
        scores = _shared_scores(truths, by_time, plan, rubric, per_tick, facts, levels)
    elif broken < 0:
        benign = plan.benign if any_benign else None
        total_rows(
            _sums(plan.real, measures),
            _sums(benign, measures),
            _finish(rubric, truths, length),
            answers.benign,
            facts,
            np.empty(BLOCK, np.uint16),
            scores,
        )
    return scores, facts, int(broken)


@attrs.frozen(eq=False)
class _Counted:
    """What discounts read of what the kernels found."""

    truths: Truths
    facts: Facts

    @property
    def silence(self) -> Floats:
        return self.truths.silence

    @property
    def benign(self) -> Bools:
        return self.truths.benign

    @property
    def paged(self) -> Bools:
        return self.facts.paged.view(np.bool_)

    @property
    def unapproved_remedies(self) -> Ints:
        return self.facts.unapproved


def _shared_scores(
    truths: Truths,
    by_time: Ints,
    plan: Plan,
    rubric: Rubric,
    per_tick: int,
    facts: Facts,
    levels: dict[Measure, Ints],
) -> Floats:
    """The scores (N,) where incidents list faults, whose levels are put in place."""
    from logtriage.grading.share_kernels import compiled_shares

    assert truths.asked is not None
    letters = _letters(truths, by_time.dtype.type)
    present = (by_time != letters.none).sum(axis=0)
    shares = compiled_shares(truths.asked, by_time, present - facts.unplayed, per_tick, letters)
    share_levels(shares, levels)
    counted = _Counted(truths, facts)
    scores = summed(plan, rubric, counted, levels, truths.any_benign, shares)
    scores[facts.gates >= 0] = 0.0
    return scores


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
    every = np.ones(len(truths), np.uint8)
    ignorable, strict = truths.ignore_closes, truths.wrong_page_closes
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
        every if ignorable is None else ignorable.view(np.uint8),
        # A copy, since kernels are compiled anew for arrays that are read-only.
        every if strict is None else strict.astype(np.uint8),
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
    used = [DISCOUNT_NUMBERS.index(one.factor) for one in rubric.discounts]
    return Finish(
        np.array(used, np.int64),
        truths.silence if UNESCALATED in used else np.empty(0),
        np.array([triage.UNAPPROVED_REMEDY**one for one in range(length + 1)]),
        *rubric.bounds,
        GRID,
    )
