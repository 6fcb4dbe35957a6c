"""Scores of root-cause analysis over all signals, whatever their names.

``n_sigma`` and ``baro`` are the two simplest baselines of the field, as far as a dashboard can
show them: each takes the furthest stray of any metric. ``combined`` tells a service's own signals
from latency, errors and availability, which callers share: it reads the latter only if no signal of
the service's own speaks; and if an alert names the metric that broke its objective, it reads that
metric alone.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from logtriage.world.telemetry import Signal

Signals = Mapping[str, Signal]

#: The quartile distance of a normal distribution, in standard deviations.
_IQR_SIGMAS: Final = 1.349
#: Words in the names of signals that a caller shares with the services that it calls, by the
#: direction in which a fault moves them. All other signals are of the service alone.
_RISES: Final = ("latency", "duration", "response", "p50", "p90", "p95", "p99", "error", "fail")
_FALLS: Final = ("availability", "success")
#: The metric of an alert, by a word of the alert's name in small letters: words in the names of
#: signals that measure it.
_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "latency": ("latency", "duration", "response", "p50", "p90", "p95", "p99"),
    "availability": (*_FALLS, "error", "fail"),
    "error": (*_FALLS, "error", "fail"),
}
#: Signals that are a service's own, whatever their names have in them.
_OWN: Final = ("new_errors_bp",)
#: Signals of how often a service is called: others decide that.
_TRAFFIC: Final = ("calls", "requests", "workload")
#: Signals that callers share count for less than this many spreads of a service's own.
LESS_THAN: Final = 3.0


def n_sigma(signals: Signals) -> float:
    """The furthest stray of any signal, in standard deviations, up or down."""
    return max((abs(signal.stray) for signal in signals.values()), default=0.0)


def baro(signals: Signals) -> float:
    """The furthest stray of any signal, in distances of its quartiles, up or down."""
    return max(map(_quartiles, signals.values()), default=0.0)


def _quartiles(signal: Signal) -> float:
    if signal.usual is None or signal.spread is None:
        return 0.0
    distance = _IQR_SIGMAS * signal.spread if signal.iqr is None else signal.iqr
    return abs(signal.value - signal.usual) / distance


def own(signals: Signals) -> float:
    """The furthest stray of the service's own signals: new errors, events, CPU, network, metrics.

    Figures rise with a fault; events and metrics may move either way.
    """
    return max((_own(signal) for signal in signals.values()), default=0.0)


def _own(signal: Signal) -> float:
    name = signal.name
    if name in _TRAFFIC or name.startswith(_TRAFFIC) or _inherits(name):
        return 0.0
    either = name == "events_bp" or name.endswith(("_us", "_milli"))
    return abs(signal.stray) if either else max(0.0, signal.stray)


def inherited(signals: Signals) -> float:
    """The furthest stray of the signals that callers share: latency, errors, availability."""
    return max((_inherited(signal) for signal in signals.values()), default=0.0)


def _inherited(signal: Signal) -> float:
    if not _inherits(signal.name):
        return 0.0
    falls = any(word in signal.name for word in _FALLS)
    return max(0.0, -signal.stray if falls else signal.stray)


def _inherits(name: str) -> bool:
    return name not in _OWN and any(word in name for word in (*_RISES, *_FALLS))


def of_target(signals: Signals, alerts: Iterable[str]) -> Signals:
    """The signals without those that callers share and no alert is about.

    ``alerts`` are names. If none of them names its metric, all signals stay.
    """
    words = {
        word
        for alert in alerts
        for metric, names in _TARGETS.items()
        if metric in alert.casefold()
        for word in names
    }
    if not words:
        return signals
    return {
        name: signal
        for name, signal in signals.items()
        if not _inherits(name) or any(word in name for word in words)
    }


def weighed(own_score: float, shared: float) -> float:
    """One score of a service's own signals and of the signals that its callers share.

    The latter is squeezed below :data:`LESS_THAN` and keeps its order.
    """
    return max(own_score, LESS_THAN * shared / (shared + LESS_THAN))
