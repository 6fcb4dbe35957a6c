"""How a block of incidents is laid out for ``grade_batch``: rows of the narrowest type.

A row of the work array has a number of each incident of a block side by side, so that the machine
takes dozens of incidents at once. Constants are where a row begins.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.grading.action_lists import Ints
from logtriage.grading.steps import Facts, Int, Response, Rules, Shares

#: Incidents of a block: what is kept of them stays in a core's nearest cache.
BLOCK: Final = 512
LANES: Final = np.uint64(BLOCK)
ZERO, ONE = np.uint64(0), np.uint64(1)

# What is kept of each incident of a block: where its row of the work array begins.
ACTION, RIGHT, LIMIT, PRESENT, STRICT, PRICED, FAULTS, ANEW = (
    np.uint64(row * BLOCK) for row in range(8)
)
SEVERITY, SEEN, RIGHTLY, PAGED, MISPAGED, REMEDIES, WRONG, EARLY, CLOSING = (
    np.uint64(row * BLOCK) for row in range(8, 17)
)
NAMED, PAGES, FIXED, HASTY = (np.uint64(row * BLOCK) for row in range(17, 21))
#: Behind these stand the rows of each fault, then those of the accepted actions.
ROWS: Final = 21
ALONE: Final = np.uint64(ROWS * BLOCK)
# The rows of a fault: whether it accepts the action, the service declared under its number, and
# the ticks in which it was named, paged for and fixed.
MINE, DECLARED, SAID, TEAM, DONE = (np.uint64(row * BLOCK) for row in range(5))
FAULT_ROWS: Final = 5
FAULT_SIZE: Final = np.uint64(FAULT_ROWS * BLOCK)
#: Accepted actions are compared three at a time: a service, a team and a remedy, as a rule.
TRIPLE: Final = 3
TRIPLE_ROWS: Final = np.uint64(TRIPLE * BLOCK)


class Answers(NamedTuple):
    """What is right, of N incidents of at most K faults.

    ``accepted`` (3 M, N) are the actions that an incident accepts, ``of_faults`` (K, 3 M, N)
    those of each fault, K 0 where incidents have one fault at most. ``strict`` and ``priced`` (N,)
    are the closing rules. ``horizon`` (N,) in ticks is
    cut off at what the type of the work array holds. The others
    (N,) are the fields of :class:`logtriage.grading.scores.Case`.
    """

    accepted: Ints
    of_faults: Ints
    strict: Ints
    priced: Ints
    horizon: Ints
    severity: Ints
    benign: Ints
    faults: Ints
    shares: Ints
    fixes: Ints
    clock: Ints
    task_clock: Ints


class Out(NamedTuple):
    """What is written for each of N incidents."""

    scores: NDArray[np.float64]
    gates: NDArray[np.int8]
    closing: NDArray[np.int8]
    ticks: NDArray[np.int32]
    unplayed: NDArray[np.int32]


class Room(NamedTuple):
    """Scratch of a block: rows of bytes or so, rows of levels, two of places, one of shares."""

    work: Ints
    levels: Ints
    places: Ints
    shares: NDArray[np.float64]


@kernel
def rules(work: Any, at: Int) -> Rules:
    """The closing rules of a lane."""
    return Rules(work[STRICT + at], work[PRICED + at])


@kernel
def facts(work: Any, at: Int) -> Facts:
    """The facts of a lane."""
    return Facts(
        np.int64(work[SEVERITY + at]),
        np.int64(work[SEEN + at]),
        np.int64(work[RIGHTLY + at]),
        np.int64(work[PAGED + at]),
        np.int64(work[MISPAGED + at]),
        np.int64(work[REMEDIES + at]),
        np.int64(work[WRONG + at]),
        np.int64(work[EARLY + at]),
        np.int64(work[CLOSING + at]),
    )


@kernel
def keep(facts: Facts, work: Any, at: Int) -> None:
    """Keep the facts of a lane."""
    work[SEVERITY + at] = facts.severity
    work[SEEN + at] = facts.seen
    work[RIGHTLY + at] = facts.rightly
    work[PAGED + at] = facts.paged
    work[MISPAGED + at] = facts.mispaged
    work[REMEDIES + at] = facts.remedies
    work[WRONG + at] = facts.wrong
    work[EARLY + at] = facts.early
    work[CLOSING + at] = facts.closing


@kernel
def response(work: Any, at: Int) -> Response:
    """What was done about a fault, ``at`` counted from its rows on."""
    return Response(np.int64(work[SAID + at]), np.int64(work[TEAM + at]), np.int64(work[DONE + at]))


@kernel
def keep_response(response: Response, work: Any, at: Int) -> None:
    """Keep what was done about a fault."""
    work[SAID + at] = response.said
    work[TEAM + at] = response.paged
    work[DONE + at] = response.fixed


@kernel
def shares(work: Any, at: Int) -> Shares:
    """The shares of a lane."""
    return Shares(
        np.int64(work[NAMED + at]),
        np.int64(work[PAGES + at]),
        np.int64(work[FIXED + at]),
        np.int64(work[HASTY + at]),
    )
