"""Beliefs over sets where there are too many of them to be weighed one by one.

Faults that reach other services hardly care for one another, so that what explains a screen
together also explains more of it alone than others do. The search keeps the likeliest single
faults, weighs all their pairs, and the triples of the likeliest pairs. A further fault may show
nothing yet, so that the likeliest few faults and pairs are weighed with every other fault, too.
What the search weighs, it weighs exactly, as :mod:`logtriage.belief.set_posterior` does; what it
leaves out is the error. :data:`ERROR` states how much of the posterior that is on average where
all sets can be weighed, on up to a dozen services, and a law holds the search to it. On a fleet
it is more, and nobody can weigh all sets: ``docs/results/compound-failure.md`` compares the
search with a wider one there.
"""

from collections.abc import Iterable
from itertools import chain, combinations
from typing import Final

import numpy as np

from logtriage.belief.posterior import Posterior
from logtriage.belief.set_posterior import Seen, set_posterior, weighed
from logtriage.belief.sets import NONE, Listed, Longs, SetModel
from logtriage.world.conditions import POOL, Hypothesis, accepted_remedies

#: The share of the posterior (total variation) that the search may misplace on average.
ERROR: Final = 0.08
#: How many single faults are combined, and of how many pairs the triples are weighed.
SINGLES: Final = 40
PAIRS: Final = 100
#: So many of the likeliest faults, and of the likeliest pairs, are combined with every other fault.
ANCHORS: Final = 10
#: So many of the likeliest faults bring along the pools that they may exhaust.
_LINKING: Final = 12


def searched_posterior(
    model: SetModel,
    seen: Seen,
    *,
    singles: int = SINGLES,
    pairs: int = PAIRS,
    anchors: int = ANCHORS,
) -> tuple[Listed, list[int], Posterior]:
    """The sets weighed, the rows among them that keep a weight, and the posterior over them.

    Args:
        model: of the task on the topology.
        seen: what was shown and done.
        singles: how many of the likeliest faults are combined with each other.
        pairs: of how many of the likeliest pairs the triples with these are weighed.
        anchors: how many of the likeliest faults and pairs are combined with every other fault.
    """
    count, most = len(model.singles), len(model.sets.counts)
    members = alone = _padded([(one,) for one in range(count)], most)
    ranked = _likeliest(model, alone, seen, count).tolist()
    kept = _kept(model, seen, ranked, singles)
    if most > 1:
        sure = ((one, other) for one in ranked[:anchors] for other in range(count))
        two = _distinct(model, chain(combinations(kept, 2), sure), most)
        members = np.concatenate([alone, two])
    if most > 2:
        best = [
            tuple(row[row != NONE].tolist())
            for row in two[_likeliest(model, two, seen, max(pairs, anchors))]
        ]
        likely = chain(
            ((*pair, one) for pair in best[:pairs] for one in kept),
            ((*pair, one) for pair in best[:anchors] for one in range(count)),
        )
        three = _distinct(model, likely, most)
        # A remedy leaves part of a set, which must be there to be looked up.
        parts = np.concatenate([two[:, :2], three[:, :2], three[:, 1:], three[:, ::2]])
        two = _padded([(one, other) for one, other in np.unique(parts, axis=0).tolist()], most)
        members = np.concatenate([alone, two, three])
    listed = model.compiled(members)
    rows, found = set_posterior(model, listed, model.log_weights(listed), seen)
    return listed, rows, found


def _kept(model: SetModel, seen: Seen, ranked: list[int], singles: int) -> list[int]:
    """The single faults that are combined with each other, in order."""
    kept = set(ranked[:singles])
    applied = {tuple(rest) for _, *rest in seen.doings.remedies}
    for number, fault in enumerate(model.singles):
        # What a remedy would have fixed may be what it has fixed, however it looks by now.
        if not applied.isdisjoint(accepted_remedies(model.topology, Hypothesis((fault,)))):
            kept.add(number)
    for one in ranked[:_LINKING]:
        below = model.singles[one][1]
        kept.update(
            number
            for number, (kind, caller) in enumerate(model.singles)
            if kind == POOL and below in model.topology.calls[caller]
        )
    return sorted(kept)


def _likeliest(model: SetModel, members: Longs, seen: Seen, count: int) -> Longs:
    """The rows of the likeliest sets, by what is shown; what acts revealed is left aside."""
    listed = model.compiled(members)
    total = weighed(model, listed, model.log_weights(listed), seen).total[: len(members)]
    return np.argsort(-total, kind="stable")[:count]


def _distinct(model: SetModel, sets: Iterable[tuple[int, ...]], most: int) -> Longs:
    """Each set of faults at distinct services once, in order."""
    services = [service for _, service in model.singles]
    return _padded(
        sorted(
            {
                tuple(sorted(one))
                for one in sets
                if len({services[fault] for fault in one}) == len(one)
            }
        ),
        most,
    )


def _padded(rows: list[tuple[int, ...]], most: int) -> Longs:
    found = np.full((len(rows), most), NONE, np.int64)
    for number, row in enumerate(rows):
        found[number, : len(row)] = row
    return found
