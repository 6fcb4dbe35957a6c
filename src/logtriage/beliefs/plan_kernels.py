"""Spec: logtriage.beliefs.plans; law: property_tests/test_belief_batch_laws.py.

The value of the best plan of each of many incidents, row by row. Names of arguments are those of
:mod:`logtriage.beliefs.utility_kernels`. Sums are of whole numbers below 2**53, in any order.
"""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.beliefs.cases import Floats
from logtriage.beliefs.ledgers import NEVER, UNIT, WHOLE
from logtriage.beliefs.plans import (
    AMPLE,
    DISMISSED,
    ENDS,
    FIXED,
    MILDEST,
    MISSED,
    REMEDIES_TRIED,
    RESOLVED,
    RIGHT,
    SILENT,
    UNSAID,
    WRONG,
)
from logtriage.beliefs.utility_kernels import PlanTables, Room, Standings, begun, closed_grade, make
from logtriage.grading.steps import Int

#: In place of a team: nobody is paged.
NOBODY: Final = -1
_SEVERITIES: Final = len(SEVERITIES)
_MISSED: Final = MISSED[0]
_FIXED: Final = FIXED[0]
#: The finer unit of shares of severities, in units of credits.
_FINER: Final = WHOLE // UNIT


@kernel
def _utility(at: Int, page: Int, says: Int, root: Int, end: Int, to: Any, room: Room) -> Any:
    """The utility of a plan, made before; ``root`` is the service named, -1 for none."""
    names = np.int64(UNSAID)
    if root >= 0:
        names = np.int64(RIGHT if to.root[at] == root else WRONG)
    return room.utilities[room.group[at], page, says, names, end]


@kernel
def _group(row: Int, rows: Standings, to: Any, room: Room) -> Int:
    """Group hypotheses with a weight by ledger and severities; return the number of groups."""
    known = 0
    for at in range(len(room.some)):
        if rows.weights[row, at] == 0:
            continue
        group_of = known
        for group in range(known):
            other = room.first[group]
            if (
                rows.wrong[row, at] == rows.wrong[row, other]
                and rows.early[row, at] == rows.early[row, other]
                and rows.said[row, at] == rows.said[row, other]
                and rows.mended[row, at] == rows.mended[row, other]
                and rows.shares[row, at, 0] == rows.shares[row, other, 0]
                and rows.shares[row, at, 1] == rows.shares[row, other, 1]
                and (to.root[at] < 0) == (to.root[other] < 0)
            ):
                group_of = group
                break
        if group_of == known:
            room.first[known] = at
            known += 1
        room.group[at] = group_of
    return known


@kernel
def _highest(values: Floats) -> Int:
    """The index of the highest value, the first of equals."""
    highest = 0
    for place in range(1, len(values)):
        if values[place] > values[highest]:
            highest = place
    return highest


@kernel
def _likeliest_severity(row: Int, rows: Standings, to: Any, room: Room) -> Int:
    best, likeliest = -1.0, 0
    for said in range(_SEVERITIES):
        votes = 0.0
        for at in range(len(room.some)):
            if room.some[at] > 0:
                credit = 0.0
                for true in range(_SEVERITIES):
                    credit += to.credits[said, true] * rows.shares[row, at, true]
                votes += room.some[at] * np.floor(credit / _FINER)
        if votes > best:
            best, likeliest = votes, said
    return likeliest


@kernel
def _likeliest_root(to: Any, room: Room) -> Int:
    room.mass[:] = 0.0
    for at in range(len(room.some)):
        if room.some[at] > 0 and to.root[at] >= 0:
            room.mass[to.root[at]] += room.some[at]
    return _highest(room.mass)


@kernel
def _sum(page: Int, says: Int, root: Int, end: Int, to: Any, room: Room) -> Any:
    """The sum of weights (``room.some``) times utilities over all hypotheses."""
    total = 0.0
    for at in range(len(room.some)):
        if room.some[at] > 0:
            total += room.some[at] * _utility(at, page, says, root, end, to, room)
    return total


@kernel
def _remedies(page: Int, says: Int, root: Int, to: Any, room: Room) -> Any:
    """The value of trying remedies, likeliest first, as long as it pays.

    Strikes the hypotheses that the tried remedies fix from ``room.some``.
    """
    some, earned = room.some, 0.0
    best = _sum(page, says, root, _MISSED, to, room)
    for tried in range(REMEDIES_TRIED):
        most, pick = -1.0, 0
        for remedy in range(len(to.begins) - 1):
            mass = 0.0
            for place in range(to.begins[remedy], to.begins[remedy + 1]):
                mass += some[to.hypothesis[place]]
            if mass > most:
                most, pick = mass, remedy
        for place in range(to.begins[pick], to.begins[pick + 1]):
            at = to.hypothesis[place]
            if some[at] > 0:
                gained = _utility(at, page, says, root, _FIXED + tried, to, room)
                earned += some[at] * gained
                some[at] = 0.0
        left = _sum(page, says, root, _MISSED + tried + 1, to, room)
        best = max(best, earned + left)
    return best


@kernel
def _plan(
    row: Int, groups: Int, team: Int, says: Any, names: Any, rows: Any, to: Any, room: Room
) -> Any:
    """The value of the best plan that pages a team (or ``NOBODY``).

    ``says`` and ``names`` are whether it declares a severity and a root cause.
    """
    for at in range(len(room.some)):
        meant = team == NOBODY or rows.team[row, at] == team
        room.some[at] = rows.weights[row, at] if meant else 0.0
    page = np.int64(team != NOBODY)
    said = np.int64(_likeliest_severity(row, rows, to, room) if says else SILENT)
    root = np.int64(_likeliest_root(to, room) if names else -1)
    for group in range(groups):
        if root < 0:
            make(row, group, page, said, np.int64(UNSAID), rows, to, room)
            continue
        make(row, group, page, said, np.int64(WRONG), rows, to, room)
        if to.root[room.first[group]] >= 0:
            make(row, group, page, said, np.int64(RIGHT), rows, to, room)
    if rows.fixed[row]:
        return _sum(page, said, root, RESOLVED, to, room)
    return _remedies(page, said, root, to, room)


@kernel
def _dismissal(row: Int, groups: Int, says: Any, rows: Any, to: Any, room: Room) -> Any:
    """The value of dismissing the incident (0 under a fault), after a severity if ``says``."""
    page, said, names = np.int64(0), np.int64(MILDEST if says else SILENT), np.int64(UNSAID)
    for group in range(groups):
        at, value = room.first[group], 0.0
        if to.root[at] < 0:
            facts, response, now = begun(row, at, page, said, names, rows, to)
            value = closed_grade(row, at, facts, response, to.letters.ignore, now, rows, to)
        room.utilities[group, page, said, names, DISMISSED] = value
    for at in range(len(room.some)):
        room.some[at] = rows.weights[row, at]
    return _sum(page, said, np.int64(-1), DISMISSED, to, room)


@kernel
def _best(row: Int, rows: Standings, to: Any, room: Room) -> Any:
    """The value of the best plan of one row."""
    groups = _group(row, rows, to, room)
    left, paged = to.horizon - rows.tick[row], rows.paged[row] != NEVER
    may_say = rows.severity[row] == SILENT
    may_name = rows.declared[row] < 0 and not rows.fixed[row]
    total = 0.0
    room.mass_by_team[:] = 0.0
    for at in range(len(room.some)):
        total += rows.weights[row, at]
        if to.root[at] >= 0:
            room.mass_by_team[rows.team[row, at]] += rows.weights[row, at]
    best = total * rows.handed_over[row]
    for says in (True, False):
        if not paged and left >= 1 + np.int64(says) and (may_say or not says):
            best = max(best, _dismissal(row, groups, says, rows, to, room))
    # The likeliest team first: a page earns nothing where it is wrong, so most are skipped.
    for _ in range(len(room.mass_by_team) + 1):
        team = NOBODY
        likeliest = _highest(room.mass_by_team)
        if not paged and room.mass_by_team[likeliest] >= 0:
            team = likeliest
        if team == NOBODY or room.mass_by_team[team] * UNIT > best:
            for says in (True, False):
                for names in (True, False):
                    spare = (may_say and not says) or (may_name and not names)
                    ticks = np.int64(team != NOBODY) + np.int64(says) + np.int64(names)
                    if (says and not may_say) or (names and not may_name):
                        continue
                    if ticks <= left and not (spare and left >= AMPLE):
                        best = max(best, _plan(row, groups, team, says, names, rows, to, room))
        if team == NOBODY:
            break
        room.mass_by_team[team] = -1.0  # done
    return best


@kernel
def _write(rows: Standings, worlds: PlanTables, room: Room, out: Floats) -> None:
    for row in range(len(out)):
        world = np.uint64(rows.world[row])
        to = PlanTables(
            root=worlds.root[world],
            hypothesis=worlds.hypothesis[world],
            begins=worlds.begins[world],
            by=worlds.by,
            letters=worlds.letters,
            credits=worlds.credits,
            horizon=worlds.horizon,
        )
        out[row] = _best(row, rows, to, room)


def best_values(rows: Standings, worlds: PlanTables) -> Floats:
    """The value of the best plan of each row (R,).

    The unit is weight times 2**-20, as in :attr:`logtriage.beliefs.plans.Planner.value`.
    """
    hypotheses = rows.weights.shape[1]
    room = Room(
        some=np.empty(hypotheses),
        mass=np.empty(int(worlds.root.max()) + 1),
        mass_by_team=np.empty(int(rows.team.max(initial=0)) + 1),
        group=np.empty(hypotheses, np.int64),
        first=np.empty(hypotheses, np.int64),
        utilities=np.empty((hypotheses, 2, _SEVERITIES + 1, 3, ENDS)),
        made=np.full((hypotheses, 2, _SEVERITIES + 1, 3), -1),
    )
    values: Floats = np.empty(len(rows.tick))
    _write(Standings(*map(np.ascontiguousarray, rows)), worlds, room, values)
    return values
