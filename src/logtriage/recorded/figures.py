"""Figures of a recording: usual values, values tick by tick, and shares of log events.

They are integers of at most 63 bits in the core's units: rates in basis points (1/100 of a
percent), latencies in milliseconds, counts over a minute.
"""

import re
from collections.abc import Collection
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.world.telemetry import TREND_TICKS

#: The first tick of all columns: early enough for the trend that a reading shows at tick 0.
FIRST_TICK: Final = -TREND_TICKS


def require(condition: bool, message: str) -> None:
    """Raise a BundleError with the message, unless the condition holds."""
    if not condition:
        raise BundleError(message)


def require_among(what: str, value: str, known: Collection[str]) -> None:
    """Raise a BundleError for a value that is not among the known ones; ``what`` is the field."""
    require(value in known, f"{what} {value!r} is none of {', '.join(known)}")


#: The largest figure of any kind, and the largest share of requests.
MOST: Final = (1 << 63) - 1
MOST_BP: Final = 10_000
#: The values of a figure by tick, from :data:`FIRST_TICK` on; None is *not measured*.
Column = tuple[int | None, ...]


def require_figures(name: str, column: Column, *, least: int = 0, most: int = MOST) -> None:
    """Raise a BundleError for a figure out of its range; None (not measured) passes."""
    for value in column:
        if value is None or least <= value <= most:
            continue
        if value < least:
            what = {0: "not be negative", 1: "be above 0"}.get(least, f"be at least {least}")
            raise BundleError(f"{name} must {what}, got {value!r:.80}")
        raise BundleError(f"{name} must be at most {most}, got {value!r:.80}")


@attrs.frozen
class Measure:
    """The figures of one service. None is *not measured*, which is not the same as 0.

    ``calls`` are requests a minute, ``error_bp`` the share of requests with an error, ``self_ms``
    the median time in the service itself, ``p50_ms`` and ``p99_ms`` the latency as its callers saw
    it, ``network_ms`` the median time between caller and service, and ``cpu_bp`` the CPU used, as
    a share of its limit.
    """

    calls: int | None = None
    error_bp: int | None = None
    self_ms: int | None = None
    p50_ms: int | None = None
    p99_ms: int | None = None
    network_ms: int | None = None
    cpu_bp: int | None = None

    def __attrs_post_init__(self) -> None:
        for name in FIGURES:
            require_figures(name, (getattr(self, name),), most=_LIMITS.get(name, MOST))


#: The names of the figures, in the order of screens.
FIGURES: Final = tuple(field.name for field in attrs.fields(Measure))
#: Figures that are a share of the requests; CPU may pass its limit.
_LIMITS: Final = {"error_bp": MOST_BP}


def cell(column: Column, tick: int) -> int | None:
    """The value of a column at a tick: after its end the last value, before its start None."""
    index = tick - FIRST_TICK
    if index < 0 or not column:
        return None
    return column[index] if index < len(column) else column[-1]


@attrs.frozen
class Series:
    """The figures of a :class:`Measure` over time, over the minute before each tick.

    Columns start at tick :data:`FIRST_TICK` and may end at different ticks; the last value stands
    from there on.
    """

    calls: Column = ()
    error_bp: Column = ()
    self_ms: Column = ()
    p50_ms: Column = ()
    p99_ms: Column = ()
    network_ms: Column = ()
    cpu_bp: Column = ()

    def __attrs_post_init__(self) -> None:
        for name in FIGURES:
            require_figures(name, getattr(self, name), most=_LIMITS.get(name, MOST))

    def figure(self, name: str, tick: int) -> int | None:
        """One figure at a tick; before the first measured tick it is None."""
        return cell(getattr(self, name), tick)

    def at(self, tick: int) -> Measure:
        """All figures at a tick."""
        return Measure(**{name: self.figure(name, tick) for name in FIGURES})


@attrs.frozen
class Shift:
    """The share of requests (or of log lines) with a kind of line in the minute before each tick.

    ``value`` is the share, ``usual`` that of the baseline, and ``spread`` how far it strays by
    chance, all in basis points; columns as in a :class:`Series`.
    """

    value: Column = ()
    usual: Column = ()
    spread: Column = ()

    def __attrs_post_init__(self) -> None:
        require(
            len(self.value) == len(self.usual) == len(self.spread),
            f"value, usual and spread must be of one length, got {len(self.value)}, "
            f"{len(self.usual)} and {len(self.spread)}",
        )
        for name in ("value", "usual"):
            require_figures(name, getattr(self, name), most=MOST_BP)
        require_figures("spread", self.spread, least=1)


#: The mark where a name or a text was cut.
CUT: Final = "…"
_METRIC: Final = re.compile(rf"[a-z0-9][a-z0-9_{CUT}]*")


@attrs.frozen
class Metric:
    """Any other metric of a service, as an integer in the unit that its name ends with.

    ``_us`` microseconds, ``_ms`` milliseconds, ``_bp`` basis points, ``_milli`` thousandths,
    nothing for whole numbers. ``value`` has the newest sample at each tick, as in a
    :class:`Series`; ``usual``, ``spread`` and ``iqr`` are median, standard deviation and distance
    of the quartiles without a fault.
    """

    name: str
    value: Column = ()
    usual: int | None = None
    spread: int | None = None
    iqr: int | None = None

    def __attrs_post_init__(self) -> None:
        require(
            _METRIC.fullmatch(self.name) is not None,
            f"name must be lower-case letters, digits, '_' and {CUT!r}, got {self.name!r}",
        )
        for name in ("spread", "iqr"):
            require_figures(name, (getattr(self, name),), least=1)
        require_figures("usual", (self.usual,), least=-MOST)
        require_figures("value", self.value, least=-MOST)


NO_MEASURE: Final = Measure()
NO_SERIES: Final = Series()
NO_SHIFT: Final = Shift()
