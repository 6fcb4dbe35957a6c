"""What a bundle holds: one incident, recorded, as immutable values.

Nothing here knows where a recording came from. :mod:`logtriage.recorded.nezha` makes
records from one published data set, :mod:`logtriage.recorded.bundle` reads and writes
them, :mod:`logtriage.recorded.telemetry` lets an agent look at one.

Units are the core's: rates in basis points (1/100 of a percent), latencies in
milliseconds, seconds relative to the opening of the incident, ticks of
:data:`~logtriage.telemetry.TICK_SECONDS`. The window of tick ``t`` ends when the
tick begins: it holds the seconds ``30 (t - 1)`` to ``30 t``.
"""

import re
from datetime import datetime
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.telemetry import LEVELS, TREND_TICKS
from logtriage.topology import TIERS, Service, Topology

SCHEMA: Final = "logtriage.recorded/1"
#: A recording knows no owners: the usual four teams, and the first owns everything.
TEAMS: Final = ("sre-team", "backend-team", "dba-team", "security-team")
#: Where a record's baseline was measured; the alerts hang on it.
BASELINES: Final = ("fault-free", "pre-fault", "none")
#: Measurements start early enough for the trend that a reading shows at tick 0.
FIRST_TICK: Final = -TREND_TICKS

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*")
_TASK: Final = re.compile(r"[a-z0-9_]+-v[0-9]+")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BundleError(message)


@attrs.frozen
class RecordedLine:
    """Log lines of one service that say the same thing in one window.

    ``second`` and ``message`` are those of the last one, ``count`` how many there
    were, ``new`` whether the baseline has none of the kind.
    """

    second: int
    service: str
    level: str
    message: str
    count: int = 1
    new: bool = False

    def __attrs_post_init__(self) -> None:
        _require(self.level in LEVELS, f"level {self.level!r} is none of {', '.join(LEVELS)}")
        _require(self.count >= 1, f"count must be at least 1, got {self.count}")
        _require(bool(self.message), "message is empty")


@attrs.frozen
class LogWindow:
    """The lines of one tick's window, sorted by time."""

    tick: int
    lines: tuple[RecordedLine, ...] = ()

    def __attrs_post_init__(self) -> None:
        seconds = [line.second for line in self.lines]
        _require(seconds == sorted(seconds), f"lines of tick {self.tick} are not sorted by second")


@attrs.frozen
class Measure:
    """One service as usual. None is *not measured*, which is not the same as 0.

    ``calls`` requests a minute, ``error_bp`` how many of 10,000 had the service log
    an error, ``p50_ms`` and ``p99_ms`` latency as its callers saw it, ``network_ms``
    the part of the median that passed between caller and service, ``cpu_bp`` CPU
    used of 10,000 parts of its limit.
    """

    calls: int | None = None
    error_bp: int | None = None
    p50_ms: int | None = None
    p99_ms: int | None = None
    network_ms: int | None = None
    cpu_bp: int | None = None

    def __attrs_post_init__(self) -> None:
        for name, value in attrs.asdict(self).items():
            _require(value is None or value >= 0, f"{name} must not be negative, got {value}")


#: What is measured, in the order in which it is told.
FIGURES: Final = tuple(field.name for field in attrs.fields(Measure))

Column = tuple[int | None, ...]


@attrs.frozen
class Series:
    """The figures of a :class:`Measure` over time, over the minute before each tick.

    Each column starts at tick :data:`FIRST_TICK`. Columns may end at different ticks,
    as recordings do; the last value stands from there on.
    """

    calls: Column = ()
    error_bp: Column = ()
    p50_ms: Column = ()
    p99_ms: Column = ()
    network_ms: Column = ()
    cpu_bp: Column = ()

    def __attrs_post_init__(self) -> None:
        for name in FIGURES:
            for value in getattr(self, name):
                _require(value is None or value >= 0, f"{name} must not be negative, got {value}")

    def figure(self, name: str, tick: int) -> int | None:
        """One figure at a tick; before the first measured tick it is None."""
        column: Column = getattr(self, name)
        index = tick - FIRST_TICK
        if index < 0 or not column:
            return None
        return column[index] if index < len(column) else column[-1]

    def at(self, tick: int) -> Measure:
        """All figures at a tick."""
        return Measure(**{name: self.figure(name, tick) for name in FIGURES})


@attrs.frozen
class RecordedService:
    """A service of the recording: its place in the call graph, and its figures."""

    name: str
    tier: str = "service"
    calls: tuple[str, ...] = ()
    baseline: Measure = Measure()
    series: Series = Series()

    def __attrs_post_init__(self) -> None:
        _require(self.tier in TIERS, f"tier {self.tier!r} is none of {', '.join(TIERS)}")


@attrs.frozen
class RecordedAlert:
    """An alert and the ticks at which it fires, both ends included; None is *to the end*."""

    service: str
    name: str
    since: int
    until: int | None = None

    def __attrs_post_init__(self) -> None:
        _require(bool(self.name), "name is empty")
        _require(
            self.until is None or self.until >= self.since,
            f"until {self.until} lies before since {self.since}",
        )


@attrs.frozen(cache_hash=True)
class Recording:
    """All that can be seen of an incident. The truth is not in here.

    ``edge`` is what users see. ``windows`` are those of consecutive ticks, the first
    at tick 0 or before it.
    """

    services: tuple[RecordedService, ...]
    edge: Series = Series()
    edge_baseline: Measure = Measure()
    windows: tuple[LogWindow, ...] = ()
    alerts: tuple[RecordedAlert, ...] = ()
    baseline: str = "none"

    def __attrs_post_init__(self) -> None:
        _require(
            self.baseline in BASELINES,
            f"baseline {self.baseline!r} is none of {', '.join(BASELINES)}",
        )
        known = {service.name for service in self.services}
        for alert in self.alerts:
            _require(alert.service in known, f"alerts: unknown service {alert.service!r}")
        ticks = [window.tick for window in self.windows]
        if ticks:
            _require(
                ticks == list(range(ticks[0], ticks[0] + len(ticks))),
                f"windows: ticks must follow each other, got {ticks}",
            )
            _require(ticks[0] <= 0, f"windows: the first must be of tick <= 0, got {ticks[0]}")
        for window in self.windows:
            for line in window.lines:
                _require(
                    line.service in known,
                    f"windows: unknown service {line.service!r} at tick {window.tick}",
                )

    def topology(self, name: str) -> Topology:
        """The call graph as a topology, services in the recording's order.

        Raises:
            TopologyError: if the graph breaks a rule of :class:`Topology`.
        """
        return Topology(
            name=name,
            teams=TEAMS,
            services=tuple(
                Service(service.name, service.tier, TEAMS[0], service.calls)
                for service in self.services
            ),
        )


@attrs.frozen
class RecordedTruth:
    """What is known of the answer: which services, and the kind of fault injected."""

    root_causes: tuple[str, ...]
    kind: str

    def __attrs_post_init__(self) -> None:
        _require(bool(self.root_causes), "root_causes is empty")
        _require(bool(self.kind), "kind is empty")


@attrs.frozen(cache_hash=True)
class RecordedIncident:
    """One line of a bundle.

    ``id`` is ``source/name`` and says nothing of the answer; ``opened`` the moment,
    in UTC, from which seconds and ticks are counted; ``origin`` whom to thank.

    Raises:
        BundleError: on a malformed or contradictory field, named.
        TopologyError: if the call graph breaks a rule of :class:`Topology`.
    """

    id: str
    opened: str
    recording: Recording
    truth: RecordedTruth
    task: str = "recorded-v1"
    horizon: int = 8
    origin: str = ""
    schema: str = SCHEMA

    def __attrs_post_init__(self) -> None:
        _require(self.schema == SCHEMA, f"schema must be {SCHEMA!r}, got {self.schema!r}")
        _require(
            _ID.fullmatch(self.id) is not None,
            f"id must be source/name of letters, digits, '.', '_' and '-', got {self.id!r}",
        )
        _require(
            _TASK.fullmatch(self.task) is not None,
            f"task must be a name and a version such as 'recorded-v1', got {self.task!r}",
        )
        _require(self.horizon >= 1, f"horizon must be at least 1, got {self.horizon}")
        try:
            opened = datetime.fromisoformat(self.opened)
        except ValueError:
            raise BundleError(f"opened must be an ISO time, got {self.opened!r}") from None
        _require(
            opened.utcoffset() is not None and not opened.utcoffset(),
            f"opened must be in UTC ('…Z' or '…+00:00'), got {self.opened!r}",
        )
        known = {service.name for service in self.recording.services}
        for name in self.truth.root_causes:
            _require(name in known, f"truth.root_causes: unknown service {name!r}")
        self.recording.topology(self.id)
