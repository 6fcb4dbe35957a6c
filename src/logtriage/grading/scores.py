"""The score of a list, row by row: its levels, their points, discounts, and the gate.

Every driver calls these functions for its rows; the numbers are those of
:class:`logtriage.grading.tables.ScoreTables`.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.grading import criteria
from logtriage.grading.steps import Facts, Int, Shares
from logtriage.grading.tables import (
    GATES,
    HANDED_OVER,
    IGNORED,
    RESOLVED,
    WORST,
    ScoreTables,
)

_UNSAID: Final = len(SEVERITIES)
_WRONG_PAGE: Final = GATES.index(criteria.wrong_escalation)


class Case(NamedTuple):
    """What the levels of a list depend on beside it.

    ``severity`` is the true rank, far from every rank if it is not known; ``faults`` how many
    there are, at least 1; ``shares`` and ``fixes`` the levels of none of them; ``clock`` and
    ``task_clock`` where the levels of the pairs of horizon and par begin.
    """

    severity: Int
    faults: Int
    shares: Int
    fixes: Int
    clock: Int
    task_clock: Int


class Levels(NamedTuple):
    """The levels of a list, as :data:`logtriage.grading.tables.LEVELS` explains them."""

    off: Int
    blamed: Int
    named: Int
    paged: Int
    fixes: Int
    dismissed: Int
    resolved: Int
    calmed: Int
    handed: Int
    early: Int
    hasty: Int


@kernel
def levels_of(
    facts: Facts, shares: Shares, case: Case, used: Int, none: Int, by: ScoreTables
) -> Levels:
    """The levels of a list that has used so many ticks."""
    most, zero = np.int64(by.credits), np.int64(0)
    off = abs(facts.severity - case.severity)
    far = (facts.severity == _UNSAID) | (off > WORST)
    over = facts.closing == HANDED_OVER
    done = ((facts.closing == RESOLVED) | over) & (shares.fixed == case.faults)
    dismissed = (facts.closing == IGNORED) & (facts.seen == 0)
    first = over & (facts.paged == none) & (facts.mispaged == 0) & (facts.remedies == 0)
    return Levels(
        np.int64(WORST) if far else off,
        facts.rightly,
        case.shares + shares.named,
        case.shares + shares.paged,
        case.fixes + shares.fixed * (most + 1) + min(facts.wrong, most),
        np.int64(dismissed),
        1 + used + case.clock if done else zero,
        1 + used + case.clock if dismissed else zero,
        1 + used + case.task_clock if first else zero,
        facts.early,
        shares.hasty,
    )


class Discount(NamedTuple):
    """A discount of the tables: its level, where its factors begin, whether it is everywhere."""

    level: Int
    begin: Int
    everywhere: Int


@kernel
def gate_of(gate: Int, facts: Facts, benign: Int) -> Any:
    """Whether a gate holds, by its place in :data:`logtriage.grading.tables.GATES`."""
    ignored = (facts.closing == IGNORED) & (benign == 0)
    return facts.mispaged != 0 if gate == _WRONG_PAGE else ignored


@kernel
def discount_at(number: Int, by: ScoreTables) -> Discount:
    """A discount by its number in the rubric."""
    row = by.discounts[number]
    return Discount(row[0], row[1], row[2])


@kernel
def share_at(level: Int, discount: Discount, by: ScoreTables) -> Any:
    """What the tables have for a level of a discount."""
    return by.factors[np.uint64(discount.begin + level)]


@kernel
def share_left(share: Any, discount: Discount, benign: Int) -> Any:
    """What a discount leaves."""
    return 1.0 if (benign != 0) & (discount.everywhere == 0) else share


@kernel
def handed_over(total: Any, level: Int, price: Any, by: ScoreTables) -> Any:
    """The total; after a hand-over as the first intervention, its worth at its price."""
    worth = by.handed_weight * (price * by.handed[np.uint64(level)])
    return worth if level > 0 else total


@kernel
def finished(total: Any, gated: Int, by: ScoreTables) -> Any:
    """A total as a score."""
    bounded = total if total > by.low else by.low
    bounded = bounded if bounded < by.high else by.high
    score = np.rint(bounded * by.grid) * (1.0 / by.grid)
    return 0.0 if gated != 0 else score


@kernel
def score_row(levels: Levels, benign: Int, gated: Int, price: Any, by: ScoreTables) -> Any:
    """The score of one list."""
    part, total = np.int64(benign != 0), 0.0
    for group in range(by.begins.shape[1]):
        place = np.int64(by.begins[part, group])
        for level in range(by.strides.shape[2]):
            place += levels[level] * by.strides[part, group, level]
        total += by.points[np.uint64(place)]
    for number in range(len(by.discounts)):
        discount = discount_at(number, by)
        total *= share_left(share_at(levels[discount.level], discount, by), discount, benign)
    if by.handed_weight >= 0.0:
        total = handed_over(total, levels.handed, price, by)
    return finished(total, gated, by)
