"""The exact belief at every tick of an episode, and the value of each request."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from logtriage.actions import Action, RequestMetrics, RequestMoreLogs, RequestTraces, describe
from logtriage.beliefs import Belief, belief
from logtriage.beliefs.then import likely_then, lucky_then
from logtriage.policies.observer import best_of, requests_in_doubt
from logtriage.roles import RoleSplit
from logtriage.state import State
from logtriage.trace import in_turn

#: How many of the most valuable requests are shown, beside those that were made.
REQUESTS: Final = 8
#: How many root causes, teams, faults and severities are shown by name.
LIKELIEST: Final = 7
_DIGITS: Final = 4


def beliefs(states: Sequence[State], split: RoleSplit | None = None) -> list[dict[str, Any]]:
    """What an ideal observer believes at each state of an episode, as data for the page.

    For a team, this observer sees everything that any role of the ``split`` was shown. Closed
    states have no values of requests and plans.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    rows = []
    for state, after in zip(in_turn(states), (*states[1:], states[-1]), strict=True):
        done = after.actions[len(state.actions) :]  # none in the last state
        rows.append(_belief(belief(state, split), done, state))
    return rows


def _belief(held: Belief, done: Sequence[Action], state: State) -> dict[str, Any]:
    data = {
        "roots": _likeliest(held.root_causes),
        "teams": _likeliest(held.teams),
        "faults": _likeliest({f"{kind} {name}": p for (kind, name), p in held.faults.items()}),
        "severities": _likeliest(held.severities),
        "benign": round(held.benign, _DIGITS),
        "bits": round(held.entropy, _DIGITS),
    }
    if state.is_closed:
        return data
    made = [
        action
        for action in done
        if isinstance(action, RequestMoreLogs | RequestMetrics | RequestTraces)
    ]
    from logtriage.beliefs.questions import Asked

    weighed = requests_in_doubt(held)
    others = [
        request
        for request in dict.fromkeys(made)
        if request not in weighed and request.service is not None
    ]
    asked = Asked.of(held, (*weighed, *others))
    rows = asked.worths()
    plan = held.best()
    # Rows are in the order of requests, and an observer does not weigh the others.
    question = best_of(held, rows[: len(weighed)], asked)
    ranked = sorted(rows, key=lambda row: (row.grade, row.bits), reverse=True)
    shown = ranked[:REQUESTS]
    shown += [row for row in ranked[REQUESTS:] if row.request in made]
    return {
        **data,
        "then": [words for action in done if (words := likely_then(held, state, action))],
        "luck": [words for action in done if (words := lucky_then(held, state, action))],
        "value": round(plan.value, _DIGITS),
        "observer": describe(question if question is not None else plan.actions[0]),
        "asks": [
            [describe(row.request), round(row.grade, _DIGITS), round(row.bits, _DIGITS)]
            for row in shown
        ],
    }


def _likeliest(shares: Mapping[str, float]) -> list[list[Any]]:
    """The first of some ``shares``, which a belief lists from the likeliest on."""
    return [[name, round(share, _DIGITS)] for name, share in list(shares.items())[:LIKELIEST]]
