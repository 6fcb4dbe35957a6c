"""The dashboard of a recording: signals far from their usual value, and those without one."""

from collections.abc import Iterator
from typing import Final

from logtriage._lib.grouping import grouped
from logtriage.observation import Observation
from logtriage.world.telemetry import Signal

#: A signal that strays by at least this many spreads is on the dashboard.
STRAY: Final = 3
#: The dashboard has at most this many signals with a usual value.
_SIGNALS: Final = 24
#: The text after a figure, by the end of its signal's name; :func:`_scaled` brings it to that unit.
_UNITS: Final = {"bp": "%", "ms": " ms", "us": " ms", "milli": ""}


def dashboard(observation: Observation) -> str:
    """The signals that stray furthest from usual, then those without a known usual value."""
    names = observation.topology.names
    straying = [
        (name, signal)
        for name, signals in zip(names, observation.signals, strict=True)
        for signal in signals
        if abs(signal.stray) >= STRAY
    ]
    shown = sorted(straying, key=lambda pair: -abs(pair[1].stray))[:_SIGNALS]
    by_service = sorted(shown, key=lambda pair: names.index(pair[0]))
    rows = grouped((name, _signal(signal)) for name, signal in by_service)
    left = f", {len(straying) - len(shown)} more not shown" if len(shown) < len(straying) else ""
    minutes = max(1, observation.tick_seconds // 60)
    span = "the last minute" if minutes == 1 else f"the last {minutes} minutes"
    heading = f"SIGNALS of {span} that stray by {STRAY} spreads or more (usual ± spread)"
    lines = [f"{name}: {', '.join(texts)}" for name, texts in rows.items()] or ["none"]
    return "\n".join((f"{heading}{left}:", *lines, *_without_usual(observation)))


def _without_usual(observation: Observation) -> Iterator[str]:
    rows = []
    for name, signals in zip(observation.topology.names, observation.signals, strict=True):
        values = [_value(signal) for signal in signals if signal.usual is None]
        if values:
            rows.append(f"{name}: {', '.join(values)}")
    if rows:
        yield from ("no usual value is known:", *rows)


def _value(signal: Signal) -> str:
    """The name and the value of a signal, as ``errors 3.1%``; a name without a unit stays whole."""
    name, _, unit = signal.name.replace("_", " ").rpartition(" ")
    if unit in _UNITS:
        of = " of log lines" if signal.of_lines else ""
        return f"{name} {_scaled(signal.value, unit)}{_UNITS[unit]}{of}"
    return f"{signal.name.replace('_', ' ')} {signal.value}"


def _signal(signal: Signal) -> str:
    _, _, unit = signal.name.rpartition("_")
    usual, spread = (_scaled(figure or 0, unit) for figure in (signal.usual, signal.spread))
    whose = "others " if signal.borrowed else ""
    return f"{_value(signal)} ({whose}{usual} ± {spread})"


def _scaled(value: int, unit: str) -> str:
    if unit == "bp":
        return f"{value / 100:.1f}"
    return f"{value / 1000:g}" if unit in ("us", "milli") else str(value)
