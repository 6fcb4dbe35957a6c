"""The score of a list from its facts: levels, their points, discounts, and the gate.

Scores equal those of the measures in :mod:`logtriage.grading.triage` and
:mod:`logtriage.grading.paging`, looked up in :class:`logtriage.grading.tables.ScoreTables`. Each
argument is a number or an array of them, as in :mod:`logtriage.grading.steps`.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from logtriage.actions import SEVERITIES
from logtriage.grading import criteria
from logtriage.grading.steps import Facts, Int, Shares
from logtriage.grading.tables import (
    GATES,
    HANDED_OVER,
    IGNORED,
    RESOLVED,
    WORST,
    Levels,
    ScoreTables,
)

_UNSAID: Final = len(SEVERITIES)
_WRONG_PAGE: Final = GATES.index(criteria.wrong_escalation)


class Case(NamedTuple):
    """An incident, as far as the levels of a list of actions depend on it.

    ``severity`` is the true rank, or a number far from every rank if unknown; ``faults`` how many
    there are, at least 1; ``shares`` and ``fixes`` their :func:`share_begin` and :func:`fix_begin`;
    ``clock`` and ``task_clock`` where the levels of its pairs of horizon and par begin.
    """

    severity: Int
    faults: Int
    shares: Int
    fixes: Int
    clock: Int
    task_clock: Int


def levels_of(
    facts: Facts, shares: Shares, case: Case, used: Int, none: Int, by: ScoreTables
) -> Levels:
    """The levels of a list that has used ``used`` ticks."""
    most = np.int64(by.credits)
    off = abs(facts.severity - case.severity)
    far = (facts.severity == _UNSAID) | (off > WORST)
    handed = facts.closing == HANDED_OVER
    done = ((facts.closing == RESOLVED) | handed) & (shares.fixed == case.faults)
    dismissed = (facts.closing == IGNORED) & (facts.seen == 0)
    alone = handed & (facts.paged == none) & (facts.mispaged == 0) & (facts.remedies == 0)
    wrong = facts.wrong + (facts.wrong > most) * (most - facts.wrong)  # at most ``most``
    # Levels are places in what tables._shares, _fixes and _by_clock list.
    return Levels(
        off=off + far * (WORST - off),
        blamed=facts.rightly,
        named=case.shares + shares.named,
        paged=case.shares + shares.paged,
        fixes=case.fixes + shares.fixed * (most + 1) + wrong,
        dismissed=dismissed * np.int64(1),
        resolved=done * (1 + used + case.clock),
        calmed=dismissed * (1 + used + case.clock),
        handed=alone * (1 + used + case.task_clock),
        early=facts.early,
        hasty=shares.hasty,
    )


class Discount(NamedTuple):
    """A discount of the tables: its level, where its factors begin, whether it is everywhere."""

    level: Int
    begin: Int
    everywhere: Int


def gate_of(gate: Int, facts: Facts, benign: Int) -> Any:
    """Whether a gate holds, by its place in :data:`logtriage.grading.tables.GATES`."""
    ignored = (facts.closing == IGNORED) & (benign == 0)
    return facts.mispaged != 0 if gate == _WRONG_PAGE else ignored


def discount_at(number: Int, by: ScoreTables) -> Discount:
    """A discount by its number in the rubric."""
    row = by.discounts[number]
    return Discount(row[0], row[1], row[2])


def share_at(level: Int, discount: Discount, by: ScoreTables) -> Any:
    """The share that a discount leaves at a level, if it applies."""
    return by.factors[np.uint64(discount.begin + level)]


def share_left(share: Any, discount: Discount, benign: Int) -> Any:
    """The share that a discount leaves: 1 in benign incidents, unless it applies everywhere."""
    applies = (benign == 0) | (discount.everywhere != 0)
    return share * applies + (1.0 - applies)


def handed_over(total: Any, level: Int, worth: Any, by: ScoreTables) -> Any:
    """What a hand-over earns if ``level`` (:attr:`Levels.handed`) is not 0, else the total."""
    left = by.handed_weight * (worth * by.handed[np.uint64(level)])
    return left * (level > 0) + total * (level == 0)


def finished(total: Any, gated: Int, by: ScoreTables) -> Any:
    """The score of a total: within bounds, on the grid, 0 if ``gated``."""
    # The grid is a power of two, so a product with its inverse is exact, as a quotient is.
    bounded = np.minimum(np.maximum(total, by.low), by.high)
    return np.rint(bounded * by.grid) * (1.0 / by.grid) * (gated == 0)


def score_row(levels: Levels, benign: Int, gated: Int, worth: Any, by: ScoreTables) -> Any:
    """The score of one list, or of each row of arrays."""
    part, total = (benign != 0) * np.int64(1), 0.0
    for group in range(by.begins.shape[1]):
        place = by.begins[part, group] + np.int64(0)  # as wide as what is added to it
        for level in range(by.strides.shape[2] - 1, -1, -1):  # whole numbers: any order will do
            place = place + levels[level] * by.strides[part, group, level]
        total = total + by.points[np.uint64(place)]
    for number in range(len(by.discounts)):
        discount = discount_at(number, by)
        total = total * share_left(share_at(levels[discount.level], discount, by), discount, benign)
    if by.handed_weight >= 0.0:
        total = handed_over(total, levels.handed, worth, by)
    return finished(total, gated, by)
