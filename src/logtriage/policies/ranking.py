"""Baselines of root-cause analysis: every service ranked by the signals of the dashboard.

They watch while there is time, score each service by its signals, name the highest
and resolve. They see observations only, know no log phrase and no fault kind, and are
meant for recorded incidents: without signals every score is 0.

The *stray* of a signal is how far it is from its usual value, in spreads (:class:`Signal`).
``n_sigma`` and ``baro`` are the two simplest baselines of the field, as far as a dashboard can
show them: each takes the furthest stray of any metric. ``combined`` tells a service's own signals
from *shared* ones, which its callers have, too: latency, errors, availability. Shared signals count
for less; if an alert names the metric that broke its objective, only this one of them counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Final

import attrs

from logtriage.actions import Action, IdentifyRootCause, RequestMoreLogs, Resolve
from logtriage.observation import Observation
from logtriage.policies.base import Memory, Ranking, ranked
from logtriage.world.telemetry import Signal

#: Ticks kept for the answer: name a service, resolve.
RESERVE: Final = 2

#: The signals of a service, by their names.
Signals = Mapping[str, Signal]
#: The score of a service from its signals.
Score = Callable[[Signals], float]

#: The quartile distance of a normal distribution, in standard deviations.
_IQR_SIGMAS: Final = 1.349
#: Words in the names of shared signals, by the direction in which a fault moves them. All other
#: signals are a service's own.
_RISES: Final = ("latency", "duration", "response", "p50", "p90", "p95", "p99", "error", "fail")
_FALLS: Final = ("availability", "success")
#: For a word in an alert's name (in small letters), words in the names of the signals that the
#: alert is about.
_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "latency": ("latency", "duration", "response", "p50", "p90", "p95", "p99"),
    "availability": (*_FALLS, "error", "fail"),
    "error": (*_FALLS, "error", "fail"),
}
#: Signals that are a service's own, although a word in their names says *shared*.
_OWN: Final = ("new_errors_bp",)
#: Names of signals of how often a service is called begin with these. Callers decide that, so such
#: a signal is not scored as own.
_TRAFFIC: Final = ("calls", "requests", "workload")
#: Shared signals count for less than this many spreads of a service's own.
LESS_THAN: Final = 3.0


def _stray(name: str) -> Score:
    """The score of a named signal: how many spreads it lies above its usual value, or 0."""

    def score(signals: Signals) -> float:
        return max(0.0, signals[name].stray) if name in signals else 0.0

    return score


def error_count(signals: Signals) -> float:
    """How many requests of the minute have an error of a kind that the baseline does not have."""
    if "new_errors_bp" not in signals:
        return 0.0
    requests = signals["calls"].value if "calls" in signals else 1
    return signals["new_errors_bp"].value * requests / 10_000


def event_shift(signals: Signals) -> float:
    """The stray of the kinds of log lines: how surely one appeared or vanished."""
    return abs(signals["events_bp"].stray) if "events_bp" in signals else 0.0


cpu_rise: Final = _stray("cpu_bp")
network_delay: Final = _stray("network_ms")


def n_sigma(signals: Signals) -> float:
    """The furthest stray of any signal, in standard deviations, up or down."""
    return max((abs(signal.stray) for signal in signals.values()), default=0.0)


def baro(signals: Signals) -> float:
    """The furthest stray of any signal, in distances of its quartiles, up or down."""
    return max(map(_quartiles, signals.values()), default=0.0)


def _quartiles(signal: Signal) -> float:
    """How many distances of its quartiles a signal strays; 0 if its usual value is unknown."""
    if signal.usual is None or signal.spread is None:
        return 0.0
    distance = _IQR_SIGMAS * signal.spread if signal.iqr is None else signal.iqr
    return abs(signal.value - signal.usual) / distance


def own(signals: Signals) -> float:
    """The furthest stray of the service's own signals: new errors, events, CPU, network, metrics.

    Errors, CPU and network count only if they rise; events and metrics count either way.
    """
    return max((_own(signal) for signal in signals.values()), default=0.0)


def _own(signal: Signal) -> float:
    name = signal.name
    if name.startswith(_TRAFFIC) or _is_shared(name):
        return 0.0
    either = name == "events_bp" or name.endswith(("_us", "_milli"))
    return abs(signal.stray) if either else max(0.0, signal.stray)


def inherited(signals: Signals) -> float:
    """The furthest stray of the shared signals, in the direction in which a fault moves them."""
    return max((_inherited(signal) for signal in signals.values()), default=0.0)


def _inherited(signal: Signal) -> float:
    if not _is_shared(signal.name):
        return 0.0
    falls = any(word in signal.name for word in _FALLS)
    return max(0.0, -signal.stray if falls else signal.stray)


def _is_shared(name: str) -> bool:
    return name not in _OWN and any(word in name for word in (*_RISES, *_FALLS))


def of_target(signals: Signals, alerts: Iterable[str]) -> Signals:
    """The signals without shared ones that no alert is about.

    ``alerts`` are names. If none of them names its metric, all signals stay.
    """
    words: set[str] = set()
    for alert in alerts:
        for metric, names in _TARGETS.items():
            if metric in alert.casefold():
                words.update(names)
    if not words:
        return signals
    return {
        name: signal
        for name, signal in signals.items()
        if not _is_shared(name) or any(word in name for word in words)
    }


def weighed(own_score: float, shared: float) -> float:
    """The larger of the scores of a service's own and shared signals.

    The score of shared signals is first squeezed below :data:`LESS_THAN`; its order stays.
    """
    return max(own_score, LESS_THAN * shared / (shared + LESS_THAN))


@attrs.frozen
class Method:
    """How services are scored: on each screen, then over all screens.

    ``score`` scores a service on a screen; ``over`` sums up its scores. A method may have a second
    score, ``weaker``, which is joined by :func:`weighed`. With ``fresh``, a screen on which
    nothing is new is left out: a recording may have ended. With ``targeted``, shared signals count
    only if the screen's alerts are about them (:func:`of_target`).
    """

    score: Score
    over: Callable[[Sequence[float]], float] = fmean
    weaker: Score | None = None
    fresh: bool = False
    targeted: bool = False


#: How each ranking policy scores services, by the name of the policy.
METHODS: Final[dict[str, Method]] = {
    "error_count": Method(error_count),
    "cpu_rise": Method(cpu_rise),
    "network_delay": Method(network_delay),
    "event_shift": Method(event_shift),
    "n_sigma": Method(n_sigma, over=max),
    "baro": Method(baro, over=max),
    "combined": Method(own, weaker=inherited, fresh=True, targeted=True),
}


@attrs.frozen
class RankingPolicy:
    """Ranks services by a score that sums up all screens that there is time for.

    A fault lasts, a spike does not: so scores are averaged over screens, unless the method says
    otherwise. Memory holds for each screen the scores of all services in index order, and after
    them the weaker scores if the method has any.
    """

    method: Method

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """Watch, then name the service with the highest score (on a tie the first), and resolve."""
        if observation.root_cause is not None:
            return Resolve(), memory
        scores = self._scores(observation)
        seen = memory or ()
        if not (self.method.fresh and seen and seen[-1] == scores):
            seen = (*seen, scores)
        if observation.ticks_left > RESERVE:
            return RequestMoreLogs(None), seen
        names = observation.topology.names
        score, name = max(zip(self._summed(seen), names, strict=True), key=lambda row: row[0])
        return (IdentifyRootCause(name) if score > 0 else Resolve()), seen

    def ranking(self, observation: Observation, memory: Memory) -> Ranking:
        """All services, equal scores together."""
        scores = self._summed(memory) if memory else [0.0] * len(observation.topology)
        return ranked(dict(zip(observation.topology.names, scores, strict=True)))

    def _scores(self, observation: Observation) -> tuple[float, ...]:
        """A screen's part of the memory."""
        scores = (self.method.score, self.method.weaker)
        shown = observation.signals or ((),) * len(observation.topology)
        named: list[Signals] = [{row.name: row for row in signals} for signals in shown]
        if self.method.targeted:
            alerts = [alert.name for alert in observation.alerts]
            named = [of_target(signals, alerts) for signals in named]
        return tuple(score(signals) for score in scores if score is not None for signals in named)

    def _summed(self, seen: Sequence[Sequence[float]]) -> list[float]:
        """The score of each service over all screens of the memory."""
        scores = [self.method.over(column) for column in zip(*seen, strict=True)]
        if self.method.weaker is None:
            return scores
        half = len(scores) // 2
        pairs = zip(scores[:half], scores[half:], strict=True)
        return [weighed(own, shared) for own, shared in pairs]
