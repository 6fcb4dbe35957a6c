"""Bayes' rule row by row: the integers of the scalar posterior."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.belief.fixedpoint import NEVER, RULED_OUT
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import NO_BREAK, SEEN_ROW, BeliefState
from logtriage.vector.belief_tables import BeliefTables
from logtriage.vector.cells import CHANNELS, EFFECTS, Cells
from logtriage.vector.compiled.fixedpoint import exp2
from logtriage.vector.compiled.panels import renew_panel
from logtriage.vector.compiled.signs import (
    Room,
    reached_until,
    renew_service,
    take_reading,
)
from logtriage.vector.compiled.worlds import tables_in
from logtriage.world.channels import EASES, NOTHING_READ, Channel

#: An integer, Python's or the machine's.
Int = Any
Ints = NDArray[Any]

_EDGE: Final = CHANNELS.index(Channel.EDGE)
_NOTE: Final = CHANNELS.index(Channel.NOTE)
_EFFECT: Final = CHANNELS.index(Channel.EFFECT)
_EASES: Final = EFFECTS.index(EASES)
_CHANNELS: Final = len(CHANNELS)
_EFFECTS: Final = len(EFFECTS)
_NOTHING_READ: Final = len(NOTHING_READ)


@kernel
def _take_actions(
    row: Int,
    acted: Ints,
    misrouted: bool,
    state: BeliefState,
    tables: BeliefTables,
    fixing: Longs,
    unfixed: Int,
) -> None:
    teams, remedies = tables.fixed_team.shape[0], tables.accepts.shape[0]
    last = -1
    for lane in range(len(acted)):
        if tables.first_page <= acted[lane] < tables.first_page + teams:
            last = lane
    for lane in range(len(acted)):
        team = acted[lane] - tables.first_page
        if 0 <= team < teams:
            wrong = misrouted and lane == last
            for one in range(len(tables.prior)):
                right = tables.fixed_team[team, one]
                for place in range(tables.owner_root.shape[1]):
                    root = tables.owner_root[one, place]
                    right |= root >= 0 and state.owners[row, root] == team
                if right == wrong:
                    state.noted[row, one] = NEVER
        given = acted[lane] - tables.first_remedy
        if 0 <= given < remedies:
            for one in range(len(tables.prior)):
                if tables.accepts[given, one] and state.fixed_at[row, one] == unfixed:
                    state.fixed_at[row, one] = state.screens[row] - 1
                    fixing[one] = state.remedies[row]
            state.remedies[row] += 1


@kernel
def _take_note(row: Int, token: Int, state: BeliefState, tables: BeliefTables) -> None:
    lines = len(tables.note) - 1
    for one in range(len(tables.prior)):
        told = tables.note[0, one]
        if token > 0:
            told = np.int64(NEVER)
            if tables.noted[one] == (token - 1) // lines:
                told = tables.note[1 + (token - 1) % lines, one]
        state.noted[row, one] += told


@kernel
def _take_effects(
    row: Int, cells: Cells, state: BeliefState, tables: BeliefTables, fixing: Longs
) -> None:
    """Rule out what the effects of remedies contradict; begin a break if one may have worked."""
    for place in range(len(cells)):
        if cells[place, 0] == _EFFECT:
            slot, eased = np.int64(cells[place, 2]), cells[place, 4] == _EASES
            for one in range(len(tables.prior)):
                if (fixing[one] == slot) != eased:
                    state.noted[row, one] = NEVER
    begins = False
    for one in range(len(tables.prior)):
        begins |= fixing[one] >= 0 and state.noted[row, one] > RULED_OUT
    if begins:
        slot = np.int64(0)
        while state.breaks[row, slot] != NO_BREAK:
            slot += 1
        state.breaks[row, slot] = state.screens[row] - 1
        for place in range(state.gains.shape[1]):
            state.before[row, slot, place] = state.gains[row, place]


@kernel
def _take_cells(
    row: Int, cells: Cells, state: BeliefState, tables: BeliefTables, room: Room
) -> None:
    stirred, paneled = np.int64(0), state.screens[row] == 0
    for place in range(len(cells)):
        channel, service, slot = np.int64(cells[place, 0]), cells[place, 1], cells[place, 2]
        start, token = np.int64(cells[place, 3]), np.int64(cells[place, 4])
        if channel < 0 or channel == _EFFECT:
            continue
        if channel == _EDGE:
            if state.panel[row, start] < 0:
                state.panel[row, start] = token
                paneled = True
        elif channel == _NOTE:
            _take_note(row, token, state, tables)
        else:
            seen = SEEN_ROW[channel]
            if seen >= 0 and state.seen[row, seen, service, start >> 3] >> (start & 7) & 1:
                continue
            sort = tables.first_sort[channel] + (slot if tables.slots[channel] > 0 else 0)
            stirred = take_reading(
                row, np.int64(service), sort, start, token, stirred, state, tables.pools, room
            )
    for place in range(len(cells)):  # marked only now: the slots of a reading come together
        channel, service, start = np.int64(cells[place, 0]), cells[place, 1], cells[place, 3]
        if channel >= 0 and SEEN_ROW[channel] >= 0:
            bit = np.uint8(1 << (start & 7))
            state.seen[row, SEEN_ROW[channel], service, start >> 3] |= bit
    for place in range(stirred):
        renew_service(row, room.order[place], state, tables, room)
    if paneled:
        starts, panel = state.panel.shape[1], state.panel[row]
        renew_panel(starts, panel, tables.edges, tables.powers, room, state.edge[row])


@kernel
def _logs(
    row: Int, state: BeliefState, tables: BeliefTables, room: Room, unfixed: Int, logs: Longs
) -> Int:
    """The logarithm of every hypothesis, into ``logs``; the highest."""
    whole = np.int64(0)
    for service in range(state.aloof.shape[1]):
        whole += state.aloof[row, service]
    highest, may = np.int64(NEVER), state.remedies[row] > 0
    known = np.int64(-1)
    for one in range(len(logs)):
        told, errors = state.noted[row, one] + whole + tables.prior[one], tables.errors[one]
        logs[one] = NEVER
        if state.noted[row, one] <= RULED_OUT:
            continue
        when = np.int64(state.fixed_at[row, one]) if may else unfixed
        if when == unfixed:
            told += state.reached[row, one] + state.edge[row, errors]
        else:
            if when != known:
                panel = state.panel[row]
                renew_panel(when, panel, tables.edges, tables.powers, room, room.edge)
                known = when
            slot = np.int64(0)
            while state.breaks[row, slot] != when:
                slot += 1
            told += room.edge[errors] + reached_until(row, one, slot, state, tables, room)
        if told > RULED_OUT:
            logs[one] = told
            highest = max(highest, told)
    return highest


@kernel
def _update_rows(
    rows: Ints,
    cells: Any,
    actions: Any,
    misrouted: Any,
    state: BeliefState,
    worlds: BeliefTables,
    room: Room,
    unfixed: Int,
) -> Int:
    """The place of the first row that no hypothesis fits; -1 if there is none."""
    refused = np.int64(-1)
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        tables = tables_in(worlds, np.uint64(state.world[row]))
        if state.screens[row] > 0:
            room.fixing[:] = -1
            _take_actions(
                row, actions[place], misrouted[place], state, tables, room.fixing, unfixed
            )
            _take_effects(row, cells[place], state, tables, room.fixing)
        _take_cells(row, cells[place], state, tables, room)
        state.screens[row] += 1
        highest = _logs(row, state, tables, room, unfixed, room.logs)
        for one in range(len(room.logs)):
            weight = exp2(highest - room.logs[one], tables.powers)
            state.weights[row, one] = weight if highest > NEVER else 0
        if highest == NEVER and refused < 0:
            refused = np.int64(place)
    return refused


@kernel
def _write_rows(
    state: BeliefState, worlds: BeliefTables, room: Room, unfixed: Int, out: Longs
) -> None:
    for row in range(len(out)):
        tables = tables_in(worlds, np.uint64(state.world[row]))
        _logs(row, state, tables, room, unfixed, out[row])


@kernel
def _faultless(
    rows: Ints, cells: Any, actions: Any, state: BeliefState, worlds: BeliefTables
) -> bool:
    services, starts = worlds.aloof.shape[1], state.panel.shape[1]
    remedies = worlds.accepts.shape[1]
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        tables = tables_in(worlds, np.uint64(state.world[row]))
        if state.screens[row] > starts:
            return False
        first = np.int64(state.remedies[row])
        end = first
        if state.screens[row] > 0:
            for lane in range(actions.shape[1]):
                end += 0 <= actions[place, lane] - tables.first_remedy < remedies
        for number in range(cells.shape[1]):
            channel, service = np.int64(cells[place, number, 0]), cells[place, number, 1]
            slot, start = np.int64(cells[place, number, 2]), cells[place, number, 3]
            token = np.int64(cells[place, number, 4])
            if channel == -1:
                continue
            if channel < -1 or channel >= _CHANNELS or start < 0 or start >= starts or token < 0:
                return False
            if tables.first_sort[channel] < 0:
                tokens = tables.edges.panels.shape[2]
                if channel == _NOTE:
                    tokens = 1 + services * (len(tables.note) - 1)
                elif channel == _EFFECT:
                    tokens = _EFFECTS
                    if slot < first or slot >= end:
                        return False
                if service != -1 or slot < 0 or token >= tokens:
                    return False
                continue
            slots = tables.slots[channel]
            if service < 0 or service >= services or slot < 0 or (slots > 0 and slot >= slots):
                return False
            sort = tables.first_sort[channel] + (slot if slots > 0 else 0)
            pool = tables.pools.pool_of[sort]
            if token >= tables.pools.tokens[np.int64(service), pool] + _NOTHING_READ:
                return False
    return True


def faultless(
    state: BeliefState, tables: BeliefTables, rows: Ints, cells: Cells, actions: Ints
) -> bool:
    """Whether :func:`logtriage.vector.belief_checks.check_cells` has nothing to refuse."""
    return bool(_faultless(rows, cells, actions, state, tables))


def update(
    state: BeliefState,
    tables: BeliefTables,
    room: Room,
    rows: Ints,
    cells: Cells,
    actions: Ints,
    misrouted: Any,
) -> int:
    """Take in what is new in these rows (R,), and renew their weights.

    Returns the place of the first row that no hypothesis fits, -1 if there is none. Weights
    of such rows are 0.
    """
    refused = _update_rows(rows, cells, actions, misrouted, state, tables, room, state.unfixed)
    return int(refused)


def logs_of(state: BeliefState, tables: BeliefTables, room: Room) -> Longs:
    """The logarithms (N, H) that the weights come from."""
    found = np.empty(state.weights.shape, np.int64)
    _write_rows(state, tables, room, state.unfixed, found)
    return found
