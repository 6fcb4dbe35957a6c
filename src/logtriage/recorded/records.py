"""A recorded incident as immutable values: the contents of a bundle.

Units are the core's: rates in basis points (1/100 of a percent), latencies in milliseconds, seconds
relative to the opening of the incident, ticks of ``tick_seconds`` (30 where nothing else is said).
The window of tick ``t`` ends when the tick begins: seconds ``30 (t - 1)`` to ``30 t``.
"""

import re
from datetime import datetime, timedelta
from typing import Final

import attrs

from logtriage._lib.printable import inert, is_shown, unmarked
from logtriage.errors import BundleError, UnknownName
from logtriage.recorded.figures import (
    FIGURES,
    NO_MEASURE,
    NO_SERIES,
    NO_SHIFT,
    Measure,
    Metric,
    Series,
    Shift,
    require,
    require_among,
)
from logtriage.recorded.truth import RecordedTruth
from logtriage.topology import NO_TEAM, Service, Tier, Topology
from logtriage.world.telemetry import LEVELS, TICK_SECONDS

VERSION: Final = 5
#: Why each version was made, in order.
HISTORY: Final = (
    "v1: log windows, figures of an inspected service, health and alerts",
    "v2: signals of every service beside their usual values, so that a policy can rank all "
    "candidates by what it sees; time in the service itself; rates of partly recorded minutes "
    "over what was recorded; kinds of line told apart before messages are cut",
    "v3: what is not known is said to be unknown, and what is old to be old; only calls that were "
    "seen; no status words; new lines are marked and come first; where a service has no usual "
    "value that of the others stands in; any metric is a signal; requested figures tell their "
    "spread; a prompt of its own",
    "v4: nobody recorded who owns what, so there is one team, unknown; a worth of hand-over is on "
    "the screen",
    "v5: one rubric for all: a class of fault is declared, there may be no fault, and every "
    "incident can be handed over; recorded changes are shown; the health panel calls unknown only "
    "what was not measured",
)
SCHEMA: Final = "logtriage.recorded/2"
#: The tiers and remedies of recordings, which have no world; remedies have no effect.
TIERS: Final = (
    Tier("edge", entry=True, calls=True),
    Tier("service", calls=True),
    Tier("datastore"),
    Tier("queue"),
    Tier("background", entry=True, calls=True),
)
REMEDIES: Final = ("restart", "rollback", "scale", "flush-cache", "kill-query")
#: When the baseline of a record was measured; alerts depend on it.
BASELINES: Final = ("fault-free", "pre-fault", "none")

#: How a record is shown: with a dashboard of every figure that strays, or figures on request.
VIEWS: Final = ("dashboard", "on_request")
DASHBOARD, ON_REQUEST = VIEWS
#: The tasks of incidents by their view: results of both must not be mixed.
TASKS: Final = dict(zip(VIEWS, ("recorded", "recorded_models"), strict=True))
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*")
_TASK: Final = re.compile(r"[a-z][a-z0-9_]*")


@attrs.frozen
class RecordedLine:
    """Log lines of one service that say the same thing in one window.

    ``second`` and ``message`` are those of the last line, ``count`` is how many there were, ``new``
    whether the baseline has none. The message stands on one line of the agent's screen:
    line breaks and other controls in it are spelled out, marks of chat templates are broken.
    """

    second: int
    service: str
    level: str
    message: str = attrs.field(converter=inert)
    count: int = 1
    new: bool = False

    def __attrs_post_init__(self) -> None:
        require_among("level", self.level, LEVELS)
        require(self.count >= 1, f"count must be at least 1, got {self.count}")
        require(bool(self.message), "message is empty")


@attrs.frozen
class LogWindow:
    """The lines of one tick's window, sorted by time."""

    tick: int
    lines: tuple[RecordedLine, ...] = ()

    def __attrs_post_init__(self) -> None:
        seconds = [line.second for line in self.lines]
        require(seconds == sorted(seconds), f"lines of tick {self.tick} are not sorted by second")


@attrs.frozen
class RecordedService:
    """A service of the recording: its place in the call graph, and its figures.

    ``baseline`` are the usual figures and ``spread`` how far they stray without a fault.
    ``new_errors`` is the share of requests with a new kind of ERROR line, ``events`` the share with
    the kind of line whose share changed most. With ``of_lines`` both are shares of log lines, since
    the lines name no requests. ``metrics`` are all other measurements.
    """

    name: str
    tier: str = "service"
    calls: tuple[str, ...] = ()
    baseline: Measure = NO_MEASURE
    spread: Measure = NO_MEASURE
    series: Series = NO_SERIES
    new_errors: Shift = NO_SHIFT
    events: Shift = NO_SHIFT
    of_lines: bool = False
    metrics: tuple[Metric, ...] = ()

    def __attrs_post_init__(self) -> None:
        spreads = attrs.astuple(self.spread)
        require(all(value is None or value > 0 for value in spreads), "spread must be above 0")
        names = [*FIGURES, "new_errors_bp", "events_bp", *(metric.name for metric in self.metrics)]
        require(
            len(names) == len(set(names)),
            f"metrics: names must differ from each other and from the figures', got {names}",
        )
        require_among("tier", self.tier, [tier.name for tier in TIERS])


@attrs.frozen
class RecordedAlert:
    """An alert, which fires from tick ``since`` through tick ``until`` (None: to the end)."""

    service: str
    name: str = attrs.field(converter=unmarked)
    since: int
    until: int | None = None

    def __attrs_post_init__(self) -> None:
        require(bool(self.name), "name is empty")
        require(is_shown(self.name), f"name must be one printable line, got {self.name!r}")
        is_ordered = self.until is None or self.until >= self.since
        require(is_ordered, f"until {self.until} lies before since {self.since}")


@attrs.frozen
class RecordedChange:
    """A change of a service, such as a rollout, seen ``count`` times, ``second`` to ``until``."""

    service: str
    kind: str
    detail: str = attrs.field(converter=inert)
    second: int
    until: int
    count: int = 1

    def __attrs_post_init__(self) -> None:
        for name in ("kind", "detail"):
            require(bool(getattr(self, name)), f"{name} is empty")
        require(self.kind.isprintable(), f"kind must be one printable line, got {self.kind!r}")
        require(self.until >= self.second, f"until {self.until} lies before {self.second}")
        require(self.count >= 1, f"count must be at least 1, got {self.count}")


@attrs.frozen(cache_hash=True)
class Recording:
    """All that can be seen of an incident. The truth is not in here.

    ``edge`` is what users see. ``windows`` belong to consecutive ticks, the first to tick 0 or an
    earlier tick; a tick takes ``tick_seconds``. ``changes`` are in order of time.
    """

    services: tuple[RecordedService, ...]
    edge: Series = NO_SERIES
    edge_baseline: Measure = NO_MEASURE
    windows: tuple[LogWindow, ...] = ()
    alerts: tuple[RecordedAlert, ...] = ()
    baseline: str = "none"
    tick_seconds: int = TICK_SECONDS
    changes: tuple[RecordedChange, ...] = ()

    def __attrs_post_init__(self) -> None:
        require(self.tick_seconds >= 1, f"tick_seconds must be at least 1, got {self.tick_seconds}")
        require_among("baseline", self.baseline, BASELINES)
        known = {service.name for service in self.services}
        for what, rows in (("alerts", self.alerts), ("changes", self.changes)):
            for row in rows:
                require(row.service in known, f"{what}: unknown service {row.service!r}")
        ticks = [window.tick for window in self.windows]
        if ticks:
            consecutive = list(range(ticks[0], ticks[0] + len(ticks)))
            require(ticks == consecutive, f"windows: ticks must follow each other, got {ticks}")
            require(ticks[0] <= 0, f"windows: the first must be of tick <= 0, got {ticks[0]}")
        for window in self.windows:
            until = window.tick * self.tick_seconds
            since = until - self.tick_seconds
            for line in window.lines:
                require(
                    since <= line.second <= until,
                    f"windows: second {line.second} at tick {window.tick} must lie in its window, "
                    f"from {since} to {until}",
                )
                require(
                    line.service in known,
                    f"windows: unknown service {line.service!r} at tick {window.tick}",
                )

    def topology(self, name: str) -> Topology:
        """The call graph as a topology, in the order of services; may raise TopologyError."""
        services = tuple(Service(row.name, row.tier, NO_TEAM, row.calls) for row in self.services)
        return Topology(
            name=name, teams=(NO_TEAM,), services=services, tiers=TIERS, remedies=REMEDIES
        )


@attrs.frozen(cache_hash=True)
class RecordedIncident:
    """One line of a bundle.

    ``id`` is ``source/name`` and says nothing of the answer; ``opened`` the moment, in UTC, from
    which seconds and ticks are counted; ``origin`` the source to credit; ``view`` how it is shown.

    Raises:
        BundleError: on a malformed or contradictory field, named.
        TopologyError: if the call graph breaks a rule of :class:`Topology`.
    """

    id: str
    opened: str
    recording: Recording
    truth: RecordedTruth
    task: str = "recorded"
    horizon: int = 8
    origin: str = ""
    view: str = DASHBOARD
    schema: str = SCHEMA

    def __attrs_post_init__(self) -> None:
        require(self.schema == SCHEMA, f"schema must be {SCHEMA!r}, got {self.schema!r}")
        require(
            _ID.fullmatch(self.id) is not None,
            f"id must be source/name of letters, digits, '.', '_' and '-', got {self.id!r}",
        )
        require(
            _TASK.fullmatch(self.task) is not None,
            f"task must be a name such as 'recorded' (lower case, no version), got {self.task!r}",
        )
        require_among("view", self.view, VIEWS)
        require(self.horizon >= 1, f"horizon must be at least 1, got {self.horizon}")
        try:
            opened = datetime.fromisoformat(self.opened)
        except ValueError:
            raise BundleError(f"opened must be an ISO time, got {self.opened!r}") from None
        require(
            opened.utcoffset() == timedelta(0),
            f"opened must be in UTC ('…Z' or '…+00:00'), got {self.opened!r}",
        )
        known = {service.name for service in self.recording.services}
        for name in self.truth.root_causes:
            if name not in known:
                unknown = UnknownName("service", name, sorted(known))
                raise BundleError(f"truth.root_causes: {unknown}")
        self.recording.topology(self.id)
