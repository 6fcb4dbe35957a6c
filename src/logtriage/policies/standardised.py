"""Scores of root-cause analysis over every signal there is, whatever it is called.

``n_sigma`` and ``baro`` are the two simplest baselines of the field, as far as a dashboard
lets one compute them: each takes the furthest stray of any metric. ``combined_v2`` repairs
``combined``: it reads any other metric too, and latency, errors and availability where nothing
of a service's own speaks, since these its callers show as well; and of these only the metric that
broke its objective, where an alert says which.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from logtriage.world.telemetry import Signal

Signals = Mapping[str, Signal]

#: A quartile distance is so many standard deviations, where a signal has no quartiles.
_IQR_SIGMAS: Final = 1.349
#: What a caller takes over from whom it calls, by what the name of a signal has in it, and in
#: which direction a fault moves it. All other signals are of the service alone.
_RISES: Final = ("latency", "duration", "response", "p50", "p90", "p95", "p99", "error", "fail")
_FALLS: Final = ("availability", "success")
#: The metric that an alert is about, by a word of its name in small letters: what the names of the
#: signals have in them that measure it.
_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "latency": ("latency", "duration", "response", "p50", "p90", "p95", "p99"),
    "availability": (*_FALLS, "error", "fail"),
    "error": (*_FALLS, "error", "fail"),
}
#: Signals that are a service's own, whatever their names have in them.
_OWN: Final = ("new_errors_bp",)
#: How often a service is called says what others do.
_TRAFFIC: Final = ("calls", "requests", "workload")
#: What callers show as well counts for less than so many spreads of a service's own.
LESS_THAN: Final = 3.0


def n_sigma(signals: Signals) -> float:
    """The furthest stray of any signal, in standard deviations, up or down."""
    return max((abs(one.stray) for one in signals.values()), default=0.0)


def baro(signals: Signals) -> float:
    """The furthest stray of any signal, in distances of its quartiles, up or down."""
    return max(map(_quartiles, signals.values()), default=0.0)


def _quartiles(signal: Signal) -> float:
    if signal.usual is None or signal.spread is None:
        return 0.0
    distance = _IQR_SIGMAS * signal.spread if signal.iqr is None else signal.iqr
    return abs(signal.value - signal.usual) / distance


def own(signals: Signals) -> float:
    """The furthest stray of what is the service's own: new errors, events, CPU, network, metrics.

    Figures rise with a fault; of events and of metrics nobody knows which way.
    """
    return max((_own(one) for one in signals.values()), default=0.0)


def _own(signal: Signal) -> float:
    name = signal.name
    if name in _TRAFFIC or name.startswith(_TRAFFIC) or _inherits(name):
        return 0.0
    either = name == "events_bp" or name.endswith(("_us", "_milli"))
    return abs(signal.stray) if either else max(0.0, signal.stray)


def inherited(signals: Signals) -> float:
    """The furthest stray of what a caller takes over: latency, errors, availability."""
    return max((_inherited(one) for one in signals.values()), default=0.0)


def _inherited(signal: Signal) -> float:
    if not _inherits(signal.name):
        return 0.0
    falls = any(word in signal.name for word in _FALLS)
    return max(0.0, -signal.stray if falls else signal.stray)


def _inherits(name: str) -> bool:
    return name not in _OWN and any(word in name for word in (*_RISES, *_FALLS))


def of_target(signals: Signals, alerts: Iterable[str]) -> Signals:
    """The signals without what callers show as well in other metrics than those of the alerts.

    ``alerts`` are names. Where none of them says which metric it is about, all signals stay.
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
        name: one
        for name, one in signals.items()
        if not _inherits(name) or any(word in name for word in words)
    }


def weighed(mine: float, shared: float) -> float:
    """One score of what is a service's own and of what its callers show as well.

    The latter is squeezed below :data:`LESS_THAN` and keeps its order.
    """
    return max(mine, LESS_THAN * shared / (shared + LESS_THAN))
