"""Bayes' rule row by row: the integers of the scalar posterior."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.belief.fixedpoint import EXP_BITS, NEVER, ONE, RULED_OUT
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import SEEN_ROW, BeliefState
from logtriage.vector.belief_tables import EDGE_CALM, EDGE_RECOVERED, BeliefTables, floor_of
from logtriage.vector.cells import CHANNELS, EFFECTS, Cells
from logtriage.vector.compiled.panels import CALM, exp2, log2, log_sum3, panel_terms
from logtriage.world.channels import EASES, Channel

#: An integer, Python's or the machine's.
Int = Any
Ints = NDArray[Any]

_EDGE: Final = CHANNELS.index(Channel.EDGE)
_NOTE: Final = CHANNELS.index(Channel.NOTE)
_EFFECT: Final = CHANNELS.index(Channel.EFFECT)
_EASES: Final = EFFECTS.index(EASES)
_CHANNELS: Final = len(CHANNELS)
_EFFECTS: Final = len(EFFECTS)


@kernel
def _take_actions(
    row: Int,
    acted: Ints,
    misrouted: bool,
    state: BeliefState,
    tables: BeliefTables,
    fixing: Ints,
    floor: Int,
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
                    state.reached[row, one] = floor
        given = acted[lane] - tables.first_remedy
        if 0 <= given < remedies:
            for one in range(len(tables.prior)):
                if tables.accepts[given, one] and state.fixed_at[row, one] == unfixed:
                    state.fixed_at[row, one] = state.screens[row] - 1
                    fixing[one] = state.remedies[row]
            state.remedies[row] += 1


@kernel
def _count_service(
    row: Int,
    service: Int,
    sort: Int,
    start: Int,
    token: Int,
    state: BeliefState,
    tables: BeliefTables,
    floor: Int,
) -> None:
    stage = min(start, tables.stages[sort] - 1)
    line = stage * tables.tokens[service, sort] + token
    state.base[row] += tables.peaks[tables.first_peak[service, sort] + line]
    first, end = np.uint64(tables.own_at[service]), np.uint64(tables.own_at[service + 1])
    begin, stop = np.uint64(tables.reach_at[service]), np.uint64(tables.reach_at[service + 1])
    own = end - first
    at = np.uint64(tables.first_column[service, sort]) + np.uint64(line) * (own + stop - begin)
    for place in range(own):
        told = np.int64(state.own[row, first + place]) + np.int64(tables.columns[at + place])
        state.own[row, first + place] = max(told, floor)
    healthy = np.int64(tables.columns[at])
    may = state.remedies[row] > 0
    for place in range(stop - begin):
        one = np.uint64(tables.reach[begin + place])
        told = np.int64(tables.columns[at + own + place])
        if may and start > state.fixed_at[row, one]:
            told = healthy
        state.reached[row, one] = max(np.int64(state.reached[row, one]) + told, floor)


@kernel
def _count_note(row: Int, token: Int, state: BeliefState, tables: BeliefTables, floor: Int) -> None:
    lines = len(tables.note) - 1
    for one in range(len(tables.prior)):
        told = tables.note[0, one]
        if token > 0:
            told = np.int64(NEVER)
            if tables.noted[one] == (token - 1) // lines:
                told = tables.note[1 + (token - 1) % lines, one]
        told = max(told, floor)
        state.reached[row, one] = max(np.int64(state.reached[row, one]) + told, floor)


@kernel
def _count_cells(
    row: Int,
    cells: Cells,
    state: BeliefState,
    tables: BeliefTables,
    fixing: Ints,
    floor: Int,
) -> None:
    for place in range(len(cells)):
        channel, service, slot = np.int64(cells[place, 0]), cells[place, 1], cells[place, 2]
        start, token = np.int64(cells[place, 3]), np.int64(cells[place, 4])
        if channel < 0:
            continue
        if channel == _EDGE:
            if state.panel[row, start] < 0:
                state.panel[row, start] = token
                late = np.int64(start >= tables.severity_from)
                for column in range(EDGE_RECOVERED):
                    state.edge[row, column] += tables.edge[late, token, column]
        elif channel == _NOTE:
            _count_note(row, token, state, tables, floor)
        elif channel == _EFFECT:
            for one in range(len(tables.prior)):
                if (fixing[one] == slot) != (token == _EASES):
                    state.reached[row, one] = floor
        else:
            seen = SEEN_ROW[channel]
            if seen >= 0 and state.seen[row, seen, service, start >> 3] >> (start & 7) & 1:
                continue
            sort = tables.first_sort[channel] + (slot if tables.slots[channel] > 0 else 0)
            _count_service(row, np.int64(service), sort, start, token, state, tables, floor)
    for place in range(len(cells)):  # marked only now: the slots of a reading come together
        channel, service, start = np.int64(cells[place, 0]), cells[place, 1], cells[place, 3]
        if channel >= 0 and SEEN_ROW[channel] >= 0:
            bit = np.uint8(1 << (start & 7))
            state.seen[row, SEEN_ROW[channel], service, start >> 3] |= bit


@kernel
def _aloof(row: Int, state: BeliefState, tables: BeliefTables, aloof: Longs, floor: Int) -> Int:
    """What each service says if nothing reaches it, into ``aloof``; their sum."""
    total = np.int64(0)
    for service in range(len(aloof)):
        first, end = np.uint64(tables.own_at[service]), np.uint64(tables.own_at[service + 1])
        highest = np.int64(state.own[row, first]) + tables.shares[first]
        for place in range(first + np.uint64(1), end):
            highest = max(highest, np.int64(state.own[row, place]) + tables.shares[place])
        if highest <= floor:
            aloof[service] = NEVER
        else:
            powers = np.int64(0)
            for place in range(first, end):
                term = np.int64(state.own[row, place]) + tables.shares[place]
                powers += exp2(highest - term, tables)
            aloof[service] = highest + log2(powers) - EXP_BITS * ONE
        total += aloof[service]
    return total


@kernel
def _logs(
    row: Int,
    state: BeliefState,
    tables: BeliefTables,
    aloof: Longs,
    rest: Longs,
    logs: Longs,
    floor: Int,
    unfixed: Int,
) -> Int:
    """The logarithm of every hypothesis, into ``logs``; the highest."""
    whole = _aloof(row, state, tables, aloof, floor) + state.base[row]
    for group in range(len(rest)):
        rest[group] = whole
        for place in range(tables.spare_at[group], tables.spare_at[group + 1]):
            rest[group] -= aloof[np.uint64(tables.spare[np.uint64(place)])]
    panel, edge = state.edge, tables.severities
    slow = log_sum3(
        edge[0] + panel[row, 0], edge[1] + panel[row, 1], edge[2] + panel[row, 2], tables
    )
    failing = log_sum3(
        edge[0] + panel[row, 3], edge[1] + panel[row, 4], edge[2] + panel[row, 5], tables
    )
    calm = panel[row, EDGE_CALM]
    may = state.remedies[row] > 0
    known: Int = np.int64(0)
    known_when, known_errors = np.int64(-1), np.int64(-1)
    highest = np.int64(NEVER)
    for one in range(len(logs)):
        told = np.int64(state.reached[row, one])
        if told <= floor:
            logs[one] = NEVER
            continue
        errors = tables.errors[one]
        shown = calm if errors == CALM else failing if errors == 1 else slow
        if may:
            when = np.int64(state.fixed_at[row, one])
            if when != unfixed:
                if when != known_when or errors != known_errors:
                    a, b, c = panel_terms(row, errors, when, state, tables)
                    known = log_sum3(a, b, c, tables)
                    known_when, known_errors = when, errors
                shown = known
        told += rest[np.uint64(tables.group[one])] + tables.prior[one] + shown
        logs[one] = told if told > RULED_OUT else NEVER
        highest = max(highest, logs[one])
    return highest


@kernel
def _update_rows(
    rows: Ints,
    cells: Any,
    actions: Any,
    misrouted: Any,
    state: BeliefState,
    tables: BeliefTables,
    fixing: Ints,
    aloof: Longs,
    rest: Longs,
    logs: Longs,
    floor: Int,
    unfixed: Int,
) -> Int:
    lowest: Int = np.int64(0)
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        fixing[:] = -1
        if state.screens[row] > 0:
            _take_actions(
                row, actions[place], misrouted[place], state, tables, fixing, floor, unfixed
            )
        _count_cells(row, cells[place], state, tables, fixing, floor)
        state.screens[row] += 1
        highest = _logs(row, state, tables, aloof, rest, logs, floor, unfixed)
        for one in range(len(logs)):
            state.weights[row, one] = exp2(highest - logs[one], tables)
            told = np.int64(state.reached[row, one])
            lowest = min(lowest, told if told > floor else 0)
        for one in range(len(tables.shares)):
            told = np.int64(state.own[row, one])
            lowest = min(lowest, told if told > floor else 0)
    return lowest


@kernel
def _write_rows(
    state: BeliefState,
    tables: BeliefTables,
    aloof: Longs,
    rest: Longs,
    floor: Int,
    unfixed: Int,
    out: Longs,
) -> None:
    for row in range(len(out)):
        _logs(row, state, tables, aloof, rest, out[row], floor, unfixed)


@kernel
def _faultless(
    rows: Ints, cells: Any, actions: Any, state: BeliefState, tables: BeliefTables
) -> bool:
    services, starts = len(tables.own_at) - 1, state.panel.shape[1]
    remedies = tables.accepts.shape[0]
    for place in range(len(rows)):
        row = np.uint64(rows[place])
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
                tokens = tables.edge.shape[1] - 1
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
            if token >= tables.tokens[np.int64(service), sort]:
                return False
    return True


def _room(tables: BeliefTables) -> tuple[Any, Any, Any, Any]:
    """Room to work in: what a tick fixed, services aloof, groups, logarithms."""
    hypotheses = len(tables.prior)
    return (
        np.empty(hypotheses, np.int16),
        np.empty(tables.services, np.int64),
        np.empty(len(tables.spare_at) - 1, np.int64),
        np.empty(hypotheses, np.int64),
    )


def faultless(
    state: BeliefState, tables: BeliefTables, rows: Ints, cells: Cells, actions: Ints
) -> bool:
    """Whether :func:`logtriage.vector.belief_checks.check_cells` has nothing to refuse."""
    return bool(_faultless(rows, cells, actions, state, tables))


def update(
    state: BeliefState,
    tables: BeliefTables,
    rows: Ints,
    cells: Cells,
    actions: Ints,
    misrouted: Any,
) -> int:
    """Take in what is new in these rows (R,), and renew their weights; the lowest sum."""
    floor = floor_of(state.own.dtype)
    room = _room(tables)
    lowest = _update_rows(
        rows, cells, actions, misrouted, state, tables, *room, floor, state.unfixed
    )
    return int(lowest)


def logs_of(state: BeliefState, tables: BeliefTables) -> Longs:
    """The logarithms (N, H) that the weights come from."""
    _, aloof, rest, _ = _room(tables)
    found = np.empty(state.weights.shape, np.int64)
    _write_rows(state, tables, aloof, rest, floor_of(state.own.dtype), state.unfixed, found)
    return found
