"""From rows of logs, calls and resource use to a :class:`Recording`.

Knows nothing of file formats or of faults: the same arithmetic on the rows of an
incident and on those of its baseline, alerts where the two differ, and for each
tick the log lines worth keeping. Times here are Unix milliseconds.
"""

from datetime import UTC, datetime

import attrs

from logtriage.errors import BundleError, LogTriageError
from logtriage.recorded.alerts import alerts_of
from logtriage.recorded.callgraph import layout_of
from logtriage.recorded.clock import Clock
from logtriage.recorded.coverage import Coverage
from logtriage.recorded.events import are_sampled, can_be_traced, requests_of
from logtriage.recorded.metrics import metrics_of
from logtriage.recorded.parts import by_service, edge_of, overall
from logtriage.recorded.records import (
    RUBRICS,
    RecordedAlert,
    RecordedIncident,
    RecordedService,
    Recording,
)
from logtriage.recorded.rows import Rows
from logtriage.recorded.spread import spread_of
from logtriage.recorded.truth import RecordedTruth
from logtriage.recorded.windows import log_windows
from logtriage.world.telemetry import TICK_SECONDS


def record(
    rows: Rows,
    usual: Rows,
    *,
    opened: int,
    horizon: int,
    baseline: str,
    tick_seconds: int = TICK_SECONDS,
) -> Recording:
    """Condense the rows around an incident, and those of its baseline.

    Args:
        rows: what was recorded before, at and after the opening.
        usual: the baseline; empty where there is none.
        opened: when tick 0 begins, in Unix milliseconds.
        horizon: ticks for which resource use is kept (logs and calls end earlier).
        baseline: what ``usual`` is, one of :data:`records.BASELINES`.
        tick_seconds: how long a tick is.
    """
    names = sorted(rows.services | usual.services)
    tiers, graph = layout_of(names, usual.pairs | rows.pairs)
    clock = Clock(rows, opened, horizon, tick_seconds)
    logged = Coverage.of(row.at for row in usual.logs)
    now, before = by_service(rows), by_service(usual)
    services = []
    for name in names:
        here, there = now[name], before[name]
        traced = can_be_traced(there.calls, there.logs) and can_be_traced(here.calls, here.logs)
        sampled = are_sampled(there.calls, there.logs) or are_sampled(here.calls, here.logs)
        requests, known = (
            requests_of(name, one.calls, one.logs, when, traced=traced, sampled=sampled)
            for one, when in ((here, clock.logged), (there, logged))
        )
        fresh, shifted = clock.shifts(requests, known)
        services.append(
            RecordedService(
                name=name,
                tier=tiers[name],
                calls=graph[name],
                baseline=overall(there),
                spread=spread_of(there.calls, there.usage, overall(there)),
                series=clock.series(here),
                new_errors=fresh,
                events=shifted,
                metrics=metrics_of(here.samples, there.samples, clock),
            )
        )
    return Recording(
        services=tuple(services),
        edge=clock.series(edge_of(rows)),
        edge_baseline=overall(edge_of(usual)),
        windows=log_windows(rows.logs, usual.logs, opened, clock.last, tick_seconds),
        alerts=tuple(alert for service in services for alert in alerts_of(service, clock.measured)),
        baseline=baseline,
        tick_seconds=tick_seconds,
    )


def condensed(
    rows: Rows,
    usual: Rows,
    truth: RecordedTruth,
    *,
    where: str,
    name: str,
    opened: int,
    horizon: int,
    baseline: str,
    task: str,
    origin: str,
    rubric: str = RUBRICS[0],
    tick_seconds: int = TICK_SECONDS,
    alerts: tuple[RecordedAlert, ...] | None = None,
) -> RecordedIncident:
    """The incident of some rows, as :func:`record` condenses them.

    ``name`` is its id, and ``alerts`` are those that were sent; None: those that the figures make.

    Raises:
        BundleError: naming ``where``, for what no record may hold.
    """
    try:
        recording = record(
            rows,
            usual,
            opened=opened,
            horizon=horizon,
            baseline=baseline,
            tick_seconds=tick_seconds,
        )
        return RecordedIncident(
            id=name,
            opened=f"{datetime.fromtimestamp(opened / 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}",
            recording=recording if alerts is None else attrs.evolve(recording, alerts=alerts),
            truth=truth,
            task=task,
            horizon=horizon,
            origin=origin,
            rubric=rubric,
        )
    except LogTriageError as error:
        raise BundleError(f"{where}: {error}") from None
