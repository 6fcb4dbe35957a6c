"""Bayes' rule for many incidents at once, in NumPy: the integers of the scalar posterior."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage.belief.fixedpoint import EXP_BITS, NEVER, ONE, RULED_OUT
from logtriage.vector.belief_state import NO_PANEL, REPEATED, BeliefState
from logtriage.vector.belief_tables import (
    EDGE_CALM,
    EDGE_RECOVERED,
    HEALTHY_PLACE,
    BeliefTables,
    floor_of,
)
from logtriage.vector.cells import CHANNELS, EFFECTS, LINES, FlatCells
from logtriage.vector.fixedpoint import Longs, exp2, log2
from logtriage.world.channels import EASES, Channel

Ints = NDArray[Any]

_EDGE: Final = CHANNELS.index(Channel.EDGE)
_NOTE: Final = CHANNELS.index(Channel.NOTE)
_EFFECT: Final = CHANNELS.index(Channel.EFFECT)
_EASES: Final = EFFECTS.index(EASES)
#: The row of ``seen`` of a channel; -1 for one whose cells are shown once.
SEEN_ROW: Final = np.array([REPEATED.get(one, -1) for one in CHANNELS])
#: Rows that are updated at a time, so that what lies between stays in a cache.
BLOCK_ROWS: Final = 1024


def take_actions(
    state: BeliefState, tables: BeliefTables, rows: Ints, actions: Ints, misrouted: Ints
) -> Ints:
    """Pages and remedies (R, L) of the tick past; which of its remedies fixed what (R, H).

    The latter is the number of the remedy, -1 for what none of this tick fixed.
    """
    fixing = np.full((len(rows), len(tables.prior)), -1, np.int16)
    floor = floor_of(state.reached.dtype)
    teams, remedies = len(tables.fixed_team), len(tables.accepts)
    begun = state.screens[rows] > 0
    pages = actions - tables.first_page
    paged = (pages >= 0) & (pages < teams) & begun[:, np.newaxis]
    last = paged & (np.cumsum(paged[:, ::-1], axis=1)[:, ::-1] == 1)
    wrong = last & misrouted[:, np.newaxis]
    given = actions - tables.first_remedy
    applied = (given >= 0) & (given < remedies) & begun[:, np.newaxis]
    for lane in range(actions.shape[1]):
        found = np.flatnonzero(paged[:, lane])
        if len(found):
            here, team = rows[found], pages[found, lane]
            right = tables.fixed_team[team]
            for roots in tables.owner_root.T:
                owner = state.owners[here][:, np.maximum(roots, 0)]
                right = right | ((owner == team[:, np.newaxis]) & (roots >= 0))
            out, column = np.nonzero(right == wrong[found, lane, np.newaxis])
            state.reached[here[out], column] = floor
        found = np.flatnonzero(applied[:, lane])
        if len(found):
            here = rows[found]
            accepted = tables.accepts[given[found, lane]]
            out, column = np.nonzero(accepted & (state.fixed_at[here] == state.unfixed))
            state.fixed_at[here[out], column] = state.screens[here[out]] - 1
            fixing[found[out], column] = state.remedies[here[out]]
            state.remedies[here] += 1
    return fixing


def count_cells(
    state: BeliefState, tables: BeliefTables, rows: Ints, flat: FlatCells, fixing: Ints
) -> None:
    """Enter what new cells of rows (R,) say; those that were seen before say nothing."""
    channel = flat.channel
    _count_of_services(state, tables, rows, _unseen(state, tables, rows, flat))
    _count_panel(state, tables, rows, flat.at(np.flatnonzero(channel == _EDGE)))
    _count_notes(state, tables, rows, flat.at(np.flatnonzero(channel == _NOTE)))
    found = flat.at(np.flatnonzero(channel == _EFFECT))
    if len(found.row):
        eased = fixing[found.row] == found.slot[:, np.newaxis]
        out, which = np.nonzero(eased != (found.token == _EASES)[:, np.newaxis])
        state.reached[rows[found.row[out]], which] = floor_of(state.reached.dtype)


def _unseen(state: BeliefState, tables: BeliefTables, rows: Ints, flat: FlatCells) -> FlatCells:
    """The cells of services that were not seen before; from now on they were."""
    owned = (tables.first_sort[flat.channel] >= 0) & (SEEN_ROW[flat.channel] < 0)
    again = np.flatnonzero(SEEN_ROW[flat.channel] >= 0)
    if len(again):
        some = flat.at(again)
        shape = state.seen.shape
        where = rows[some.row] * shape[1] + SEEN_ROW[some.channel]
        where = (where * shape[2] + some.service) * shape[3] + (some.start >> 3)
        bit = np.left_shift(1, some.start & 7).astype(np.uint8)
        bits = state.seen.reshape(-1)
        fresh = np.flatnonzero(bits[where] & bit == 0)
        np.bitwise_or.at(bits, where[fresh], bit[fresh])
        owned[again[fresh]] = True
    return flat.at(np.flatnonzero(owned))


def _count_of_services(
    state: BeliefState, tables: BeliefTables, rows: Ints, flat: FlatCells
) -> None:
    """Add the columns of cells that belong to services, a service at a time."""
    sort = tables.first_sort[flat.channel] + flat.slot * (tables.slots[flat.channel] > 0)
    stage = np.minimum(flat.start, tables.stages[sort] - 1)
    line = stage * tables.tokens[flat.service, sort] + flat.token
    line += tables.first_peak[flat.service, sort]
    at = rows[flat.row]
    np.add.at(state.base, at, tables.peaks[line])
    order = np.argsort(flat.service.astype(np.int16), kind="stable")
    edges = np.searchsorted(flat.service[order], np.arange(tables.services + 1))
    at, line, start = at[order], line[order], flat.start[order]
    may = (state.remedies > 0)[at]
    floor = floor_of(state.own.dtype)
    for one in np.flatnonzero(np.diff(edges)).tolist():
        block = slice(*edges[one : one + 2])
        first, end = tables.own_at[one : one + 2]
        own = end - first
        reaching = tables.reach[slice(*tables.reach_at[one : one + 2])]
        told = _columns_of(tables, one, own + len(reaching)).take(
            line[block] - tables.first_peak[one, 0], axis=0
        )
        if len(reaching) and may[block].any():
            over = state.fixed_at[at[block][:, np.newaxis], reaching]
            which, place = np.nonzero(start[block][:, np.newaxis] > over)
            told[which, own + place] = told[which, HEALTHY_PLACE]
        changes = np.flatnonzero(np.diff(at[block], prepend=-1))
        here = at[block][changes]
        sums = np.add.reduceat(told, changes, axis=0, dtype=np.int64)
        sums[:, :own] += state.own[here, first:end]
        sums[:, own:] += state.reached[here[:, np.newaxis], reaching]
        np.maximum(sums, floor, out=sums)
        state.own[here, first:end] = sums[:, :own]
        state.reached[here[:, np.newaxis], reaching] = sums[:, own:]


def _columns_of(tables: BeliefTables, service: int, width: int) -> Ints:
    """The columns of one service, a row for each sort, start and token."""
    begin = tables.first_column[service, 0]
    last = service + 1 == tables.services
    end = len(tables.columns) if last else tables.first_column[service + 1, 0]
    found: Ints = tables.columns[begin:end].reshape(-1, width)
    return found


def _count_notes(state: BeliefState, tables: BeliefTables, rows: Ints, flat: FlatCells) -> None:
    if not len(flat.row):
        return
    floor, token = floor_of(state.reached.dtype), flat.token[:, np.newaxis]
    told, line = np.divmod(token - 1, len(LINES))
    note = tables.note[np.where(flat.token > 0, line[:, 0] + 1, 0)]
    note[(tables.noted != told) & (token > 0)] = NEVER
    note = np.maximum(note, floor)
    note += state.reached[rows[flat.row]]
    state.reached[rows[flat.row]] = np.maximum(note, floor)


def _count_panel(state: BeliefState, tables: BeliefTables, rows: Ints, flat: FlatCells) -> None:
    fresh = flat.at(np.flatnonzero(state.panel[rows[flat.row], flat.start] == NO_PANEL))
    at = rows[fresh.row]
    state.panel[at, fresh.start] = fresh.token
    late = (fresh.start >= tables.severity_from).astype(np.int64)
    np.add.at(state.edge, at, tables.edge[late, fresh.token, :EDGE_RECOVERED])


def update(
    state: BeliefState,
    tables: BeliefTables,
    rows: Ints,
    flat: FlatCells,
    actions: Ints,
    misrouted: Ints,
) -> int:
    """Take in what is new in rows (R,), and renew their weights; the lowest sum."""
    lowest = 0
    for start in range(0, len(rows), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        here = rows[block]
        fixing = take_actions(state, tables, here, actions[block], misrouted[block])
        count_cells(state, tables, here, flat.of(start, start + len(here)), fixing)
        state.screens[here] += 1
        found = logs_of(state, tables, here)
        state.weights[here] = exp2(found.max(axis=1, keepdims=True) - found)
        if state.own.dtype == np.int32:
            lowest = min(lowest, lowest_of(state, here))
    return lowest


def logs_of(state: BeliefState, tables: BeliefTables, rows: Ints) -> Longs:
    """The logarithms (R, H) that the weights of rows (R,) come from."""
    floor = floor_of(state.own.dtype)
    terms = state.own[rows] + tables.shares
    aloof = log_sums(terms, tables.own_at[:-1])
    aloof[np.maximum.reduceat(terms, tables.own_at[:-1], axis=1) <= floor] = NEVER
    spared = np.add.reduceat(aloof[:, tables.spare], tables.spare_at[:-1], axis=1)
    rest = (aloof.sum(axis=1) + state.base[rows])[:, np.newaxis] - spared
    found: Longs = rest[:, tables.group] + tables.prior
    found += edge_logs(state, tables, rows)
    reached = state.reached[rows]
    found += reached
    found[(reached <= floor) | (found <= RULED_OUT)] = NEVER
    return found


def edge_logs(state: BeliefState, tables: BeliefTables, rows: Ints) -> Longs:
    """The logarithm of the edge panel under each hypothesis (R, H)."""
    sums = state.edge[rows]
    found = _panel_logs(tables, sums)[:, tables.errors]
    fixed = state.fixed_at[rows]
    for when in _fix_ticks(state, rows):
        here, column = np.nonzero(fixed == when)
        some, place = np.unique(here, return_inverse=True)
        recovered = _panel_logs(tables, panel_sums(state, tables, rows[some], when))
        found[here, column] = recovered[place, tables.errors[column]]
    return found


def _fix_ticks(state: BeliefState, rows: Ints) -> list[int]:
    """The ticks in which any hypothesis was fixed in any of these rows."""
    some = rows[state.remedies[rows] > 0]
    ticks = np.unique(state.fixed_at[some])
    return [int(one) for one in ticks if one != state.unfixed]


def panel_sums(state: BeliefState, tables: BeliefTables, rows: Ints, when: int) -> Longs:
    """The sums of ``edge`` (R, 7) if the fault was fixed in tick ``when``."""
    starts = np.arange(state.panel.shape[1])
    late = (starts >= tables.severity_from).astype(np.int64)
    shown = tables.edge[late, state.panel[rows]]  # NO_PANEL: the last row, of zeros
    after = starts > when
    shown[:, after, :EDGE_CALM] = shown[:, after, EDGE_RECOVERED:]
    found: Longs = shown[:, :, :EDGE_RECOVERED].sum(axis=1)
    return found


def _panel_logs(tables: BeliefTables, sums: Longs) -> Longs:
    """Of sums (R, 7): latency first, errors first, benign (R, 3)."""
    terms = sums[:, :EDGE_CALM] + np.tile(tables.severities, 2)
    found = np.empty((len(sums), 3), np.int64)
    found[:, :2] = log_sums(terms, np.array([0, 3]))
    found[:, 2] = sums[:, EDGE_CALM]
    return found


def log_sums(terms: Longs, first: Ints) -> Longs:
    """As the scalar ``log_sum``, of parts of rows (R, T), which begin at ``first``."""
    highest = np.maximum.reduceat(terms, first, axis=1)
    lengths = np.diff(first, append=terms.shape[1])
    powers = exp2(np.repeat(highest, lengths, axis=1) - terms)
    total = np.add.reduceat(powers, first, axis=1)
    found: Longs = highest + log2(total) - EXP_BITS * ONE
    found[highest <= NEVER] = NEVER
    return found


def lowest_of(state: BeliefState, rows: Ints) -> int:
    """The lowest sum in these rows of what is not ruled out."""
    floor = floor_of(state.own.dtype)
    return min(
        int(np.where(one[rows] > floor, one[rows], 0).min(initial=0))
        for one in (state.own, state.reached)
    )
