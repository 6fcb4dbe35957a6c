"""A baseline for recordings shown on request: it asks about suspects and blames the furthest stray.

The *stray* of a signal is how far it is from its usual value, in spreads. Alerts, error lines and
the calls between services say whom to ask. It asks for metrics, which hold the figures of logs and
spans too. It sees observations only, and knows no log phrase and no fault kind.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from logtriage.actions import (
    Action,
    ClassifyFault,
    FaultCategory,
    IdentifyRootCause,
    Ignore,
    RequestMetrics,
    Resolve,
)
from logtriage.observation import Observation
from logtriage.policies.base import Memory, Ranking, ranked
from logtriage.policies.ranking import inherited, own, weighed
from logtriage.recorded.shown_lines import NEW
from logtriage.world.telemetry import Signal

#: Ticks kept for the answer: name a service, say the class, resolve.
RESERVE: Final = 3
#: A service with a smaller stray, in spreads, counts as healthy.
STRAYS: Final = 3.0
#: Points of suspicion for a service on each screen: an alert, an error line that is not usual, an
#: alert while no service that it calls has one, and calls from such services.
ALERT: Final = 1.0
NEW_ERROR: Final = 2.0
CHAIN_END: Final = 2.0
CALLED: Final = 1.0
#: The class that a signal speaks for: the first with a word that stands in the signal's name.
CLASSES: Final[tuple[tuple[FaultCategory, tuple[str, ...]], ...]] = (
    (FaultCategory.CODE, ("error", "event", "availability", "fail")),
    (FaultCategory.NETWORK, ("network", "packet", "loss", "retrans")),
    (FaultCategory.RESOURCE, ("cpu", "mem", "disk", "socket", "self")),
)


@attrs.frozen
class Asked:
    """The memory of :class:`InquiryPolicy`.

    ``suspicion`` holds the points of each service so far, in index order; ``figures`` the newest
    signals of each service that was asked, by service name; a service may have none.
    """

    suspicion: tuple[float, ...]
    figures: Mapping[str, tuple[Signal, ...]]


@attrs.frozen
class InquiryPolicy:
    """Asks for metrics, names the service that strays furthest, and the class of that stray."""

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Ask while there is time and a service left to ask about, then declare and close."""
        asked = _noted(observation, memory)
        if observation.root_cause is None and observation.ticks_left > RESERVE:
            name = _next(observation, asked)
            if name is not None:
                return RequestMetrics(name), asked
        return _answer(observation, asked), asked

    def ranking(self, observation: Observation, memory: Memory) -> Ranking:
        """The services that were asked, by their stray; then all others, by suspicion."""
        asked = _noted(observation, memory)
        strays = {name: score(figures) for name, figures in asked.figures.items()}
        names = zip(observation.topology.names, asked.suspicion, strict=True)
        return ranked({name: (strays.get(name, -1.0), suspicion) for name, suspicion in names})


def score(signals: tuple[Signal, ...]) -> float:
    """How far a service strays, by its own signals and, for less, by those that callers share."""
    named = {signal.name: signal for signal in signals}
    return weighed(own(named), inherited(named))


def fault_class(signals: tuple[Signal, ...]) -> FaultCategory:
    """The class that the furthest stray of a service speaks for.

    Signals that speak for no class are passed over. If nothing strays, the class is network: a
    service that is slow without a stray of its own waits for its packets.
    """
    furthest = {category: 0.0 for category, _ in CLASSES}
    for signal in signals:
        for category, words in CLASSES:
            if any(word in signal.name for word in words):
                furthest[category] = max(furthest[category], abs(signal.stray))
                break
    best = max(furthest, key=lambda category: furthest[category])
    return best if furthest[best] >= STRAYS else FaultCategory.NETWORK


def _noted(observation: Observation, memory: Memory) -> Asked:
    """The memory after a screen."""
    names = observation.topology.names
    before: Asked = memory or Asked((0.0,) * len(names), {})
    requests = (act for act in observation.last_actions if isinstance(act, RequestMetrics))
    # The newest comes first: of equal strays, the first is named.
    figures = {**{request.service: () for request in requests}, **before.figures}
    for service in dict.fromkeys(reading.service for reading in observation.metrics):
        shown = (reading.signal for reading in observation.metrics if reading.service == service)
        figures[service] = tuple(signal for signal in shown if signal is not None)
    suspicion = dict(zip(names, before.suspicion, strict=True))
    for name, weight in _points(observation):
        if name in suspicion:
            suspicion[name] += weight
    return Asked(tuple(suspicion.values()), figures)


def _points(observation: Observation) -> Iterator[tuple[str, float]]:
    """Yield (service, points of suspicion) for each reason that a screen gives."""
    services = observation.topology.services
    alerting = [alert.service for alert in observation.alerts]
    erring = [
        line.service
        for line in (*observation.window, *observation.inspection)
        if line.level == "ERROR" and line.message.startswith(NEW)
    ]
    yield from ((name, ALERT) for name in alerting)
    yield from ((name, NEW_ERROR) for name in erring)
    ill = {*alerting, *erring}
    for service in services:
        # A service that alerts while none that it calls does is the end of a chain.
        if service.name in alerting and not set(service.calls) & set(alerting):
            yield service.name, CHAIN_END
        if service.name in ill:
            yield from ((name, CALLED) for name in service.calls)


def _next(observation: Observation, asked: Asked) -> str | None:
    """The most suspect service that was not asked."""
    left = [
        (-suspicion, name)
        for name, suspicion in zip(observation.topology.names, asked.suspicion, strict=True)
        if name not in asked.figures
    ]
    return min(left)[1] if left else None


def _answer(observation: Observation, asked: Asked) -> Action:
    """Declare, then close. Where nothing alerts and nobody strays there is no fault."""
    declared = observation.root_cause
    if declared is None:
        strays = {name: score(figures) for name, figures in asked.figures.items()}
        best = max(strays, key=lambda name: strays[name], default=_next(observation, asked))
        calm = max(strays.values(), default=0.0) < STRAYS and not observation.alerts
        return Ignore() if calm or best is None else IdentifyRootCause(best)
    if observation.open_loop and observation.fault_category is None:
        return ClassifyFault(fault_class(asked.figures.get(declared, ())))
    return Resolve()
