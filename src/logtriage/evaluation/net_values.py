"""Net value: what an agent is worth beyond handing every incident over; overall and by price.

    net value = sum of (grade - c) / sum of (1 - c)

over the incidents that have a worth of hand-over c. 1: it solves everything; 0: no better
than handing everything over at once; below 0: better switched off.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean

import attrs

from logtriage.evaluation.statistics import Interval, ratio_interval
from logtriage.grading.grade import GRID, is_handed_over
from logtriage.state import State

#: A grade, and the worth of a hand-over of its incident.
Priced = tuple[float, float]


def on_grid(value: float) -> int:
    """A grade or a price in units of 2**-50, in which grades are kept."""
    return round(value * GRID)


def net_value(graded: Sequence[Priced]) -> Interval | None:
    """Net value of (grade, price) pairs, with its bootstrap interval; None without any.

    A ratio of sums, in whole units of 2**-50, so that handing over at once is exactly 0.
    """
    gained = [on_grid(grade) - on_grid(price) for grade, price in graded]
    return ratio_interval(gained, [on_grid(1.0) - on_grid(price) for _, price in graded])


def net_difference(before: Sequence[Priced], after: Sequence[Priced]) -> Interval | None:
    """Net value of ``after`` less that of ``before``, on the same incidents, in order."""
    prices = [price for _, price in before]
    gained = [on_grid(new) - on_grid(old) for (old, _), (new, _) in zip(before, after, strict=True)]
    return ratio_interval(gained, [on_grid(1.0) - on_grid(price) for price in prices])


@attrs.frozen
class AtPrice:
    """The incidents of one price: net value, and the share that was handed over."""

    price: float
    incidents: int
    net: Interval
    handed_over: float


@attrs.frozen
class NetValue:
    """Net value, and what became of the incidents, as shares of all of them.

    ``handed_over``: closed by a hand-over before any page and any remedy. ``paged_right``:
    somebody was paged, and nobody wrongly. ``mis_paged``: a wrong team was paged.
    """

    net: Interval
    incidents: int
    handed_over: float
    paged_right: float
    mis_paged: float
    by_price: tuple[AtPrice, ...]


def net_value_of(played: Iterable[tuple[State, float]]) -> NetValue | None:
    """The net value of closed states with their grades; None if no incident has a worth."""
    rows = [
        (state, grade, price)
        for state, grade in played
        if (price := state.incident.worth_of_hand_over) is not None
    ]
    net = net_value([(grade, price) for _, grade, price in rows])
    if net is None:
        return None
    by_price = []
    for price in sorted({price for _, _, price in rows}):
        states = [state for state, _, its_price in rows if its_price == price]
        at_price = net_value([(grade, price) for _, grade, its_price in rows if its_price == price])
        assert at_price is not None
        handed_over = fmean(map(is_handed_over, states))
        by_price.append(AtPrice(price, len(states), at_price, handed_over))
    facts = [state.facts for state, _, _ in rows]
    return NetValue(
        net,
        len(rows),
        fmean(is_handed_over(state) for state, _, _ in rows),
        fmean(bool(played.pages) and not played.wrong_pages for played in facts),
        fmean(played.wrong_pages > 0 for played in facts),
        tuple(by_price),
    )
