"""How much teamwork there is, in bits: what the roles know together, and each by itself.

Doubt is the entropy of the exact posterior over what may be the matter
(:class:`logtriage.belief.Belief`), given the evidence on the screens up to the last one on
which anybody decided. Of one role that is what its views and its part of the services
showed; that others acted, and when, it knows, but nothing of what they reported.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

import attrs

from logtriage.belief import belief
from logtriage.evaluation.listening import Listening
from logtriage.evaluation.messages import Messages, messages_of
from logtriage.evaluation.statistics import Interval, mean_interval
from logtriage.roles import Role, RoleSplit
from logtriage.state import State

#: So many of the first scored episodes are measured.
EPISODES: Final = 100


@attrs.frozen
class Doubt:
    """What is left to find out for one role: ``bits`` of doubt, with their interval."""

    role: str
    bits: Interval


def _doubts(rows: Iterable[Doubt]) -> tuple[Doubt, ...]:
    return tuple(rows)


@attrs.frozen
class Teamwork:
    """Doubt in bits at the end of some episodes.

    ``pooled`` is that of all that was shown to any role; ``alone`` each role's own, in their
    order. A role that heard all that it needs from the others would be left with the pooled
    doubt: the difference is what teamwork has to carry. ``messages`` is what the reports
    told, ``listening`` how often they changed what was done, where that was recorded.
    """

    episodes: int
    pooled: Interval
    alone: tuple[Doubt, ...] = attrs.field(converter=_doubts)
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
    pooled = mean_interval(_entropies(first, split))
    assert pooled is not None  # there are episodes
    alone = []
    for role in split.roles:
        bits = mean_interval(_entropies(first, role))
        assert bits is not None
        alone.append(Doubt(role.name, bits))
    return Teamwork(len(first), pooled, alone, messages_of(states, split), listening)


def last_decided(state: State) -> State:
    """The state in which the last actions were chosen: the tick before the last one."""
    last = state.history[-1][0]
    return State(state.incident, last, tuple(one for one in state.history if one[0] < last))


def _entropies(states: Sequence[State], viewer: Role | RoleSplit) -> list[float]:
    """Doubt in bits in each state, given what was shown to a role, or to any of a split."""
    return [belief(state, viewer).entropy for state in states]
