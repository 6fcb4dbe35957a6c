"""What the system prompt says of a recorded incident: nothing of the simulator, nothing false."""

from collections.abc import Iterator
from typing import Final

from logtriage.actions import RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.grading.recordings import WEIGHTS
from logtriage.observation import Observation
from logtriage.rendering.dashboard import STRAY
from logtriage.topology import Topology

#: The kinds of action that a recording has a use for; the others cost a tick.
USEFUL: Final = (
    "identify_root_cause",
    "request_more_logs",
    "request_metrics",
    "request_traces",
    "resolve",
)


#: The same where figures are shown on request.
USEFUL_ON_REQUEST: Final = (
    "identify_root_cause",
    "classify_fault",
    "request_more_logs",
    "request_metrics",
    "request_traces",
    "resolve",
    "ignore",
)


def recorded_rules(topology: Topology) -> Iterator[str]:
    """The lines between the opening and what is graded."""
    calls = "; ".join(
        f"{one.name} -> {', '.join(one.calls)}" for one in topology.services if one.calls
    )
    called = {name for one in topology.services for name in one.calls}
    alone = [one.name for one in topology.services if not one.calls and one.name not in called]
    yield f"SERVICES (caller -> dependencies, as recorded): {calls or 'no call was recorded'}"
    if alone:
        yield f"SERVICES of which no call was recorded: {', '.join(alone)}"
    yield (
        "RECORDING of a real system: no action changes what follows. A NOTE says what is old or "
        "was not recorded; unknown is not fine."
    )
    yield (
        f"SIGNALS: figures that stray by {STRAY} spreads or more from time without a fault, events "
        "being shares of requests; (others …): the usual value of the other services. [new]: the "
        "time without a fault has no such line. Alerts tell of symptoms: who waits for a service "
        "is slow as well."
    )
    yield "When you know the root cause, declare it, then resolve."


def on_request_rules(topology: Topology) -> Iterator[str]:
    """The lines between the opening and the actions, where figures are shown on request."""
    yield f"SERVICES: {', '.join(topology.names)}"
    yield (
        "RECORDING of a real system: no action changes what follows; unknown is not fine. The "
        "fault may begin only while you watch, or there is none. Figures stand beside usual "
        "ones; [new] marks lines that time without a fault does not have. Alerts tell of "
        "symptoms: who waits for a service is slow as well. CALLS: its callers -> a service -> "
        "whom it calls."
    )
    weights = ", ".join(f"{name.replace('_', ' ')} {weight:g}" for name, weight in WEIGHTS.items())
    yield (
        f"GRADE: {weights}; first declarations count. Declare both, then resolve. Without a fault "
        "declare nothing and ignore; ignoring a fault is 0."
    )


def neighbourhood(observation: Observation) -> str | None:
    """Who calls the services that begin to alert or were asked for, and whom they call.

    At tick 0 all that alert. None where the whole call graph is known already, or there is
    no such service.
    """
    if not observation.on_request:
        return None
    asked = (
        action.service
        for action in observation.last_actions
        if isinstance(action, RequestMetrics | RequestTraces | RequestMoreLogs)
    )
    now = observation.tick
    alerting = (one.service for one in observation.alerts if not now or one.since == now)
    named = dict.fromkeys(name for name in (*asked, *alerting) if name is not None)
    rows = [row for name in named if (row := _calls(observation.topology, name))]
    return f"CALLS: {'; '.join(rows)}" if rows else None


def _calls(topology: Topology, name: str) -> str:
    callers = [one.name for one in topology.services if name in one.calls]
    called = topology.services[topology.index(name)].calls
    if not callers and not called:
        return ""
    return f"{', '.join(callers) or 'outside'} -> {name} -> {', '.join(called) or 'nobody'}"
