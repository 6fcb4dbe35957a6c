"""The outcomes of histories (what was seen of each), row by row, and their likelihoods.

Spec: :mod:`logtriage.beliefs.outcomes`; law: ``property_tests/test_belief_batch_laws.py``.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.beliefs.fixedpoint import BITS, EXP_BITS, INDEX, NEVER, ONE, PER_E, SHORT
from logtriage.beliefs.outcomes import MASS_BITS, RULE_BITS
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_histories import MISSES, NOISY, UNWATCHED, WORKS, HistoryTables
from logtriage.vector.belief_state import AFTER, FIRED, QUIET, TOKEN, UNSEEN, UNTIL, BeliefState
from logtriage.vector.belief_tables import INVERSE_BITS, BeliefTables, Powers
from logtriage.vector.compiled.draws import Int
from logtriage.vector.compiled.fixedpoint import exp2, log2s
from logtriage.world.channels import SCRAPE
from logtriage.world.histories import INSTANTS, NOW
from logtriage.world.setting import FULL

_LAST: Final = INSTANTS - 1
#: The number of outcomes that the memo holds, a power of 2.
_REMEMBERED: Final = 1 << 14
_MIXED: Final = 31
_MASK: Final = (1 << _MIXED) - 1
_MIXER: Final = 0x2545F491


class Room(NamedTuple):
    """Scratch memory for one row at a time, and a memo of outcomes.

    ``terms`` are those of a sum; ``moves`` (C,) are changes of logarithms by condition. ``fresh``
    (n, S) marks histories with news, ``before`` (n, S, 5) holds their outcomes before the news;
    ``stirred`` (n,) marks their services, which ``order`` lists. ``fixing`` (H,) is the number of
    the remedy that fixed a hypothesis in the last tick, or -1; ``logs`` (H,). ``kept`` (8,) is the
    log-likelihood of the edge panels by state of the edge, ``edge`` (3,) is as in the belief state.

    Rows often share outcomes: ``memo`` (M, C) keeps the log-likelihoods of outcomes met before,
    ``keys`` (M,) says which outcomes these are.
    """

    terms: Longs
    moves: Longs
    fresh: NDArray[np.uint8]
    before: NDArray[np.int8]
    stirred: NDArray[np.uint8]
    order: Longs
    fixing: Longs
    logs: Longs
    kept: Longs
    edge: Longs
    memo: Longs
    keys: Longs


def room_for(tables: BeliefTables) -> Room:
    """Empty scratch memory of the size that these tables need."""
    histories = tables.histories
    widest = int(histories.conditions.max())
    _, services, sorts = histories.sizes.shape
    return Room(
        terms=np.zeros(tables.edges.prior.shape[2] + 1, np.int64),
        moves=np.zeros(widest, np.int64),
        fresh=np.zeros((services, sorts), np.uint8),
        before=np.zeros((services, sorts, len(UNSEEN)), np.int8),
        stirred=np.zeros(services, np.uint8),
        order=np.zeros(services, np.int64),
        fixing=np.full(tables.prior.shape[1], -1),
        logs=np.zeros(tables.prior.shape[1], np.int64),
        kept=np.zeros(tables.edges.prior.shape[1], np.int64),
        edge=np.zeros(3, np.int64),
        memo=np.zeros((_REMEMBERED, widest), np.int64),
        keys=np.full(_REMEMBERED, -1),
    )


@kernel
def _read(outcome: Any, instant: Int, token: Int) -> None:
    """Narrow an outcome by a token that was read at an instant."""
    if token == 0:
        outcome[AFTER] = max(outcome[AFTER], instant)
    else:
        outcome[TOKEN] = token
        outcome[UNTIL] = min(outcome[UNTIL], instant)


@kernel
def _hear(outcome: Any, instant: Int, fires: Int) -> None:
    """Narrow an outcome by whether its alert fires at an instant."""
    if fires == 0:
        outcome[QUIET] = max(outcome[QUIET], instant)
    else:
        outcome[FIRED] = min(outcome[FIRED], instant)


@kernel
def take_cell(
    row: Int,
    service: Int,
    sort: Int,
    start: Int,
    token: Int,
    alert: bool,
    stays: bool,
    stirred: Int,
    state: BeliefState,
    room: Room,
) -> Int:
    """Take in a cell of a history, or of its alert; return how many services have news by now.

    ``token`` is what it shows, of an alert whether it fires. ``stays``: no remedy undoes what the
    cell shows, so that it belongs before each break. ``stirred`` services had news before.
    """
    instant = min(np.int64(NOW) + start // np.int64(SCRAPE), np.int64(_LAST))
    outcome = state.seen[row, 0, service, sort]
    if not room.fresh[service, sort]:
        room.fresh[service, sort] = 1
        for place in range(len(outcome)):
            room.before[service, sort, place] = outcome[place]
        if not room.stirred[service]:
            room.stirred[service] = 1
            room.order[stirred] = service
            stirred += 1
    for part in range(state.seen.shape[1]):
        if part > 0:
            # Part 0 holds what was seen in all ticks, odd parts until a break, even ones since it.
            is_before = stays or start <= state.breaks[row, (part - 1) // 2]
            holds_before = part % 2 == 1
            if is_before != holds_before:
                continue
        outcome = state.seen[row, part, service, sort]
        if alert:
            _hear(outcome, instant, token)
        else:
            _read(outcome, instant, token)
    return stirred


@kernel
def _mass_between(row: Int, after: Int, until: Int, tables: HistoryTables) -> Int:
    """The mass of histories that begin after ``after`` up to ``until``, by the sums at ``row``."""
    if after >= until:
        return np.int64(0)
    return tables.sums[row + until + 1] - tables.sums[row + after + 1]


@kernel
def _plain_weight(quiet: Int, fired: Int, tables: HistoryTables) -> Int:
    """The weight of missing and noisy rules that fit an alert last quiet and first fired then."""
    chance = tables.by_chance[min(fired, np.int64(_LAST)) + 1] - tables.by_chance[quiet + 1]
    missed = tables.rules[MISSES] if fired > _LAST else np.int64(0)
    return missed + tables.rules[NOISY] * max(chance, np.int64(0)) // np.int64(FULL)


@kernel
def _mass(service: Int, sort: Int, condition: Int, outcome: Any, tables: HistoryTables) -> Int:
    """The mass, below 2**52, of all histories and rules that fit an outcome under a condition."""
    after, token, until = (
        np.int64(outcome[AFTER]), np.int64(outcome[TOKEN]), np.int64(outcome[UNTIL]),
    )  # fmt: skip
    quiet, fired = np.int64(outcome[QUIET]), np.int64(outcome[FIRED])
    size = tables.sizes[service, sort]
    row = tables.first[service, sort] + (condition * size + token) * np.int64(INSTANTS + 1)
    usual = np.int64(0)
    if token == 0:
        usual = tables.usual[tables.first_usual[service, sort] + condition]
    until = min(until, np.int64(_LAST))
    whole = _mass_between(row, after, until, tables) + usual
    if tables.rule_of[sort] == UNWATCHED or (quiet < 0 and fired > _LAST):
        return whole << np.int64(RULE_BITS)
    # Before ``late`` all alerts are silent, so an alert that was quiet then tells nothing.
    late = tables.late[service, condition]
    silent = quiet if quiet >= late else np.int64(-1)
    if fired > _LAST:
        fits = _mass_between(row, max(after, silent), until, tables) + usual
    else:
        fits = np.int64(0)
        if fired >= late:
            fits = _mass_between(row, max(after, silent), min(until, fired), tables)
    return tables.rules[WORKS] * fits + _plain_weight(quiet, fired, tables) * whole


@kernel
def _mass_of_well(sort: Int, outcome: Any, tables: HistoryTables) -> Int:
    """The mass of all that fits an outcome at a service that is well again."""
    if outcome[TOKEN] > 0:
        return np.int64(0)
    quiet, fired = np.int64(outcome[QUIET]), np.int64(outcome[FIRED])
    rules = np.int64(1) << np.int64(RULE_BITS)
    if tables.rule_of[sort] != UNWATCHED and (quiet >= 0 or fired <= _LAST):
        rules = tables.rules[WORKS] if fired > _LAST else np.int64(0)
        rules += _plain_weight(quiet, fired, tables)
    return rules << np.int64(MASS_BITS - RULE_BITS)


@kernel
def _log(mass: Int, powers: Powers) -> Int:
    """The logarithm of ``mass`` / 2**MASS_BITS; NEVER for 0.

    It is rounded as :func:`logtriage.beliefs.fixedpoint.log2s`.
    """
    if mass <= 0:
        return np.int64(NEVER)
    exponent, left = np.int64(0), mass
    for step in (32, 16, 8, 4, 2, 1):
        if left >> step > 0:
            left >>= step
            exponent += step
    mantissa = mass >> (exponent - SHORT) if exponent > SHORT else mass << (SHORT - exponent)
    rest_bits = np.int64(SHORT - INDEX)
    index = np.uint64((mantissa >> rest_bits) & np.int64((1 << INDEX) - 1))
    rest = (mantissa & ((np.int64(1) << rest_bits) - 1)) << np.int64(INDEX)
    rest = rest * np.int64(powers.inverse[index]) >> np.int64(INVERSE_BITS)
    rest -= rest * rest >> np.int64(SHORT + 1)
    logs = np.int64(powers.upper[index]) + (rest * np.int64(PER_E) >> np.int64(SHORT))
    return (exponent - MASS_BITS) * ONE + (logs >> np.int64(SHORT - BITS))


@kernel
def _key(service: Int, sort: Int, outcome: Any, tables: HistoryTables) -> Int:
    """A number for an outcome: history, 5 bits an instant, 7 for one of ``MOST_TOKENS``."""
    key = np.int64(tables.number) * tables.sizes.size + service * tables.sizes.shape[1] + sort
    key = key << 5 | (np.int64(outcome[AFTER]) + 1)
    key = key << 7 | np.int64(outcome[TOKEN])
    key = key << 5 | min(np.int64(outcome[UNTIL]), np.int64(31))
    key = key << 5 | (np.int64(outcome[QUIET]) + 1)
    return key << 5 | min(np.int64(outcome[FIRED]), np.int64(31))


@kernel
def _memo_row(
    service: Int, sort: Int, outcome: Any, tables: HistoryTables, powers: Powers, room: Room
) -> Int:
    """The memo's row of an outcome's log-likelihoods (C,), until the next call overwrites it."""
    key = _key(service, sort, outcome, tables)
    mixed = ((key & _MASK) ^ (key >> _MIXED)) * _MIXER & _MASK
    place = (mixed ^ (mixed >> 15)) & np.int64(len(room.keys) - 1)
    if room.keys[place] != key:
        room.keys[place] = key
        for condition in range(tables.conditions[service]):
            mass = _mass(service, sort, np.int64(condition), outcome, tables)
            room.memo[place, condition] = _log(mass, powers)
    return place


@kernel
def _is_seen(outcome: Any) -> Any:
    """Whether anything was seen of a history."""
    read = outcome[AFTER] >= 0 or outcome[TOKEN] > 0
    return read or outcome[QUIET] >= 0 or outcome[FIRED] <= _LAST


@kernel
def renew_service(
    row: Int, service: Int, state: BeliefState, tables: BeliefTables, room: Room
) -> None:
    """Update the sums of a row by those histories of a service that have news."""
    histories, moves = tables.histories, room.moves
    conditions = histories.conditions[service]
    moves[:conditions] = 0
    room.stirred[service] = 0
    for sort in range(histories.sizes.shape[1]):
        if not room.fresh[service, sort]:
            continue
        room.fresh[service, sort] = 0
        now, before = state.seen[row, 0, service, sort], room.before[service, sort]
        same = True
        for place in range(len(now)):
            same &= now[place] == before[place]
        if same:
            continue
        if _is_seen(before):
            at = _memo_row(service, np.int64(sort), before, histories, tables.powers, room)
            for condition in range(conditions):
                moves[condition] -= room.memo[at, condition]
        at = _memo_row(service, np.int64(sort), now, histories, tables.powers, room)
        for condition in range(conditions):
            moves[condition] += room.memo[at, condition]
    first, end = tables.own_at[service], tables.own_at[service + 1]
    # The unaffected conditions of a service are the first of its conditions.
    highest = np.int64(NEVER)
    for place in range(first, end):
        state.own[row, place] += moves[place - first]
        highest = max(highest, state.own[row, place] + tables.shares[place])
    total = np.int64(0)
    for place in range(first, end):
        total += exp2(highest - state.own[row, place] - tables.shares[place], tables.powers)
    aloof = highest + log2s(total, tables.powers) - EXP_BITS * ONE
    change = aloof - state.aloof[row, service]
    state.aloof[row, service] = aloof
    for place in range(tables.reach_at[service], tables.reach_at[service + 1]):
        hypothesis = np.uint64(tables.reach[np.uint64(place)])
        state.reached[row, hypothesis] += moves[tables.reach_as[np.uint64(place)]] - change


@kernel
def reached_until(
    row: Int, hypothesis: Int, slot: Int, state: BeliefState, tables: BeliefTables, room: Room
) -> Int:
    """``state.reached`` of a hypothesis fixed at break ``slot``: its services are healthy since."""
    histories, powers = tables.histories, tables.powers
    total = np.int64(0)
    for place in range(tables.spread_at[hypothesis], tables.spread_at[hypothesis + 1]):
        service, condition = tables.spread[place], tables.spread_as[place]
        total -= state.aloof[row, service]
        for sort in range(histories.sizes.shape[1]):
            before = state.seen[row, 1 + 2 * slot, service, sort]
            if _is_seen(before):
                at = _memo_row(service, np.int64(sort), before, histories, powers, room)
                total += room.memo[at, condition]
            since = state.seen[row, 2 + 2 * slot, service, sort]
            if _is_seen(since):
                total += _log(_mass_of_well(np.int64(sort), since, histories), powers)
    return total
