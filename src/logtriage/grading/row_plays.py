"""Lists of actions taken a tick at a time, by the steps of :mod:`logtriage.grading.steps`."""

from typing import Any

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.grading import row_layout as rows
from logtriage.grading.row_layout import Answers
from logtriage.grading.steps import (
    Int,
    Letters,
    Response,
    add_share,
    counts,
    facts_step,
    move_of,
    response_step,
    untouched,
)


@kernel
def begin(n: Int, first: Int, answers: Answers, none: Int, work: Any) -> None:
    """Lay out a block: nothing done yet, and what its incidents accept."""
    start = untouched(none)
    for at in range(n):
        rows.keep(start, work, at)
        work[rows.PRESENT + at] = 0
        work[rows.RIGHT + at] = 0
        work[rows.ANEW + at] = 1
        work[rows.NAMED + at] = 0
        work[rows.PAGES + at] = 0
        work[rows.FIXED + at] = 0
        work[rows.HASTY + at] = 0
    for at in range(n):
        work[rows.LIMIT + at] = answers.horizon[first + at]
    for at in range(n):
        work[rows.STRICT + at] = answers.strict[first + at]
    for at in range(n):
        work[rows.PRICED + at] = answers.priced[first + at]
    for at in range(n):
        work[rows.FAULTS + at] = answers.faults[first + at]
    several = np.uint64(answers.of_faults.shape[0])
    row = rows.ALONE
    for _ in range(max(several, rows.ONE)):
        for at in range(n):
            work[row + rows.DECLARED + at] = none
            work[row + rows.SAID + at] = none
            work[row + rows.TEAM + at] = none
            work[row + rows.DONE + at] = none
        row += rows.FAULT_SIZE
    for number in range(np.uint64(answers.accepted.shape[0])):
        for at in range(n):
            work[row + at] = answers.accepted[number, first + at]
        row += rows.LANES
    for fault in range(several):
        for number in range(np.uint64(answers.of_faults.shape[1])):
            for at in range(n):
                work[row + at] = answers.of_faults[fault, number, first + at]
            row += rows.LANES


@kernel
def _accepted(work: Any, row: Int, at: Int) -> Any:
    """Whether the action is among the three accepted actions from ``row`` on."""
    action = work[rows.ACTION + at]
    return (
        (action == work[row + at])
        | (action == work[row + rows.LANES + at])
        | (action == work[row + rows.LANES + rows.LANES + at])
    )


@kernel
def _mark(n: Int, to: Int, row: Int, triples: Int, work: Any) -> None:
    """Whether each action is among the accepted actions, which begin at ``row``."""
    for number in range(triples):
        for at in range(n):
            accepted = _accepted(work, row, at)
            work[to + at] = accepted if number == 0 else (work[to + at] != 0) | accepted
        row += rows.TRIPLE_ROWS


@kernel
def _notice(n: Int, index: Int, faults: Int, to: Letters, work: Any) -> None:
    """With several faults: whether a service is declared anew, and the services declared."""
    for at in range(n):
        work[rows.ANEW + at] = 1
    row = rows.ALONE + rows.DECLARED
    for _ in range(faults):
        for at in range(n):
            work[rows.ANEW + at] &= work[row + at] != work[rows.ACTION + at]
        row += rows.FAULT_SIZE
    row = rows.ALONE + rows.DECLARED
    for number in range(faults):
        for at in range(n):
            action, kept = np.int64(work[rows.ACTION + at]), np.int64(work[row + at])
            live = np.int64(index) < np.int64(work[rows.LIMIT + at])
            blames = (action >= np.int64(to.root)) & (action < np.int64(to.root_end))
            turn = work[rows.SEEN + at] == np.uint8(number)
            new = live & blames & turn & (work[rows.ANEW + at] != 0)
            work[row + at] = action if new else kept
        row += rows.FAULT_SIZE


@kernel
def _answer(n: Int, row: Int, index: Int, to: Letters, work: Any) -> None:
    """Take the action for the fault whose rows begin at ``row``."""
    none = np.int64(to.none)
    for at in range(n):
        live, anew = np.int64(index) < np.int64(work[rows.LIMIT + at]), work[rows.ANEW + at] != 0
        move = move_of(
            np.int64(work[rows.ACTION + at]),
            np.int64(work[rows.RIGHT + at]),
            rows.rules(work, at),
            to,
        )
        faults = np.int64(work[rows.FAULTS + at])
        counted = counts(rows.facts(work, at), move, live, anew, faults)
        before, mine = rows.response(work, row + at), np.int64(work[row + rows.MINE + at])
        rows.keep_response(
            response_step(before, move, mine, live, counted, np.int64(index), none), work, row + at
        )


@kernel
def _present(work: Any, number: Int, action: Int, none: Int, at: Int) -> Any:
    """How many actions a list has so far; ``none`` once an action follows padding."""
    before = np.int64(work[rows.PRESENT + at])
    after = before + 1 if before == number else none
    return after if action != none else before


@kernel
def _play(n: Int, index: Int, to: Letters, work: Any) -> None:
    """Take the action of every incident of the block."""
    none = np.int64(to.none)
    for at in range(n):
        action, limit = np.int64(work[rows.ACTION + at]), np.int64(work[rows.LIMIT + at])
        number, facts = np.int64(index), rows.facts(work, at)
        live, anew = number < limit, work[rows.ANEW + at] != 0
        move = move_of(action, np.int64(work[rows.RIGHT + at]), rows.rules(work, at), to)
        counted = counts(facts, move, live, anew, np.int64(work[rows.FAULTS + at]))
        after = facts_step(facts, move, live, counted, number, none)
        rows.keep(after, work, at)
        work[rows.LIMIT + at] = number + 1 if live & move.closes else limit
        work[rows.PRESENT + at] = _present(work, number, action, none, at)


@kernel
def _play_alone(n: Int, row: Int, index: Int, to: Letters, work: Any) -> None:
    """The same of incidents with one fault at most, whose accepted actions begin at ``row``."""
    none, single = np.int64(to.none), np.int64(1)
    for at in range(n):
        action, limit = np.int64(work[rows.ACTION + at]), np.int64(work[rows.LIMIT + at])
        number, facts = np.int64(index), rows.facts(work, at)
        # A first three are compared here, others before.
        right = np.int64(_accepted(work, row, at) | (work[rows.RIGHT + at] != 0))
        live = number < limit
        move = move_of(action, right, rows.rules(work, at), to)
        counted = counts(facts, move, live, True, single)
        # The page that the fault asks for is that of the incident: it is kept once.
        said, done = (
            np.int64(work[rows.ALONE + rows.SAID + at]),
            np.int64(work[rows.ALONE + rows.DONE + at]),
        )
        before = Response(said, facts.paged, done)
        after = response_step(before, move, right, live, counted, number, none)
        rows.keep(facts_step(facts, move, live, counted, number, none), work, at)
        work[rows.ALONE + rows.SAID + at] = after.said
        work[rows.ALONE + rows.DONE + at] = after.fixed
        work[rows.LIMIT + at] = number + 1 if live & move.closes else limit
        work[rows.PRESENT + at] = _present(work, number, action, none, at)


@kernel
def take(n: Int, index: Int, triples: Int, faults: Int, to: Letters, work: Any) -> None:
    """Take the actions of the block that stand in its first row."""
    accepted = rows.ALONE + rows.FAULT_SIZE * max(faults, rows.ONE)
    if faults == 0:
        if triples > 1:
            _mark(n, rows.RIGHT, accepted + rows.TRIPLE_ROWS, triples - rows.ONE, work)
        _play_alone(n, rows.ALONE + rows.FAULT_SIZE, index, to, work)
        return
    _mark(n, rows.RIGHT, accepted, triples, work)
    _notice(n, index, faults, to, work)
    row = rows.ALONE
    for _ in range(faults):
        accepted += triples * rows.TRIPLE_ROWS
        _mark(n, row + rows.MINE, accepted, triples, work)
        _answer(n, row, index, to, work)
        row += rows.FAULT_SIZE
    _play(n, index, to, work)


@kernel
def share(n: Int, row: Int, none: Int, work: Any) -> None:
    """Add up what was done about a fault."""
    for at in range(n):
        paged = np.int64(work[rows.PAGED + at])
        after = add_share(rows.shares(work, at), rows.response(work, row + at), paged, none)
        work[rows.NAMED + at] = after.named
        work[rows.PAGES + at] = after.paged
        work[rows.FIXED + at] = after.fixed
        work[rows.HASTY + at] = after.hasty
