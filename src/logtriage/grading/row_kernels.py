"""The kernel of what lists of actions come to: facts, gates and levels, block by block.

Facts are summed up a tick at a time for a block of incidents, in the narrowest type that
holds them, so that the machine takes dozens of incidents at once.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.grading import criteria, triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure
from logtriage.grading.kernels import (
    DISMISSED,
    GATES,
    IGNORED,
    MEASURES,
    MISROUTED,
    OUT_OF_TIME,
    RESOLVED,
)
from logtriage.grading.shares import CREDITED

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
_DISMISSALS: Final = len(DISMISSED)
_ZERO: Final = np.uint64(0)

#: The number of each measure that the kernel takes.
SLOTS: Final[Mapping[Measure, int]] = MappingProxyType(
    {one: number for number, one in enumerate(MEASURES)}
)
_WRONG_PAGE: Final = GATES.index(criteria.wrong_escalation)
_OFF: Final = SLOTS[criteria.severity]
_BLAMED: Final = SLOTS[criteria.root_cause]
_ESCALATED: Final = SLOTS[criteria.escalation]
_NAMED: Final = SLOTS[triage.root_cause]
_REMEDIED: Final = SLOTS[triage.remediation]
_CLOSED: Final = SLOTS[triage.closure]
_IGNORED: Final = SLOTS[triage.dismissal]


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
    the type of the work array holds; ``clock_slot`` numbers the pairs of
    horizon and par.
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
    """The first gate that holds, of ``gates`` by their places in :data:`GATES`."""
    for at in range(n):
        facts.gates[first + at] = -1
    for number in range(len(gates) - 1, -1, -1):
        place = np.int8(number)
        if gates[number] == _WRONG_PAGE:
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
    if slot == _OFF:
        for at in range(n):
            rank, true = work[_SEVERITY + at], answers.severity[first + at]
            off = rank - true if rank > true else true - rank
            worst = (rank == one.severities) | (off >= one.severities)
            out[first + at] = _SEVERITIES - 1 if worst else off
    elif slot == _BLAMED:
        for at in range(n):
            out[first + at] = work[_BLAME + at] == 2
    elif slot == _ESCALATED:
        for at in range(n):
            out[first + at] = work[_PAGED + at] != one.none
    elif slot == _NAMED:
        for at in range(n):
            early = work[_SAID + at] <= work[_FIXED + at]
            out[first + at] = (work[_BLAME + at] == 2) & early
    elif slot == _REMEDIED:
        for at in range(n):
            wrong, fixed = work[_WRONG + at], work[_FIXED + at]
            counts = (fixed != one.none) & (wrong < _CREDITS)
            level = wrong + 1 + (0 if work[_PAGED + at] < fixed else _CREDITS)
            out[first + at] = level if counts else 0
    elif slot == _IGNORED:
        for at in range(n):
            applied = work[_REMEDIES + at]
            counts = (work[_DISMISSED + at] != 0) & (applied < _DISMISSALS)
            out[first + at] = applied + 1 if counts else 0
    else:
        row = _RESOLVED if slot == _CLOSED else _DISMISSED
        for at in range(n):
            level = work[_TICKS + at] + 1 + answers.clock_slot[first + at] * width
            out[first + at] = level if work[row + at] != 0 else 0


@kernel
def grade_rows(
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
