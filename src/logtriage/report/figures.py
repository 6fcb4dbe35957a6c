"""The figures behind the plots: distributions, points by criterion, and places declared."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import fsum, prod
from typing import Final

import attrs

from logtriage.evaluation import Row, played_state
from logtriage.report.episode import Episode
from logtriage.report.run import Run
from logtriage.report.text import PLACES, first_declared, place_of

#: Bins of the score distributions, each of the same width; the last bin holds 1.
BINS: Final = 20


@attrs.frozen
class Cell:
    """The figures of one agent on one task for the plots: means over incidents with a grade.

    Attempts at an incident share its weight. ``scored`` counts episodes; ``bound`` is the mean
    grade with 0 for each unscored or missing episode. ``shares`` has the share of incidents in each
    bin of scores, ``gated`` the share that a gate set to 0. ``points`` are those that count, by
    criterion; ``lost`` are those that gates and discounts took. ``places`` has the share of each
    place of the declared root cause, among the ``faults`` episodes whose incident has a root;
    several faults of an incident share its weight.
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
        rows, ends = [], {False: 0.0, True: 0.0}  # where the bars so far end, right and left of 0
        for name, points in self.points.items():
            left = points < 0
            begin, ends[left] = ends[left], ends[left] + points
            rows.append((name, min(begin, ends[left]), abs(points)))
        return tuple(rows)

    @property
    def earned(self) -> float:
        """The sum of the points above 0."""
        return fsum(points for points in self.points.values() if points > 0)


def cells_of(run: Run) -> tuple[Cell, ...]:
    """A cell for each row of the run, in order; all cells list criteria in the same order."""
    played: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in run.episodes:
        played[episode.grade.task, episode.policy].append(episode)
    cells = []
    for row in run.rows:
        episodes = [episode for policy in row.policies for episode in played[row.task, policy]]
        cells.append(_cell(row, episodes))
    names = criterion_names(cells)
    for place, cell in enumerate(cells):
        points = {name: cell.points[name] for name in names if name in cell.points}
        cells[place] = attrs.evolve(cell, points=points)
    return tuple(cells)


def criterion_names(cells: Iterable[Cell]) -> tuple[str, ...]:
    """The names of the criteria of all cells, in order of appearance."""
    return tuple(dict.fromkeys(name for cell in cells for name in cell.points))


def _cell(row: Row, episodes: list[Episode]) -> Cell:
    with_scores = ((episode, episode.grade.score) for episode in episodes)
    scored = [(episode, score) for episode, score in with_scores if score is not None]
    attempts = Counter(episode.incident.id for episode, _ in scored)
    count = max(1, len(attempts))
    bins = [0.0] * BINS
    points: dict[str, list[float]] = {}
    gated: list[float] = []
    lost: list[float] = []
    places = dict.fromkeys(PLACES, 0.0)
    for episode, score in scored:
        graded, weight = episode.grade, 1 / attempts[episode.incident.id]
        bins[min(BINS - 1, int(score * BINS))] += weight
        gated.append(weight * (graded.gate is not None))
        # The share of the points that remains after gates and discounts.
        kept = 0.0 if graded.gate else prod(discount.factor for discount in graded.discounts)
        for criterion in graded.criteria:
            worth = weight * criterion.score * criterion.weight
            points.setdefault(criterion.name, []).append(kept * worth)
            lost.append((1.0 - kept) * worth)
        declared = first_declared(played_state(episode.incident, graded))
        for name in declared:
            place = place_of(episode.incident, name)
            if place is not None:
                places[place] += 1 / len(declared)
    faults = round(fsum(places.values()))  # each episode whose incident has a root added 1 in all
    return Cell(
        task=row.task,
        policy=row.agent,
        scored=len(scored),
        mean=None if row.grade is None else row.grade.mean,
        bound=row.bound,
        shares=tuple(weight / count for weight in bins),
        gated=fsum(gated) / count,
        points={name: fsum(values) / count for name, values in points.items()},
        lost=fsum(lost) / count,
        places={place: weight / max(1, faults) for place, weight in places.items()},
        faults=faults,
    )
