"""The best list of constant actions that a greedy search finds: how far does guessing get?

A list that is the same for every incident is the floor of an honest benchmark. The
search extends a list one position at a time by whichever of all well-formed actions
(59 on the default topology) raises the mean score most.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from logtriage import Action, Ignore, Incident, Resolve, all_actions
from logtriage.grading import score
from logtriage.transition import play

#: What ends a list.
CLOSERS: tuple[Action, ...] = (Resolve(), Ignore())


@attrs.frozen
class Found:
    """A list of actions and its mean score on the incidents that it was found on."""

    actions: tuple[Action, ...]
    mean: float


def alike(incidents: Iterable[Incident]) -> list[tuple[Incident, int]]:
    """One incident of each kind that a fixed list cannot tell apart, with their number.

    What a list of actions earns hangs on the answers and the rules alone, not on
    telemetry; some 2,000 incidents come down to a few hundred.
    """
    representatives: dict[object, Incident] = {}
    counts: Counter[object] = Counter()
    for one in incidents:
        key = (
            attrs.evolve(one.truth, fault=None),
            one.horizon,
            one.topology,
            one.closing,
            one.rubric,
        )
        representatives.setdefault(key, one)
        counts[key] += 1
    return [(one, counts[key]) for key, one in representatives.items()]


def mean_score(groups: Sequence[tuple[Incident, int]], actions: Sequence[Action]) -> float:
    """The mean score of a list, played to its end, by the real grader."""
    total = sum(score(play(one, actions)[0]) * count for one, count in groups)
    return total / sum(count for _, count in groups)


def best_constant_list(incidents: Sequence[Incident]) -> Found:
    """Search greedily, position by position, for the best list on these incidents.

    Each position gets the action with which the list is worth most, if it is then
    closed in the better of the two ways. The search goes on to the horizon, even past
    positions at which no action helps, and returns the best list that it came by. All
    incidents must share a topology.
    """
    groups, first = alike(incidents), incidents[0]
    openers = [one for one in all_actions(first.topology) if one not in CLOSERS]
    best = max((Found((one,), mean_score(groups, (one,))) for one in CLOSERS), key=_mean)
    prefix: tuple[Action, ...] = ()
    while len(prefix) < first.horizon - 1:
        found = [
            Found((*prefix, one, closer), mean_score(groups, (*prefix, one, closer)))
            for one in openers
            for closer in CLOSERS
        ]
        top = max(found, key=_mean)
        best = max(best, top, key=_mean)
        prefix = top.actions[:-1]
    return best


def _mean(found: Found) -> float:
    return found.mean
