"""The rows of each service, and its figures over a stretch of time; times are Unix milliseconds."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from operator import attrgetter
from statistics import median_low, pstdev
from typing import Final, TypeVar

import attrs

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.log_events import ERROR_LEVELS
from logtriage.recorded.condensing.raw_rows import (
    NOWHERE,
    Call,
    Coverage,
    Entry,
    LogRow,
    Rows,
    Sample,
    Usage,
)
from logtriage.recorded.figures import Measure

#: Figures are those of the minute before a tick; counts are per minute.
SPAN_MS: Final = 60_000
#: A latency alert fires only if latency is at least this much above the usual.
ALERT_LATENCY_MS: Final = 100
#: A count per minute takes at least this much time that was recorded.
_ENOUGH_MS: Final = 10_000
#: Fewer measurements than this have no meaningful median.
ENOUGH: Final = 3
#: Smaller changes do not matter, however steady a figure is: a point of CPU, and a tenth of the
#: latency that raises an alert.
FLOOR_CPU_BP: Final = 100
FLOOR_MS: Final = ALERT_LATENCY_MS // 10
#: Standard deviations from the median of a normal distribution to its p90.
_P90_SIGMAS: Final = 1.2816
_at: Final = attrgetter("at")
#: Figures that come from samples of resource use, by whether there are figures of calls.
SAMPLED: Final = {True: ("cpu_bp",), False: ("calls", "p99_ms", "cpu_bp")}
#: The name of the edge among services.
EDGE: Final = ""
Timed = TypeVar("Timed", Call, LogRow, Usage, Sample)


@attrs.frozen
class ServiceRows:
    """The rows of one service, or of the edge, sorted by time."""

    calls: tuple[Call, ...] = ()
    usage: tuple[Usage, ...] = ()
    logs: tuple[LogRow, ...] = ()
    samples: tuple[Sample, ...] = ()
    #: The requests in which it logged an error; None if it has no lines, or none with a level.
    failed: frozenset[str] | None = frozenset()
    #: When calls, and when logs, of any service were recorded.
    traced: Coverage = NOWHERE
    logged: Coverage = NOWHERE
    #: Whether its lines name requests that were captured: only then they tell which ones failed.
    joined: bool = False


def by_service(rows: Rows, other: Rows) -> Mapping[str, ServiceRows]:
    """The rows of each service, and at :data:`EDGE` the requests of users; empty for other names.

    ``other`` are the baseline's rows if ``rows`` are the incident's, and the reverse: the same
    rules hold for both. Background work counts only at a service without requests. Errors of a
    service are unknown if it has lines, but none with a level, and no call to it failed; those of
    the edge, if they are of all services with lines. Lines that name no captured request tell
    nothing of requests either.
    """
    every, lines = (*rows.calls, *other.calls), (*rows.logs, *other.logs)
    requested = {call.callee for call in every if call.entry is not Entry.BACKGROUND}
    failing = {call.callee for call in every if call.failed}
    with_lines = {row.service for row in lines}
    with_levels = {row.service for row in lines if row.level is not None}
    unknown = with_lines - with_levels - failing  # services whose errors are unknown
    traces = _traces(every)
    joined = {row.service for row in lines if row.trace in traces}
    counted = (
        attrs.evolve(call, failed=None) if call.callee in unknown else call
        for call in rows.calls
        if call.entry is not Entry.BACKGROUND or call.callee not in requested
    )
    calls, usage = _by("callee", counted), _by("service", rows.usage)
    logs, samples = _by("service", rows.logs), _by("service", rows.samples)
    traced, logged = covered(rows)
    none = ServiceRows(traced=traced, logged=logged)
    figures = defaultdict(lambda: none)
    for name in calls.keys() | usage.keys() | logs.keys() | samples.keys():
        figures[name] = attrs.evolve(
            none,
            calls=tuple(calls.get(name, ())),
            usage=tuple(usage.get(name, ())),
            logs=tuple(logs.get(name, ())),
            samples=tuple(samples.get(name, ())),
            failed=_failed(logs.get(name, ())) if name in with_lines - unknown else None,
            joined=name in joined,
        )
    edge, failed = sorted(rows.edge_calls, key=_at), None
    if not with_lines or unknown != with_lines:
        # Users see the answer, whatever was logged on the way to it.
        succeeded = {call.trace for call in edge if call.told and not call.failed}
        failed = _failed(rows.logs) - succeeded
    elif not failing:
        edge = [attrs.evolve(call, failed=None) for call in edge]
    usage_of_edge = tuple(sorted(rows.edge_usage, key=_at))
    figures[EDGE] = attrs.evolve(
        none, calls=tuple(edge), usage=usage_of_edge, failed=failed, joined=bool(joined)
    )
    return figures


def _by(name: str, rows: Iterable[Timed]) -> Mapping[str, list[Timed]]:
    """Rows by the value of field ``name``, in order of time."""
    return grouped((getattr(row, name), row) for row in sorted(rows, key=_at))


def covered(rows: Rows) -> tuple[Coverage, Coverage]:
    """When calls, and when logs, of any service were recorded."""
    traced = attrs.evolve(Coverage.of(call.at for call in rows.calls), minutes=rows.minutes)
    return traced, Coverage.of(row.at for row in rows.logs)


def _traces(calls: Iterable[Call]) -> set[str]:
    return {call.trace for call in calls if call.trace}


def _failed(logs: Iterable[LogRow]) -> frozenset[str]:
    """The requests that lines of an error name."""
    return frozenset(row.trace for row in logs if row.trace and row.level in ERROR_LEVELS)


def figures_of(rows: ServiceRows, since: int, until: int) -> dict[str, int | None]:
    """The figures of the calls in a stretch of time; empty if no calls were recorded."""
    recorded = rows.traced.overlap(since, until)
    if not rows.calls or not recorded:
        return {}
    first, after = (bisect_left(rows.calls, at, key=_at) for at in (since, until))
    calls = rows.calls[first:after]
    logs_tell = rows.logged.has_half(since, until) and rows.joined and rows.failed is not None
    traces = _traces(call for call in calls if call.at in rows.logged) if logs_tell else set()
    latencies = sorted(call.latency_us for call in calls)
    network = sorted(_measured(calls, "network_us"))
    own = sorted(_measured(calls, "self_us"))
    return {
        "calls": round(len(calls) * SPAN_MS / recorded) if recorded >= _ENOUGH_MS else None,
        "error_bp": _error_bp(calls, traces, rows.failed or frozenset()),
        "self_ms": _percentile_ms(own, 50) if len(own) >= ENOUGH else None,
        "p50_ms": _percentile_ms(latencies, 50),
        "p99_ms": _percentile_ms(latencies, 99),
        "network_ms": _percentile_ms(network, 50) if len(network) >= ENOUGH else None,
    }


def _measured(rows: Iterable[Call | Usage], field: str) -> list[int]:
    """The values of a field in the rows that have it."""
    values = (getattr(row, field) for row in rows)
    return [value for value in values if value is not None]


def _error_bp(calls: Sequence[Call], traces: set[str], failed: frozenset[str]) -> int | None:
    """Failed requests in basis points: of ``traces`` by log or status; without any, by status."""
    if traces:
        by_status = {call.trace for call in calls if call.failed and call.trace in traces}
        return 10_000 * len((traces & failed) | by_status) // len(traces)
    known = [call.failed for call in calls if call.failed is not None]
    return 10_000 * sum(known) // len(known) if known else None


def _percentile_ms(ordered: Sequence[int], percent: int) -> int | None:
    """The nearest-rank percentile of sorted microseconds, in milliseconds."""
    if not ordered:
        return None
    return (_nearest_rank(ordered, percent) + 500) // 1000


def _nearest_rank(ordered: Sequence[int], percent: int) -> int:
    return ordered[(len(ordered) * percent + 99) // 100 - 1]


def overall(rows: ServiceRows) -> Measure:
    """The figures of a baseline over its whole length; for resource use, the median sample."""
    stretches = rows.traced.stretches
    figures = figures_of(rows, stretches[0][0], stretches[-1][1] + 1) if stretches else {}
    if figures and rows.traced.minutes is not None:
        figures["calls"] = len(rows.calls) // rows.traced.minutes
    for name in SAMPLED[bool(figures)]:
        known = _measured(rows.usage, name)
        figures[name] = median_low(known) if known else None
    return Measure(**figures)


def spread_of(rows: ServiceRows, usual: Measure) -> Measure:
    """How far each figure strays from its ``usual`` value without a fault; None if not known.

    CPU: the standard deviation of its samples. Latencies: the standard deviation of single
    requests, estimated as (p90 - median) / 1.28: a service that is usually slow for one request in
    ten is no suspect for that. Counts: the standard deviation, by chance alone, of the difference
    of two minutes: Poisson for calls, binomial for the share of errors. p99: None, since it hangs
    on one request of a minute or two.
    """
    calls, cpu = rows.calls, _measured(rows.usage, "cpu_bp")
    error_bp = None
    if usual.error_bp is not None:
        count = len(calls)
        share = (usual.error_bp * count / 10_000 + 1) / (count + 2)
        # The shipped incidents of Nezha take all calls of the baseline for those of a minute.
        calls_a_minute = count if rows.traced.minutes is not None else max(1, usual.calls or 0)
        error_bp = max(1, round(10_000 * sqrt(share * (1 - share) * 2 / calls_a_minute)))
    return Measure(
        calls=None if usual.calls is None else round(sqrt(2 * usual.calls)) + 1,
        error_bp=error_bp,
        self_ms=_sigma_ms(call.self_us for call in calls),
        p50_ms=_sigma_ms(call.latency_us for call in calls),
        network_ms=_sigma_ms(call.network_us for call in calls),
        cpu_bp=max(FLOOR_CPU_BP, round(pstdev(cpu))) if cpu else None,
    )


def _sigma_ms(values: Iterable[int | None]) -> int | None:
    """The standard deviation in milliseconds of microseconds, estimated from median and p90."""
    known = sorted(value for value in values if value is not None)
    if len(known) < ENOUGH:
        return None
    middle, high = _nearest_rank(known, 50), _nearest_rank(known, 90)
    return max(FLOOR_MS, round((high - middle) / _P90_SIGMAS / 1000))
