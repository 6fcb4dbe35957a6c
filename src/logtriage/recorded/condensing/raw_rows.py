"""Rows of telemetry before they are condensed, and the times in which anything was recorded.

Times are Unix milliseconds.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, TypeVar

import attrs

#: When nothing at all is heard for longer than this, nothing was recorded; where rows are few,
#: it takes this many times the mean time between them.
SILENCE_MS: Final = 30_000
SILENCE_GAPS: Final = 8


@attrs.frozen
class LogRow:
    """A log line, cleaned; ``trace`` is the request that it belongs to, or empty.

    ``level`` is None if nothing says it; ``event`` is equal for lines that say the same. ``key`` is
    its identity in the store that has it, where there is one: two lines with a key are the same.
    ``file`` is the number of its file, if several are read.
    """

    at: int
    service: str
    level: str | None
    message: str
    event: str
    trace: str = ""
    key: str = attrs.field(default="", eq=False)
    file: int = attrs.field(default=0, eq=False)


class Entry(StrEnum):
    """How a request without a recorded caller began."""

    #: It begins with its root span, or its row says so: a user's.
    ROOT = "root"
    #: Its parent was not captured: a user's, unless recorded services call its service.
    ORPHAN = "orphan"
    #: By itself or by a message: a job, a consumer. No user waits.
    BACKGROUND = "background"


@attrs.frozen
class Call:
    """A request to ``callee``; ``caller`` is None if no recorded service sent it.

    ``latency_us`` is the caller's wait, ``network_us`` the part of it outside of the callee, and
    ``self_us`` the time in the callee itself, both None if not measured; all in microseconds.
    ``failed``: whether the callee's status is an error; None without a status. ``told``: whether
    a status says so, and not the lack of one. ``entry`` says how a request without a caller began.
    ``tier`` is that of a store without spans, else empty.
    """

    at: int
    caller: str | None
    callee: str
    latency_us: int
    network_us: int | None = None
    trace: str = ""
    self_us: int | None = None
    failed: bool | None = None
    entry: Entry = Entry.ROOT
    tier: str = ""
    told: bool = False


@attrs.frozen
class Span:
    """Half of a call, or a step inside a service; ``start`` and ``duration`` in microseconds.

    ``parent`` is the id of the span above, or empty. ``failed``: whether its status is an error;
    None without a status; ``told`` is as of a call. ``peer`` is the callee of a client's span.
    ``kind`` is SERVER, CLIENT, PRODUCER, CONSUMER or INTERNAL, or empty. ``shared``: it has the id
    of its caller's span. ``tier`` is that of the peer if it is a store, else empty.
    """

    trace: str
    id: str
    parent: str
    service: str
    start: int
    duration: int
    failed: bool | None = None
    peer: str = ""
    kind: str = ""
    shared: bool = False
    tier: str = ""
    told: bool = False

    @property
    def at(self) -> int:
        """When it started, in Unix milliseconds."""
        return self.start // 1000


@attrs.frozen
class ChangeRow:
    """A change of a service, such as a rollout; seen ``count`` times, the last one at ``until``.

    ``key`` is its identity where it has one: rows with a key tell the same change at several times.
    ``space`` is the namespace of the service, if known.
    """

    at: int
    service: str
    kind: str
    detail: str
    until: int
    count: int = 1
    key: str = attrs.field(default="", eq=False)
    space: str = attrs.field(default="", eq=False)


@attrs.frozen
class Dependency:
    """``count`` calls of one service to another, at unknown times."""

    caller: str
    callee: str
    count: int


@attrs.frozen
class Usage:
    """A sample of resource use; ``p99_ms`` and ``calls`` (a minute) stand in for untraced calls.

    ``instance`` is a number of the service's instance; 0 if there are none.
    """

    at: int
    service: str
    cpu_bp: int | None = None
    p99_ms: int | None = None
    calls: int | None = None
    instance: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Sample:
    """A sample of any other metric, as an integer in the unit that its name ends with.

    ``instance`` as in :class:`Usage`. ``since`` is when the growth of a rate began, else 0.
    """

    at: int
    service: str
    name: str
    value: int
    instance: int = attrs.field(default=0, eq=False)
    since: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Scraped:
    """Values of a series at a time, whose meaning is known once everything is read.

    ``instance`` numbers the series. ``nano`` is the time in Unix nanoseconds, and ``since`` when a
    count began, or 0. A distribution has its count and its sum.
    """

    instance: int
    nano: int
    values: tuple[float, ...]
    since: int = 0

    @property
    def at(self) -> int:
        """The time in Unix milliseconds."""
        return self.nano // 1_000_000


#: The rows of a capture, beside alerts and dependencies.
RawRow = LogRow | Call | Span | Usage | Sample | ChangeRow | Scraped
AnyRow = TypeVar("AnyRow", bound=RawRow | Dependency)
_SERVICES: Final = ("service", "peer", "caller", "callee")


def renamed(row: AnyRow, names: Mapping[str, str]) -> AnyRow:
    """The row with its services renamed as ``names`` says; other names stay."""
    if not names:
        return row
    now: dict[str, Any] = {field: getattr(row, field, None) for field in _SERVICES}
    changed: dict[str, Any] = {field: names[name] for field, name in now.items() if name in names}
    return attrs.evolve(row, **changed) if changed else row


@attrs.frozen(slots=False)
class Rows:
    """The rows of a stretch of time."""

    logs: tuple[LogRow, ...] = ()
    calls: tuple[Call, ...] = ()
    usage: tuple[Usage, ...] = ()
    #: Samples of the edge as a whole.
    edge_usage: tuple[Usage, ...] = ()
    samples: tuple[Sample, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    #: Who calls whom, if that is known without calls.
    graph: tuple[tuple[str, str], ...] = ()
    #: In how many whole minutes the calls are counted, if not by the time that they cover.
    minutes: int | None = None

    @property
    def services(self) -> frozenset[str]:
        """Every service that left a trace of any kind."""
        names: set[str | None] = {call.callee for call in self.calls}
        names.update(call.caller for call in self.calls)
        names |= {row.service for row in self.logs} | {row.service for row in self.usage}
        names |= {row.service for row in self.samples} | {row.service for row in self.changes}
        names.update(*self.graph)
        return frozenset(name for name in names if name is not None)

    @property
    def pairs(self) -> frozenset[tuple[str | None, str]]:
        """(caller, callee) pairs; the caller is None for users."""
        called = {(call.caller, call.callee) for call in self.calls if call.caller is not None}
        edge = {(None, call.callee) for call in self.edge_calls}
        return frozenset({*called, *edge, *self.graph})

    @property
    def background(self) -> frozenset[str]:
        """Services that work by themselves or on messages."""
        return frozenset(call.callee for call in self.calls if call.entry is Entry.BACKGROUND)

    @property
    def stores(self) -> dict[str, str]:
        """The tiers of the stores that send no spans, by name."""
        return {call.callee: call.tier for call in self.calls if call.tier}

    @cached_property
    def edge_calls(self) -> tuple[Call, ...]:
        """The requests of users."""
        called = {call.callee for call in self.calls if call.caller is not None}
        called.update(callee for _, callee in self.graph)
        entered = (call for call in self.calls if call.caller is None)
        return tuple(
            call
            for call in entered
            if call.entry is Entry.ROOT
            or (call.entry is Entry.ORPHAN and call.callee not in called)
        )

    def between(self, since: int, until: int) -> "Rows":
        """The rows with ``since <= at < until``."""
        kept: dict[str, Any] = {
            name: tuple(row for row in getattr(self, name) if since <= row.at < until)
            for name in ("logs", "calls", "usage", "edge_usage", "samples", "changes")
        }
        return attrs.evolve(self, **kept)


@attrs.frozen
class Coverage:
    """When rows were recorded: sorted, separate stretches (since, until) in Unix milliseconds."""

    stretches: tuple[tuple[int, int], ...] = ()
    #: As :attr:`Rows.minutes`.
    minutes: int | None = None

    @classmethod
    def of(cls, times: Iterable[int]) -> "Coverage":
        """The stretches that rows cover, given the times of the rows."""
        ordered, stretches = sorted(times), list[tuple[int, int]]()
        seconds = len({at // 1000 for at in ordered})  # a request is several rows at a time
        mean_gap = (ordered[-1] - ordered[0]) // (seconds - 1) if seconds > 1 else 0
        silence = max(SILENCE_MS, SILENCE_GAPS * mean_gap)
        for at in ordered:
            if stretches and at - stretches[-1][1] <= silence:
                stretches[-1] = stretches[-1][0], at
            else:
                stretches.append((at, at))
        return cls(tuple(stretches))

    @property
    def length(self) -> int:
        """How long all stretches are together, in milliseconds."""
        return sum(until - since for since, until in self.stretches)

    @property
    def until(self) -> int | None:
        """The end of the last stretch; None if nothing was recorded."""
        return self.stretches[-1][1] if self.stretches else None

    def overlap(self, since: int, until: int) -> int:
        """How much of the time from ``since`` to ``until`` was recorded, in milliseconds."""
        return sum(max(0, min(until, b) - max(since, a)) for a, b in self.stretches)

    def has_half(self, since: int, until: int) -> bool:
        """Whether at least half of the time from ``since`` to ``until`` was recorded."""
        return 2 * self.overlap(since, until) >= until - since

    def __contains__(self, at: int) -> bool:
        return any(a <= at <= b for a, b in self.stretches)


NOWHERE: Final = Coverage()
