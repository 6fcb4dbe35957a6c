"""What each role of a split could know after a full look, without any talk.

A full look is one reading of every channel of every service in one tick. The best plan given all
readings is worth more than the best plan given one role's share: talk has to carry the difference.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Final

import attrs

from logtriage.actions import RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.belief import belief
from logtriage.incident import Incident
from logtriage.roles import Role, RoleSplit
from logtriage.state import State

#: The tick of the screen that shows all answers: alerts have been judged by then.
LOOK_TICK: Final = 5


def full_look(incident: Incident) -> State:
    """The state right after requests for logs, metrics and traces of every service.

    No play leads there: it bounds what could be known.
    """
    asked = tuple(
        (LOOK_TICK - 1, kind(name))
        for kind in (RequestMoreLogs, RequestMetrics, RequestTraces)
        for name in incident.topology.names
    )
    return State(incident, LOOK_TICK, asked)


@attrs.frozen
class Headroom:
    """Mean expected grades of the best plan after a full look: pooled, and by role.

    ``error`` is the standard error of :attr:`gap`.
    """

    pooled: float
    alone: dict[str, float]
    error: float

    @property
    def best_alone(self) -> str:
        """The role that would do best by itself, if it could take every action."""
        return max(self.alone, key=lambda name: self.alone[name])

    @property
    def gap(self) -> float:
        """The grade of the pooled belief, less that of the best role alone."""
        return self.pooled - self.alone[self.best_alone]


def headroom(incidents: Sequence[Incident], split: RoleSplit) -> Headroom:
    """How much better a split could do by telling one another everything.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    states = list(map(full_look, incidents))

    def worth(viewer: Role | RoleSplit) -> list[float]:
        return [belief(state, viewer).best().value for state in states]

    pooled, alone = worth(split), {role.name: worth(role) for role in split.roles}
    best = max(alone.values(), key=fmean)
    lost = [together - apart for together, apart in zip(pooled, best, strict=True)]
    error = stdev(lost) / sqrt(len(lost)) if len(lost) > 1 else 0.0
    return Headroom(fmean(pooled), {name: fmean(grades) for name, grades in alone.items()}, error)
