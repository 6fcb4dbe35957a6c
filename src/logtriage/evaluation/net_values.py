"""Net value: what an agent is worth beyond handing every incident over; overall and by worth.

    net value = sum of (grade - c) / sum of (1 - c)

over the incidents for which a hand-over is worth a grade c. 1: the agent solves everything;
0: it is no better than handing everything over at once; below 0: better switched off.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

import attrs

from logtriage._lib.grouping import grouped
from logtriage.evaluation.episodes import mis_paged, paged_right
from logtriage.evaluation.statistics import Interval, mean_by_incident, ratio_interval
from logtriage.grading.grade import GRID, is_handed_over
from logtriage.state import State

#: (grade, worth of a hand-over of the incident).
Outcome = tuple[float, float]
#: The (closed state, grade) pairs of all attempts, by (worth of a hand-over, incident id).
_Attempts = Mapping[tuple[float, str], Sequence[tuple[State, float]]]


def on_grid(value: float) -> int:
    """A grade or a worth as a whole number of 2**-50, the unit in which grades are kept."""
    return round(value * GRID)


def net_value(graded: Sequence[Outcome]) -> Interval | None:
    """Net value of (grade, worth) pairs, with its bootstrap interval; None without any.

    Sums are in whole units of 2**-50, so that handing over at once is worth exactly 0.
    """
    return net_value_of_attempts(((grade,), worth) for grade, worth in graded)


def net_value_of_attempts(graded: Iterable[tuple[Sequence[float], float]]) -> Interval | None:
    """Net value of (grades of all attempts, worth) of each incident, by the mean attempt.

    The bootstrap draws incidents, since attempts at one incident are not independent.
    """
    gained, possible = list[float](), []
    for grades, worth in graded:
        gains = [on_grid(grade) - on_grid(worth) for grade in grades]
        gained.append(gains[0] if len(gains) == 1 else fmean(gains))  # a single one stays whole
        possible.append(on_grid(1.0) - on_grid(worth))
    return ratio_interval(gained, possible)


def _net_value_of(attempts: _Attempts) -> Interval | None:
    return net_value_of_attempts(
        ([grade for _, grade in each], worth) for (worth, _), each in attempts.items()
    )


def net_difference(before: Sequence[Outcome], after: Sequence[Outcome]) -> Interval | None:
    """Net value of ``after`` minus that of ``before``, on the same incidents in the same order."""
    worths = [worth for _, worth in before]
    gained = [on_grid(new) - on_grid(old) for (old, _), (new, _) in zip(before, after, strict=True)]
    return ratio_interval(gained, [on_grid(1.0) - on_grid(worth) for worth in worths])


@attrs.frozen
class AtWorth:
    """The net value on incidents with the same worth of a hand-over, and the share handed over."""

    worth: float
    incidents: int
    net: Interval
    handed_over: float


@attrs.frozen
class NetValue:
    """Net value over ``incidents`` incidents, and shares of them.

    ``handed_over``: closed by a hand-over before any page and any remedy. ``paged_right``: a team
    was paged, and no wrong team. ``mis_paged``: a wrong team was paged. These two leave out
    recordings, where nobody is paged; None for recordings alone. ``by_worth`` is the net value
    where a hand-over has the same worth.
    """

    net: Interval
    incidents: int
    handed_over: float
    paged_right: float | None
    mis_paged: float | None
    by_worth: tuple[AtWorth, ...]


def net_value_of(played: Iterable[tuple[State, float]]) -> NetValue | None:
    """The net value of (closed state, grade) pairs; None if no hand-over has a worth.

    Attempts at one incident count by their mean.
    """

    def share(group: _Attempts, happened: Callable[[State], bool | None]) -> float | None:
        return mean_by_incident(
            (name, happened(state)) for (_, name), each in group.items() for state, _ in each
        )

    with_worth = []
    for state, grade in played:
        worth = state.incident.worth_of_hand_over
        if worth is not None:
            with_worth.append(((worth, state.incident.id), (state, grade)))
    attempts = grouped(with_worth)
    net = _net_value_of(attempts)
    if net is None:
        return None
    by_worth = []
    for worth in sorted({worth for worth, _ in attempts}):
        group = {key: each for key, each in attempts.items() if key[0] == worth}
        at_worth = _net_value_of(group)
        assert at_worth is not None
        by_worth.append(AtWorth(worth, len(group), at_worth, share(group, is_handed_over) or 0.0))
    return NetValue(
        net,
        len(attempts),
        share(attempts, is_handed_over) or 0.0,
        share(attempts, paged_right),
        share(attempts, mis_paged),
        tuple(by_worth),
    )
