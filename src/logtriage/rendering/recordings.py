"""The rules of a recorded incident for the system prompt; none is about the simulator."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Final

from logtriage.grading.recordings import WEIGHTS
from logtriage.observation import Observation
from logtriage.rendering.dashboard import STRAY
from logtriage.roles import is_request
from logtriage.topology import Topology

_ROOT, _CLASS = WEIGHTS["root_cause"], WEIGHTS["fault_class"]
#: How a recorded incident is graded, in the words of the prompt.
GRADED: Final = (
    f"root cause {_ROOT:g}, fault class {_CLASS:g} (if it was not recorded, the root cause); first "
    "declarations count. Declare both, then resolve. A wrong root cause is 0, and so is to ignore "
    "a fault. Without a fault blame nobody and ignore. hand_over earns what the screen says."
)
#: A service's traces come with its callees' latency, which the recording has not by caller.
_TRACES: Final = "TRACES: a callee's time is over all callers."
#: The characters that :func:`services_told` spends to name a common beginning and end apart.
_COST: Final = len(" named *, * being; others: ")


def recorded_rules(topology: Topology) -> Iterator[str]:
    """The lines of the prompt between its opening and how it is graded."""
    callers = [service for service in topology.services if service.calls]
    calls = "; ".join(f"{caller.name} -> {', '.join(caller.calls)}" for caller in callers)
    called = {name for caller in callers for name in caller.calls}
    linked = called.union(caller.name for caller in callers)
    alone = [name for name in topology.names if name not in linked]
    yield f"SERVICES (caller -> dependencies, as recorded): {calls or 'no call was recorded'}"
    if alone:
        yield f"SERVICES of which no call was recorded: {', '.join(alone)}"
    yield (
        "RECORDING of a real system: no action changes what follows. A NOTE says what is old or "
        "was not recorded; unknown is not fine."
    )
    yield (
        f"SIGNALS: figures that stray by {STRAY} spreads or more from time without a fault, events "
        "being shares of requests, or of log lines as said; (others …): the usual value of the "
        "other services. [new]: the time without a fault has no such line. Alerts tell of "
        f"symptoms: who waits for a service is slow as well. {_TRACES}"
    )


def on_request_rules(topology: Topology) -> Iterator[str]:
    """The lines after the prompt's opening, for incidents that show figures only on request."""
    yield f"SERVICES{services_told(topology.names)}"
    yield (
        "RECORDING: no action changes what follows; unknown is not fine. The fault may begin "
        "later, or there is none. [new]: no such line without a fault. Alerts are symptoms: "
        f"who calls a slow service is slow. {_TRACES} CALLS: callers -> service -> called."
    )


def services_told(names: Sequence[str]) -> str:
    """Text that lists names; a common beginning and end is given once, as ``ts-*-service``."""
    heads = _common(names, (name[: cut + 1] for name in names for cut in _hyphens(name)))
    tails = _common(names, (name[cut:] for name in names for cut in _hyphens(name)))
    head, tail = max(product(heads, tails), key=lambda pair: _saved(names, *pair))
    if _saved(names, head, tail) <= 0:
        return f": {', '.join(names)}"
    short = [
        name.removeprefix(head).removesuffix(tail) for name in names if _fits(name, head, tail)
    ]
    others = [name for name in names if not _fits(name, head, tail)]
    rest = f"; others: {', '.join(others)}" if others else ""
    return f" named {head}*{tail}, * being: {', '.join(short)}{rest}"


def _common(names: Sequence[str], parts: Iterable[str]) -> list[str]:
    """The empty part, and those that at least half of the names have."""
    return ["", *(part for part, count in Counter(parts).items() if 2 * count >= len(names))]


def _hyphens(name: str) -> Iterator[int]:
    return (at for at, letter in enumerate(name) if letter == "-")


def _fits(name: str, head: str, tail: str) -> bool:
    return len(name) > len(head) + len(tail) and name.startswith(head) and name.endswith(tail)


def _saved(names: Sequence[str], head: str, tail: str) -> int:
    """The characters saved by naming both apart; 0 if less than half of the names have both."""
    count = sum(_fits(name, head, tail) for name in names)
    shared = len(head) + len(tail)
    if not shared or 2 * count < len(names):
        return 0
    return shared * (count - 1) - _COST


def neighbourhood(observation: Observation) -> str | None:
    """A line of callers and callees of services that begin to alert or were asked for, or None."""
    if not observation.on_request:
        return None
    asked = (action.service for action in observation.last_actions if is_request(action))
    now = observation.tick
    alerting = (alert.service for alert in observation.alerts if alert.since == now or now == 0)
    named = dict.fromkeys(name for name in (*asked, *alerting) if name is not None)
    rows = (_calls(observation.topology, name) for name in named)
    text = "; ".join(row for row in rows if row)
    return f"CALLS: {text}" if text else None


def _calls(topology: Topology, name: str) -> str:
    """A service between its callers and those that it calls; empty if no call was recorded."""
    callers = [service.name for service in topology.services if name in service.calls]
    called = topology.services[topology.index(name)].calls
    if not callers and not called:
        return ""
    return f"{', '.join(callers) or 'outside'} -> {name} -> {', '.join(called) or 'nobody'}"
