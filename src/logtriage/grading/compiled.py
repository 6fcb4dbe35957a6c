"""``grade_batch`` as a kernel that Numba compiles: nothing is kept longer than a block.

Facts are summed up a tick at a time for a block of incidents, in the narrowest type that
holds them, so that the machine takes dozens of incidents at once. Scores are looked up in
the tables of :mod:`logtriage.grading.plan`. Needs the extra ``fast`` (numba).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.grading import criteria, triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure
from logtriage.grading.grade import GRID
from logtriage.grading.kernels import CREDITED, DISMISSED, TRIAGE_CREDITED
from logtriage.grading.plan import Floats, Plan, Totals
from logtriage.grading.played import IGNORED, MISROUTED, OUT_OF_TIME, RESOLVED
from logtriage.grading.rubric import Rubric
from logtriage.grading.truths import Truths
from logtriage.jit import kernel

Int = Any

#: Incidents of a block: what is kept of them stays in a core's nearest cache.
BLOCK: Final = 512
_ROWS: Final = np.uint64(BLOCK)
# What is kept of each incident of a block: where its row of the work array begins.
_ACTION, _END, _ALIVE, _PRESENT, _COUNT, _SEVERITY, _BLAME, _SAID, _PAGED, _FIXED = (
    np.uint64(row * BLOCK) for row in range(10)
)
_MISPAGED, _REMEDIES, _WRONG, _UNAPPROVED, _CLOSER, _ROOT, _PAGE, _REMEDY = (
    np.uint64(row * BLOCK) for row in range(10, 18)
)
_LIMIT, _IGNORABLE, _STRICT, _TICKS, _RESOLVED, _DISMISSED, _HORIZON = (
    np.uint64(row * BLOCK) for row in range(18, 25)
)
#: Behind these, a row for each action that may be accepted.
ROWS: Final = 25
_ACCEPTED: Final = np.uint64(ROWS * BLOCK)

_SEVERITIES: Final = len(SEVERITIES)
_CREDITS: Final = len(CREDITED)
_TRIAGE_CREDITS: Final = len(TRIAGE_CREDITED)
_DISMISSALS: Final = len(DISMISSED)
_ZERO: Final = np.uint64(0)

#: The number of each measure that the kernel takes.
SLOTS: Final[Mapping[Measure, int]] = MappingProxyType(
    {
        one: number
        for number, one in enumerate(
            (
                criteria.severity,
                criteria.root_cause,
                criteria.escalation,
                criteria.remediation,
                criteria.closure,
                criteria.dismissal,
                criteria.benign_closure,
                triage.root_cause,
                triage.remediation,
                triage.closure,
                triage.dismissal,
                triage.benign_closure,
            )
        )
    }
)


class Letters(NamedTuple):
    """Canonical integers of actions, in the type of the work array; ``none`` is its highest."""

    severities: Int
    root: Int
    root_end: Int
    page: Int
    page_end: Int
    remedy: Int
    remedy_end: Int
    resolve: Int
    ignore: Int
    none: Int


class Answers(NamedTuple):
    """What is right, of N incidents: accepted actions (K, N), true severity, rules, limits (N,).

    ``limit`` is how many actions may be played, ``horizon`` in ticks, both cut off at what
    the type of the work array holds; ``horizon_slot`` and ``clock_slot`` number them.
    """

    roots: Ints
    pages: Ints
    remedies: Ints
    severity: Ints
    benign: Ints
    ignorable: Ints
    strict: Ints
    limit: Ints
    horizon: Ints
    horizon_slot: Ints
    clock_slot: Ints


class Facts(NamedTuple):
    """What is written for each of N incidents; ``levels`` (M, N) has a row for each measure."""

    closing: NDArray[np.int8]
    ticks: NDArray[np.int32]
    unplayed: NDArray[np.int32]
    gates: NDArray[np.int8]
    paged: NDArray[np.uint8]
    unapproved: NDArray[np.uint16]
    levels: Ints


@kernel
def _begin(n: Int, first: Int, answers: Answers, none: Int, work: Any) -> None:
    for at in range(n):
        work[_END + at] = 0
        work[_ALIVE + at] = 1
        work[_PRESENT + at] = 0
        work[_COUNT + at] = 0
        work[_SEVERITY + at] = _SEVERITIES
        work[_BLAME + at] = 0
        work[_SAID + at] = none
        work[_PAGED + at] = none
        work[_FIXED + at] = none
        work[_MISPAGED + at] = 0
        work[_REMEDIES + at] = 0
        work[_WRONG + at] = 0
        work[_UNAPPROVED + at] = 0
        work[_CLOSER + at] = none
        work[_ROOT + at] = 0
        work[_PAGE + at] = 0
        work[_REMEDY + at] = 0
    for at in range(n):
        work[_LIMIT + at] = answers.limit[first + at]
    for at in range(n):
        work[_IGNORABLE + at] = answers.ignorable[first + at]
    for at in range(n):
        work[_STRICT + at] = answers.strict[first + at]
    for at in range(n):
        work[_HORIZON + at] = answers.horizon[first + at]
    row = _ACCEPTED
    for table in (answers.roots, answers.pages, answers.remedies):
        for number in range(np.uint64(table.shape[0])):
            for at in range(n):
                work[row + at] = table[number, first + at]
            row += _ROWS


@kernel
def _mark(n: Int, to: Int, row: Int, count: Int, work: Any) -> None:
    """Where the action is among ``count`` accepted ones, which begin at ``row``."""
    if count == 2:
        for at in range(n):
            action = work[_ACTION + at]
            work[to + at] = (action == work[row + at]) | (action == work[row + _ROWS + at])
        return
    for number in range(count):
        for at in range(n):
            found = work[_ACTION + at] == work[row + at]
            work[to + at] = found if number == 0 else (work[to + at] != 0) | found
        row += _ROWS


@kernel
def _play(n: Int, index: Int, tick: Int, one: Letters, work: Any) -> None:
    """Take the action of every incident of the block; ``index`` and ``tick`` are of one type."""
    for at in range(n):
        action = work[_ACTION + at]
        work[_PRESENT + at] += action != one.none
        work[_END + at] = index + 1 if action != one.none else work[_END + at]
        alive = (work[_ALIVE + at] != 0) & (index < work[_LIMIT + at])
        work[_COUNT + at] += alive & (action != one.none)
        known = work[_SEVERITY + at]
        work[_SEVERITY + at] = (
            action if alive & (action < one.severities) & (known == one.severities) else known
        )
        blame = work[_BLAME + at]
        blames = alive & (action >= one.root) & (action < one.root_end) & (blame == 0)
        work[_BLAME + at] = work[_ROOT + at] + 1 if blames else blame
        work[_SAID + at] = tick if blames else work[_SAID + at]
        paged = work[_PAGED + at]
        pages = alive & (action >= one.page) & (action < one.page_end)
        right = work[_PAGE + at] != 0
        wrong_page = pages & (not right)
        work[_MISPAGED + at] |= wrong_page
        applies = alive & (action >= one.remedy) & (action < one.remedy_end)
        fixes = applies & (work[_REMEDY + at] != 0)
        wrong = applies & (work[_REMEDY + at] == 0)
        work[_REMEDIES + at] += applies
        work[_WRONG + at] += wrong
        fixed = work[_FIXED + at]
        work[_FIXED + at] = tick if fixes & (fixed == one.none) else fixed
        work[_PAGED + at] = tick if pages & right & (paged == one.none) else paged
        closes = (
            (wrong_page & (work[_STRICT + at] != 0))
            | (alive & (action == one.resolve))
            | (alive & (action == one.ignore) & (work[_IGNORABLE + at] != 0))
        )
        work[_CLOSER + at] = action if closes else work[_CLOSER + at]
        work[_ALIVE + at] = alive & (not closes)
        work[_UNAPPROVED + at] += wrong & (paged >= tick)


@kernel
def _close(n: Int, first: Int, per_tick: Int, one: Letters, work: Any, facts: Facts) -> None:
    for at in range(n):
        used = np.int64(work[_COUNT + at])
        work[_TICKS + at] = (used + per_tick - 1) // per_tick if per_tick > 1 else used
    for at in range(n):
        closer = work[_CLOSER + at]
        found = np.int8(MISROUTED)
        found = np.int8(RESOLVED) if closer == one.resolve else found
        found = np.int8(IGNORED) if closer == one.ignore else found
        late = work[_TICKS + at] == work[_HORIZON + at]
        still = np.int8(OUT_OF_TIME) if late else np.int8(-1)
        facts.closing[first + at] = still if closer == one.none else found
    for at in range(n):
        closer, fixed = work[_CLOSER + at], work[_FIXED + at] != one.none
        work[_RESOLVED + at] = (closer == one.resolve) & fixed
        work[_DISMISSED + at] = (closer == one.ignore) & (work[_BLAME + at] == 0)
    for at in range(n):
        facts.ticks[first + at] = work[_TICKS + at]
    for at in range(n):
        facts.unplayed[first + at] = work[_PRESENT + at] - work[_COUNT + at]
    for at in range(n):
        facts.paged[first + at] = work[_PAGED + at] != one.none
    for at in range(n):
        facts.unapproved[first + at] = work[_UNAPPROVED + at]


@kernel
def _gate(
    n: Int, first: Int, gates: Any, one: Letters, answers: Answers, work: Any, facts: Facts
) -> None:
    """The first gate that holds; ``gates`` are 0 for a wrong page, 1 for a fault ignored."""
    for at in range(n):
        facts.gates[first + at] = -1
    for number in range(len(gates) - 1, -1, -1):
        place = np.int8(number)
        if gates[number] == 0:
            for at in range(n):
                kept = facts.gates[first + at]
                facts.gates[first + at] = place if work[_MISPAGED + at] != 0 else kept
        else:
            for at in range(n):
                kept = facts.gates[first + at]
                holds = (work[_CLOSER + at] == one.ignore) & (answers.benign[first + at] == 0)
                facts.gates[first + at] = place if holds else kept


@kernel
def _level(
    n: Int,
    first: Int,
    slot: Int,
    width: Int,
    one: Letters,
    answers: Answers,
    work: Any,
    out: Any,
) -> None:
    """The level of a measure, by its number in :data:`SLOTS`, into ``out`` (N,)."""
    if slot == 0:
        for at in range(n):
            rank, true = work[_SEVERITY + at], answers.severity[first + at]
            off = rank - true if rank > true else true - rank
            worst = (rank == one.severities) | (off >= one.severities)
            out[first + at] = _SEVERITIES - 1 if worst else off
    elif slot == 1:
        for at in range(n):
            out[first + at] = work[_BLAME + at] == 2
    elif slot == 2:
        for at in range(n):
            out[first + at] = work[_PAGED + at] != one.none
    elif slot == 3:
        for at in range(n):
            wrong = work[_WRONG + at]
            counts = (work[_FIXED + at] != one.none) & (wrong < _CREDITS)
            out[first + at] = wrong + 1 if counts else 0
    elif slot == 7:
        for at in range(n):
            early = work[_SAID + at] <= work[_FIXED + at]
            out[first + at] = (work[_BLAME + at] == 2) & early
    elif slot == 8:
        for at in range(n):
            wrong, fixed = work[_WRONG + at], work[_FIXED + at]
            counts = (fixed != one.none) & (wrong < _TRIAGE_CREDITS)
            level = wrong + 1 + (0 if work[_PAGED + at] < fixed else _TRIAGE_CREDITS)
            out[first + at] = level if counts else 0
    elif slot in (5, 10):
        most = _DISMISSALS if slot == 10 else _CREDITS
        for at in range(n):
            applied = work[_REMEDIES + at]
            counts = (work[_DISMISSED + at] != 0) & (applied < most)
            out[first + at] = applied + 1 if counts else 0
    else:
        row = _RESOLVED if slot in (4, 9) else _DISMISSED
        slots = answers.horizon_slot if slot in (4, 6) else answers.clock_slot
        for at in range(n):
            level = work[_TICKS + at] + 1 + slots[first + at] * width
            out[first + at] = level if work[row + at] != 0 else 0


@kernel
def _grade_rows(
    acts: Any,
    index: Any,
    ticks: Any,
    one: Letters,
    answers: Answers,
    slots: Any,
    gates: Any,
    width: Int,
    per_tick: Int,
    work: Any,
    facts: Facts,
) -> Int:
    """Facts and levels of all lists ``acts`` (T, N); the first that goes on after padding."""
    count, length = np.uint64(acts.shape[1]), np.uint64(acts.shape[0])
    roots, pages = np.uint64(len(answers.roots)), np.uint64(len(answers.pages))
    remedies = np.uint64(len(answers.remedies))
    for first in range(_ZERO, count, _ROWS):
        n = min(_ROWS, count - first)
        _begin(n, first, answers, one.none, work)
        for now in range(length):
            for at in range(n):
                work[_ACTION + at] = acts[now, first + at]
            _mark(n, _ROOT, _ACCEPTED, roots, work)
            _mark(n, _PAGE, _ACCEPTED + roots * _ROWS, pages, work)
            _mark(n, _REMEDY, _ACCEPTED + (roots + pages) * _ROWS, remedies, work)
            _play(n, index[now], ticks[now], one, work)
        for at in range(n):
            if work[_END + at] != work[_PRESENT + at]:
                return np.int64(first + at)
        _close(n, first, per_tick, one, work, facts)
        _gate(n, first, gates, one, answers, work, facts)
        for number in range(np.uint64(len(slots))):
            _level(n, first, slots[number], width, one, answers, work, facts.levels[number])
    return np.int64(-1)


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
def _total_rows(
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
            if finish.discounts[number] == 0:
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


# -- what the kernels are given ------------------------------------------------------------

_GATES: Final = (criteria.wrong_escalation, criteria.ignored_incident)
_DISCOUNTS: Final = (triage.unescalated, triage.unapproved)


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
    broken = _grade_rows(
        by_time,
        index.astype(dtype),
        (index // per_tick).astype(dtype),
        _letters(truths, dtype),
        answers,
        np.array([SLOTS[one] for one in measures], np.int64),
        np.array([_GATES.index(gate.holds) for gate in rubric.gates], np.int64),
        width,
        per_tick,
        np.empty((ROWS + accepted) * BLOCK, dtype),
        facts,
    )
    scores = np.empty(count)
    if broken < 0:
        benign = plan.benign if any_benign else None
        _total_rows(
            _sums(plan.real, measures),
            _sums(benign, measures),
            _finish(rubric, truths, length),
            answers.benign,
            facts,
            np.empty(BLOCK, np.uint16),
            scores,
        )
    return scores, facts, int(broken)


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
        every if strict is None else strict.view(np.uint8),
        np.minimum(truths.horizon.astype(np.int64) * per_tick, highest).astype(dtype),
        np.minimum(truths.horizon, highest).astype(dtype),
        truths.horizon_slot.astype(np.uint16),
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
    used = [_DISCOUNTS.index(one.factor) for one in rubric.discounts]
    return Finish(
        np.array(used, np.int64),
        truths.silence if 0 in used else np.empty(0),
        np.array([triage.UNAPPROVED_REMEDY**one for one in range(length + 1)]),
        *rubric.bounds,
        GRID,
    )
