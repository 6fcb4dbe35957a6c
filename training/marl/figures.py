"""Figures over several seeds: intervals, and how incidents failed."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.evaluation import SOLVED
from logtriage.evaluation.statistics import LEVEL, RESAMPLES, SEED, Interval
from logtriage.state import Closing
from training.marl.review import BENIGN, Episode

Scores = NDArray[np.float64]

#: What somebody knew or did, in the order in which it is needed; by heading of a table.
LINKS: Final[dict[str, Callable[[Episode], bool]]] = {
    "severity right": lambda one: one.severity,
    "root right": lambda one: one.declared,
    "kind told": lambda one: one.told,
    "paged right": lambda one: one.paged == "right",
    "paged wrong": lambda one: one.paged == "wrong",
    "fixed": lambda one: one.fixed,
    "resolved unfixed": lambda one: one.closing == Closing.RESOLVED.value and not one.fixed,
    "out of time": lambda one: one.closing == Closing.OUT_OF_TIME.value,
}


def interval(scores: Scores) -> Interval:
    """The mean of scores (S, N) of S seeds on the same N incidents.

    Its interval is a percentile bootstrap that draws seeds and, apart from that,
    incidents, so it tells of the luck of both. Three seeds make a coarse one.
    """
    return difference(scores, np.zeros((1, scores.shape[1])))


def difference(one: Scores, other: Scores) -> Interval:
    """The mean of ``one`` less that of ``other``: same incidents, seeds of their own."""
    draws = np.random.default_rng(SEED)
    count = one.shape[1]
    means = np.empty(RESAMPLES)
    for sample in range(RESAMPLES):
        picked = draws.integers(count, size=count)
        left, right = (
            each[draws.integers(len(each), size=len(each))].mean(axis=0)[picked].mean()
            for each in (one, other)
        )
        means[sample] = left - right
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(means, (tail, 1.0 - tail))
    return Interval(float(one.mean() - other.mean()), float(low), float(high))


def middle(values: Scores) -> float:
    """The interquartile mean: of the middle half of all values, whatever their shape."""
    ranked = np.sort(values, axis=None)
    cut = len(ranked) // 4
    return float(ranked[cut : len(ranked) - cut].mean())


def middle_interval(scores: Scores, strata: NDArray[np.str_]) -> Interval:
    """The interquartile mean of scores (S, N) over seeds and strata (N,) of incidents.

    Each seed has a mean in each stratum; the middle half of these S × K means counts, so
    that neither a kind of fault that all solve nor one that nobody does decides. The
    interval is a stratified bootstrap: in each stratum seeds and incidents are drawn anew,
    as in [1]_, where tasks are the strata and an incident is none of chance.

    .. [1] R. Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical
       Precipice", NeurIPS 2021.
    """
    return middle_difference(scores, None, strata)


def middle_difference(one: Scores, other: Scores | None, strata: NDArray[np.str_]) -> Interval:
    """:func:`middle_interval` of ``one``, less that of ``other``: on the same incidents."""
    draws = np.random.default_rng(SEED)
    places = [np.flatnonzero(strata == name) for name in np.unique(strata)]
    sides = [(1.0, one)] if other is None else [(1.0, one), (-1.0, other)]

    def found(sampled: bool) -> float:
        cells: list[list[Scores]] = [[] for _ in sides]
        for rows in places:
            picked = draws.choice(rows, len(rows)) if sampled else rows
            for side, (_, scores) in zip(cells, sides, strict=True):
                seeds = np.arange(len(scores))
                drawn = draws.choice(seeds, len(seeds)) if sampled else seeds
                side.append(scores[np.ix_(drawn, picked)].mean(axis=1))
        return sum(
            sign * middle(np.array(side)) for (sign, _), side in zip(sides, cells, strict=True)
        )

    means = [found(True) for _ in range(RESAMPLES)]
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(means, (tail, 1.0 - tail))
    return Interval(found(False), float(low), float(high))


def ticks_to_resolve(episodes: Sequence[Episode]) -> float | None:
    """Mean ticks of the incidents that were fixed and resolved; None if there are none."""
    found = [one.ticks for one in episodes if one.fixed and one.closing == Closing.RESOLVED.value]
    return fmean(found) if found else None


def unsolved(episodes: Sequence[Episode]) -> list[Episode]:
    """Those below the grade that counts as solved."""
    return [one for one in episodes if one.score < SOLVED]


def share(episodes: Sequence[Episode], holds: Callable[[Episode], bool]) -> float:
    """Of which it holds."""
    return fmean(map(holds, episodes))


def by(episodes: Sequence[Episode], key: Callable[[Episode], str]) -> dict[str, list[Episode]]:
    """Episodes by a key, in its order."""
    found: dict[str, list[Episode]] = defaultdict(list)
    for one in episodes:
        found[key(one)].append(one)
    return dict(sorted(found.items(), key=lambda item: (item[0] == BENIGN, item[0])))


def first_word(one: Episode) -> str:
    """The word that was reported first; ``-`` if none was."""
    return one.words[0] if one.words else "-"


def guessed(
    episodes: Sequence[Episode],
    sign: Callable[[Episode], str],
    meaning: Callable[[Episode], str],
) -> float:
    """How often the commonest meaning of a sign is the right one.

    1 if the sign gives the meaning away; the share of the commonest meaning if it says
    nothing.
    """
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for one in episodes:
        pairs[sign(one)][meaning(one)] += 1
    return sum(max(meanings.values()) for meanings in pairs.values()) / len(episodes)
