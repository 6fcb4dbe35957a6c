"""How far guessing gets: lists of actions that look at nothing, optimised.

A policy that looks at nothing is a list of actions, or a lottery over lists, which is
worth no more than the best of them. There are two searches: a greedy search, and a local search
that starts from its result.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from logtriage.actions import Action, Ignore, Resolve
from logtriage.audit.scoring import Plan, Scorer

#: Actions that end a list.
CLOSERS: Final[tuple[Action, ...]] = (Resolve(), Ignore())
#: A list must be better by more than this to replace another.
_EPSILON: Final = 1e-12


class Best(NamedTuple):
    """A list of actions and its mean score on the incidents that it was chosen on."""

    actions: tuple[Action, ...]
    mean: float


def best_constant_list(scorer: Scorer, most: float = float("inf")) -> Best:
    """Search greedily, position by position.

    Each position gets the action with which the list is worth most, if it is then
    closed in the better of the two ways. The search goes on to the horizon, even past
    positions at which no action helps, unless the scorer has graded ``most`` lists. It returns
    the best list on the way.
    """
    openers = [action for action in scorer.actions if action not in CLOSERS]
    best = _best(scorer, [(closer,) for closer in CLOSERS])
    prefix: tuple[Action, ...] = ()
    while len(prefix) < scorer.kinds[0].horizon - 1 and scorer.graded < most:
        top = _best(scorer, [(*prefix, action, closer) for action in openers for closer in CLOSERS])
        if top.mean > best.mean:
            best = top
        prefix = top.actions[:-1]
    return best


def best_blind_policy(scorer: Scorer, starts: Sequence[Plan], most: float = float("inf")) -> Best:
    """Improve lists by one change at a time until none helps; the best of all starts.

    A change replaces, inserts or removes one action, or swaps two neighbours. Every such change
    is tried, and the best of them is taken, unless the scorer has graded ``most`` lists.
    """
    horizon = scorer.kinds[0].horizon
    ends = []
    for start in starts:
        here = _best(scorer, [tuple(start)[:horizon]])
        while scorer.graded < most:
            top = _best(scorer, list(_changes(here.actions, scorer.actions, horizon)))
            if top.mean <= here.mean + _EPSILON:
                break
            here = top
        ends.append(here)
    best = ends[0]
    for end in ends[1:]:
        best = end if end.mean > best.mean + _EPSILON else best
    return best


def _best(scorer: Scorer, plans: list[tuple[Action, ...]]) -> Best:
    means = scorer.means(plans)
    place = int(means.argmax())
    return Best(plans[place], float(means[place]))


def _changes(
    plan: tuple[Action, ...], choices: Sequence[Action], horizon: int
) -> Iterator[tuple[Action, ...]]:
    for place in range(len(plan)):
        yield (*plan[:place], *plan[place + 1 :])
        for action in choices:
            yield (*plan[:place], action, *plan[place + 1 :])
    if len(plan) < horizon:
        for place in range(len(plan) + 1):
            for action in choices:
                yield (*plan[:place], action, *plan[place:])
    for place in range(len(plan) - 1):
        yield (*plan[:place], plan[place + 1], plan[place], *plan[place + 2 :])
