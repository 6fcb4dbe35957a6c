"""Beliefs over sets where there are too many of them to be weighed one by one.

Faults that reach other services hardly care for one another, so that what explains a screen
together also explains more of it alone than others do. The search keeps the likeliest single
faults, weighs all their pairs, and the triples of the likeliest pairs. What it weighs, it
weighs exactly, as :mod:`logtriage.belief.set_posterior` does; what it leaves out is the error.
:data:`ERROR` states how much of the posterior that is on average, and a law holds the search to
it on topologies where all sets can be weighed.
"""

from itertools import combinations
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
#: So many of the likeliest faults bring along the pools that they may exhaust.
_LINKING: Final = 12


def searched_posterior(model: SetModel, seen: Seen) -> tuple[Listed, list[int], Posterior]:
    """The sets weighed, the rows among them that keep a weight, and the posterior over them."""
    kept = _singles(model, seen)
    most = len(model.sets.counts)
    alone = _padded([(one,) for one in range(len(model.singles))], most)
    members = alone
    if most > 1:
        pairs = _sets(model, kept, 2, most)
        members = np.concatenate([alone, pairs])
    if most > 2:
        likely = _likeliest(model, pairs, seen, PAIRS)
        triples = sorted(
            {
                tuple(sorted((*pair, one)))
                for pair in (tuple(row[row != NONE].tolist()) for row in pairs[likely])
                for one in kept
                if _apart(model, (*pair, one))
            }
        )
        members = np.concatenate([members, _padded(triples, most)])
    listed = model.compiled(members)
    rows, found = set_posterior(model, listed, model.log_weights(listed), seen)
    return listed, rows, found


def _singles(model: SetModel, seen: Seen) -> list[int]:
    """The single faults that are combined, in order."""
    count, most = len(model.singles), len(model.sets.counts)
    alone = _padded([(one,) for one in range(count)], most)
    ranked = _likeliest(model, alone, seen, count)
    kept = set(ranked[:SINGLES].tolist())
    applied = {tuple(rest) for _, *rest in seen.doings.remedies}
    for number, fault in enumerate(model.singles):
        # What a remedy would have fixed may be what it has fixed, however it looks by now.
        if not applied.isdisjoint(accepted_remedies(model.topology, Hypothesis((fault,)))):
            kept.add(number)
    for one in ranked[:_LINKING].tolist():
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


def _sets(model: SetModel, kept: list[int], size: int, most: int) -> Longs:
    rows = [one for one in combinations(kept, size) if _apart(model, one)]
    return _padded(rows, most)


def _apart(model: SetModel, members: tuple[int, ...]) -> bool:
    """Whether faults are at distinct services."""
    return len({model.singles[one][1] for one in members}) == len(members)


def _padded(rows: "list[tuple[int, ...]]", most: int) -> Longs:
    found = np.full((len(rows), most), NONE, np.int64)
    for number, row in enumerate(rows):
        found[number, : len(row)] = row
    return found
