"""How far guessing gets: lists of actions that look at nothing, optimised.

A policy that looks at nothing is a list of actions, or a lottery over lists, which is
worth no more than the best of them. Two searches: a greedy one, and a local one that
starts from what the greedy one found.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from logtriage.actions import Action, Ignore, Resolve
from logtriage.audit.failing import score
from logtriage.audit.scoring import Plan, Scorer
from logtriage.audit.vocabulary import vocabulary
from logtriage.grading import Rubric
from logtriage.incident import Incident
from logtriage.state import initial_state
from logtriage.transition import transition

#: What ends a list.
CLOSERS: Final[tuple[Action, ...]] = (Resolve(), Ignore())
#: A list must be better by more than this to replace another.
_EPSILON: Final = 1e-12


@attrs.frozen
class Found:
    """A list of actions and its mean score on the incidents that it was found on."""

    actions: tuple[Action, ...]
    mean: float


def best_constant_list(scorer: Scorer) -> Found:
    """Search greedily, position by position.

    Each position gets the action with which the list is worth most, if it is then
    closed in the better of the two ways. The search goes on to the horizon, even past
    positions at which no action helps, and returns the best list that it came by.
    """
    first = scorer.kinds[0]
    openers = [one for one in scorer.actions if one not in CLOSERS]
    best = _best(scorer, [(one,) for one in CLOSERS])
    prefix: tuple[Action, ...] = ()
    while len(prefix) < first.horizon - 1:
        top = _best(scorer, [(*prefix, one, closer) for one in openers for closer in CLOSERS])
        if top.mean > best.mean:
            best = top
        prefix = top.actions[:-1]
    return best


def best_blind_policy(scorer: Scorer, starts: Sequence[Plan]) -> Found:
    """Improve lists by one change at a time until none helps; the best of all starts.

    A change replaces, inserts or removes one action, or swaps two neighbours: every
    such change is tried, and the best of them is taken.
    """
    horizon = scorer.kinds[0].horizon
    choices = scorer.actions
    best: Found | None = None
    for start in starts:
        here = _best(scorer, [tuple(start)[:horizon]])
        while True:
            top = _best(scorer, list(_changes(here.actions, choices, horizon)))
            if top.mean <= here.mean + _EPSILON:
                break
            here = top
        if best is None or here.mean > best.mean + _EPSILON:
            best = here
    if best is None:
        raise ValueError("best_blind_policy needs at least one list to start from")
    return best


def _best(scorer: Scorer, plans: list[tuple[Action, ...]]) -> Found:
    means = scorer.means(plans)
    place = int(means.argmax())
    return Found(plans[place], float(means[place]))


def _changes(
    plan: tuple[Action, ...], choices: Sequence[Action], horizon: int
) -> Iterator[tuple[Action, ...]]:
    for place in range(len(plan)):
        yield (*plan[:place], *plan[place + 1 :])
        for one in choices:
            yield (*plan[:place], one, *plan[place + 1 :])
    if len(plan) < horizon:
        for place in range(len(plan) + 1):
            for one in choices:
                yield (*plan[:place], one, *plan[place:])
    for place in range(len(plan) - 1):
        yield (*plan[:place], plan[place + 1], plan[place], *plan[place + 2 :])


def repeated(incident: Incident, rubric: Rubric, plan: Plan) -> tuple[float, tuple[Action, ...]]:
    """The most that an action earns by being taken once more, and the list that ends in it.

    Tried after every beginning of a list, for every action with every field varied.
    """
    found: tuple[float, tuple[Action, ...]] = (0.0, ())
    state = initial_state(incident)
    for following in (*plan, None):
        for action in vocabulary(incident.topology):
            once = transition(state, action)
            if once.is_closed:
                continue
            twice = transition(once, action)
            gain = score(twice, rubric) - score(once, rubric)
            if gain > found[0]:
                found = gain, twice.actions
        if following is None or state.is_closed:
            break
        state = transition(state, following)
        if state.is_closed:
            break
    return found
