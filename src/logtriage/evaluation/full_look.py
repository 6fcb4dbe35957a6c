"""A full look: one reading of every channel of every service in one tick."""

from typing import Final

from logtriage.actions import RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.incident import Incident
from logtriage.state import State

#: The tick whose screen shows all answers; alerts have been judged by then.
LOOK_TICK: Final = 5


def full_look(incident: Incident) -> State:
    """The state right after requests for logs, metrics and traces of every service in one tick.

    No policy can reach this state; it bounds what a policy could know.
    """
    asked = tuple(
        (LOOK_TICK - 1, kind(name))
        for kind in (RequestMoreLogs, RequestMetrics, RequestTraces)
        for name in incident.topology.names
    )
    return State(incident, LOOK_TICK, asked)
