"""Recorded rows before they are condensed. Times are Unix milliseconds."""

import attrs


@attrs.frozen
class LogRow:
    """A log line, cleaned; ``trace`` is the request that it belongs to, or empty.

    ``event`` is the kind of line: equal for lines that say the same.
    """

    at: int
    service: str
    level: str
    message: str
    event: str
    trace: str = ""


@attrs.frozen
class Call:
    """A request to ``callee``; ``caller`` is None if it came from outside.

    ``latency_us`` is the caller's wait, ``network_us`` the part of it outside of the callee, and
    ``self_us`` the time in the callee itself, both None if not measured; all in microseconds.
    ``failed`` is the status by the callee; None without one.
    """

    at: int
    caller: str | None
    callee: str
    latency_us: int
    network_us: int | None = None
    trace: str = ""
    self_us: int | None = None
    failed: bool | None = None


@attrs.frozen
class Span:
    """Half of a call, or a step inside a service; ``start`` and ``duration`` in microseconds.

    ``parent`` is the id of the span above, or empty. ``failed``: whether its status is an error;
    None without a status. ``peer`` is the callee of a client's span.
    """

    trace: str
    id: str
    parent: str
    service: str
    start: int
    duration: int
    failed: bool | None = None
    peer: str = ""

    @property
    def at(self) -> int:
        """When it started, in Unix milliseconds."""
        return self.start // 1000


@attrs.frozen
class Usage:
    """A sample of resource use.

    ``p99_ms`` and ``calls`` (a minute) stand in if no calls were traced.
    """

    at: int
    service: str
    cpu_bp: int | None = None
    p99_ms: int | None = None
    calls: int | None = None


@attrs.frozen
class Sample:
    """A sample of any other metric, as an integer in the unit that its name ends with."""

    at: int
    service: str
    name: str
    value: int


@attrs.frozen
class Rows:
    """The rows of a stretch of time."""

    logs: tuple[LogRow, ...] = ()
    calls: tuple[Call, ...] = ()
    usage: tuple[Usage, ...] = ()
    #: Samples of the edge as a whole.
    edge_usage: tuple[Usage, ...] = ()
    samples: tuple[Sample, ...] = ()
    #: Who calls whom, if that is known without calls.
    graph: tuple[tuple[str, str], ...] = ()

    @property
    def services(self) -> frozenset[str]:
        """Every service that left a trace of any kind."""
        return frozenset(
            {row.service for row in self.logs}
            | {row.service for row in self.usage}
            | {row.service for row in self.samples}
            | {name for pair in self.pairs for name in pair if name is not None}
        )

    @property
    def pairs(self) -> frozenset[tuple[str | None, str]]:
        """Who called whom; no caller where a request came from outside."""
        return frozenset((call.caller, call.callee) for call in self.calls).union(self.graph)

    def between(self, since: int, until: int) -> "Rows":
        """The rows with ``since <= at < until``."""
        kept = {
            name: tuple(row for row in getattr(self, name) if since <= row.at < until)
            for name in ("logs", "calls", "usage", "edge_usage", "samples")
        }
        return attrs.evolve(self, **kept)
