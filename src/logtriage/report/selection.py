"""The order in which episodes get screens and beliefs, if a page cannot hold all."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from logtriage.report.episode import Episode


def ranked(episodes: Sequence[Episode], limit: int) -> tuple[int, ...]:
    """The positions of all episodes, in the order in which they get one of ``limit`` places.

    Every policy and task gets the same number of places: half go to its lowest grades
    (unscored episodes before all), half to episodes spread evenly over the rest in order of
    grade.
    """
    cells = _cells(episodes)
    places = -(-limit // max(1, len(cells)))
    return tuple(_in_turn([_telling(episodes, cell, places) for cell in cells]))


def _cells(episodes: Sequence[Episode]) -> list[list[int]]:
    cells: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, episode in enumerate(episodes):
        cells[episode.grade.task, episode.policy].append(place)
    return list(cells.values())


def _telling(episodes: Sequence[Episode], cell: list[int], places: int) -> list[int]:
    """The episodes of a cell in the order in which they get a place."""

    def by_grade(place: int) -> tuple[float, int]:
        score = episodes[place].grade.score
        return (-1.0 if score is None else score, place)

    ranked = sorted(cell, key=by_grade)
    if len(ranked) <= places:
        return ranked
    worst, rest = ranked[: (places + 1) // 2], ranked[(places + 1) // 2 :]
    room = places - len(worst)
    spread = [rest[(len(rest) - 1) * step // max(1, room - 1)] for step in range(room)]
    first = list(_in_turn([worst, spread]))
    return [*first, *(place for place in ranked if place not in set(first))]


def _in_turn(cells: Sequence[Sequence[int]]) -> Iterator[int]:
    for row in zip_longest(*cells):
        yield from (place for place in row if place is not None)
