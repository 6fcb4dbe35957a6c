"""The kernel of ``grade_batch``: lists of actions, block by block."""

from typing import Any

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.grading import row_layout as rows
from logtriage.grading.row_layout import Answers, Out, Room
from logtriage.grading.row_plays import begin, share, take
from logtriage.grading.row_scores import close, gate, score, sum_up
from logtriage.grading.steps import Int, Letters
from logtriage.grading.tables import ScoreTables


@kernel
def grade_rows(
    acts: Any,
    index: Any,
    to: Letters,
    answers: Answers,
    price: Any,
    by: ScoreTables,
    room: Room,
    out: Out,
) -> Int:
    """Grade all lists ``acts`` (T, N); the first that goes on after padding, or -1.

    ``index`` (T,) is the tick of each action. ``price`` (N,) is that of a hand-over, empty where
    the rubric reads none.
    """
    count, length = np.uint64(acts.shape[1]), np.uint64(acts.shape[0])
    faults = np.uint64(answers.of_faults.shape[0])
    triples = np.uint64(answers.accepted.shape[0] // rows.TRIPLE)
    none, work = np.int64(to.none), room.work
    for first in range(rows.ZERO, count, rows.LANES):
        n = min(rows.LANES, count - first)
        begin(n, first, answers, none, work)
        for now in range(length):
            for at in range(n):
                work[rows.ACTION + at] = acts[now, first + at]
            take(n, index[now], triples, faults, to, work)
        for at in range(n):
            if work[rows.PRESENT + at] == to.none:
                return np.int64(first + at)
        if faults == 0:
            for at in range(n):
                work[rows.ALONE + rows.TEAM + at] = work[rows.PAGED + at]
        row = rows.ALONE
        for _ in range(max(faults, rows.ONE)):
            share(n, row, none, work)
            row += rows.FAULT_SIZE
        close(n, first, answers, work, out)
        gate(n, first, by.gates, answers, work, out)
        sum_up(n, first, answers, none, work, by, room.levels)
        score(n, first, answers.benign, price, by, room, out)
    return np.int64(-1)
