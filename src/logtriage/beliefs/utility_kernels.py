"""Spec: logtriage.beliefs.plans; law: property_tests/test_belief_batch_laws.py.

Utilities of plans in one incident (``row``) under a hypothesis (``at``), made when first needed.
Hypotheses under which the same was done, and severities are alike, are a ``group`` and share them.
A plan has a ``page`` (0 or 1), declares a severity (``says``, or ``SILENT``) and a root cause
(``names``: ``UNSAID``, ``WRONG`` or ``RIGHT``), then comes its end. ``to`` are the tables of the
row's world, ``room`` is scratch memory.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.beliefs.cases import SEVERITY_CREDITS, Floats
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.ledgers import NEVER, PER_UNIT, WHOLE
from logtriage.beliefs.model import Bools
from logtriage.beliefs.plans import FIXED, MISSED, REMEDIES_TRIED, RESOLVED, RIGHT, SILENT, UNSAID
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

_SEVERITIES: Final = len(SEVERITIES)
_MISSED: Final = MISSED[0]
_FIXED: Final = FIXED[0]


class PlanTables(NamedTuple):
    """Tables for plans over H hypotheses and M remedies in W worlds, or (without W) in one.

    ``root`` (W, H) is the faulty service, -1 for no fault. ``hypothesis`` (W, P) lists the
    hypotheses that accept the first remedy, then those of the second and so on, padded with 0;
    ``begins`` (W, M + 1) is where those of each remedy begin, and where the last ends. ``by`` is
    the rubric, ``letters`` the ranges of integers that stand for actions, ``credits`` the points by
    declared and true severity, ``horizon`` the last tick.
    """

    root: Longs
    hypothesis: Longs
    begins: Longs
    by: ScoreTables
    letters: Letters
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
    """What plans depend on in R incidents, as in :class:`logtriage.beliefs.plans.Planner`.

    ``world`` (R,) is the number of each row's world. ``weights`` (R, H) are whole numbers with a
    sum of about 2**30; ``team`` (R, H) is the right team; ``shares`` (R, H, 3) are those of
    severities, in units of 2**-30. ``handed_over`` (R,) is what a hand-over is worth, in units of
    2**-20, 0 if impossible; ``fixed`` (R,) whether the fault is fixed, ``declared`` (R,) the root
    cause declared, -1 for none.

    What was done: ``severity``, ``paged`` and ``remedies`` (R,), ``wrong``, ``early``, ``said`` and
    ``mended`` (R, H) are the ``severity``, ``paged``, ``remedies``, ``wrong`` and ``early`` of
    :class:`~logtriage.grading.steps.Facts`, and the ``said`` and ``fixed`` of a ``Response``.
    """

    world: NDArray[np.uint8]
    weights: Floats
    team: Longs
    shares: Longs
    tick: Longs
    handed_over: Floats
    fixed: Bools
    declared: Longs
    severity: Longs
    paged: Longs
    remedies: Longs
    wrong: Longs
    early: Longs
    said: Longs
    mended: Longs


class Room(NamedTuple):
    """Scratch memory of a row with H hypotheses in at most H groups.

    ``some`` (H,) are weights of hypotheses, ``mass`` sums of weights by service, ``mass_by_team``
    by team; ``group`` (H,) is the group of a hypothesis, ``first`` (H,) the first of a group.
    ``utilities`` (H, 2, 4, 3, ENDS) are by group, page, severity and root cause declared, and end,
    in units of 2**-20; ``made`` (H, 2, 4, 3) is the row for which they were made.
    """

    some: Floats
    mass: Floats
    mass_by_team: Floats
    group: Longs
    first: Longs
    utilities: Floats
    made: Longs


@kernel
def _enter(facts: Facts, response: Response, action: Int, right: Int, tick: Int, to: Any) -> Any:
    """(facts, response) after an action, 1 if ``right``; unchanged if closed or time is up."""
    move = move_of(action, right, Rules(strict=1, takes=0), to.letters)
    live = (facts.closing == OPEN) & (tick < to.horizon)
    counted = counts(facts, move, live, anew=True, faults=np.int64(1))
    return (
        facts_step(facts, move, live, counted, tick),
        response_step(response, move, right, live, counted, tick),
    )


@kernel
def _grade(
    row: Int, at: Int, facts: Facts, response: Response, used: Int, rows: Standings, to: Any
) -> Any:
    """The mean grade over the severities under a hypothesis, in units of 2**-20."""
    none, zero, benign = np.int64(NEVER), np.int64(0), np.int64(to.root[at] < 0)
    shares = add_share(Shares(zero, zero, zero, zero), response, facts.paged, none)
    gated, mean = False, np.int64(PER_UNIT >> 1)
    clock = benign * (to.horizon + 1)  # past the levels for faults
    for gate in range(len(to.by.gates)):
        gated |= gate_of(to.by.gates[gate], facts, benign)
    for true in range(_SEVERITIES):
        case = Case(np.int64(true), np.int64(1), zero, zero, clock=clock, task_clock=zero)
        levels = levels_of(facts, shares, case, used, none, to.by)
        score = score_row(levels, benign, np.int64(gated), 0.0, to.by)
        mean += np.int64(np.rint(score * WHOLE)) * rows.shares[row, at, true]
    return np.float64(mean // PER_UNIT)


@kernel
def begun(row: Int, at: Int, page: Int, says: Int, names: Int, rows: Standings, to: Any) -> Any:
    """(facts, response, tick) after the page and the declarations of a plan."""
    root, now, zero = to.root[at], np.int64(rows.tick[row]), np.int64(0)
    fault, declared = np.int64(root >= 0), np.int64(rows.declared[row])
    facts = Facts(
        severity=np.int64(rows.severity[row]),
        seen=np.int64(declared >= 0),
        rightly=np.int64((declared >= 0) & (declared == root)),
        paged=np.int64(rows.paged[row]),
        mispaged=zero,
        remedies=np.int64(rows.remedies[row]),
        wrong=np.int64(rows.wrong[row, at]),
        early=np.int64(rows.early[row, at]),
        closing=np.int64(OPEN),
    )
    response = Response(np.int64(rows.said[row, at]), facts.paged, np.int64(rows.mended[row, at]))
    if page != 0:
        facts, response = _enter(facts, response, np.int64(to.letters.page), fault, now, to)
        now += 1
    if says != SILENT:
        facts, response = _enter(facts, response, np.int64(says), right=zero, tick=now, to=to)
        now += 1
    if names != UNSAID:
        rightly = fault * np.int64(names == RIGHT)
        facts, response = _enter(facts, response, np.int64(to.letters.root), rightly, now, to)
        now += 1
    return facts, response, now


@kernel
def closed_grade(
    row: Int, at: Int, facts: Facts, response: Response, close: Int, now: Int, rows: Any, to: Any
) -> Any:
    """The mean grade if the action ``close`` closes the incident at tick ``now``."""
    facts, response = _enter(facts, response, np.int64(close), right=np.int64(0), tick=now, to=to)
    return _grade(row, at, facts, response, now + 1, rows, to)


@kernel
def make(
    row: Int, group: Int, page: Int, says: Int, names: Int, rows: Standings, to: Any, room: Room
) -> None:
    """Make the utilities of a group of hypotheses for all ends of a plan, unless they are made."""
    if room.made[group, page, says, names] == row:
        return
    room.made[group, page, says, names] = row
    at, out = room.first[group], room.utilities[group, page, says, names]
    facts, response, now = begun(row, at, page, says, names, rows, to)
    if rows.fixed[row]:
        out[RESOLVED] = closed_grade(row, at, facts, response, to.letters.resolve, now, rows, to)
        return
    out[_MISSED] = _grade(row, at, facts, response, now, rows, to)
    remedy, right = np.int64(to.letters.remedy), np.int64(1)
    for tried in range(REMEDIES_TRIED):
        if to.root[at] >= 0:
            after, of_fault = _enter(facts, response, remedy, right, now, to)
            value = closed_grade(row, at, after, of_fault, to.letters.resolve, now + 1, rows, to)
            out[_FIXED + tried] = value
        facts, response = _enter(facts, response, remedy, right=np.int64(0), tick=now, to=to)
        now += 1
        out[_MISSED + tried + 1] = _grade(row, at, facts, response, now, rows, to)
