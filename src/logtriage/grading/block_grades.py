"""Spec: logtriage.grading.grade.grade; law: property_tests/test_batch_laws.py.

The kernel of ``grade_batch``: how the lists of a block ended, their levels and their scores.
"""

from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.grading import blocks
from logtriage.grading.action_lists import Ints
from logtriage.grading.blocks import BLOCK, FAULT_ROWS, LANES, ROWS, Answers
from logtriage.grading.kernels import (
    closing_after,
    discount_at,
    finished,
    gate_of,
    handed_over,
    levels_of,
    share_at,
    share_left,
)
from logtriage.grading.rubric import Rubric
from logtriage.grading.scores import Case
from logtriage.grading.steps import Int, Letters, letters_of
from logtriage.grading.tables import (
    LEVELS,
    OPEN,
    Levels,
    ScoreTables,
    Span,
    fix_begin,
    share_begin,
    tables_of,
)
from logtriage.grading.truths import Bools, Truths

_ZERO: Final = np.uint64(0)
#: Where the row of each level begins.
_LEVEL: Final = tuple(np.uint64(row * BLOCK) for row in range(len(LEVELS)))
_HANDED: Final = _LEVEL[LEVELS.index("handed")]
#: Fills up the list of a fault's accepted actions; equal to no action, padding or malformed action.
NONE_ACCEPTED: Final = -3


class Out(NamedTuple):
    """The grades of N incidents, which kernels write."""

    scores: NDArray[np.float64]
    gates: NDArray[np.int8]
    closing: NDArray[np.int8]
    ticks: NDArray[np.int32]
    unplayed: NDArray[np.int32]


class Room(NamedTuple):
    """Scratch memory of a block: rows of work and of levels, two rows of places, one of shares."""

    work: Ints
    levels: Ints
    places: Ints
    shares: NDArray[np.float64]


@kernel
def _close(n: Int, first: Int, answers: Answers, gates: Any, work: Any, out: Out) -> None:
    """Write how the lists ended; in ``work``, the ticks used replace the limits."""
    for at in range(n):
        played = min(np.int64(work[blocks.PRESENT + at]), np.int64(work[blocks.LIMIT + at]))
        out.unplayed[first + at] = np.int64(work[blocks.PRESENT + at]) - played
        work[blocks.LIMIT + at] = played
    for at in range(n):
        used, horizon = np.int64(work[blocks.LIMIT + at]), np.int64(answers.horizon[first + at])
        closing = closing_after(np.int64(work[blocks.CLOSING + at]), used, horizon)
        out.ticks[first + at] = used
        out.closing[first + at] = np.int64(-1) if closing == OPEN else closing
        out.gates[first + at] = -1
    for number in range(len(gates) - 1, -1, -1):  # the first that holds is written last
        which = np.int64(gates[number])
        for at in range(n):
            holds = gate_of(which, blocks.facts(work, at), answers.benign[first + at])
            kept = np.int64(out.gates[first + at])
            out.gates[first + at] = np.int64(number) if holds else kept


@kernel
def _sum_up(
    n: Int, first: Int, answers: Answers, none: Int, work: Any, by: ScoreTables, levels: Any
) -> None:
    """Write the levels of each list into ``levels``."""
    for at in range(n):
        case = Case(
            severity=np.int64(answers.severity[first + at]),
            faults=np.int64(work[blocks.FAULTY + at]),
            shares=np.int64(answers.shares[first + at]),
            fixes=np.int64(answers.fixes[first + at]),
            clock=np.int64(answers.clock[first + at]),
            task_clock=np.int64(answers.task_clock[first + at]),
        )
        used = np.int64(work[blocks.LIMIT + at])
        of = levels_of(blocks.facts(work, at), blocks.shares(work, at), case, used, none, by)
        _keep_levels(of, levels, at)


@kernel
def _keep_levels(of: Levels, levels: Any, at: Int) -> None:
    """Write the levels of a list, each to its row, in the order of the fields."""
    levels[_LEVEL[0] + at] = of.off
    levels[_LEVEL[1] + at] = of.blamed
    levels[_LEVEL[2] + at] = of.named
    levels[_LEVEL[3] + at] = of.paged
    levels[_LEVEL[4] + at] = of.fixes
    levels[_LEVEL[5] + at] = of.dismissed
    levels[_LEVEL[6] + at] = of.resolved
    levels[_LEVEL[7] + at] = of.calmed
    levels[_LEVEL[8] + at] = of.handed
    levels[_LEVEL[9] + at] = of.early
    levels[_LEVEL[10] + at] = of.hasty


@kernel
def _places(n: Int, part: Int, group: Int, to: Int, by: ScoreTables, room: Room) -> None:
    """Write the places of a group's points to row ``to``; levels with a stride of 0 are skipped."""
    begin = np.int64(by.begins[part, group])
    for at in range(n):
        room.places[to + at] = begin
    for level in range(by.strides.shape[2]):
        row, stride = np.uint64(level) * LANES, np.int64(by.strides[part, group, level])
        if stride != 0:
            for at in range(n):
                counted = np.int64(room.levels[row + at]) * stride
                room.places[to + at] = np.int64(room.places[to + at]) + counted


@kernel
def _score(
    n: Int, first: Int, benign: Any, worth: Any, by: ScoreTables, room: Room, out: Out
) -> None:
    """As :func:`logtriage.grading.scores.score_row`, step by step for the whole block."""
    levels, scores = room.levels, out.scores
    for at in range(n):
        scores[first + at] = 0.0
    for group in range(by.begins.shape[1]):
        # The first row has the places with faults, the second those of benign incidents.
        _places(n, 0, group, _ZERO, by, room)
        _places(n, 1, group, LANES, by, room)
        for at in range(n):
            real, calm = room.places[at], room.places[LANES + at]
            room.places[at] = calm if benign[first + at] != 0 else real
        for at in range(n):
            scores[first + at] += by.points[np.uint64(room.places[at])]
    for number in range(len(by.discounts)):
        discount = discount_at(number, by)
        row = np.uint64(discount.level) * LANES
        for at in range(n):
            room.shares[at] = share_at(np.int64(levels[row + at]), discount, by)
        for at in range(n):
            scores[first + at] *= share_left(room.shares[at], discount, benign[first + at])
    if by.handed_weight >= 0.0:
        for at in range(n):
            total, level = scores[first + at], np.int64(levels[_HANDED + at])
            scores[first + at] = handed_over(total, level, worth[first + at], by)
    for at in range(n):
        gated = np.int64(out.gates[first + at] >= 0)
        scores[first + at] = finished(scores[first + at], gated, by)


@kernel
def grade_lists(
    acts: Any,
    ticks: Any,
    to: Letters,
    answers: Answers,
    worth: Any,
    by: ScoreTables,
    room: Room,
    out: Out,
) -> Int:
    """Grade the lists ``acts`` (T, N) into ``out``; return the first broken list, or -1.

    A list is broken if an action follows its padding.
    ``ticks`` (T,) are 0, 1, ... in the type of ``acts``. ``worth`` (N,) is that of a hand-over,
    read only if the rubric counts hand-overs.
    """
    count, length = np.uint64(acts.shape[1]), np.uint64(acts.shape[0])
    faults = np.uint64(answers.accepted.shape[0])
    none, work = np.int64(to.none), room.work
    for first in range(_ZERO, count, LANES):
        n = min(LANES, count - first)
        blocks.begin(n, first, answers, none, work)
        for now in range(length):
            for at in range(n):
                work[blocks.ACTION + at] = acts[now, first + at]
            blocks.mark_accepting_faults(n, first, answers, work)
            blocks.count(n, ticks[now], faults, to, work)
            row = blocks.FIRST_FAULT
            for _ in range(faults):
                blocks.answer(n, row, ticks[now], to, work)
                row += blocks.FAULT_SIZE
            blocks.play(n, ticks[now], to, work)
        for at in range(n):
            if work[blocks.PRESENT + at] == none:  # an action followed padding
                return np.int64(first + at)
        for fault in range(faults):
            blocks.share(n, blocks.FIRST_FAULT + fault * blocks.FAULT_SIZE, none, work)
        _close(n, first, answers, by.gates, work, out)
        _sum_up(n, first, answers, none, work, by, room.levels)
        _score(n, first, answers.benign, worth, by, room, out)
    return np.int64(-1)


def grade_compiled(
    truths: Truths, by_time: Ints, rubric: Rubric, span: Span, dtype: Any
) -> tuple[Out, int]:
    """Grade lists of actions ``by_time`` (T, N) of the unsigned type ``dtype``.

    Returns the grades, and the first incident whose list goes on after its padding, or -1.
    """
    count = len(truths)
    by = tables_of(rubric, span)
    answers = _answers(truths, span, dtype)
    out = Out(
        scores=np.empty(count),
        gates=np.empty(count, np.int8),
        closing=np.empty(count, np.int8),
        ticks=np.empty(count, np.int32),
        unplayed=np.empty(count, np.int32),
    )
    room = Room(
        work=np.empty((ROWS + FAULT_ROWS * len(answers.accepted)) * BLOCK, dtype),
        levels=np.empty(len(LEVELS) * BLOCK, answers.clock.dtype),
        places=np.empty(2 * BLOCK, np.uint16 if len(by.points) <= 1 << 16 else np.uint32),
        shares=np.empty(BLOCK),
    )
    broken = grade_lists(
        by_time,
        np.arange(len(by_time)).astype(dtype),
        Letters(*map(dtype, letters_of(truths.topology, np.iinfo(dtype).max))),
        answers,
        np.nan_to_num(truths.worth_of_hand_over),
        by,
        room,
        out,
    )
    return out, int(broken)


#: The answers of truths that are still in use, by width of the span and by type. Its clocks and its
#: number of faults are those of the truths.
_KNOWN: Final[WeakKeyDictionary[Truths, dict[tuple[Any, ...], Answers]]] = WeakKeyDictionary()


def _answers(truths: Truths, span: Span, dtype: Any) -> Answers:
    """The answers of truths as arrays for kernels; they are made once."""
    known = _KNOWN.setdefault(truths, {})
    key = span.width, dtype
    if key not in known:
        known[key] = _made_answers(truths, span, dtype)
    return known[key]


def _made_answers(truths: Truths, span: Span, dtype: Any) -> Answers:
    """The answers anew; actions in the type ``dtype``, places of levels in the narrowest."""
    first = letters_of(truths.topology).root
    accepted = [_listed(allowed, first) for allowed in _allowed(truths)]
    table = np.full((len(accepted), max(map(len, accepted)), len(truths)), NONE_ACCEPTED)
    for rows, fault in zip(table, accepted, strict=True):
        rows[: len(fault)] = fault
    faults = truths.fault_count
    clocks = np.arange(len(span.clocks)) * span.width
    counts = np.arange(span.faults + 1)
    levels = len(span.clocks) * span.width
    level = np.uint16 if levels <= np.iinfo(np.uint16).max else np.uint32
    clock, task_clock = (clocks.astype(level).take(slots) for slots in truths.clock_slots)
    return Answers(
        accepted=table.astype(dtype),
        # Copies, since kernels are compiled anew for arrays that are read-only.
        strict=truths.wrong_page.astype(np.uint8),
        takes=truths.takes_hand_over.astype(np.uint8),
        horizon=np.minimum(truths.horizon, np.iinfo(dtype).max).astype(dtype),
        severity=truths.severity.astype(np.uint8),  # 255 if unknown: far from every rank
        benign=truths.benign.astype(np.uint8),
        faults=faults.astype(np.uint8),
        shares=share_begin(counts).astype(np.uint16).take(faults),
        fixes=fix_begin(counts).astype(np.uint16).take(faults),
        clock=clock,
        task_clock=task_clock,
    )


def _allowed(truths: Truths) -> list[Bools]:
    """For each fault, the actions that it accepts (N, A): services, then teams, then remedies."""
    whole = np.concatenate([truths.root_causes, truths.teams, truths.remedies], axis=1)
    faults = truths.faults
    if faults is None:
        return [whole]
    parts = np.concatenate([faults.root_causes, faults.teams, faults.remedies], axis=2)
    # An incident that lists no faults has one, which accepts all that the incident accepts.
    parts[faults.count == 0, 0] = whole[faults.count == 0]
    return [parts[:, number] for number in range(max(1, truths.most_faults))]


def _listed(allowed: Bools, first: int) -> Ints:
    """The allowed actions of N rows as lists (M, N), M the longest list's length.

    ``allowed`` (N, A) has action ``first`` in column 0.
    """
    rows, columns = np.divmod(np.flatnonzero(allowed), allowed.shape[1])
    counts = np.bincount(rows, minlength=len(allowed))
    table = np.full((max(1, int(counts.max(initial=0))), len(allowed)), NONE_ACCEPTED)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)  # in each list
    table[places, rows] = columns + first
    return table
