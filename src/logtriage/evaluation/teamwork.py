"""The need for teamwork in bits: what the roles know together, and each by itself.

Doubt is the entropy of the exact posterior over hypotheses
(:class:`logtriage.beliefs.Belief`), given the evidence on all screens up to the last decision. A
role's evidence is what its views and its part of the services showed. It knows that others acted,
and when, but nothing that they reported.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

import attrs

from logtriage.beliefs import belief
from logtriage.evaluation.listening import Listening
from logtriage.evaluation.messages import Messages, messages_of
from logtriage.evaluation.statistics import Interval, mean_interval
from logtriage.roles import Role, RoleSplit
from logtriage.state import State

#: The first scored episodes that are measured.
EPISODES: Final = 100


@attrs.frozen
class Teamwork:
    """Doubt in bits at the end of some episodes.

    ``pooled`` is the doubt given all that any role was shown; ``alone`` is each role's own, by
    its name. Perfect reports would leave each role with the pooled doubt, so teamwork has to carry
    the difference. ``messages`` is the content of the reports, ``listening`` how often they changed
    an action, where that was recorded.
    """

    episodes: int
    pooled: Interval
    alone: dict[str, Interval]
    messages: Messages | None = None
    listening: Listening | None = None


def teamwork_of(
    states: Sequence[State], split: RoleSplit, listening: Listening | None = None
) -> Teamwork | None:
    """The teamwork in the first episodes that a team of ``split`` has played.

    ``listening`` is that of all of them. None for a team of one, and where no probabilities
    are known.
    """
    first = [
        last_decided(state)
        for state in islice(states, EPISODES)
        if state.history and state.incident.setting is not None
    ]
    if len(split) < 2 or not first:
        return None
    pooled = _doubt(first, split)
    alone = {role.name: _doubt(first, role) for role in split.roles}
    return Teamwork(len(first), pooled, alone, messages_of(states, split), listening)


def last_decided(state: State) -> State:
    """The state in which the last actions were chosen: at the tick before the last."""
    last = state.history[-1][0]
    before = tuple((tick, action) for tick, action in state.history if tick < last)
    return State(state.incident, last, before)


def _doubt(states: Sequence[State], viewer: Role | RoleSplit) -> Interval:
    """Mean doubt in bits, given what was shown to a role, or to any role of a split."""
    doubt = mean_interval([belief(state, viewer).entropy for state in states])
    assert doubt is not None  # there are states
    return doubt
