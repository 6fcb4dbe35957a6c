"""What the system prompt says of a recorded incident: nothing of the simulator, nothing false."""

from collections.abc import Iterator
from typing import Final

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
