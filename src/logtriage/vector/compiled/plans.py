"""The best plan's value row by row, as :mod:`logtriage.belief.plans` has it for one belief.

Sums are of whole numbers below 2**53, so their order is free. Hypotheses without weight in a plan
are skipped.
"""

from collections import namedtuple
from typing import Any, Final, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.belief.plans import AMPLE, REMEDIES_TRIED
from logtriage.belief.stakes import UNIT
from logtriage.vector.cases import Cases, Floats, Ints, PlanTables

#: An integer, Python's or the machine's.
Int = Any
#: In place of a team: nobody is paged.
NOBODY: Final = -1

# Where R incidents stand: the arrays of :class:`Cases`. Module-level names, so that cached
# kernels find the types of their arguments again.
_ARRAYS = [one.name for one in attrs.fields(Cases) if one.name != "tables"]
_Stand: Any = namedtuple("_Stand", _ARRAYS)  # type: ignore[misc]

_SEVERITIES: Final = len(SEVERITIES)
_LOWEST: Final = len(SEVERITIES) - 1
#: By what a severity's votes are scaled down.
_VOTE: Final = 1024


class _Stakes(NamedTuple):
    """What plans of a task are worth, in units of 2**-20, and what tells hypotheses apart.

    The arrays are those of :class:`PlanTables`, of all worlds or of one. ``near`` (3,) is the
    credit of a severity so many classes off, from 0 to 1.
    """

    root: Ints
    hypothesis: Ints
    begins: Ints
    remedy_credit: Floats
    closed: Floats
    rash: Ints
    penalties: Ints
    dismissed: Floats
    calm: Floats
    near: Floats
    horizon: int
    severity: int
    root_cause: int
    escalation: int


class _Room(NamedTuple):
    """Room for one plan: ``some`` and ``base`` (H,), ``mass`` by service, ``paged`` by team."""

    some: Floats
    base: Floats
    mass: Floats
    paged: Floats


@kernel
def _highest(values: Floats) -> Int:
    """The place of the highest, the first of equals."""
    found = 0
    for place in range(1, len(values)):
        if values[place] > values[found]:
            found = place
    return found


@kernel
def _credit(row: Int, one: Int, said: Int, stand: Any, stakes: _Stakes) -> Any:
    """The credit of a severity under a hypothesis, in units of 2**-20 of its weight."""
    found = 0.0
    for true in range(_SEVERITIES):
        found += stand.severities[row, one, true] * stakes.near[abs(said - true)]
    return found


@kernel
def _likeliest_severity(row: Int, quiet: Any, stand: Any, stakes: _Stakes, room: _Room) -> Int:
    best, found = -1.0, 0
    for said in range(_SEVERITIES):
        votes = np.floor(quiet / _VOTE) * (_VOTE * stakes.near[_LOWEST - said])
        for one in range(len(room.some)):
            if room.some[one] > 0:
                credit = np.floor(_credit(row, one, said, stand, stakes) / _VOTE)
                votes += np.floor(room.some[one] / _VOTE) * credit
        if votes > best:
            best, found = votes, said
    return found


@kernel
def _likeliest_root(stakes: _Stakes, room: _Room) -> Int:
    room.mass[:] = 0.0
    for one in range(len(room.some)):
        if room.some[one] > 0:
            room.mass[stakes.root[one]] += room.some[one]
    return _highest(room.mass)


@kernel
def _scaled(value: Any, factor: Int) -> Any:
    """A value times a factor in units of 2**-20, rounded down."""
    return value if factor == UNIT else np.floor(value / UNIT) * factor


@kernel
def _remedies(
    row: Int, used: Int, approved: bool, calm: Any, stand: Any, stakes: _Stakes, room: _Room
) -> Any:
    """The value of trying remedies, likeliest first, as long as it pays; ``some`` is used up.

    ``calm`` is what is earned if nothing is broken, of which every remedy may cost a share.
    """
    some, base = room.some, room.base
    rest = 0.0
    for one in range(len(some)):
        rest += some[one] * base[one]
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
            one = stakes.hypothesis[place]
            if some[one] > 0:
                credit = stakes.remedy_credit[stand.wrong[row, one] + tried]
                closing = stakes.closed[used + tried + 2]
                gained += some[one] * (base[one] + credit + closing)
                rest -= some[one] * base[one]
                some[one] = 0.0
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
    stand: Any,
    stakes: _Stakes,
    room: _Room,
) -> Any:
    """The value of the best plan that pages, ``says`` a severity and ``blames`` a root."""
    some, base = room.some, room.base
    approved = bool(stand.paged[row]) or page != NOBODY
    used = stand.tick[row] + np.int64(page != NOBODY) + np.int64(says) + np.int64(blames)
    quiet = 0.0 if approved else calm
    for one in range(len(some)):
        meant = page == NOBODY or stand.team[row, one] == page
        some[one] = stand.weights[row, one] if meant and stakes.root[one] >= 0 else 0.0
    severity = stand.severity[row]
    if says:
        severity = _likeliest_severity(row, quiet, stand, stakes, room)
    root = _likeliest_root(stakes, room) if blames else stand.declared[row]
    value = quiet * stakes.calm[severity] if severity >= 0 else 0.0
    earned = 0.0
    resolve = stakes.closed[used + 1] if used < stakes.horizon else 0.0
    for one in range(len(some)):
        if some[one] == 0:
            continue
        found = np.float64(stakes.escalation) if approved else 0.0
        if severity >= 0:
            credit = _credit(row, one, severity, stand, stakes)
            found += np.floor(credit * (stakes.severity / UNIT))
        if root >= 0 and stakes.root[one] == root and (blames or stand.root_counts[row, one]):
            found += stakes.root_cause
        some[one] = np.floor(some[one] * stand.rash[row, one])
        base[one] = found
        earned += some[one] * (found + stand.fix[row, one] + resolve)
    if stand.fixed[row]:
        return value + _scaled(earned, UNIT if approved else stakes.penalties[0, 0])
    return _remedies(row, used, approved, value, stand, stakes, room)


@kernel
def _dismissal(row: Int, says: bool, calm: Any, stand: Any, stakes: _Stakes) -> Any:
    severity = _LOWEST if says else stand.severity[row]
    earned = stakes.calm[severity] if severity >= 0 else 0.0
    if stand.declared[row] < 0:
        earned += stakes.dismissed[stand.tick[row] + np.int64(says) + 1]
    return calm * earned


@kernel
def _best(row: Int, stand: Any, stakes: _Stakes, room: _Room) -> Any:
    """The value of the best plan of one row."""
    left = stakes.horizon - stand.tick[row]
    may_say = stand.severity[row] < 0
    may_blame = stand.declared[row] < 0 and not stand.fixed[row]
    room.base[:] = 0.0
    room.paged[:] = 0.0
    calm, total = 0.0, 0.0
    for one in range(len(room.some)):
        weight = stand.weights[row, one]
        total += weight
        if stakes.root[one] < 0:
            calm += np.floor(weight * stand.rash[row, one])
        else:
            room.paged[stand.team[row, one]] += weight
    best = total * stand.over[row]
    for says in (True, False):
        if not stand.paged[row] and left >= 1 + np.int64(says) and (may_say or not says):
            best = max(best, _dismissal(row, says, calm, stand, stakes))
    # The likeliest team first: a page earns nothing where it is wrong, so most need no look.
    for _ in range(len(room.paged) + 1):
        page = NOBODY
        likeliest = _highest(room.paged)
        if not stand.paged[row] and room.paged[likeliest] >= 0:
            page = likeliest
        if page == NOBODY or room.paged[page] * UNIT > best:
            for says in (True, False):
                for blames in (True, False):
                    spare = (may_say and not says) or (may_blame and not blames)
                    ticks = np.int64(page != NOBODY) + np.int64(says) + np.int64(blames)
                    if (says and not may_say) or (blames and not may_blame):
                        continue
                    if ticks <= left and not (spare and left >= AMPLE):
                        value = _plan(row, page, says, blames, calm, stand, stakes, room)
                        best = max(best, value)
        if page == NOBODY:
            break
        room.paged[page] = -1.0
    return best


@kernel
def _stakes_in(stakes: _Stakes, world: Int) -> _Stakes:
    return _Stakes(
        stakes.root[world],
        stakes.hypothesis[world],
        stakes.begins[world],
        stakes.remedy_credit,
        stakes.closed,
        stakes.rash,
        stakes.penalties,
        stakes.dismissed,
        stakes.calm,
        stakes.near,
        stakes.horizon,
        stakes.severity,
        stakes.root_cause,
        stakes.escalation,
    )


@kernel
def _write(stand: Any, stakes: _Stakes, room: _Room, out: Floats) -> None:
    for row in range(len(out)):
        out[row] = _best(row, stand, _stakes_in(stakes, np.uint64(stand.world[row])), room)


def _stakes_of(tables: PlanTables) -> _Stakes:
    given = tables.stakes
    return _Stakes(
        root=tables.root,
        hypothesis=tables.hypothesis,
        begins=tables.begins,
        remedy_credit=tables.remedy_credit,
        closed=tables.closed,
        rash=tables.rash,
        penalties=tables.penalties,
        dismissed=tables.dismissed,
        calm=tables.calm,
        near=np.array(given.severity_credits),
        horizon=given.horizon,
        severity=given.severity,
        root_cause=given.root_cause,
        escalation=given.escalation,
    )


def best_values(cases: Cases) -> Floats:
    """The value of the best plan of each row (R,).

    Sums of weight times utility in units of 2**-20, as of
    :func:`logtriage.belief.plans.best_values`.
    """
    tables = cases.tables
    stand = _Stand(*(np.ascontiguousarray(getattr(cases, name)) for name in _ARRAYS))
    hypotheses = tables.root.shape[1]
    room = _Room(
        np.empty(hypotheses),
        np.empty(hypotheses),
        np.empty(tables.services),
        np.empty(int(cases.team.max(initial=0)) + 1),
    )
    found: NDArray[np.float64] = np.empty(len(cases.tick))
    _write(stand, _stakes_of(tables), room, found)
    return found
