"""The best plan's value row by row, as :mod:`logtriage.beliefs.plans` has it for one belief.

Sums are of whole numbers below 2**53, so their order is free. Hypotheses without weight in a plan
are skipped.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.beliefs.plans import AMPLE, REMEDIES_TRIED
from logtriage.beliefs.stakes import UNIT
from logtriage.vector.cases import Cases, Floats, PlanTables
from logtriage.vector.compiled.draws import Int

#: In place of a team: nobody is paged.
NOBODY: Final = -1

_SEVERITIES: Final = len(SEVERITIES)
_LOWEST: Final = len(SEVERITIES) - 1
#: By what a severity's votes are scaled down.
_VOTE: Final = 1024


class _Room(NamedTuple):
    """Room for one plan: ``some`` and ``base`` (H,), ``mass`` by service, ``paged`` by team."""

    some: Floats
    base: Floats
    mass: Floats
    paged: Floats


@kernel
def _highest(values: Floats) -> Int:
    """The place of the highest, the first of equals."""
    highest = 0
    for place in range(1, len(values)):
        if values[place] > values[highest]:
            highest = place
    return highest


@kernel
def _credit(row: Int, hypothesis: Int, said: Int, cases: Cases, stakes: PlanTables) -> Any:
    """The credit of a severity under a hypothesis, in units of 2**-20 of its weight."""
    credit = 0.0
    for true in range(_SEVERITIES):
        credit += cases.severities[row, hypothesis, true] * stakes.near[abs(said - true)]
    return credit


@kernel
def _likeliest_severity(row: Int, quiet: Any, cases: Cases, stakes: PlanTables, room: _Room) -> Int:
    best, likeliest = -1.0, 0
    for said in range(_SEVERITIES):
        votes = np.floor(quiet / _VOTE) * (_VOTE * stakes.near[_LOWEST - said])
        for hypothesis in range(len(room.some)):
            if room.some[hypothesis] > 0:
                credit = np.floor(_credit(row, hypothesis, said, cases, stakes) / _VOTE)
                votes += np.floor(room.some[hypothesis] / _VOTE) * credit
        if votes > best:
            best, likeliest = votes, said
    return likeliest


@kernel
def _likeliest_root(stakes: PlanTables, room: _Room) -> Int:
    room.mass[:] = 0.0
    for hypothesis in range(len(room.some)):
        if room.some[hypothesis] > 0:
            room.mass[stakes.root[hypothesis]] += room.some[hypothesis]
    return _highest(room.mass)


@kernel
def _scaled(value: Any, factor: Int) -> Any:
    """A value times a factor in units of 2**-20, rounded down."""
    return value if factor == UNIT else np.floor(value / UNIT) * factor


@kernel
def _remedies(
    row: Int, used: Int, approved: bool, calm: Any, cases: Cases, stakes: PlanTables, room: _Room
) -> Any:
    """The value of trying remedies, likeliest first, as long as it pays; ``some`` is used up.

    ``calm`` is earned if nothing is broken; each remedy may cost a share of it.
    """
    some, base = room.some, room.base
    rest = 0.0
    for hypothesis in range(len(some)):
        rest += some[hypothesis] * base[hypothesis]
    earned = 0.0
    best = calm + _scaled(rest, UNIT if approved else stakes.penalties[0, 0])
    for tried in range(min(REMEDIES_TRIED, stakes.horizon - used)):
        most, pick = -1.0, 0
        for remedy in range(len(stakes.begins) - 1):
            mass = 0.0
            for place in range(stakes.begins[remedy], stakes.begins[remedy + 1]):
                mass += some[stakes.hypothesis[place]]
            if mass > most:
                most, pick = mass, remedy
        gained = 0.0
        for place in range(stakes.begins[pick], stakes.begins[pick + 1]):
            hypothesis = stakes.hypothesis[place]
            if some[hypothesis] > 0:
                credit = stakes.remedy_credit[cases.wrong[row, hypothesis] + tried]
                closing = stakes.closed[used + tried + 2]
                gained += some[hypothesis] * (base[hypothesis] + credit + closing)
                rest -= some[hypothesis] * base[hypothesis]
                some[hypothesis] = 0.0
        earned += _scaled(gained, UNIT if approved else stakes.penalties[1, tried])
        total = earned + _scaled(rest, UNIT if approved else stakes.penalties[0, tried + 1])
        best = max(best, total + _scaled(calm, stakes.rash[tried + 1]))
    return best


@kernel
def _plan(
    row: Int,
    page: Int,
    says: bool,
    blames: bool,
    calm: Any,
    cases: Cases,
    stakes: PlanTables,
    room: _Room,
) -> Any:
    """The value of the best plan that pages, ``says`` a severity and ``blames`` a root."""
    some, base = room.some, room.base
    approved = bool(cases.paged[row]) or page != NOBODY
    used = cases.tick[row] + np.int64(page != NOBODY) + np.int64(says) + np.int64(blames)
    quiet = 0.0 if approved else calm
    for hypothesis in range(len(some)):
        meant = page == NOBODY or cases.team[row, hypothesis] == page
        some[hypothesis] = (
            cases.weights[row, hypothesis] if meant and stakes.root[hypothesis] >= 0 else 0.0
        )
    severity = cases.severity[row]
    if says:
        severity = _likeliest_severity(row, quiet, cases, stakes, room)
    root = _likeliest_root(stakes, room) if blames else cases.declared[row]
    value = quiet * stakes.calm[severity] if severity >= 0 else 0.0
    earned = 0.0
    resolve = stakes.closed[used + 1] if used < stakes.horizon else 0.0
    for hypothesis in range(len(some)):
        if some[hypothesis] == 0:
            continue
        gained = np.float64(stakes.escalation) if approved else 0.0
        if severity >= 0:
            credit = _credit(row, hypothesis, severity, cases, stakes)
            gained += np.floor(credit * (stakes.severity / UNIT))
        if (
            root >= 0
            and stakes.root[hypothesis] == root
            and (blames or cases.root_counts[row, hypothesis])
        ):
            gained += stakes.root_cause
        some[hypothesis] = np.floor(some[hypothesis] * cases.rash[row, hypothesis])
        base[hypothesis] = gained
        earned += some[hypothesis] * (gained + cases.fix[row, hypothesis] + resolve)
    if cases.fixed[row]:
        return value + _scaled(earned, UNIT if approved else stakes.penalties[0, 0])
    return _remedies(row, used, approved, value, cases, stakes, room)


@kernel
def _dismissal(row: Int, says: bool, calm: Any, cases: Cases, stakes: PlanTables) -> Any:
    severity = _LOWEST if says else cases.severity[row]
    earned = stakes.calm[severity] if severity >= 0 else 0.0
    if cases.declared[row] < 0:
        earned += stakes.dismissed[cases.tick[row] + np.int64(says) + 1]
    return calm * earned


@kernel
def _best(row: Int, cases: Cases, stakes: PlanTables, room: _Room) -> Any:
    """The value of the best plan of one row."""
    left = stakes.horizon - cases.tick[row]
    may_say = cases.severity[row] < 0
    may_blame = cases.declared[row] < 0 and not cases.fixed[row]
    room.base[:] = 0.0
    room.paged[:] = 0.0
    calm, total = 0.0, 0.0
    for hypothesis in range(len(room.some)):
        weight = cases.weights[row, hypothesis]
        total += weight
        if stakes.root[hypothesis] < 0:
            calm += np.floor(weight * cases.rash[row, hypothesis])
        else:
            room.paged[cases.team[row, hypothesis]] += weight
    best = total * cases.over[row]
    for says in (True, False):
        if not cases.paged[row] and left >= 1 + np.int64(says) and (may_say or not says):
            best = max(best, _dismissal(row, says, calm, cases, stakes))
    # The likeliest team first: a page earns nothing where it is wrong, so most need no look.
    for _ in range(len(room.paged) + 1):
        page = NOBODY
        likeliest = _highest(room.paged)
        if not cases.paged[row] and room.paged[likeliest] >= 0:
            page = likeliest
        if page == NOBODY or room.paged[page] * UNIT > best:
            for says in (True, False):
                for blames in (True, False):
                    spare = (may_say and not says) or (may_blame and not blames)
                    ticks = np.int64(page != NOBODY) + np.int64(says) + np.int64(blames)
                    if (says and not may_say) or (blames and not may_blame):
                        continue
                    if ticks <= left and not (spare and left >= AMPLE):
                        value = _plan(row, page, says, blames, calm, cases, stakes, room)
                        best = max(best, value)
        if page == NOBODY:
            break
        room.paged[page] = -1.0
    return best


@kernel
def _tables_in(tables: PlanTables, world: Int) -> PlanTables:
    return PlanTables(
        tables.root[world],
        tables.hypothesis[world],
        tables.begins[world],
        tables.remedy_credit,
        tables.closed,
        tables.rash,
        tables.penalties,
        tables.dismissed,
        tables.calm,
        tables.near,
        tables.early_fix,
        tables.horizon,
        tables.severity,
        tables.root_cause,
        tables.escalation,
    )


@kernel
def _write(cases: Cases, room: _Room, out: Floats) -> None:
    for row in range(len(out)):
        tables = _tables_in(cases.tables, np.uint64(cases.world[row]))
        out[row] = _best(row, cases, tables, room)


def best_values(cases: Cases) -> Floats:
    """The value of the best plan of each row (R,).

    The unit is weight times 2**-20, as in :func:`logtriage.beliefs.plans.best_values`.
    """
    hypotheses = cases.weights.shape[1]
    room = _Room(
        np.empty(hypotheses),
        np.empty(hypotheses),
        np.empty(int(cases.tables.root.max()) + 1),
        np.empty(int(cases.team.max(initial=0)) + 1),
    )
    values: Floats = np.empty(len(cases.tick))
    _write(Cases(cases.tables, *map(np.ascontiguousarray, cases[1:])), room, values)
    return values
