"""The figures behind the plots: distributions, points by criterion, and places declared."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import fsum, prod
from typing import Final

import attrs

from logtriage.evaluation import played_state
from logtriage.report.episode import Episode
from logtriage.report.run import Run
from logtriage.report.text import PLACES, place_of

#: Bins of the score distributions, each of the same width; the last bin holds 1.
BINS: Final = 20


@attrs.frozen
class Cell:
    """What the plots show of one policy on one task, in means over scored episodes.

    ``bound`` is the mean grade with 0 for each episode that is unscored or missing. ``shares`` of
    the episodes by score, ``gated`` their part that a gate set to zero (all in the first bin);
    ``points`` by criterion as they count, ``lost`` what gates and discounts took; ``places`` the
    share of each place of the declared root cause among ``faults`` incidents, those that have a
    root.
    """

    task: str
    policy: str
    scored: int
    mean: float | None
    bound: float | None
    shares: tuple[float, ...]
    gated: float
    points: Mapping[str, float]
    lost: float
    places: Mapping[str, float]
    faults: int

    @property
    def stacked(self) -> tuple[tuple[str, float, float], ...]:
        """(name, start, width) of a bar per criterion, in points; negative ones lie left of 0."""
        rows, ends = [], {False: 0.0, True: 0.0}
        for name, points in self.points.items():
            side = points < 0
            rows.append((name, min(ends[side], ends[side] + points), abs(points)))
            ends[side] += points
        return tuple(rows)

    @property
    def earned(self) -> float:
        """All points above 0 that count."""
        return fsum(points for points in self.points.values() if points > 0)


def cells_of(run: Run) -> tuple[Cell, ...]:
    """A cell for each task and policy of the run, in its order, all with one order of criteria."""
    by_cell: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in run.episodes:
        by_cell[episode.grade.task, episode.policy].append(episode)
    bounds = {(row.task, row.policy): row.bound for row in run.rows}
    cells = [
        _cell(task, policy, by_cell.get((task, policy), []), bounds.get((task, policy)))
        for task in run.tasks
        for policy in run.policies
        if (task, policy) in bounds  # another run beside it may lack the task
    ]
    names = criterion_names(cells)
    return tuple(
        attrs.evolve(
            cell, points={name: cell.points[name] for name in names if name in cell.points}
        )
        for cell in cells
    )


def criterion_names(cells: Iterable[Cell]) -> tuple[str, ...]:
    """The names of the criteria of all cells, in order of appearance."""
    return tuple(dict.fromkeys(name for cell in cells for name in cell.points))


def _cell(task: str, policy: str, episodes: list[Episode], bound: float | None) -> Cell:
    scored = [episode for episode in episodes if episode.grade.score is not None]
    count = max(1, len(scored))
    bins = [0] * BINS
    points: dict[str, list[float]] = {}
    lost: list[float] = []
    places = dict.fromkeys(PLACES, 0)
    scores = [episode.grade.score or 0.0 for episode in scored]
    for episode, score in zip(scored, scores, strict=True):
        graded = episode.grade
        bins[min(BINS - 1, int(score * BINS))] += 1
        # The share of the points that remains after gates and discounts.
        kept = 0.0 if graded.gate else prod(discount.factor for discount in graded.discounts)
        for criterion in graded.criteria:
            worth = criterion.score * criterion.weight
            points.setdefault(criterion.name, []).append(kept * worth)
            lost.append((1.0 - kept) * worth)
        declared = played_state(episode.incident, graded).facts.root_cause
        place = place_of(episode.incident, declared)
        if place is not None:
            places[place] += 1
    faults = sum(places.values())
    return Cell(
        task,
        policy,
        len(scored),
        fsum(scores) / count if scored else None,
        bound,
        tuple(held / count for held in bins),
        sum(episode.grade.gate is not None for episode in scored) / count,
        {name: fsum(values) / count for name, values in points.items()},
        fsum(lost) / count,
        {place: count / max(1, faults) for place, count in places.items()},
        faults,
    )
