"""Pools of readings row by row, as :mod:`logtriage.belief.pools` has them for one belief."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.belief.fixedpoint import EXP_BITS, NEVER, ONE
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_pools import NEVER_HIDDEN
from logtriage.vector.belief_state import BeliefState
from logtriage.vector.belief_tables import BeliefTables
from logtriage.vector.compiled.fixedpoint import exp2, log2, log_sum
from logtriage.world.setting import FULL

#: An integer, Python's or the machine's.
Int = Any

_LOG_FULL: Final = (FULL.bit_length() - 1) * ONE
#: Which readings of a pool: all, those that hide a root's sign, those that do not.
_EVERY, _HIDDEN, _OPEN = 0, 1, 2


class Room(NamedTuple):
    """Room to work in.

    ``token`` and ``gain`` (3, A) list what was seen in a pool and gained, ``kinds`` (3,) how
    many tokens: of every reading, of the hidden, and of the others; ``terms`` are of a sum.
    ``moved`` (rows of a pool,) and ``moves`` (conditions of a service,) are changes of logarithms.
    ``fresh`` (n, B) marks pools with new readings, ``stirred`` (n,) their services, which
    ``order`` lists. ``fixing`` (H,) is the remedy that fixed a hypothesis in the last tick, or -1;
    ``logs`` (H,).
    """

    token: Longs
    gain: Longs
    kinds: Longs
    terms: Longs
    moved: Longs
    moves: Longs
    fresh: NDArray[np.uint8]
    stirred: NDArray[np.uint8]
    order: Longs
    fixing: Longs
    logs: Longs


def room_for(tables: BeliefTables) -> Room:
    """Room for one row at a time."""
    pools = tables.pools
    widest = max(int(pools.tokens.max()), tables.edge.shape[-1])
    return Room(
        token=np.zeros((3, widest), np.int64),
        gain=np.zeros((3, widest), np.int64),
        kinds=np.zeros(3, np.int64),
        terms=np.zeros(widest + 1, np.int64),
        moved=np.zeros(int((pools.end_row - pools.first_row).max()), np.int64),
        moves=np.zeros(int(pools.conditions.max()), np.int64),
        fresh=np.zeros(pools.tokens.shape, np.uint8),
        stirred=np.zeros(tables.services, np.uint8),
        order=np.zeros(tables.services, np.int64),
        fixing=np.zeros(len(tables.prior), np.int64),
        logs=np.zeros(len(tables.prior), np.int64),
    )


@kernel
def take_reading(
    row: Int,
    service: Int,
    sort: Int,
    start: Int,
    token: Int,
    stirred: Int,
    state: BeliefState,
    tables: BeliefTables,
    room: Room,
) -> Int:
    """Add a reading to its pool; ``stirred`` services of the row had some, with it so many."""
    pools = tables.pools
    pool = pools.pool_of[sort]
    if token >= pools.tokens[service, pool]:  # a gap, or down: it tells nothing
        return stirred
    stage = min(start, pools.stages[sort] - 1)
    gain = pools.gains[
        np.uint64(pools.first_gain[service, sort] + stage * pools.tokens[service, pool] + token)
    ]
    at = pools.first_sum[service, pool] + token
    hidden = pools.first_hidden[service, pool] + token
    hides = start < pools.hidden[sort]
    state.gains[row, np.uint64(at)] += gain
    if hides:
        state.gains[row, np.uint64(hidden)] += gain
    for place in range(state.breaks.shape[1]):
        if start <= state.breaks[row, place]:
            state.before[row, place, np.uint64(at)] += gain
            if hides:
                state.before[row, place, np.uint64(hidden)] += gain
    room.fresh[service, pool] = 1
    if room.stirred[service]:
        return stirred
    room.stirred[service] = 1
    room.order[stirred] = service
    return stirred + 1


@kernel
def _note_down(which: Int, token: Int, gain: Int, room: Room) -> None:
    if gain > 0:
        place = room.kinds[which]
        room.token[which, place] = token
        room.gain[which, place] = gain
        room.kinds[which] = place + 1


@kernel
def _gather(
    gains: Longs, less: Longs, share: Int, service: Int, pool: Int, tables: BeliefTables, room: Room
) -> None:
    """What was seen in a pool, into the room: ``gains``, less ``share`` times ``less``."""
    pools = tables.pools
    first, hidden = pools.first_sum[service, pool], pools.first_hidden[service, pool]
    room.kinds[:] = 0
    for token in range(pools.tokens[service, pool]):
        at = np.uint64(first + token)
        gain = gains[at] - share * less[at]
        _note_down(_EVERY, token, gain, room)
        if hidden != NEVER_HIDDEN:
            at = np.uint64(hidden + token)
            early = gains[at] - share * less[at]
            _note_down(_HIDDEN, token, early, room)
            _note_down(_OPEN, token, gain - early, room)


@kernel
def _pooled(line: Int, which: Int, tables: BeliefTables, room: Room) -> Int:
    """The logarithm of the likelihood of readings for conditions of a row of a pool."""
    seen = room.kinds[which]
    if seen == 0:
        return np.int64(0)
    first = tables.pools.first_weight[np.uint64(line)]
    left = np.int64(FULL)
    for place in range(seen):
        at = np.uint64(first + room.token[which, place])
        left -= tables.pools.weights[at]
        room.terms[place] = tables.pools.logs[at] + room.gain[which, place]
    room.terms[seen] = tables.logs[np.uint64(left)] if left > 0 else np.int64(NEVER)
    return log_sum(room.terms, seen + 1, tables) - _LOG_FULL


@kernel
def _told(line: Int, healthy: Int, tables: BeliefTables, room: Room) -> Int:
    """As :func:`_pooled`, where a root's hidden readings are as of a ``healthy`` service."""
    if room.kinds[_HIDDEN] > 0 and tables.pools.root[line]:
        return _pooled(healthy, _HIDDEN, tables, room) + _pooled(line, _OPEN, tables, room)
    return _pooled(line, _EVERY, tables, room)


@kernel
def renew_service(
    row: Int, service: Int, state: BeliefState, tables: BeliefTables, room: Room
) -> None:
    """Take in what the fresh pools of a service say."""
    pools, moves = tables.pools, room.moves
    conditions = pools.conditions[service]
    moves[:conditions] = 0
    room.stirred[service] = 0
    for pool in range(pools.tokens.shape[1]):
        if not room.fresh[service, pool]:
            continue
        room.fresh[service, pool] = 0
        _gather(state.gains[row], state.gains[row], 0, service, pool, tables, room)
        first, end = pools.first_row[service, pool], pools.end_row[service, pool]
        at = pools.first_condition[service, pool]
        healthy = pools.row_of[at]
        for line in range(first, end):
            told = _told(line, healthy, tables, room)
            room.moved[line - first] = told - state.told[row, line]
            state.told[row, line] = told
        for condition in range(conditions):
            moves[condition] += room.moved[pools.row_of[np.uint64(at + condition)] - first]
    first, end = tables.own_at[service], tables.own_at[service + 1]
    highest = np.int64(NEVER)
    for place in range(first, end):
        state.own[row, place] += moves[place - first]
        highest = max(highest, state.own[row, place] + tables.shares[place])
    powers = np.int64(0)
    for place in range(first, end):
        powers += exp2(highest - state.own[row, place] - tables.shares[place], tables)
    aloof = highest + log2(powers) - EXP_BITS * ONE
    change = aloof - state.aloof[row, service]
    state.aloof[row, service] = aloof
    for place in range(tables.reach_at[service], tables.reach_at[service + 1]):
        one = np.uint64(tables.reach[np.uint64(place)])
        state.reached[row, one] += moves[tables.reach_as[np.uint64(place)]] - change


@kernel
def reached_until(
    row: Int, one: Int, slot: Int, state: BeliefState, tables: BeliefTables, room: Room
) -> Int:
    """As ``state.reached``, of a hypothesis that a remedy fixed: healthy from that break on."""
    pools, before = tables.pools, state.before[row, slot]
    total = np.int64(0)
    for place in range(tables.spread_at[one], tables.spread_at[one + 1]):
        service, condition = tables.spread[place], tables.spread_as[place]
        total -= state.aloof[row, service]
        for pool in range(pools.tokens.shape[1]):
            at = pools.first_condition[service, pool]
            healthy = pools.row_of[at]
            _gather(before, before, 0, service, pool, tables, room)
            total += _told(pools.row_of[at + condition], healthy, tables, room)
            _gather(state.gains[row], before, 1, service, pool, tables, room)
            total += _pooled(healthy, _EVERY, tables, room)
    return total
