"""The kernel of shares: what was named, paged for and fixed of several faults."""

from typing import Any, NamedTuple

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.grading.action_lists import Ints
from logtriage.grading.row_kernels import Int, Letters
from logtriage.grading.several import Asked
from logtriage.grading.shares import Shares

_NAMED, _PAGED, _HALVES, _FIXED, _WRONG = range(5)


class Ticks(NamedTuple):
    """Scratch (K,): the tick in which each fault was named, paged for and fixed."""

    said: Ints
    paged: Ints
    fixed: Ints


@kernel
def _declared_before(acts: Any, row: Int, now: Int, action: Int) -> bool:
    for earlier in range(now):  # noqa: SIM110 -- a generator does not compile
        if acts[earlier, row] == action:
            return True
    return False


@kernel
def _mark(accepts: Any, at: Int, action: Int, faults: Int, tick: Int, ticks: Ints) -> None:
    for fault in range(faults):
        if accepts[at, 1 + fault, action] and tick < ticks[fault]:
            ticks[fault] = tick


@kernel
def _play(
    acts: Any,
    row: Int,
    length: Int,
    per_tick: Int,
    one: Letters,
    accepts: Any,
    at: Int,
    faults: Int,
    ticks: Ticks,
) -> Int:
    """Fill in the ticks of one list; how many of its remedies fixed nothing."""
    seen, wrong = 0, 0
    for now in range(length):
        action, tick = np.int64(acts[now, row]), now // per_tick
        if one.root <= action < one.root_end:
            if seen < faults and not _declared_before(acts, row, now, acts[now, row]):
                _mark(accepts, at, action, faults, tick, ticks.said)
                seen += 1
        elif one.page <= action < one.page_end:
            _mark(accepts, at, action, faults, tick, ticks.paged)
        elif one.remedy <= action < one.remedy_end:
            _mark(accepts, at, action, faults, tick, ticks.fixed)
            wrong += not accepts[at, 0, action]
    return wrong


@kernel
def count_rows(
    acts: Any,
    rows: Ints,
    played: Ints,
    per_tick: Int,
    one: Letters,
    count: Ints,
    accepts: Any,
    ticks: Ticks,
    found: Ints,
) -> None:
    """What was done in each of S lists among ``acts`` (T, N), into ``found`` (5, S)."""
    never = acts.shape[0]
    for at in range(len(rows)):
        faults, row = count[at], rows[at]
        for fault in range(faults):
            ticks.said[fault] = never
            ticks.paged[fault] = never
            ticks.fixed[fault] = never
        found[_WRONG, at] = _play(acts, row, played[at], per_tick, one, accepts, at, faults, ticks)
        named, paged, halves, fixed = 0, 0, 0, 0
        for fault in range(faults):
            done = ticks.fixed[fault] < never
            named += ticks.said[fault] < never and ticks.said[fault] <= ticks.fixed[fault]
            paged += ticks.paged[fault] < never
            fixed += done
            if done:
                halves += 2 if ticks.paged[fault] < ticks.fixed[fault] else 1
        found[_NAMED, at] = named
        found[_PAGED, at] = paged
        found[_HALVES, at] = halves
        found[_FIXED, at] = fixed == faults


def compiled_shares(
    asked: Asked, acts: Ints, played: Ints, per_tick: int, letters: Letters
) -> Shares:
    """What lists of actions (T, N) amount to where faults are listed.

    ``played`` (N,) is how many actions of each were played, the last of them included.
    """
    count, most = asked.count.astype(np.int64), asked.accepts.shape[1] - 1
    found = np.empty((5, len(asked.rows)), np.int64)
    ticks = Ticks(*(np.empty(most, np.int64) for _ in range(3)))
    count_rows(
        acts,
        asked.rows,
        played[asked.rows].astype(np.int64),
        per_tick,
        Letters(*map(int, letters)),
        count,
        asked.accepts,
        ticks,
        found,
    )
    named, paged, halves, fixed, wrong = found
    return Shares(asked.rows, count, named, paged, halves, fixed.astype(np.bool_), wrong)
