"""Bayes' rule by kernels, row by row: the same integers as those of the scalar posterior."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.beliefs.fixedpoint import NEVER, RULED_OUT
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import NO_BREAK, UNSEEN, BeliefState
from logtriage.vector.belief_tables import BeliefTables
from logtriage.vector.cells import CHANNELS, EFFECTS, NO_CELL, Cells
from logtriage.vector.compiled.draws import Int
from logtriage.vector.compiled.fixedpoint import exp2
from logtriage.vector.compiled.outcomes import Room, reached_until, renew_service, take_cell
from logtriage.vector.compiled.panels import renew_panel
from logtriage.vector.compiled.worlds import tables_in
from logtriage.world.channels import EASES, Channel

Ints = NDArray[Any]

_ALERT: Final = CHANNELS.index(Channel.ALERT)
_CHANGE: Final = CHANNELS.index(Channel.CHANGE)
_EDGE: Final = CHANNELS.index(Channel.EDGE)
_NOTE: Final = CHANNELS.index(Channel.NOTE)
_EFFECT: Final = CHANNELS.index(Channel.EFFECT)
_EASES: Final = EFFECTS.index(EASES)


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
    """Rule out what pages contradict, and mark in ``fixing`` which hypotheses a remedy fixes."""
    teams, remedies = tables.fixed_team.shape[0], tables.accepts.shape[0]
    last_page = -1
    for lane in range(len(acted)):
        if tables.first_page <= acted[lane] < tables.first_page + teams:
            last_page = lane
    for lane in range(len(acted)):
        team = acted[lane] - tables.first_page
        if 0 <= team < teams:
            # A page was right unless it closed the incident.
            wrong = misrouted and lane == last_page
            for hypothesis in range(len(tables.prior)):
                right = tables.fixed_team[team, hypothesis]
                for place in range(tables.owner_root.shape[1]):
                    root = tables.owner_root[hypothesis, place]
                    right |= root >= 0 and state.owners[row, root] == team
                if right == wrong:
                    state.noted[row, hypothesis] = NEVER
        remedy = acted[lane] - tables.first_remedy
        if 0 <= remedy < remedies:
            for hypothesis in range(len(tables.prior)):
                if (
                    tables.accepts[remedy, hypothesis]
                    and state.fixed_at[row, hypothesis] == unfixed
                ):
                    state.fixed_at[row, hypothesis] = state.screens[row] - 1
                    fixing[hypothesis] = state.remedies[row]
            state.remedies[row] += 1


@kernel
def _take_note(
    row: Int, service: Int, token: Int, state: BeliefState, tables: BeliefTables
) -> None:
    """Weigh the hypotheses by a note about a service; token 0 is no news."""
    for hypothesis in range(len(tables.prior)):
        log = tables.note[0, hypothesis]
        if token > 0:
            log = np.int64(NEVER)
            if tables.noted[hypothesis] == service:
                log = tables.note[token, hypothesis]
        state.noted[row, hypothesis] += log


@kernel
def _take_effects(
    row: Int, cells: Cells, state: BeliefState, tables: BeliefTables, fixing: Longs
) -> None:
    """Rule out what effects of remedies contradict; add a break if a remedy may have worked."""
    for place in range(len(cells)):
        if cells[place, 0] == _EFFECT:
            slot, eased = np.int64(cells[place, 2]), cells[place, 4] == _EASES
            for hypothesis in range(len(tables.prior)):
                if (fixing[hypothesis] == slot) != eased:
                    state.noted[row, hypothesis] = NEVER
    begins = False
    for hypothesis in range(len(tables.prior)):
        begins |= fixing[hypothesis] >= 0 and state.noted[row, hypothesis] > RULED_OUT
    if begins:
        free = np.int64(0)  # :meth:`BeliefBatch.update` has made room
        while state.breaks[row, free] != NO_BREAK:
            free += 1
        state.breaks[row, free] = state.screens[row] - 1
        whole, until = state.seen[row, 0], state.seen[row, 1 + 2 * free]
        since = state.seen[row, 2 + 2 * free]
        for service in range(whole.shape[0]):
            for sort in range(whole.shape[1]):
                for place in range(len(UNSEEN)):
                    until[service, sort, place] = whole[service, sort, place]
                    since[service, sort, place] = UNSEEN[place]


@kernel
def _take_cells(
    row: Int, cells: Cells, state: BeliefState, tables: BeliefTables, room: Room
) -> None:
    """Take in the cells of a screen, then update the sums of what has news."""
    stirred = np.int64(0)
    paneled = state.screens[row] == 0  # the sums of the edge are not known yet
    for place in range(len(cells)):
        channel, service, slot = np.int64(cells[place, 0]), cells[place, 1], cells[place, 2]
        start, token = np.int64(cells[place, 3]), np.int64(cells[place, 4])
        if channel in (NO_CELL, _EFFECT):
            continue
        if channel == _EDGE:
            if state.panel[row, start] < 0:
                state.panel[row, start] = token
                paneled = True
        elif channel == _NOTE:
            _take_note(row, np.int64(service), token, state, tables)
        elif token >= 0:  # what is down tells nothing
            # Channels without slots, such as logs, have one sort.
            sort = tables.first_sort[channel] + (slot if tables.slots[channel] > 0 else 0)
            alert = channel == _ALERT
            if alert:
                sort = tables.histories.watched[slot]
            stays = channel == _CHANGE
            stirred = take_cell(
                row, np.int64(service), sort, start, token, alert, stays, stirred, state, room
            )
    for place in range(stirred):
        renew_service(row, room.order[place], state, tables, room)
    if paneled:
        starts, panel = state.panel.shape[1], state.panel[row]
        renew_panel(starts, panel, tables.edges, tables.powers, room, state.edge[row])


@kernel
def _logs(
    row: Int, state: BeliefState, tables: BeliefTables, room: Room, unfixed: Int, logs: Longs
) -> Int:
    """Write the logarithm of every hypothesis' weight to ``logs``; return the highest."""
    all_aloof = np.int64(0)
    for service in range(state.aloof.shape[1]):
        all_aloof += state.aloof[row, service]
    highest, any_remedy = np.int64(NEVER), state.remedies[row] > 0
    edge_at = np.int64(-1)  # the tick of the fix for which ``room.edge`` was computed
    for hypothesis in range(len(logs)):
        log = state.noted[row, hypothesis] + all_aloof + tables.prior[hypothesis]
        errors = tables.errors[hypothesis]
        logs[hypothesis] = NEVER
        if state.noted[row, hypothesis] <= RULED_OUT:
            continue
        when = np.int64(state.fixed_at[row, hypothesis]) if any_remedy else unfixed
        if when == unfixed:
            log += state.reached[row, hypothesis] + state.edge[row, errors]
        else:
            if when != edge_at:
                panel = state.panel[row]
                renew_panel(when, panel, tables.edges, tables.powers, room, room.edge)
                edge_at = when
            slot = np.int64(0)
            while state.breaks[row, slot] != when:
                slot += 1
            log += room.edge[errors] + reached_until(row, hypothesis, slot, state, tables, room)
        if log > RULED_OUT:
            logs[hypothesis] = log
            highest = max(highest, log)
    return highest


@kernel
def update_rows(
    rows: Ints,
    cells: Any,
    actions: Any,
    misrouted: Any,
    state: BeliefState,
    worlds: BeliefTables,
    room: Room,
    unfixed: Int,
) -> Int:
    """Take in the last actions and the cells of these rows (R,), and update their weights.

    Returns the place in ``rows`` of the first row that no hypothesis fits, -1 if there is none.
    The weights of such rows are 0. See :meth:`logtriage.vector.BeliefBatch.update`.
    """
    refused = np.int64(-1)
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        tables = tables_in(worlds, np.uint64(state.world[row]))
        remedies = state.remedies[row]
        if state.screens[row] > 0:
            _take_actions(
                row, actions[place], misrouted[place], state, tables, room.fixing, unfixed
            )
            if state.remedies[row] > remedies:
                _take_effects(row, cells[place], state, tables, room.fixing)
                room.fixing[:] = -1
        _take_cells(row, cells[place], state, tables, room)
        state.screens[row] += 1
        highest = _logs(row, state, tables, room, unfixed, room.logs)
        for hypothesis in range(len(room.logs)):
            weight = exp2(highest - room.logs[hypothesis], tables.powers)
            state.weights[row, hypothesis] = weight if highest > NEVER else 0
        if highest == NEVER and refused < 0:
            refused = np.int64(place)
    return refused


@kernel
def _write_logs(
    state: BeliefState, worlds: BeliefTables, room: Room, unfixed: Int, out: Longs
) -> None:
    for row in range(len(out)):
        tables = tables_in(worlds, np.uint64(state.world[row]))
        _logs(row, state, tables, room, unfixed, out[row])


def logs_of(state: BeliefState, tables: BeliefTables, room: Room) -> Longs:
    """The logarithms (N, H) that the weights come from."""
    logs = np.empty(state.weights.shape, np.int64)
    _write_logs(state, tables, room, state.unfixed, logs)
    return logs
