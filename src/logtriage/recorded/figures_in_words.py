"""The figures of a recorded service in words, each beside its usual value."""

from collections.abc import Iterable, Iterator
from typing import Final

from logtriage.recorded.figures import FIGURES, FIRST_TICK, Column, Measure
from logtriage.recorded.records import RecordedService, Recording
from logtriage.world.telemetry import Gauge, Signal

#: The unit for each ending of a name; microseconds and thousandths are divided by 1,000.
_UNITS: Final = {"bp": "%", "ms": "ms", "us": "us", "milli": "milli"}
_THOUSANDTHS: Final = {"us": "ms", "milli": ""}


def figures_line(now: Measure, usual: Measure) -> str:
    """The figures in one line, each with its usual value; empty if nothing was measured."""
    texts = []
    for name, label, unit in (
        ("cpu_bp", "cpu", "%"),
        ("self_ms", "self", "ms"),
        ("p50_ms", "p50", "ms"),
        ("p99_ms", "p99", "ms"),
        ("network_ms", "network", "ms"),
        ("error_bp", "errors", "%"),
        ("calls", "calls", ""),
    ):
        value, normal = getattr(now, name), getattr(usual, name)
        if value is not None:
            was = "" if normal is None else f" ({_figure(normal, unit)})"
            texts.append(f"{label} {_figure(value, unit)}{was}")
    return f"last minute (usually): {', '.join(texts)}" if texts else ""


def gauge(service: str, tick: int, signal: Signal) -> Gauge:
    """A signal in words, as a gauge."""
    words, _, ending = signal.name.rpartition("_")
    unit = _UNITS.get(ending, "")
    if ending not in _UNITS:
        words = signal.name
    of = " of log lines" if signal.of_lines else ""
    text = f"{words.replace('_', ' ')} {_figure(signal.value, unit)}{of}"
    if signal.usual is not None:
        whose = "usual of others" if signal.borrowed else "usual"
        spread = "" if signal.spread is None else f" ± {_spread(signal.spread, unit)}"
        text += f" ({whose} {_figure(signal.usual, unit)}{spread})"
    return Gauge(service, signal.name, starts=(tick,), tokens=(), text=text, signal=signal)


def time_spent(service: RecordedService, called: Iterable[RecordedService], tick: int) -> str:
    """Where the time of a service goes over the last minute, in words; empty without spans.

    The text has the latency of its requests, the part of the median spent in it and on the way to
    it, and the latency of its callees, all as their callers saw it: of a callee, all its callers.
    """
    texts = [
        *_with_usual(service, "p99_ms", "", tick),
        *_with_usual(service, "p50_ms", "median ", tick),
        *_with_usual(service, "self_ms", "in itself ", tick),
        *_with_usual(service, "network_ms", "on the way ", tick),
    ]
    if not texts:
        return ""
    for callee in called:
        texts += _with_usual(callee, "p99_ms", f"{callee.name} takes ", tick)
    return ", ".join(texts)


def _with_usual(service: RecordedService, name: str, label: str, tick: int) -> Iterator[str]:
    """Yield one figure beside its usual value, if it was measured."""
    value, usual = service.series.figure(name, tick), getattr(service.baseline, name)
    if value is not None:
        was = "" if usual is None else f" (usual {_figure(usual, 'ms')})"
        yield f"{label}{_figure(value, 'ms')}{was}"


def _spread(value: int, unit: str) -> str:
    """A spread with its unit, never rounded to 0."""
    return f"{value / 100:g}%" if unit == "%" else _figure(value, unit)


def _figure(value: int, unit: str) -> str:
    """A figure with its unit; basis points as a percentage, cut to a tenth (never -0.0%)."""
    if unit in _THOUSANDTHS:
        return f"{value / 1000:g}{_THOUSANDTHS[unit]}"
    if unit == "%":
        tenths = abs(value) // 10
        return f"{'-' if value < 0 < tenths else ''}{tenths // 10}.{tenths % 10}%"
    return f"{value}{unit}"


#: The figures that are counted from requests; CPU is sampled.
_OF_REQUESTS: Final = tuple(name for name in FIGURES if name != "cpu_bp")


def age_notes(recording: Recording, tick: int) -> Iterator[str]:
    """Yield warnings of parts of the screen that are old, missing or without usual values."""
    if not recording.windows:
        yield "no logs were recorded"
    elif tick > recording.windows[-1].tick:
        yield f"logs were recorded up to tick {recording.windows[-1].tick}: its lines are shown"
    of_requests: list[Column] = [getattr(recording.edge, name) for name in _OF_REQUESTS]
    sampled: list[Column] = []
    for service in recording.services:
        of_requests += (getattr(service.series, name) for name in _OF_REQUESTS)
        of_requests += (service.new_errors.value, service.events.value)
        sampled += (service.series.cpu_bp, *(metric.value for metric in service.metrics))
    last_of_requests, last_sampled = _last(of_requests), _last(sampled)
    if last_of_requests is None and last_sampled is None:
        yield "no figures were recorded"
    for what, last in (("figures of requests", last_of_requests), ("samples", last_sampled)):
        if last is not None and tick > last:
            yield f"{what} were recorded up to tick {last}: they stand as they were then"
    if recording.baseline == "none":
        yield "no time without a fault was recorded: what is usual is not known"
    elif recording.baseline == "pre-fault":
        yield "what is usual was taken from the time just before the fault"


def _last(columns: Iterable[Column]) -> int | None:
    """The last tick for which any of the columns has a value; None if none has."""
    ends = [len(column) for column in columns if any(value is not None for value in column)]
    return max(ends) + FIRST_TICK - 1 if ends else None
