"""Spec: logtriage.facts.facts_of; law: property_tests/test_batch_laws.py.

Lists of actions taken a tick at a time, for a block of incidents. A row of the work array holds one
number for each incident of the block, of the narrowest type. Loops run along rows, so the machine
handles dozens of incidents at once.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.grading.action_lists import Ints
from logtriage.grading.kernels import (
    add_share,
    counts,
    facts_step,
    move_of,
    response_step,
    untouched,
)
from logtriage.grading.steps import Facts, Int, Letters, Move, Response, Rules, Shares

#: Incidents of a block: what is kept of them stays in a core's nearest cache.
BLOCK: Final = 512
LANES: Final = np.uint64(BLOCK)

# Where the rows of the work array begin: first what loops read, then the facts of each incident,
# then its shares. Loops read nothing else, so the compiler sees that read and written rows differ.
ACTION, RIGHT, COUNTED, LIMIT, PRESENT, STRICT, TAKES, FAULTY = (
    np.uint64(row * BLOCK) for row in range(8)
)
SEVERITY, SEEN, RIGHTLY, PAGED, MISPAGED, REMEDIES, WRONG, EARLY, CLOSING = (
    np.uint64(row * BLOCK) for row in range(8, 17)
)
NAMED, PAGES, FIXED, HASTY = (np.uint64(row * BLOCK) for row in range(17, 21))
#: Behind these stand the rows of each fault.
ROWS: Final = 21
FIRST_FAULT: Final = np.uint64(ROWS * BLOCK)
# The rows of a fault: whether it accepts the action, the service declared under its number, and
# the ticks in which it was named, paged for and fixed.
ACCEPTED, DECLARED, SAID, TEAM, DONE = (np.uint64(row * BLOCK) for row in range(5))
FAULT_ROWS: Final = 5
FAULT_SIZE: Final = np.uint64(FAULT_ROWS * BLOCK)


class Answers(NamedTuple):
    """The truths of N incidents with at most K faults, as kernels read them.

    ``accepted`` (K, M, N) are the at most M actions that each fault accepts. ``strict`` and
    ``takes`` (N,) are the :class:`~logtriage.grading.steps.Rules`. ``horizon`` (N,) is cut to what
    the type of the work array holds. ``benign`` (N,) is whether nothing is accepted; the others
    (N,) are the fields of :class:`logtriage.grading.scores.Case`.
    """

    accepted: Ints
    strict: Ints
    takes: Ints
    horizon: Ints
    severity: Ints
    benign: Ints
    faults: Ints
    shares: Ints
    fixes: Ints
    clock: Ints
    task_clock: Ints


@kernel
def facts(work: Any, at: Int) -> Facts:
    """The facts of incident ``at`` of the block."""
    return Facts(
        severity=np.int64(work[SEVERITY + at]),
        seen=np.int64(work[SEEN + at]),
        rightly=np.int64(work[RIGHTLY + at]),
        paged=np.int64(work[PAGED + at]),
        mispaged=np.int64(work[MISPAGED + at]),
        remedies=np.int64(work[REMEDIES + at]),
        wrong=np.int64(work[WRONG + at]),
        early=np.int64(work[EARLY + at]),
        closing=np.int64(work[CLOSING + at]),
    )


@kernel
def _keep(of: Facts, work: Any, at: Int) -> None:
    """Write the facts of incident ``at``, as :func:`facts` reads them."""
    work[SEVERITY + at] = of.severity
    work[SEEN + at] = of.seen
    work[RIGHTLY + at] = of.rightly
    work[PAGED + at] = of.paged
    work[MISPAGED + at] = of.mispaged
    work[REMEDIES + at] = of.remedies
    work[WRONG + at] = of.wrong
    work[EARLY + at] = of.early
    work[CLOSING + at] = of.closing


@kernel
def _response(work: Any, row: Int, at: Int) -> Response:
    """The response to the fault whose rows begin at ``row``, in incident ``at``."""
    return Response(
        said=np.int64(work[row + SAID + at]),
        paged=np.int64(work[row + TEAM + at]),
        fixed=np.int64(work[row + DONE + at]),
    )


@kernel
def shares(work: Any, at: Int) -> Shares:
    """The shares of incident ``at`` of the block."""
    return Shares(
        named=np.int64(work[NAMED + at]),
        paged=np.int64(work[PAGES + at]),
        fixed=np.int64(work[FIXED + at]),
        hasty=np.int64(work[HASTY + at]),
    )


@kernel
def _move(work: Any, at: Int, to: Letters) -> Move:
    rules = Rules(work[STRICT + at], work[TAKES + at])
    return move_of(np.int64(work[ACTION + at]), np.int64(work[RIGHT + at]), rules, to)


@kernel
def begin(n: Int, first: Int, answers: Answers, none: Int, work: Any) -> None:
    """Fill the rows of the block that begins at ``first``: nothing is done yet."""
    start = untouched(none)
    for at in range(n):
        _keep(start, work, at)
        work[PRESENT + at] = 0
        work[NAMED + at] = 0
        work[PAGES + at] = 0
        work[FIXED + at] = 0
        work[HASTY + at] = 0
    for at in range(n):
        work[LIMIT + at] = answers.horizon[first + at]
    for at in range(n):
        work[STRICT + at] = answers.strict[first + at]
    for at in range(n):
        work[TAKES + at] = answers.takes[first + at]
    for at in range(n):
        work[FAULTY + at] = answers.faults[first + at]
    row = FIRST_FAULT
    for _ in range(np.uint64(answers.accepted.shape[0])):
        for at in range(n):
            work[row + DECLARED + at] = none
            work[row + SAID + at] = none
            work[row + TEAM + at] = none
            work[row + DONE + at] = none
        row += FAULT_SIZE


@kernel
def mark_accepting_faults(n: Int, first: Int, answers: Answers, work: Any) -> None:
    """Write which faults accept the actions of the block that begins at ``first``."""
    for at in range(n):
        work[RIGHT + at] = 0
    row = FIRST_FAULT
    for fault in range(np.uint64(answers.accepted.shape[0])):
        for at in range(n):
            work[row + ACCEPTED + at] = 0
        for number in range(np.uint64(answers.accepted.shape[1])):
            for at in range(n):
                same = work[ACTION + at] == answers.accepted[fault, number, first + at]
                work[row + ACCEPTED + at] = (work[row + ACCEPTED + at] != 0) | same
        for at in range(n):
            work[RIGHT + at] = (work[RIGHT + at] != 0) | (work[row + ACCEPTED + at] != 0)
        row += FAULT_SIZE


@kernel
def count(n: Int, index: Int, faults: Int, to: Letters, work: Any) -> None:
    """Write to ``work`` whether the action declares a service that counts, and record it."""
    for at in range(n):
        work[COUNTED + at] = 1
    row = FIRST_FAULT + DECLARED
    for _ in range(faults):
        for at in range(n):
            work[COUNTED + at] &= work[row + at] != work[ACTION + at]
        row += FAULT_SIZE
    for at in range(n):
        live = np.int64(index) < np.int64(work[LIMIT + at])
        before, move = facts(work, at), _move(work, at, to)
        anew = work[COUNTED + at] != 0
        work[COUNTED + at] = counts(before, move, live, anew, np.int64(work[FAULTY + at]))
    row = FIRST_FAULT + DECLARED
    for number in range(faults):
        for at in range(n):
            action, kept = np.int64(work[ACTION + at]), np.int64(work[row + at])
            first_free = work[SEEN + at] == np.uint8(number)  # as many rows are filled as were seen
            work[row + at] = action if first_free & (work[COUNTED + at] != 0) else kept
        row += FAULT_SIZE


@kernel
def answer(n: Int, row: Int, index: Int, to: Letters, work: Any) -> None:
    """Update the response to the fault whose rows begin at ``row`` by the action."""
    for at in range(n):
        live = np.int64(index) < np.int64(work[LIMIT + at])
        move, counted = _move(work, at, to), work[COUNTED + at] != 0
        before, accepted = _response(work, row, at), np.int64(work[row + ACCEPTED + at])
        after = response_step(before, move, accepted, live, counted, np.int64(index))
        work[row + SAID + at] = after.said
        work[row + TEAM + at] = after.paged
        work[row + DONE + at] = after.fixed


@kernel
def play(n: Int, index: Int, to: Letters, work: Any) -> None:
    """Update the facts and count the actions; an action after padding makes the count ``none``."""
    none = np.int64(to.none)
    for at in range(n):
        number, limit = np.int64(index), np.int64(work[LIMIT + at])
        live, counted = number < limit, work[COUNTED + at] != 0
        move = _move(work, at, to)
        _keep(facts_step(facts(work, at), move, live, counted, number), work, at)
        work[LIMIT + at] = number + 1 if live & move.closes else limit
        before = np.int64(work[PRESENT + at])
        after = before + 1 if before == number else none
        work[PRESENT + at] = after if np.int64(work[ACTION + at]) != none else before


@kernel
def share(n: Int, row: Int, none: Int, work: Any) -> None:
    """Add the fault whose rows begin at ``row`` to the shares."""
    for at in range(n):
        paged = np.int64(work[PAGED + at])
        after = add_share(shares(work, at), _response(work, row, at), paged, none)
        work[NAMED + at] = after.named
        work[PAGES + at] = after.paged
        work[FIXED + at] = after.fixed
        work[HASTY + at] = after.hasty
