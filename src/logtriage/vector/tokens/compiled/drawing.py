"""Incidents drawn row by row, as :mod:`logtriage.drawing.incidents` draws one."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.drawing.incidents import DIRECTORY_STREAM, HAND_OVER_STREAM, TRUTH_STREAM, Slot
from logtriage.rng import hash_name
from logtriage.vector.compiled.draws import Int, below, draw, premixed, subkey
from logtriage.vector.tokens.compiled.fields import tables_in
from logtriage.vector.tokens.incidents import NEVER_SHOWN, P3
from logtriage.vector.tokens.layout import PARTS
from logtriage.vector.tokens.tables import OWNER
from logtriage.world.histories import BLIND_STREAM, HISTORY_STREAM, RULE_STREAM
from logtriage.world.simulation import CONDITION_STREAM

_TRUTH: Final = premixed(TRUTH_STREAM)
_DIRECTORY: Final = premixed(DIRECTORY_STREAM)
_CONDITION: Final = premixed(CONDITION_STREAM)
_HAND_OVER: Final = premixed(HAND_OVER_STREAM)
_HISTORY: Final = premixed(HISTORY_STREAM)
_RULE: Final = premixed(RULE_STREAM)
_BLIND: Final = premixed(BLIND_STREAM)
_PARTS: Final = np.array([premixed(hash_name(str(part))) for part in PARTS], np.uint64)
_TRUTH_SLOT: Final = int(Slot.TRUTH)
_SEVERITY_SLOT: Final = int(Slot.SEVERITY)
_P3: Final = int(P3)
_OWNER: Final = int(OWNER)
_LOW: Final = np.uint64(0xFFFFFFFF)
_32: Final = np.uint64(32)
_48: Final = np.uint64(48)
_16: Final = np.uint64(16)
_16_BITS: Final = np.uint64(0xFFFF)


@kernel
def high_product(bits: np.uint64, low: np.uint64, high: np.uint64) -> np.uint64:
    """``bits * whole >> 64``; ``low`` and ``high`` are the halves of a whole number below 2**64."""
    middle = (bits >> _32) * low + ((bits & _LOW) * low >> _32)
    carried = (bits & _LOW) * high + (middle & _LOW)
    return (bits >> _32) * high + (middle >> _32) + (carried >> _32)


@kernel
def _bisected(steps: Any, point: np.uint64) -> Int:
    """Count the ascending steps that a point reaches."""
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        if steps[middle] <= point:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _weighted(bits: np.uint64, cumulative: Any) -> Int:
    """The index that 64 random bits pick by cumulative weights."""
    return _bisected(cumulative, below(bits, cumulative[-1]))


@kernel
def reached(steps: Any, row: Int, point: Int) -> Int:
    """Count the steps of a row that a point below 65,536 reaches: the place that it draws.

    Short rows are filled up with steps that no point reaches.
    """
    if steps[row, 0] > point:
        return np.int64(0)
    count = np.int32(0)
    for step in range(np.uint64(steps.shape[1])):
        count += np.int32(steps[row, step] <= point)
    return np.int64(count)


@kernel
def drawn_rule(seed: np.uint64, service: Int, rule: Int, begin: Int, tables: Any) -> Any:
    """(whether an alert rule works from tick ``begin`` on, from when it fires by chance)."""
    key = subkey(subkey(seed, _RULE), tables.rule_stream[np.uint64(rule)])
    bits = draw(key, service, begin)
    point = np.int64(bits >> _48)
    if point < tables.rule_steps[0]:
        return True, np.int64(NEVER_SHOWN)
    if point < tables.rule_steps[1]:
        return False, np.int64(NEVER_SHOWN)
    onset = reached(tables.steps, np.uint64(tables.any_row), np.int64(bits >> _32 & _16_BITS))
    return False, onset


@kernel
def draw_histories(
    row: Int, service: Int, fog: Int, blind: Int, tables: Any, incidents: Any
) -> None:
    """Draw the histories of a service, when its alerts fire, and which of its channels are down."""
    seed, place = incidents.seed[row], np.uint64(service)
    condition = np.uint64(incidents.conditions[row, place])
    key = subkey(seed, _HISTORY)
    # Of the bits of a history, 16 draw whether it is a coincidence, 16 its token, 16 its onset.
    for sort in range(np.uint64(tables.stream.shape[0])):
        bits = draw(subkey(key, tables.stream[sort]), service, 0)
        foggy = np.int64(bits >> _48) < fog
        which = tables.fog_row[sort, place] if foggy else tables.sign_row[sort, place, condition]
        token = reached(tables.steps, np.uint64(which), np.int64(bits >> _32 & _16_BITS))
        onset = np.int64(NEVER_SHOWN)
        if token > 0:
            which = tables.any_row if foggy else tables.onset_row[sort, place, condition]
            onset = reached(tables.steps, np.uint64(which), np.int64(bits >> _16 & _16_BITS))
        incidents.token[row, place, sort] = token
        incidents.onset[row, place, sort] = onset
    for rule in range(np.uint64(tables.watched.shape[0])):
        works, fires = drawn_rule(seed, service, rule, 0, tables)
        if works:
            fires = np.int64(incidents.onset[row, place, np.uint64(tables.watched[rule])])
            if fires != NEVER_SHOWN:
                fires = max(fires, np.int64(tables.late[place, condition]))
        incidents.fires[row, place, rule] = fires
    for part in range(np.uint64(len(_PARTS))):
        bits = draw(subkey(subkey(seed, _BLIND), _PARTS[part]), service, 0)
        incidents.down[row, place, part] = np.int64(bits >> _48) < blind


@kernel
def draw_rows(
    rows: Any,
    index: Any,
    seeds: Any,
    worlds: Any,
    incidents: Any,
    pool: Any,
    worths: Any,
    fog: Int,
    blind: Int,
) -> None:
    """Draw the incidents ``index`` (R,) with ``seeds`` (R,) into ``rows`` (R,) of ``incidents``.

    ``worlds`` (R,) are places in the ``pool`` of tables; ``worths`` are those that a hand-over can
    have, in units of the layout; ``fog`` and ``blind`` are the weights, out of 65,536, of
    coincidences and of channels that are down.
    """
    n = incidents.conditions.shape[1]
    for place in range(len(rows)):
        row, seed = np.uint64(rows[place]), seeds[place]
        tables = tables_in(pool, np.uint64(worlds[place]))
        incidents.world[row] = worlds[place]
        incidents.index[row] = index[place]
        incidents.seed[row] = seed
        key = subkey(seed, _TRUTH)
        point = high_product(
            draw(key, _TRUTH_SLOT, 0), tables.prior_total[0], tables.prior_total[1]
        )
        true = np.uint64(_bisected(tables.prior_steps, point))
        incidents.hypothesis[row] = true
        incidents.severity[row] = _P3
        if tables.has_fault[true]:
            incidents.severity[row] = _weighted(draw(key, _SEVERITY_SLOT, 0), tables.severity_steps)
        public = incidents.board[row, np.uint64(incidents.first_public) :]  # worth, owners
        public[:] = 0
        public[0] = worths[below(draw(subkey(seed, _HAND_OVER), 0, 0), len(worths))]
        incidents.team[row] = tables.team[true]
        key = subkey(seed, _DIRECTORY)
        for service in range(n):
            pick = _weighted(draw(key, 0, service), tables.owner_steps[service])
            public[np.uint64(1 + pick * n + service)] = 1
            if service == tables.root[true] and tables.team[true] == _OWNER:
                incidents.team[row] = tables.owners[pick]
        key = subkey(seed, _CONDITION)
        for service in range(n):
            condition: Int = np.int64(tables.condition_of[true, service])
            if condition < 0:
                bits = np.int64(draw(key, service, 0) >> _48)
                condition = 0
                while tables.unaffected_steps[service, condition] <= bits:
                    condition += 1
            incidents.conditions[row, service] = condition
            draw_histories(row, service, fog, blind, tables, incidents)
