"""Alerts, from measured thresholds only."""

from collections.abc import Iterable
from typing import Final

from logtriage.recorded.figures import FIRST_TICK, Measure
from logtriage.recorded.records import RecordedAlert, RecordedService
from logtriage.world.telemetry import ERROR_ALERT, LATENCY_ALERT

#: Alerts fire on symptoms as a service's callers see them, against the baseline, and
#: never on a cause such as CPU: whoever triages has to look for that.
ALERT_CALLS: Final = 3
ALERT_ERROR_BP: Final = 1000
ALERT_LATENCY_FACTOR: Final = 3
ALERT_LATENCY_MS: Final = 100


# --- alerts ------------------------------------------------------------------------------


def alerts_of(service: RecordedService, last: int) -> list[RecordedAlert]:
    """The alerts of a service up to tick ``last``, from its figures and its baseline."""
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
