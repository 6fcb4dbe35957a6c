"""Pools of readings row by row, as :mod:`logtriage.beliefs.pools` has them for one belief."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.beliefs.fixedpoint import EXP_BITS, NEVER, ONE
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_pools import NEVER_HIDDEN, PoolTables
from logtriage.vector.belief_state import BeliefState
from logtriage.vector.belief_tables import BeliefTables, Powers
from logtriage.vector.compiled.draws import Int
from logtriage.vector.compiled.fixedpoint import exp2, log2, log_sum
from logtriage.world.setting import FULL

_LOG_FULL: Final = (FULL.bit_length() - 1) * ONE
#: Which readings of a pool: all, those that hide a root's sign, those that do not.
_EVERY, _HIDDEN, _OPEN = 0, 1, 2
#: Pools whose key needs more words than this are not remembered.
_KEY: Final = 8
#: How many states of pools are remembered, a power of 2; the bits of a number that a key is mixed
#: in.
_REMEMBERED: Final = 1 << 13
_MIXED: Final = 31
_MASK: Final = (1 << _MIXED) - 1
_MIXER: Final = 0x2545F491
_GAIN_BITS: Final = 48
#: Which of these: in all, from before a break, or from after it.
_IN_ALL, _BEFORE, _AFTER = 0, 1, 2


class Room(NamedTuple):
    """Room to work in.

    ``token`` and ``gain`` (3, A) list what was seen in a pool and gained, ``kinds`` (3,) how
    many tokens: of every reading, of the hidden, and of the others; ``terms`` are of a sum.
    ``moved`` (rows of a pool,) and ``moves`` (conditions of a service,) are changes of logarithms.
    ``fresh`` (n, B) marks pools with new readings, ``stirred`` (n,) their services, which
    ``order`` lists. ``fixing`` (H,) is the remedy that fixed a hypothesis in the last tick, or -1;
    ``logs`` (H,). ``kept`` (8,) says how likely the panels of the edge are by what it
    keeps, ``edge`` (3,) is as that of the state.

    Rows are often in the same state of a pool: ``memo`` (S + 1, rows of a pool) keeps logarithms of
    states met before, ``keys`` (S, W) what was seen in them, ``key`` (W,) what was seen in the
    present pool. The last row of ``memo`` is for states that are not kept.
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
    kept: Longs
    edge: Longs
    memo: Longs
    keys: Longs
    key: Longs


def room_for(tables: BeliefTables) -> Room:
    """Room for one row at a time."""
    pools = tables.pools
    lines = int((pools.end_row - pools.first_row).max())
    widest = max(int(pools.tokens.max()), tables.edges.prior.shape[2])
    return Room(
        token=np.zeros((3, widest), np.int64),
        gain=np.zeros((3, widest), np.int64),
        kinds=np.zeros(3, np.int64),
        terms=np.zeros(widest + 1, np.int64),
        moved=np.zeros(lines, np.int64),
        moves=np.zeros(int(pools.conditions.max()), np.int64),
        fresh=np.zeros(pools.tokens.shape[1:], np.uint8),
        stirred=np.zeros(tables.services, np.uint8),
        order=np.zeros(tables.services, np.int64),
        fixing=np.zeros(tables.prior.shape[1], np.int64),
        logs=np.zeros(tables.prior.shape[1], np.int64),
        kept=np.zeros(tables.edges.prior.shape[1], np.int64),
        edge=np.zeros(3, np.int64),
        memo=np.zeros((_REMEMBERED + 1, lines), np.int64),
        keys=np.full((_REMEMBERED, _KEY), -1),
        key=np.zeros(_KEY, np.int64),
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
    pools: PoolTables,
    room: Room,
) -> Int:
    """Add a reading to its pool; return how many services of the row have new readings by now."""
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
    part: Int,
    before: Longs,
    service: Int,
    pool: Int,
    gains: Longs,
    pools: PoolTables,
    room: Room,
) -> None:
    """List in the room what was seen in a pool: in all, ``before`` a break, or after it."""
    first, hidden = pools.first_sum[service, pool], pools.first_hidden[service, pool]
    whole, less = np.int64(part != _BEFORE), np.int64(part == _BEFORE) - np.int64(part == _AFTER)
    room.kinds[:] = 0
    for token in range(pools.tokens[service, pool]):
        at = np.uint64(first + token)
        gain = whole * gains[at] + less * before[at]
        _note_down(_EVERY, token, gain, room)
        if hidden != NEVER_HIDDEN:
            at = np.uint64(hidden + token)
            early = whole * gains[at] + less * before[at]
            _note_down(_HIDDEN, token, early, room)
            _note_down(_OPEN, token, gain - early, room)


@kernel
def _pooled(line: Int, which: Int, pools: PoolTables, powers: Powers, room: Room) -> Int:
    """The logarithm of the likelihood of readings for conditions of a row of a pool."""
    seen = room.kinds[which]
    if seen == 0:
        return np.int64(0)
    first = pools.first_weight[np.uint64(line)]
    left = np.int64(FULL)
    for place in range(seen):
        at = np.uint64(first + room.token[which, place])
        left -= pools.weights[at]
        room.terms[place] = pools.logs[at] + room.gain[which, place]
    room.terms[seen] = np.int64(powers.logs[np.uint64(left)]) if left > 0 else np.int64(NEVER)
    return log_sum(room.terms, seen + 1, powers) - _LOG_FULL


@kernel
def _row_log(line: Int, early: Int, pools: PoolTables, powers: Powers, room: Room) -> Int:
    """As :func:`_pooled`, where a root's hidden readings say what they say of a healthy service.

    That is ``early``.
    """
    which, log = np.int64(_EVERY), np.int64(0)
    if room.kinds[_HIDDEN] > 0 and pools.root[np.uint64(line)]:
        which, log = np.int64(_OPEN), early
    return log + _pooled(line, which, pools, powers, room)


@kernel
def _place(service: Int, pool: Int, number: Int, room: Room) -> Int:
    """The place in the memo where the readings of a pool of a world are kept; they are its key."""
    every, hidden = room.kinds[_EVERY], room.kinds[_HIDDEN]
    words = 1 + every + hidden
    if words > _KEY:
        return np.int64(len(room.keys))
    which = number * room.fresh.size + service * room.fresh.shape[1] + pool
    room.key[0] = (which << 16) + (every << 8) + hidden
    for place in range(every):
        room.key[1 + place] = (room.token[_EVERY, place] << _GAIN_BITS) + room.gain[_EVERY, place]
    for place in range(hidden):
        word = (room.token[_HIDDEN, place] << _GAIN_BITS) + room.gain[_HIDDEN, place]
        room.key[1 + every + place] = word
    room.key[words:] = 0
    mixed = np.int64(0)
    for place in range(words):
        word = room.key[place]
        mixed = (mixed ^ (word & _MASK) ^ (word >> _MIXED)) * _MIXER
        mixed = (mixed ^ (mixed >> 17)) & _MASK
    return mixed & np.int64(len(room.keys) - 1)


@kernel
def _remembered(place: Int, room: Room) -> bool:
    """Whether the memo has the key in a place; if not, it will."""
    if place == len(room.keys):
        return False
    same = True
    for word in range(_KEY):
        same &= room.keys[place, word] == room.key[word]
        room.keys[place, word] = room.key[word]
    return same


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
        _gather(_IN_ALL, state.gains[row], service, pool, state.gains[row], pools, room)
        first, end = pools.first_row[service, pool], pools.end_row[service, pool]
        at = pools.first_condition[service, pool]
        known = _place(service, pool, pools.number, room)
        if not _remembered(known, room):
            early = _pooled(pools.row_of[at], _HIDDEN, pools, tables.powers, room)
            for line in range(first, end):
                room.memo[known, line - first] = _row_log(line, early, pools, tables.powers, room)
        for line in range(first, end):
            log = room.memo[known, line - first]
            room.moved[line - first] = log - state.pooled[row, np.uint64(line)]
            state.pooled[row, np.uint64(line)] = log
        for condition in range(conditions):
            moves[condition] += room.moved[pools.row_of[np.uint64(at + condition)] - first]
    first, end = tables.own_at[service], tables.own_at[service + 1]
    highest = np.int64(NEVER)
    for place in range(first, end):
        state.own[row, place] += moves[place - first]
        highest = max(highest, state.own[row, place] + tables.shares[place])
    powers = np.int64(0)
    for place in range(first, end):
        powers += exp2(highest - state.own[row, place] - tables.shares[place], tables.powers)
    aloof = highest + log2(powers) - EXP_BITS * ONE
    change = aloof - state.aloof[row, service]
    state.aloof[row, service] = aloof
    for place in range(tables.reach_at[service], tables.reach_at[service + 1]):
        hypothesis = np.uint64(tables.reach[np.uint64(place)])
        state.reached[row, hypothesis] += moves[tables.reach_as[np.uint64(place)]] - change


@kernel
def reached_until(
    row: Int, hypothesis: Int, slot: Int, state: BeliefState, tables: BeliefTables, room: Room
) -> Int:
    """As ``state.reached`` for a fixed hypothesis: its services are healthy after that break."""
    pools, gains, before = tables.pools, state.gains[row], state.before[row, slot]
    total = np.int64(0)
    for place in range(tables.spread_at[hypothesis], tables.spread_at[hypothesis + 1]):
        service, condition = tables.spread[place], tables.spread_as[place]
        total -= state.aloof[row, service]
        for pool in range(pools.tokens.shape[1]):
            at = pools.first_condition[service, pool]
            healthy = pools.row_of[at]
            for part in (_BEFORE, _AFTER):
                _gather(part, before, service, pool, gains, pools, room)
                early = _pooled(healthy, _HIDDEN, pools, tables.powers, room)
                line = pools.row_of[at + condition] if part == _BEFORE else healthy
                total += _row_log(line, early, pools, tables.powers, room)
    return total
