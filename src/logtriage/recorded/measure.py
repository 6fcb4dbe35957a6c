"""From rows of logs, calls and resource use to a :class:`Recording`.

Knows nothing of file formats or of faults: the same arithmetic on the rows of an
incident and on those of its baseline, alerts where the two differ, and for each
tick the log lines worth keeping. Times here are Unix milliseconds.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from logtriage.recorded.alerts import alerts_of
from logtriage.recorded.callgraph import call_graph, tiers_of
from logtriage.recorded.coverage import NOWHERE, Coverage
from logtriage.recorded.events import (
    ERROR_LEVELS,
    Requests,
    Shifted,
    can_be_traced,
    most_shifted,
    new_errors,
    requests_of,
)
from logtriage.recorded.figures import FIGURES, FIRST_TICK, Column, Measure, Series, Shift
from logtriage.recorded.records import RecordedService, Recording
from logtriage.recorded.rows import Call, LogRow, Rows, Usage
from logtriage.recorded.spread import ENOUGH, spread_of
from logtriage.recorded.windows import log_windows
from logtriage.telemetry import TICK_SECONDS

TICK_MS: Final = 1000 * TICK_SECONDS
#: Figures are taken over the minute before a tick.
SPAN_MS: Final = 60_000
#: Resource use is sampled once a minute; an older sample than this is stale.
STALE_MS: Final = 90_000


def record(rows: Rows, usual: Rows, *, opened: int, horizon: int, baseline: str) -> Recording:
    """Condense the rows around an incident, and those of its baseline.

    Args:
        rows: what was recorded before, at and after the opening.
        usual: the baseline; empty where there is none.
        opened: when tick 0 begins, in Unix milliseconds.
        horizon: ticks for which resource use is kept (logs and calls end earlier).
        baseline: what ``usual`` is, one of :data:`records.BASELINES`.
    """
    names = sorted(rows.services | usual.services)
    tiers = tiers_of(names, (*usual.calls, *rows.calls))
    graph = call_graph(names, tiers, (*usual.calls, *rows.calls))
    clock = _Clock(rows, opened, horizon)
    logged = Coverage.of(row.at for row in usual.logs)
    now, before = _by_service(rows), _by_service(usual)
    services = []
    for name in names:
        here, there = now[name], before[name]
        traced = can_be_traced(there.calls, there.logs) and can_be_traced(here.calls, here.logs)
        requests = requests_of(name, here.calls, here.logs, clock.logged, traced=traced)
        known = requests_of(name, there.calls, there.logs, logged, traced=traced)
        fresh, shifted = clock.shifts(requests, known)
        services.append(
            RecordedService(
                name=name,
                tier=tiers[name],
                calls=graph[name],
                baseline=_overall(there),
                spread=spread_of(there.calls, there.usage, _overall(there)),
                series=clock.series(here),
                new_errors=fresh,
                events=shifted,
            )
        )
    return Recording(
        services=tuple(services),
        edge=clock.series(_edge(rows)),
        edge_baseline=_overall(_edge(usual)),
        windows=log_windows(rows.logs, usual.logs, opened, clock.last),
        alerts=tuple(alert for service in services for alert in alerts_of(service, clock.measured)),
        baseline=baseline,
    )


# --- figures -----------------------------------------------------------------------------


@attrs.frozen
class _Part:
    """The rows that concern one service, or the edge, sorted by time."""

    calls: tuple[Call, ...] = ()
    usage: tuple[Usage, ...] = ()
    logs: tuple[LogRow, ...] = ()
    #: The requests in which it logged an error.
    failed: frozenset[str] = frozenset()
    #: When calls, and logs, of any service were recorded: elsewhere nothing is known.
    traced: Coverage = NOWHERE
    logged: Coverage = NOWHERE


def _by_service(rows: Rows) -> Mapping[str, _Part]:
    calls: defaultdict[str, list[Call]] = defaultdict(list)
    usage: defaultdict[str, list[Usage]] = defaultdict(list)
    logs: defaultdict[str, list[LogRow]] = defaultdict(list)
    for call in sorted(rows.calls, key=lambda call: call.at):
        calls[call.callee].append(call)
    for sample in sorted(rows.usage, key=lambda row: row.at):
        usage[sample.service].append(sample)
    for row in sorted(rows.logs, key=lambda row: row.at):
        logs[row.service].append(row)
    traced, logged = _covered(rows)
    parts: defaultdict[str, _Part] = defaultdict(lambda: _Part(traced=traced, logged=logged))
    for name in calls.keys() | usage.keys() | logs.keys():
        parts[name] = _Part(
            tuple(calls[name]),
            tuple(usage[name]),
            tuple(logs[name]),
            _failed(logs[name]),
            traced,
            logged,
        )
    return parts


def _edge(rows: Rows) -> _Part:
    calls = sorted((call for call in rows.calls if call.caller is None), key=lambda call: call.at)
    usage = sorted(rows.edge_usage, key=lambda row: row.at)
    return _Part(tuple(calls), tuple(usage), (), _failed(rows.logs), *_covered(rows))


def _covered(rows: Rows) -> tuple[Coverage, Coverage]:
    return Coverage.of(call.at for call in rows.calls), Coverage.of(row.at for row in rows.logs)


def _failed(logs: Iterable[LogRow]) -> frozenset[str]:
    return frozenset(row.trace for row in logs if row.trace and row.level in ERROR_LEVELS)


def _figures(part: _Part, since: int, until: int, calls: Sequence[Call]) -> dict[str, int | None]:
    """What the calls of one stretch of time say; all None where none were recorded."""
    recorded = part.traced.overlap(since, until)
    if not part.calls or not recorded:
        return {}
    heard = 2 * part.logged.overlap(since, until) >= until - since
    traces = {call.trace for call in calls if call.at in part.logged} if heard else set()
    latencies = sorted(call.latency_us for call in calls)
    network = sorted(call.network_us for call in calls if call.network_us is not None)
    own = sorted(call.self_us for call in calls if call.self_us is not None)
    return {
        "calls": round(len(calls) * SPAN_MS / recorded),
        "error_bp": 10_000 * len(traces & part.failed) // len(traces) if traces else None,
        "self_ms": _rank(own, 50) if len(own) >= ENOUGH else None,
        "p50_ms": _rank(latencies, 50),
        "p99_ms": _rank(latencies, 99),
        "network_ms": _rank(network, 50) if len(network) >= ENOUGH else None,
    }


def _rank(ordered: Sequence[int], percent: int) -> int | None:
    """The nearest-rank percentile of sorted microseconds, in milliseconds."""
    if not ordered:
        return None
    return (ordered[(len(ordered) * percent + 99) // 100 - 1] + 500) // 1000


def _median(values: Iterable[int | None]) -> int | None:
    known = sorted(value for value in values if value is not None)
    return known[(len(known) - 1) // 2] if known else None


def _overall(part: _Part) -> Measure:
    """The figures of a baseline over its whole length; of resource use the median sample."""
    ends = part.traced.stretches
    figures = _figures(part, ends[0][0], ends[-1][1] + 1, part.calls) if ends else {}
    if figures:
        figures["calls"] = len(part.calls) // max(1, round(part.traced.length / SPAN_MS))
    else:
        figures = {name: _median(_samples(part.usage, name)) for name in ("calls", "p99_ms")}
    return Measure(**figures, cpu_bp=_median(row.cpu_bp for row in part.usage))


def _samples(usage: Iterable[Usage], name: str) -> Iterable[int | None]:
    return (getattr(row, name) for row in usage)


class _Clock:
    """Which ticks a recording covers, and what was measured at each of them."""

    def __init__(self, rows: Rows, opened: int, horizon: int) -> None:
        self._opened = opened
        self._horizon = horizon
        self.traced, self.logged = _covered(rows)
        until = max(
            (one.until for one in (self.traced, self.logged) if one.until is not None),
            default=opened,
        )
        #: The last tick of whose log window at least half was recorded, 0 at least ...
        self.last = max(0, (until - opened + TICK_MS // 2) // TICK_MS)
        #: ... and that for the minute of the figures.
        self.measured = (until - opened + SPAN_MS // 2) // TICK_MS

    def _spans(self) -> Iterable[tuple[int, int]]:
        for tick in range(FIRST_TICK, max(self.measured, FIRST_TICK) + 1):
            until = self._opened + tick * TICK_MS
            yield until - SPAN_MS, until

    def series(self, part: _Part) -> Series:
        """The columns of one service, or of the edge."""
        columns: dict[str, list[int | None]] = {name: [] for name in FIGURES}
        at = [call.at for call in part.calls]
        if part.calls:
            for since, until in self._spans():
                calls = part.calls[bisect_left(at, since) : bisect_left(at, until)]
                covered = self.traced.overlap(since, until) >= SPAN_MS // 2
                figures = _figures(part, since, until, calls) if covered else {}
                for name in FIGURES:
                    columns[name].append(figures.get(name))
        else:
            for name in ("calls", "p99_ms"):
                columns[name] = self._sampled(part.usage, name)
        columns["cpu_bp"] = self._sampled(part.usage, "cpu_bp")
        return Series(**{name: _column(values) for name, values in columns.items()})

    def shifts(self, requests: Requests, usual: Requests) -> tuple[Shift, Shift]:
        """New errors, and the event that shifted most, at each tick."""
        fresh: list[Shifted | None] = []
        shifted: list[Shifted | None] = []
        for since, until in self._spans():
            covered = self.logged.overlap(since, until) >= SPAN_MS // 2
            now = requests.between(since, until) if covered else ()
            fresh.append(new_errors(now, usual))
            shifted.append(most_shifted(now, usual))
        return _shift(fresh), _shift(shifted)

    def _sampled(self, usage: Sequence[Usage], name: str) -> list[int | None]:
        """At each tick the last fresh sample; what was not sampled at the end is left off."""
        samples = {row.at: getattr(row, name) for row in usage}
        found: list[int | None] = []
        for tick in range(FIRST_TICK, self._horizon + 1):
            now = self._opened + tick * TICK_MS
            fresh = [at for at in samples if now - STALE_MS < at <= now]
            found.append(samples[max(fresh)] if fresh else None)
        while found and found[-1] is None:
            found.pop()
        return found


def _column(values: Sequence[int | None]) -> Column:
    return tuple(values) if any(value is not None for value in values) else ()


def _shift(found: Sequence[Shifted | None]) -> Shift:
    if all(one is None for one in found):
        return Shift()
    columns = zip(*(one or (None, None, None) for one in found), strict=True)
    return Shift(*columns)
