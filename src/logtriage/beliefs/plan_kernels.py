"""Spec: logtriage.beliefs.plans; law: property_tests/test_world_value_laws.py.

The value of the best plan of each of many incidents, row by row. Sums are of whole numbers below
2**53, so their order is free. Hypotheses of a row under which the same was done, and severities are
alike, share utilities, which are made when a plan first needs them.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.beliefs.cases import SEVERITY_CREDITS
from logtriage.beliefs.ledgers import NEVER, PER_UNIT, UNIT, WHOLE
from logtriage.beliefs.plans import (
    AMPLE,
    DISMISSED,
    ENDS,
    FIXED,
    MISSED,
    REMEDIES_TRIED,
    RESOLVED,
    RIGHT,
    SILENT,
    UNSAID,
    WRONG,
)
from logtriage.grading.kernels import (
    add_share,
    counts,
    facts_step,
    gate_of,
    levels_of,
    move_of,
    response_step,
    score_row,
)
from logtriage.grading.scores import Case
from logtriage.grading.steps import Facts, Int, Letters, Response, Rules, Shares
from logtriage.grading.tables import OPEN, ScoreTables

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: In place of a team: nobody is paged.
NOBODY: Final = -1
_SEVERITIES: Final = len(SEVERITIES)
_MISSED: Final = MISSED[0]
_FIXED: Final = FIXED[0]
#: The finer unit of shares of severities, in units of credits.
_FINER: Final = WHOLE // UNIT


class PlanTables(NamedTuple):
    """Tables for plans over H hypotheses and M remedies in W worlds.

    ``root`` (W, H) is -1 where there is no fault. Pairs of a remedy and a hypothesis that accepts
    it are listed by remedy: ``hypothesis`` (W, P), and where the pairs of each remedy begin, the
    last one's end behind them: ``begins`` (W, M + 1). ``by`` and ``to`` are those of grading,
    ``credits`` (3, 3) those of a severity by the true one.
    """

    root: Longs
    hypothesis: Longs
    begins: Longs
    by: ScoreTables
    to: Letters
    credits: Floats
    horizon: int


def plan_tables(by: ScoreTables, to: Letters, horizon: int, root: Any, accepts: Any) -> PlanTables:
    """The tables of worlds; ``accepts`` (W, M, H) says which remedies a hypothesis accepts."""
    pairs = [np.nonzero(world) for world in accepts]
    begins = [np.searchsorted(remedy, range(accepts.shape[1] + 1)) for remedy, _ in pairs]
    listed = np.zeros((len(pairs), max(len(which) for _, which in pairs)), np.int64)
    for row, (_, which) in zip(listed, pairs, strict=True):
        row[: len(which)] = which
    return PlanTables(root, listed, np.array(begins), by, to, SEVERITY_CREDITS, horizon)


class Standings(NamedTuple):
    """What plans depend on in R incidents, as :class:`logtriage.beliefs.plans.Planner` has it.

    ``world`` (R,) is the number of each row's world. ``weights`` (R, H) are whole numbers with a
    sum of about 2**30; ``team`` (R, H); ``shares`` (R, H, 3) those of severities, in units of
    2**-30. ``over`` (R,) is what a hand-over is worth, in units of 2**-20, 0 if it cannot be any
    more; ``fixed`` (R,) whether the fault is, ``declared`` (R,) the root cause, -1 if not yet.

    What was done: ``severity``, ``paged`` and ``remedies`` (R,), ``wrong``, ``early``, ``said`` and
    ``mended`` (R, H) are the ``severity``, ``paged``, ``remedies``, ``wrong`` and ``early`` of
    :class:`~logtriage.grading.steps.Facts`, and the ``said`` and ``fixed`` of a ``Response``.
    """

    world: NDArray[np.uint8]
    weights: Floats
    team: Longs
    shares: Longs
    tick: Longs
    over: Floats
    fixed: Bools
    declared: Longs
    severity: Longs
    paged: Longs
    remedies: Longs
    wrong: Longs
    early: Longs
    said: Longs
    mended: Longs


class _Room(NamedTuple):
    """Scratch of a row with H hypotheses in at most H groups.

    ``some`` (H,) are weights, ``mass`` by service and ``mean`` by team; ``group`` (H,) is the
    group of a hypothesis, ``first`` (H,) a hypothesis of a group. ``utilities`` (H, 2, 4, 3,
    ENDS) are by group, page, severity and root said, and end, in units of 2**-20; ``made``
    (H, 2, 4, 3) is the row for which they were made.
    """

    some: Floats
    mass: Floats
    mean: Floats
    group: Longs
    first: Longs
    utilities: Floats
    made: Longs


@kernel
def _facts(row: Int, at: Int, rows: Standings, root: Int) -> Facts:
    zero, declared = np.int64(0), np.int64(rows.declared[row])
    return Facts(
        np.int64(rows.severity[row]),
        np.int64(declared >= 0),
        np.int64((declared >= 0) & (declared == root)),
        np.int64(rows.paged[row]),
        zero,
        np.int64(rows.remedies[row]),
        np.int64(rows.wrong[row, at]),
        np.int64(rows.early[row, at]),
        np.int64(OPEN),
    )


@kernel
def _enter(facts: Facts, response: Response, action: Int, right: Int, tick: Int, to: Any) -> Any:
    """The facts and the response after an action, if there is time for it and all is open."""
    move = move_of(action, right, Rules(1, 0), to.to)
    live = (facts.closing == OPEN) & (tick < to.horizon)
    counted = counts(facts, move, live, True, np.int64(1))
    return (
        facts_step(facts, move, live, counted, tick),
        response_step(response, move, right, live, counted, tick),
    )


@kernel
def _grade(
    row: Int, at: Int, facts: Facts, response: Response, used: Int, rows: Standings, to: Any
) -> Any:
    """The mean grade over the severities of a hypothesis, in units of 2**-20."""
    none, zero, benign = np.int64(NEVER), np.int64(0), np.int64(to.root[at] < 0)
    shares = add_share(Shares(zero, zero, zero, zero), response, facts.paged, none)
    gated, mean = False, np.int64(PER_UNIT >> 1)
    for gate in range(len(to.by.gates)):
        gated |= gate_of(to.by.gates[gate], facts, benign)
    for true in range(_SEVERITIES):
        case = Case(np.int64(true), np.int64(1), zero, zero, benign * (to.horizon + 1), zero)
        levels = levels_of(facts, shares, case, used, none, to.by)
        score = score_row(levels, benign, np.int64(gated), 0.0, to.by)
        mean += np.int64(np.rint(score * WHOLE)) * rows.shares[row, at, true]
    return np.float64(mean // PER_UNIT)


@kernel
def _begun(row: Int, at: Int, page: Int, says: Int, names: Int, rows: Standings, to: Any) -> Any:
    """The facts, the response and the tick after a page and declarations, under a hypothesis."""
    root, now = to.root[at], np.int64(rows.tick[row])
    fault, facts = np.int64(root >= 0), _facts(row, at, rows, root)
    response = Response(np.int64(rows.said[row, at]), facts.paged, np.int64(rows.mended[row, at]))
    if page != 0:
        facts, response = _enter(facts, response, np.int64(to.to.page), fault, now, to)
        now += 1
    if says != SILENT:
        facts, response = _enter(facts, response, np.int64(says), np.int64(0), now, to)
        now += 1
    if names != UNSAID:
        rightly = fault * np.int64(names == RIGHT)
        facts, response = _enter(facts, response, np.int64(to.to.root), rightly, now, to)
        now += 1
    return facts, response, now


@kernel
def _closed_grade(
    row: Int, at: Int, facts: Facts, response: Response, close: Int, now: Int, rows: Any, to: Any
) -> Any:
    """The mean grade if the incident is closed next."""
    facts, response = _enter(facts, response, np.int64(close), np.int64(0), now, to)
    return _grade(row, at, facts, response, now + 1, rows, to)


@kernel
def _make(
    row: Int, group: Int, page: Int, says: Int, names: Int, rows: Standings, to: Any, room: _Room
) -> None:
    """Make the utilities of lists with a page and declarations, for a group of hypotheses."""
    if room.made[group, page, says, names] == row:
        return
    room.made[group, page, says, names] = row
    at, out = room.first[group], room.utilities[group, page, says, names]
    facts, response, now = _begun(row, at, page, says, names, rows, to)
    if rows.fixed[row]:
        out[RESOLVED] = _closed_grade(row, at, facts, response, to.to.resolve, now, rows, to)
        return
    out[_MISSED] = _grade(row, at, facts, response, now, rows, to)
    remedy, right = np.int64(to.to.remedy), np.int64(1)
    for tried in range(REMEDIES_TRIED):
        if to.root[at] >= 0:
            after, of_fault = _enter(facts, response, remedy, right, now, to)
            value = _closed_grade(row, at, after, of_fault, to.to.resolve, now + 1, rows, to)
            out[_FIXED + tried] = value
        facts, response = _enter(facts, response, remedy, np.int64(0), now, to)
        now += 1
        out[_MISSED + tried + 1] = _grade(row, at, facts, response, now, rows, to)


@kernel
def _make_all(
    row: Int, groups: Int, page: Int, says: Int, root: Int, rows: Standings, to: Any, room: _Room
) -> None:
    """Make the utilities of lists for all groups; ``root`` is the service named, -1 for none."""
    for group in range(groups):
        if root < 0:
            _make(row, group, page, says, np.int64(UNSAID), rows, to, room)
            continue
        _make(row, group, page, says, np.int64(WRONG), rows, to, room)
        if to.root[room.first[group]] >= 0:
            _make(row, group, page, says, np.int64(RIGHT), rows, to, room)


@kernel
def _utility(at: Int, page: Int, says: Int, root: Int, end: Int, to: Any, room: _Room) -> Any:
    """What was made of a list under a hypothesis; ``root`` is the service named, -1 for none."""
    names = np.int64(UNSAID)
    if root >= 0:
        names = np.int64(RIGHT if to.root[at] == root else WRONG)
    return room.utilities[room.group[at], page, says, names, end]


@kernel
def _group(row: Int, rows: Standings, to: Any, room: _Room) -> Int:
    """Group the hypotheses that have a weight by what was done under them; how many groups."""
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
    """The place of the highest, the first of equals."""
    highest = 0
    for place in range(1, len(values)):
        if values[place] > values[highest]:
            highest = place
    return highest


@kernel
def _likeliest_severity(row: Int, rows: Standings, to: Any, room: _Room) -> Int:
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
def _likeliest_root(to: Any, room: _Room) -> Int:
    room.mass[:] = 0.0
    for at in range(len(room.some)):
        if room.some[at] > 0 and to.root[at] >= 0:
            room.mass[to.root[at]] += room.some[at]
    return _highest(room.mass)


@kernel
def _sum(page: Int, says: Int, root: Int, end: Int, to: Any, room: _Room) -> Any:
    """The weighed utility of a list under all hypotheses that ``some`` has."""
    total = 0.0
    for at in range(len(room.some)):
        if room.some[at] > 0:
            total += room.some[at] * _utility(at, page, says, root, end, to, room)
    return total


@kernel
def _remedies(page: Int, says: Int, root: Int, to: Any, room: _Room) -> Any:
    """The value of trying remedies, likeliest first, as long as it pays; ``some`` is used up."""
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
    row: Int, groups: Int, team: Int, says: Any, names: Any, rows: Any, to: Any, room: _Room
) -> Any:
    """The value of the best plan that pages a team, ``says`` a severity and ``names`` a root."""
    for at in range(len(room.some)):
        meant = team == NOBODY or rows.team[row, at] == team
        room.some[at] = rows.weights[row, at] if meant else 0.0
    page = np.int64(team != NOBODY)
    said = np.int64(_likeliest_severity(row, rows, to, room) if says else SILENT)
    root = np.int64(_likeliest_root(to, room) if names else -1)
    _make_all(row, groups, page, said, root, rows, to, room)
    if rows.fixed[row]:
        return _sum(page, said, root, RESOLVED, to, room)
    return _remedies(page, said, root, to, room)


@kernel
def _dismissal(row: Int, groups: Int, says: Any, rows: Any, to: Any, room: _Room) -> Any:
    """The value of dismissing the incident; of a fault that is worth nothing."""
    page, said, names = np.int64(0), np.int64(SILENT - 1 if says else SILENT), np.int64(UNSAID)
    for group in range(groups):
        at, value = room.first[group], 0.0
        if to.root[at] < 0:
            facts, response, now = _begun(row, at, page, said, names, rows, to)
            value = _closed_grade(row, at, facts, response, to.to.ignore, now, rows, to)
        room.utilities[group, page, said, names, DISMISSED] = value
    for at in range(len(room.some)):
        room.some[at] = rows.weights[row, at]
    return _sum(page, said, np.int64(-1), DISMISSED, to, room)


@kernel
def _best(row: Int, rows: Standings, to: Any, room: _Room) -> Any:
    """The value of the best plan of one row."""
    groups = _group(row, rows, to, room)
    left, paged = to.horizon - rows.tick[row], rows.paged[row] != NEVER
    may_say = rows.severity[row] == SILENT
    may_name = rows.declared[row] < 0 and not rows.fixed[row]
    total = 0.0
    room.mean[:] = 0.0
    for at in range(len(room.some)):
        total += rows.weights[row, at]
        if to.root[at] >= 0:
            room.mean[rows.team[row, at]] += rows.weights[row, at]
    best = total * rows.over[row]
    for says in (True, False):
        if not paged and left >= 1 + np.int64(says) and (may_say or not says):
            best = max(best, _dismissal(row, groups, says, rows, to, room))
    # The likeliest team first: a page earns nothing where it is wrong, so most need no look.
    for _ in range(len(room.mean) + 1):
        team = NOBODY
        likeliest = _highest(room.mean)
        if not paged and room.mean[likeliest] >= 0:
            team = likeliest
        if team == NOBODY or room.mean[team] * UNIT > best:
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
        room.mean[team] = -1.0
    return best


@kernel
def _write(rows: Standings, worlds: PlanTables, room: _Room, out: Floats) -> None:
    for row in range(len(out)):
        world = np.uint64(rows.world[row])
        to = PlanTables(
            worlds.root[world],
            worlds.hypothesis[world],
            worlds.begins[world],
            worlds.by,
            worlds.to,
            worlds.credits,
            worlds.horizon,
        )
        out[row] = _best(row, rows, to, room)


def best_values(rows: Standings, worlds: PlanTables) -> Floats:
    """The value of the best plan of each row (R,).

    The unit is weight times 2**-20, as of :attr:`logtriage.beliefs.plans.Planner.value`.
    """
    hypotheses = rows.weights.shape[1]
    room = _Room(
        np.empty(hypotheses),
        np.empty(int(worlds.root.max()) + 1),
        np.empty(int(rows.team.max(initial=0)) + 1),
        np.empty(hypotheses, np.int64),
        np.empty(hypotheses, np.int64),
        np.empty((hypotheses, 2, _SEVERITIES + 1, 3, ENDS)),
        np.full((hypotheses, 2, _SEVERITIES + 1, 3), -1),
    )
    values: Floats = np.empty(len(rows.tick))
    _write(Standings(*map(np.ascontiguousarray, rows)), worlds, room, values)
    return values
