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

from logtriage.phrases import ERROR_ALERT, LATENCY_ALERT
from logtriage.recorded.callgraph import call_graph, tiers_of
from logtriage.recorded.records import (
    FIGURES,
    FIRST_TICK,
    Column,
    LogWindow,
    Measure,
    RecordedAlert,
    RecordedLine,
    RecordedService,
    Recording,
    Series,
)
from logtriage.recorded.rows import Call, LogRow, Rows, Usage
from logtriage.recorded.text import template
from logtriage.telemetry import LEVELS, TICK_SECONDS

TICK_MS: Final = 1000 * TICK_SECONDS
#: Figures are taken over the minute before a tick.
SPAN_MS: Final = 60_000
#: Resource use is sampled once a minute; an older sample than this is stale.
STALE_MS: Final = 90_000
#: Kinds of line kept of one service in one window.
KEPT_LINES: Final = 6
#: How long before tick 0 a service's lines reach back, in ticks.
LOG_HISTORY: Final = 1

#: Alerts fire on symptoms as a service's callers see them, against the baseline, and
#: never on a cause such as CPU: whoever triages has to look for that.
ALERT_CALLS: Final = 3
ALERT_ERROR_BP: Final = 1000
ALERT_LATENCY_FACTOR: Final = 3
ALERT_LATENCY_MS: Final = 100


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
    now, before = _by_service(rows), _by_service(usual)
    errors, errors_before = _error_traces(rows.logs), _error_traces(usual.logs)
    services = tuple(
        RecordedService(
            name=name,
            tier=tiers[name],
            calls=graph[name],
            baseline=_overall(before[name], errors_before.get(name, frozenset())),
            series=clock.series(now[name], errors.get(name, frozenset())),
        )
        for name in names
    )
    edge, edge_before = _edge(rows), _edge(usual)
    return Recording(
        services=services,
        edge=clock.series(edge, frozenset().union(*errors.values())),
        edge_baseline=_overall(edge_before, frozenset().union(*errors_before.values())),
        windows=_windows(rows.logs, usual.logs, opened, clock.last),
        alerts=tuple(alert for service in services for alert in _alerts(service, clock.last)),
        baseline=baseline,
    )


# --- figures -----------------------------------------------------------------------------


@attrs.frozen
class _Part:
    """The rows that concern one service, or the edge, sorted by time."""

    calls: tuple[Call, ...]
    usage: tuple[Usage, ...]
    #: Whether logs were recorded at all: without them an error rate is unknown, not 0.
    logged: bool


def _by_service(rows: Rows) -> Mapping[str, _Part]:
    calls: defaultdict[str, list[Call]] = defaultdict(list)
    usage: defaultdict[str, list[Usage]] = defaultdict(list)
    for call in sorted(rows.calls, key=lambda call: call.at):
        calls[call.callee].append(call)
    for row in sorted(rows.usage, key=lambda row: row.at):
        usage[row.service].append(row)
    logged = bool(rows.logs)
    parts: defaultdict[str, _Part] = defaultdict(lambda: _Part((), (), logged))
    for name in calls.keys() | usage.keys():
        parts[name] = _Part(tuple(calls[name]), tuple(usage[name]), logged)
    return parts


def _edge(rows: Rows) -> _Part:
    calls = sorted((call for call in rows.calls if call.caller is None), key=lambda call: call.at)
    usage = sorted(rows.edge_usage, key=lambda row: row.at)
    return _Part(tuple(calls), tuple(usage), bool(rows.logs))


def _error_traces(logs: Iterable[LogRow]) -> dict[str, frozenset[str]]:
    """For each service the requests in which it logged an error."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in logs:
        if row.trace and row.level in ("ERROR", "FATAL"):
            found[row.service].add(row.trace)
    return {service: frozenset(traces) for service, traces in found.items()}


def _figures(part: _Part, calls: Sequence[Call], errors: frozenset[str]) -> dict[str, int | None]:
    """What the calls of one stretch of time say; all None where no calls were recorded."""
    if not part.calls:
        return dict.fromkeys(("calls", "error_bp", "p50_ms", "p99_ms", "network_ms"))
    latencies = sorted(call.latency_us for call in calls)
    network = sorted(call.network_us for call in calls if call.network_us is not None)
    traces = {call.trace for call in calls}
    failed = 10_000 * len(traces & errors) // len(traces) if traces else None
    return {
        "calls": len(calls),
        "error_bp": failed if part.logged else None,
        "p50_ms": _rank(latencies, 50),
        "p99_ms": _rank(latencies, 99),
        "network_ms": _rank(network, 50),
    }


def _rank(ordered: Sequence[int], percent: int) -> int | None:
    """The nearest-rank percentile of sorted microseconds, in milliseconds."""
    if not ordered:
        return None
    return (ordered[(len(ordered) * percent + 99) // 100 - 1] + 500) // 1000


def _median(values: Iterable[int | None]) -> int | None:
    known = sorted(value for value in values if value is not None)
    return known[(len(known) - 1) // 2] if known else None


def _overall(part: _Part, errors: frozenset[str]) -> Measure:
    """The figures of a baseline: the median sample, and calls a minute over its length."""
    figures = _figures(part, part.calls, errors)
    if part.calls:
        minutes = max(1, round((part.calls[-1].at - part.calls[0].at) / SPAN_MS))
        figures["calls"] = len(part.calls) // minutes
    else:
        figures["p99_ms"] = _median(row.p99_ms for row in part.usage)
    return Measure(**figures, cpu_bp=_median(row.cpu_bp for row in part.usage))


class _Clock:
    """Which ticks a recording covers, and the figures at each of them."""

    def __init__(self, rows: Rows, opened: int, horizon: int) -> None:
        times = [row.at for row in rows.logs] + [call.at for call in rows.calls]
        self._opened = opened
        self._horizon = horizon
        self._since = min(times, default=opened)
        self._until = max(times, default=opened)
        #: The last tick of whose window at least half was recorded.
        self.last = (self._until - opened + TICK_MS // 2) // TICK_MS

    def series(self, part: _Part, errors: frozenset[str]) -> Series:
        """The columns of one service, or of the edge."""
        columns: dict[str, list[int | None]] = {name: [] for name in FIGURES}
        at = [call.at for call in part.calls]
        if part.calls:
            for tick in range(FIRST_TICK, max(self.last, FIRST_TICK) + 1):
                until = self._opened + tick * TICK_MS
                since = until - SPAN_MS
                calls = part.calls[bisect_left(at, since) : bisect_left(at, until)]
                covered = min(until, self._until) - max(since, self._since) >= SPAN_MS // 2
                for name, value in _figures(part, calls, errors).items():
                    columns[name].append(value if covered else None)
        else:
            columns["p99_ms"] = self._samples({row.at: row.p99_ms for row in part.usage})
        columns["cpu_bp"] = self._samples({row.at: row.cpu_bp for row in part.usage})
        return Series(**{name: _column(values) for name, values in columns.items()})

    def _samples(self, samples: Mapping[int, int | None]) -> list[int | None]:
        """At each tick the last fresh sample; what was not sampled at the end is left off."""
        found: list[int | None] = []
        for tick in range(FIRST_TICK, self._horizon + 1):
            now = self._opened + tick * TICK_MS
            fresh = [at for at in samples if now - STALE_MS < at <= now]
            found.append(samples[max(fresh)] if fresh else None)
        while found and found[-1] is None:
            found.pop()
        return found


def _column(values: list[int | None]) -> Column:
    return tuple(values) if any(value is not None for value in values) else ()


# --- alerts ------------------------------------------------------------------------------


def _alerts(service: RecordedService, last: int) -> list[RecordedAlert]:
    usual = service.baseline
    ticks = range(FIRST_TICK, last + 1)
    at = {tick: service.series.at(tick) for tick in ticks}
    firing = {
        ERROR_ALERT: [tick for tick in ticks if _failing(at[tick], usual)],
        LATENCY_ALERT: [tick for tick in ticks if _slow(at[tick], usual)],
    }
    return [
        RecordedAlert(service.name, name, first, None if final == last else final)
        for name, found in firing.items()
        for first, final in _runs(found)
    ]


def _failing(now: Measure, usual: Measure) -> bool:
    if now.error_bp is None or usual.error_bp is None or (now.calls or 0) < ALERT_CALLS:
        return False
    return now.error_bp >= usual.error_bp + ALERT_ERROR_BP


def _slow(now: Measure, usual: Measure) -> bool:
    if now.p50_ms is None or usual.p50_ms is None or (now.calls or 0) < ALERT_CALLS:
        return False
    return (
        now.p50_ms >= ALERT_LATENCY_FACTOR * usual.p50_ms
        and now.p50_ms >= usual.p50_ms + ALERT_LATENCY_MS
    )


def _runs(ticks: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of consecutive ticks."""
    runs: list[tuple[int, int]] = []
    for tick in ticks:
        if runs and runs[-1][1] == tick - 1:
            runs[-1] = (runs[-1][0], tick)
        else:
            runs.append((tick, tick))
    return runs


# --- log lines ---------------------------------------------------------------------------


def _windows(
    logs: Iterable[LogRow], usual: Sequence[LogRow], opened: int, last: int
) -> tuple[LogWindow, ...]:
    known = {(row.service, template(row.level, row.message)) for row in usual}
    first = min(-LOG_HISTORY, last)
    windows: dict[int, dict[tuple[str, str], RecordedLine]] = {
        tick: {} for tick in range(first, last + 1)
    }
    seen = False
    for row in sorted(logs, key=lambda row: (row.at, row.service, row.message)):
        seen = True
        window = windows.get((row.at - opened) // TICK_MS + 1)
        if window is None:
            continue
        key = (row.service, template(row.level, row.message))
        before = window.get(key)
        window[key] = RecordedLine(
            second=(row.at - opened) // 1000,
            service=row.service,
            level=row.level,
            message=row.message,
            count=1 if before is None else before.count + 1,
            new=bool(known) and key not in known,
        )
    if not seen:
        return ()
    return tuple(LogWindow(tick, _kept(lines.values())) for tick, lines in windows.items())


def _kept(lines: Iterable[RecordedLine]) -> tuple[RecordedLine, ...]:
    """Of each service the loudest, newest and latest kinds of line, in order of time."""
    kept: defaultdict[str, list[RecordedLine]] = defaultdict(list)
    for line in sorted(
        lines,
        key=lambda line: (-LEVELS.index(line.level), not line.new, -line.second, line.message),
    ):
        if len(kept[line.service]) < KEPT_LINES:
            kept[line.service].append(line)
    return tuple(
        sorted(
            (line for lines_ in kept.values() for line in lines_),
            key=lambda line: (line.second, line.service, line.message),
        )
    )
