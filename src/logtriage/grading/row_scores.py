"""How lists ended, their levels and scores, by the rules of :mod:`logtriage.grading.scores`."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.grading import row_layout as rows
from logtriage.grading.row_layout import Answers, Out, Room
from logtriage.grading.scores import (
    Case,
    Levels,
    discount_at,
    finished,
    gate_of,
    handed_over,
    levels_of,
    share_at,
    share_left,
)
from logtriage.grading.steps import Int
from logtriage.grading.tables import LEVELS, OPEN, OUT_OF_TIME, ScoreTables

#: Where the row of each level begins.
_ROW: Final = tuple(np.uint64(row * rows.BLOCK) for row in range(len(LEVELS)))
_HANDED: Final = _ROW[LEVELS.index("handed")]


@kernel
def close(n: Int, first: Int, answers: Answers, work: Any, out: Out) -> None:
    """Write how the lists ended; the ticks used take the place of the limits."""
    for at in range(n):
        played = min(np.int64(work[rows.PRESENT + at]), np.int64(work[rows.LIMIT + at]))
        out.unplayed[first + at] = np.int64(work[rows.PRESENT + at]) - played
        work[rows.LIMIT + at] = played
    for at in range(n):
        used, closing = np.int64(work[rows.LIMIT + at]), np.int64(work[rows.CLOSING + at])
        late = used == np.int64(answers.horizon[first + at])
        still = np.int64(OUT_OF_TIME) if late else np.int64(-1)
        out.ticks[first + at] = used
        out.closing[first + at] = still if closing == OPEN else closing


@kernel
def _level(answers: Answers, none: Int, work: Any, first: Int, at: Int, by: ScoreTables) -> Levels:
    case = Case(
        np.int64(answers.severity[first + at]),
        np.int64(work[rows.FAULTS + at]),
        np.int64(answers.shares[first + at]),
        np.int64(answers.fixes[first + at]),
        np.int64(answers.clock[first + at]),
        np.int64(answers.task_clock[first + at]),
    )
    used = np.int64(work[rows.LIMIT + at])
    return levels_of(rows.facts(work, at), rows.shares(work, at), case, used, none, by)


@kernel
def sum_up(
    n: Int, first: Int, answers: Answers, none: Int, work: Any, by: ScoreTables, levels: Any
) -> None:
    """The levels of the lists, row by row: of each loop, what it does not keep is left out."""
    for at in range(n):
        levels[_ROW[0] + at] = _level(answers, none, work, first, at, by).off
    for at in range(n):
        levels[_ROW[1] + at] = _level(answers, none, work, first, at, by).blamed
    for at in range(n):
        levels[_ROW[2] + at] = _level(answers, none, work, first, at, by).named
    for at in range(n):
        levels[_ROW[3] + at] = _level(answers, none, work, first, at, by).paged
    for at in range(n):
        levels[_ROW[4] + at] = _level(answers, none, work, first, at, by).fixes
    for at in range(n):
        levels[_ROW[5] + at] = _level(answers, none, work, first, at, by).dismissed
    for at in range(n):
        levels[_ROW[6] + at] = _level(answers, none, work, first, at, by).resolved
    for at in range(n):
        levels[_ROW[7] + at] = _level(answers, none, work, first, at, by).calmed
    for at in range(n):
        levels[_ROW[8] + at] = _level(answers, none, work, first, at, by).handed
    for at in range(n):
        levels[_ROW[9] + at] = _level(answers, none, work, first, at, by).early
    for at in range(n):
        levels[_ROW[10] + at] = _level(answers, none, work, first, at, by).hasty


@kernel
def gate(n: Int, first: Int, gates: Any, answers: Answers, work: Any, out: Out) -> None:
    """The first gate that holds."""
    for at in range(n):
        out.gates[first + at] = -1
    for number in range(len(gates) - 1, -1, -1):
        which = np.int64(gates[number])
        for at in range(n):
            holds = gate_of(which, rows.facts(work, at), answers.benign[first + at])
            kept = np.int64(out.gates[first + at])
            out.gates[first + at] = np.int64(number) if holds else kept


@kernel
def _places(n: Int, part: Int, group: Int, to: Int, by: ScoreTables, room: Room) -> None:
    """Where the points of a group of criteria stand; levels that count nothing are passed over."""
    begin = np.int64(by.begins[part, group])
    for at in range(n):
        room.places[to + at] = begin
    for level in range(by.strides.shape[2]):
        row, stride = np.uint64(level) * rows.LANES, np.int64(by.strides[part, group, level])
        if stride != 0:
            for at in range(n):
                counted = np.int64(room.levels[row + at]) * stride
                room.places[to + at] = np.int64(room.places[to + at]) + counted


@kernel
def score(
    n: Int,
    first: Int,
    benign: Any,
    price: Any,
    by: ScoreTables,
    room: Room,
    out: Out,
) -> None:
    """As :func:`logtriage.grading.scores.score_row`, step by step for the whole block."""
    levels, scores = room.levels, out.scores
    for group in range(by.begins.shape[1]):
        _places(n, 0, group, rows.ZERO, by, room)
        _places(n, 1, group, rows.LANES, by, room)
        for at in range(n):
            real, calm = room.places[at], room.places[rows.LANES + at]
            room.places[at] = calm if benign[first + at] != 0 else real
        if group == 0:
            for at in range(n):
                scores[first + at] = by.points[np.uint64(room.places[at])]
        else:
            for at in range(n):
                scores[first + at] += by.points[np.uint64(room.places[at])]
    for number in range(len(by.discounts)):
        discount = discount_at(number, by)
        row = np.uint64(discount.level) * rows.LANES
        for at in range(n):
            room.shares[at] = share_at(np.int64(levels[row + at]), discount, by)
        for at in range(n):
            scores[first + at] *= share_left(room.shares[at], discount, benign[first + at])
    if by.handed_weight >= 0.0:
        for at in range(n):
            total, level = scores[first + at], np.int64(levels[_HANDED + at])
            scores[first + at] = handed_over(total, level, price[first + at], by)
    for at in range(n):
        gated = out.gates[first + at] >= 0
        scores[first + at] = finished(scores[first + at], gated, by)
