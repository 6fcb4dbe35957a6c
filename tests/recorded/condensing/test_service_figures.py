"""Spreads: estimated from the baseline, never below what matters."""

import pytest

from logtriage.recorded.condensing.raw_rows import Call, Rows, Usage
from logtriage.recorded.condensing.service_figures import (
    FLOOR_CPU_BP,
    FLOOR_MS,
    ServiceRows,
    by_service,
    overall,
    spread_of,
)
from logtriage.recorded.figures import Measure


def _rows(*latencies_ms: int, usage: tuple[Usage, ...] = ()) -> ServiceRows:
    calls = (Call(0, None, "back", 1000 * ms, 1000 * ms, "t", 1000 * ms) for ms in latencies_ms)
    return ServiceRows(tuple(calls), usage)


def test_steady_figures_have_the_floors() -> None:
    found = spread_of(
        _rows(*[5] * 20, usage=tuple(Usage(n, "back", 200) for n in range(9))), Measure()
    )
    assert (found.cpu_bp, found.network_ms, found.self_ms) == (FLOOR_CPU_BP, FLOOR_MS, FLOOR_MS)


def test_cpu_is_the_standard_deviation_of_its_samples() -> None:
    usage = tuple(Usage(n, "back", cpu) for n, cpu in enumerate((0, 1000)))
    assert spread_of(_rows(usage=usage), Measure()).cpu_bp == 500


def test_latency_is_that_of_single_requests() -> None:
    # Median 100, p90 228.16: 100 ms at 1.2816 standard deviations.
    found = spread_of(_rows(*[100] * 8, 228, 228), Measure())
    assert found.network_ms == 100


def test_counts_stray_by_chance() -> None:
    found = spread_of(_rows(*[1] * 98), Measure(calls=98, error_bp=0))
    assert found.calls == 15
    assert found.error_bp == round(10_000 * (0.01 * 0.99 * 2 / 98) ** 0.5)
    assert found.p99_ms is None
    hour = spread_of(_rows(*[1] * 5880), Measure(calls=98, error_bp=100))
    assert hour.error_bp == pytest.approx(10_000 * (0.01 * 0.99 * 2 / 98) ** 0.5, rel=0.02)


def test_too_little_is_unknown() -> None:
    found = spread_of(_rows(5, 5), Measure())
    assert (found.cpu_bp, found.network_ms, found.calls, found.error_bp) == (None,) * 4


@pytest.mark.parametrize("seconds", [20, 45, 89, 91, 300])
def test_usual_counts_are_per_minute_however_long_the_baseline_is(seconds: int) -> None:
    calls = tuple(Call(200 * n, None, "back", 1000, None, f"t{n}") for n in range(5 * seconds))
    found = overall(by_service(Rows(calls=calls), Rows())["back"])
    assert found.calls == pytest.approx(300, rel=0.02)
    whole = overall(by_service(Rows(calls=calls, minutes=5), Rows())["back"])
    assert whole.calls == seconds


@pytest.mark.parametrize(("gap", "usual"), [(40, 2), (75, 1), (20, 3)])
def test_few_requests_are_no_silence(gap: int, usual: int) -> None:
    times = [at for n in range(10) for at in (1000 * gap * n, 1000 * gap * n + 10)]
    calls = tuple(Call(at, None, "shop", 1000, None, "t") for at in times[::2])
    rows = Rows(calls=(*calls, *(Call(at, "shop", "bank", 900, None, "t") for at in times[1::2])))
    assert overall(by_service(rows, Rows())["bank"]).calls == usual
    alone = overall(by_service(rows.between(0, 20), Rows())["bank"])
    assert (alone.calls, alone.p50_ms) == (None, 1)
