"""Turning raw rows into a :class:`~logtriage.recorded.records.RecordedIncident`.

Times are Unix milliseconds. The rows of an incident and of its baseline are treated alike.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from logtriage._lib.grouping import grouped
from logtriage.errors import BundleError, LogTriageError
from logtriage.recorded.condensing.log_events import are_sampled, can_be_traced, requests_of
from logtriage.recorded.condensing.raw_rows import LogRow, Rows
from logtriage.recorded.condensing.service_figures import (
    ALERT_LATENCY_MS,
    EDGE,
    ServiceRows,
    by_service,
    overall,
    spread_of,
)
from logtriage.recorded.condensing.spans_to_calls import tiers_and_calls
from logtriage.recorded.condensing.ticks import Clock, metrics_of
from logtriage.recorded.figures import FIRST_TICK, NO_SHIFT
from logtriage.recorded.records import (
    LogWindow,
    RecordedAlert,
    RecordedChange,
    RecordedIncident,
    RecordedLine,
    RecordedService,
    Recording,
)
from logtriage.recorded.truth import RecordedTruth
from logtriage.world.telemetry import ERROR_ALERT, LATENCY_ALERT, LEVELS, TICK_SECONDS

#: At most this many kinds of line are kept of one service in one window.
KEPT_LINES: Final = 6
#: Log windows are kept for this many ticks before tick 0.
LOG_HISTORY: Final = 1
MOST_CHANGES: Final = 200


def condensed(
    rows: Rows,
    usual: Rows,
    truth: RecordedTruth,
    *,
    where: str,
    opened: int,
    tick_seconds: int = TICK_SECONDS,
    baseline: str,
    alerts: tuple[RecordedAlert, ...] | None = None,
    horizon: int,
    **fields: str,
) -> RecordedIncident:
    """Make a record of ``rows``, those around an incident, and ``usual``, those of its baseline.

    ``opened`` is when tick 0 begins. Resource use is kept for ``horizon`` ticks, logs and calls as
    far as they go. ``baseline`` is one of :data:`records.BASELINES`. ``alerts`` are those that were
    sent; None: make alerts of the figures. ``fields`` are further fields of the record.

    Raises:
        BundleError: naming ``where``, for a value that no record may hold.
    """
    clock = Clock(rows, opened, horizon, tick_seconds)
    try:
        now, before = by_service(rows, usual), by_service(usual, rows)
        services = tuple(_services(rows, usual, now, before, clock))
        made = (alert for service in services for alert in _alerts_of(service, clock.last_measured))
        return RecordedIncident(
            opened=f"{datetime.fromtimestamp(opened / 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}",
            recording=Recording(
                services=services,
                edge=clock.series(now[EDGE]),
                edge_baseline=overall(before[EDGE]),
                windows=_windows(rows.logs, usual.logs, opened, clock.last_logged, tick_seconds),
                alerts=tuple(made) if alerts is None else alerts,
                changes=tuple(_changes(rows, opened)),
                baseline=baseline,
                tick_seconds=tick_seconds,
            ),
            truth=truth,
            horizon=horizon,
            **fields,
        )
    except LogTriageError as error:
        raise BundleError(f"{where}: {error}") from None


def _services(
    rows: Rows,
    usual: Rows,
    now: Mapping[str, ServiceRows],
    before: Mapping[str, ServiceRows],
    clock: Clock,
) -> Iterator[RecordedService]:
    """Yield the services of the incident and the baseline; both are treated alike."""
    names = sorted(rows.services | usual.services)
    background, pairs = rows.background | usual.background, usual.pairs | rows.pairs
    tiers, calls = tiers_and_calls(names, pairs, usual.stores | rows.stores, background)
    for name in names:
        here, there = now[name], before[name]
        traced = can_be_traced(there.calls, there.logs) and can_be_traced(here.calls, here.logs)
        sampled = are_sampled(there.calls, there.logs) or are_sampled(here.calls, here.logs)
        requests, usual_requests = (
            requests_of(name, own.calls, own.logs, own.logged, traced=traced, sampled=sampled)
            for own in (here, there)
        )
        fresh, shifted = clock.shifts(requests, usual_requests)
        yield RecordedService(
            name=name,
            tier=tiers[name],
            calls=calls[name],
            baseline=overall(there),
            spread=spread_of(there, overall(there)),
            series=clock.series(here),
            new_errors=NO_SHIFT if here.failed is None else fresh,
            events=shifted,
            # Only the import of Nezha sets minutes; its shipped incidents do not say it.
            of_lines=bool(shifted.value) and not traced and usual.minutes is None,
            metrics=metrics_of(here.samples, there.samples, clock),
        )


def _changes(rows: Rows, opened: int) -> Iterator[RecordedChange]:
    """Yield the latest :data:`MOST_CHANGES` changes in order of time."""
    order = sorted(rows.changes, key=lambda row: (row.at, row.until, row.service, row.detail))
    for row in order[-MOST_CHANGES:]:
        first = (row.at - opened) // 1000
        last = (max(row.at, row.until) - opened) // 1000
        yield RecordedChange(row.service, row.kind, row.detail, first, last, row.count)


def _windows(
    logs: Sequence[LogRow], usual: Sequence[LogRow], opened: int, last: int, tick_seconds: int
) -> tuple[LogWindow, ...]:
    """The windows up to tick ``last``, a line for each kind; none if nothing was logged at all."""
    if not logs:
        return ()
    known = {(row.service, row.event) for row in usual}
    ticks = range(-LOG_HISTORY, last + 1)
    windows: dict[int, dict[tuple[str, str], RecordedLine]] = {tick: {} for tick in ticks}
    for row in sorted(logs, key=lambda row: (row.at, row.service, row.message)):
        # The window of a tick ends when the tick begins.
        window = windows.get((row.at - opened) // (1000 * tick_seconds) + 1)
        if window is None:
            continue
        key = (row.service, row.event)
        before = window.get(key)
        window[key] = RecordedLine(
            second=(row.at - opened) // 1000,
            service=row.service,
            level=row.level or LEVELS[0],  # an unknown level counts as the lowest
            message=row.message,
            count=1 if before is None else before.count + 1,
            new=bool(known) and key not in known,
        )
    return tuple(LogWindow(tick, _lines_to_keep(lines.values())) for tick, lines in windows.items())


def _lines_to_keep(lines: Iterable[RecordedLine]) -> tuple[RecordedLine, ...]:
    """Keep :data:`KEPT_LINES` of each service, the loudest, then new, then latest, by time."""

    def rank(line: RecordedLine) -> tuple[int, bool, int, str]:
        return -LEVELS.index(line.level), not line.new, -line.second, line.message

    kept = grouped((line.service, line) for line in sorted(lines, key=rank))
    loudest = (line for own in kept.values() for line in own[:KEPT_LINES])
    return tuple(sorted(loudest, key=lambda line: (line.second, line.service, line.message)))


#: Alerts fire on symptoms as a service's callers see them, against the baseline, and
#: never on a cause such as CPU: an agent has to look for that.
ALERT_CALLS: Final = 3
#: By alert: the figure, and the least multiple of its usual value and the least rise that raise it.
_ALERTS: Final = {
    ERROR_ALERT: ("error_bp", 1, 1000),
    LATENCY_ALERT: ("p50_ms", 3, ALERT_LATENCY_MS),
}


def _alerts_of(service: RecordedService, last: int) -> Iterator[RecordedAlert]:
    """The alerts of a service up to tick ``last``, from its figures and its baseline."""
    figures = [(tick, service.series.at(tick)) for tick in range(FIRST_TICK, last + 1)]
    for name, (figure, factor, rise) in _ALERTS.items():
        usual = getattr(service.baseline, figure)
        if usual is None:
            continue
        least = max(factor * usual, usual + rise)
        since: int | None = None  # the tick from which on it fires
        for tick, now in figures:
            value = getattr(now, figure)
            fires = value is not None and value >= least and (now.calls or 0) >= ALERT_CALLS
            if fires and since is None:
                since = tick
            elif not fires and since is not None:
                yield RecordedAlert(service.name, name, since, tick - 1)
                since = None
        if since is not None:  # it fires at the last tick
            yield RecordedAlert(service.name, name, since)
