"""Threshold regret: what was lost by paging, or by not paging, against the price of silence.

An episode has one decision to page: the first page, or, if there was none, the silence
with which it was closed. Just before it, by the belief of that moment and under the
incident's price of silence c, let S be the expected grade of the best plan that pages
nobody and V(t) of the best one that pages team t first. The threshold regret is

    max(0, S - V(t))           of a first page to team t
    max(0, max over t of V(t) - S)    of a silence

so it is the value lost by being on the wrong side of the bar, and nothing for being on
the right side of it, however narrowly. Where all else is certain the bar is c, and this
is Chow's rule (C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE
Transactions on Information Theory 16, 1970).
"""

from logtriage.actions import Escalate
from logtriage.belief import Belief, belief
from logtriage.belief.explain import check_closed
from logtriage.state import State, initial_state
from logtriage.transition import transition


def threshold_regret(state: State) -> float:
    """The threshold regret of a closed episode of a single agent, in points of the grade.

    Raises:
        InvalidInput: for an open incident, joint play, or an incident of which no
            probabilities are known.
    """
    check_closed(state)
    now = initial_state(state.incident)
    for action in state.actions[:-1]:
        if isinstance(action, Escalate):
            return page_regret(belief(now), action.team)
        now = transition(now, action)
    last = state.actions[-1]
    return page_regret(belief(now), last.team if isinstance(last, Escalate) else None)


def page_regret(held: Belief, team: str | None) -> float:
    """What is lost by paging this team now, or for None by paging nobody any more.

    0 once the right team is known to be paged.
    """
    values = held.page_values()
    if not values.paging:
        return 0.0
    if team is None:
        return max(0.0, max(values.paging.values()) - values.silent)
    return max(0.0, values.silent - values.paging.get(team, 0.0))
