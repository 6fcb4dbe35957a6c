"""What a system under watch shows: the types, and the source that emits them.

All figures are integers: error rates in *basis points* (1/100 of a percent), latencies in
milliseconds, times in seconds since the incident was opened (negative before).
"""

from typing import Final, Protocol

import attrs

TICK_SECONDS: Final = 30
#: How many ticks back the ``earlier_p99_ms`` of a :class:`Reading` lies.
TREND_TICKS: Final = 4

#: The names of the alerts on failed and on slow requests.
ERROR_ALERT: Final = "HighErrorRate"
LATENCY_ALERT: Final = "HighLatency"

LEVELS: Final = ("INFO", "WARN", "ERROR", "FATAL")


@attrs.frozen(slots=False)
class LogLine:
    """One line of a log: when, who, how bad, and what it says.

    ``token`` is its topic in a simulated incident; lines of recordings have none. ``bare`` is the
    message without what its technology puts around it; None if it puts nothing.
    """

    second: int
    service: str
    level: str
    message: str
    token: str | None = None
    bare: str | None = None


@attrs.frozen
class Alert:
    """A firing alert. ``since`` is the tick at which it started to fire."""

    service: str
    name: str
    since: int


@attrs.frozen
class Reading:
    """Measured health of a service or of the edge.

    ``error_bp`` is None if it was not recorded; ``earlier_p99_ms`` is TREND_TICKS older.
    """

    error_bp: int | None
    p99_ms: int
    earlier_p99_ms: int


@attrs.frozen
class Signal:
    """One measured figure of a service beside what is usual.

    The unit is the end of ``name``: ``_bp`` basis points, ``_ms`` milliseconds, ``_us``
    microseconds, ``_milli`` thousandths, nothing for a count in a minute. ``usual`` is the value
    without a fault, ``spread`` (above 0) how far it then strays by itself, ``iqr`` the distance of
    its quartiles then; None where not known. ``borrowed``: this service has no usual value of its
    own, and ``usual`` and ``spread`` are pooled from other services. ``of_lines``: it is a share of
    log lines, since they name no requests.
    """

    name: str
    value: int
    usual: int | None = None
    spread: int | None = None
    borrowed: bool = False
    iqr: int | None = None
    of_lines: bool = False

    @property
    def stray(self) -> float:
        """How many spreads the value lies above the usual one; 0 where either is not known."""
        if self.usual is None or self.spread is None:
            return 0.0
        return (self.value - self.usual) / self.spread


#: A tick, and the parts of a whole by name from then on.
Parts = tuple[int, tuple[tuple[str, int], ...]]


@attrs.frozen
class EdgePanel:
    """What users see, beside what they usually see; ``token`` names the two bands.

    ``errors`` and ``p99s`` are the series until now, read at the ticks ``starts``.
    """

    error_bp: int
    p99_ms: int
    usual_error_bp: int
    usual_p99_ms: int
    token: str
    starts: tuple[int, ...] = ()
    errors: tuple[int, ...] = ()
    p99s: tuple[int, ...] = ()


@attrs.frozen
class Series:
    """A row of figures, the newest last, beside the usual one; the label has the unit.

    With ``hundredths`` the values are hundredths of the unit. ``mark`` is a word on the newest one.
    """

    label: str
    values: tuple[int, ...]
    usual: int
    hundredths: bool = False
    mark: str = ""


@attrs.frozen
class Gauge:
    """One gauge of a service over the latest readings, the newest last.

    ``starts`` are the ticks of the readings, ``tokens`` their tokens (none in a recording), and
    ``rows`` their figures. In a recording, and where nothing is collected, ``text`` stands in place
    of rows; ``signal`` is the figure that the text of a recording tells.
    """

    service: str
    name: str
    starts: tuple[int, ...]
    tokens: tuple[str, ...]
    text: str = ""
    signal: Signal | None = None
    rows: tuple[Series, ...] = ()


@attrs.frozen
class Trace:
    """Where a service's slowest requests spend their time, and where errors start.

    Fields as in :class:`Gauge`; ``name`` is ``time`` or ``errors``. ``parts`` has an entry for each
    unusual run of readings: milliseconds of own time and of each call, or the per cent of failed
    requests that fail there. ``alone`` has figures that do not depend on the edge, for roles that
    do not see it.
    """

    service: str
    name: str
    starts: tuple[int, ...]
    tokens: tuple[str, ...]
    text: str = ""
    rows: tuple[Series, ...] = ()
    parts: tuple[Parts, ...] = ()
    alone: "Trace | None" = None


@attrs.frozen(cache_hash=True)
class Change:
    """A recent change: ``kind`` is deploy, config, traffic or advisory."""

    service: str
    kind: str
    minutes_ago: int
    detail: str
    token: str | None = None


@attrs.frozen
class Note:
    """A note in words: by responders, or on what a recording lacks.

    ``by`` is the team that writes it, ``service`` the service that it is about, ``token`` the topic
    that the team saw there; all are None in a recording, the last two without news.
    """

    text: str
    by: str | None = None
    service: str | None = None
    token: str | None = None


class Telemetry(Protocol):
    """A source of telemetry: immutable, hashable, with pure methods; services are indices."""

    def __hash__(self) -> int:
        """Equal telemetries have equal hashes."""

    @property
    def open_loop(self) -> bool:
        """Whether remedies change nothing here (a recording)."""

    @property
    def on_request(self) -> bool:
        """Whether figures are shown on request only: no dashboard, no health panel."""

    @property
    def tick_seconds(self) -> int:
        """How long a tick is: :data:`TICK_SECONDS`, unless a recording was sampled less often."""

    def changes(self, tick: int) -> tuple[Change, ...]:
        """Recent changes until ``tick``, innocent ones too; minutes count back from it."""

    def slo(self, tick: int) -> Reading | None:
        """What users see, measured at the edge; None if nothing was measured."""

    def notes(self, tick: int) -> tuple[str, ...]:
        """Notes on the screen at ``tick``, such as its age."""

    def alerts(self, tick: int) -> tuple[Alert, ...]:
        """Alerts that fire at ``tick``."""

    def window(self, tick: int) -> tuple[LogLine, ...]:
        """The log lines of all services that reach the screen at ``tick``."""

    def service_logs(self, service: int, tick: int) -> tuple[LogLine, ...]:
        """The recent lines of one service, shown on request."""

    def overview(self, tick: int) -> tuple[LogLine, ...]:
        """The answer to a request for all services: at most one line for each."""

    def health(self, service: int, tick: int) -> Reading | None:
        """Health of one service; None if nothing was measured."""

    def signals(self, tick: int) -> tuple[tuple[Signal, ...], ...]:
        """What a dashboard shows of every service, in index order; empty if there is none."""

    def metrics(self, service: int, tick: int) -> tuple[Gauge, ...]:
        """The gauges of one service, shown on request; empty where it has none."""

    def traces(self, service: int, tick: int) -> tuple[Trace, ...]:
        """The traces of one service, shown on request; empty where nobody traces it."""
