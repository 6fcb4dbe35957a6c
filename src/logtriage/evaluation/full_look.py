"""What each role of a split could know, if everything was asked for and nobody talked.

One reading of every channel of every service, taken in one tick: what all of it is worth to
one who acts on what a role was shown, beside what it is worth to one who saw all. The
difference is what a team has to tell one another.
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
    """The state in which logs, metrics and traces of every service were just asked for.

    No play leads there: it is a bound on what could be known.
    """
    asked = tuple(
        (LOOK_TICK - 1, kind(name))
        for kind in (RequestMoreLogs, RequestMetrics, RequestTraces)
        for name in incident.topology.names
    )
    return State(incident, LOOK_TICK, asked)


@attrs.frozen
class Headroom:
    """Mean expected grades of the best plan given a full look: pooled, and by role.

    ``best_alone`` is the role that would do best by itself, had it all hands; ``error`` is
    the standard error of :attr:`gap`.
    """

    pooled: float
    alone: dict[str, float]
    error: float

    @property
    def best_alone(self) -> str:
        """The role that alone is worth most."""
        return max(self.alone, key=lambda name: self.alone[name])

    @property
    def gap(self) -> float:
        """By how much the pooled belief beats the best role that hears nothing."""
        return self.pooled - self.alone[self.best_alone]


def headroom(incidents: Sequence[Incident], split: RoleSplit) -> Headroom:
    """How much better a split could do by telling one another everything.

    Raises:
        InvalidInput: for an incident whose probabilities are not known.
    """
    states = [full_look(one) for one in incidents]

    def worth(viewer: Role | RoleSplit) -> list[float]:
        return [belief(one, viewer).best().value for one in states]

    pooled, alone = worth(split), {role.name: worth(role) for role in split.roles}
    best = max(alone.values(), key=fmean)
    lost = [one - other for one, other in zip(pooled, best, strict=True)]
    error = stdev(lost) / sqrt(len(lost)) if len(lost) > 1 else 0.0
    return Headroom(fmean(pooled), {name: fmean(one) for name, one in alone.items()}, error)
