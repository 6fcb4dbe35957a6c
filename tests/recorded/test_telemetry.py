"""A recording as telemetry: what is chosen, what repeats, what is unknown."""

from logtriage.recorded import (
    LogWindow,
    Measure,
    RecordedAlert,
    RecordedLine,
    RecordedService,
    RecordedTelemetry,
    Recording,
    Series,
    Shift,
)
from logtriage.world.telemetry import Alert, LogLine, Reading, Signal, Trace

FRONT, BACK = 0, 1


def _telemetry(*windows: LogWindow, alerts: tuple[RecordedAlert, ...] = ()) -> RecordedTelemetry:
    return RecordedTelemetry(
        Recording(
            services=(
                RecordedService("front", "edge", ("back",)),
                RecordedService(
                    "back",
                    baseline=Measure(p99_ms=20, cpu_bp=125),
                    # From tick -4 on: ticks -4 to 1.
                    series=Series(
                        error_bp=(0, 0, 0, 0, 100, 200),
                        p99_ms=(None, 31, 32, 33, 34, 35),
                        cpu_bp=(1, 2, 3, 4, 9050),
                    ),
                ),
            ),
            edge=Series(p99_ms=(7, 7, 7, 7, 50)),
            windows=windows,
            alerts=alerts,
        )
    )


def test_loud_lines_come_first_and_every_service_gets_a_turn() -> None:
    ways = enumerate("abcdefgh")
    lines = [RecordedLine(n - 9, "front", "ERROR", f"front fails in way {way}") for n, way in ways]
    lines.append(RecordedLine(-1, "back", "ERROR", "back fails"))
    lines.append(RecordedLine(0, "back", "INFO", "chatter"))
    shown = _telemetry(LogWindow(0, tuple(lines))).window(0)
    assert len(shown) == 6
    assert [line.second for line in shown] == sorted(line.second for line in shown)
    assert sum(line.service == "front" for line in shown) == 5
    assert "back fails" in {line.message for line in shown}
    assert "chatter" not in {line.message for line in shown}


def test_lines_that_say_the_same_are_one_line_with_a_count() -> None:
    window = LogWindow(
        0, tuple(RecordedLine(n - 4, "back", "INFO", f"took {n} ms", count=n) for n in range(1, 4))
    )
    assert _telemetry(window).window(0) == (LogLine(-1, "back", "INFO", "took 3 ms (x6)"),)


def test_service_logs_reach_back_one_window_and_end_with_the_figures() -> None:
    now = RecordedLine(-2, "back", "WARN", "now")
    telemetry = _telemetry(
        LogWindow(-2, (RecordedLine(-80, "back", "INFO", "long ago"),)),
        LogWindow(-1, (RecordedLine(-40, "back", "INFO", "before"),)),
        LogWindow(0, (RecordedLine(-9, "front", "INFO", "not asked"), now)),
    )
    figures = "last minute (usually): cpu 90.5% (1.2%), p99 34ms (20ms), errors 1.0%"
    assert telemetry.service_logs(BACK, 0) == (
        LogLine(-40, "back", "INFO", "before"),
        LogLine(-2, "back", "WARN", "now"),
        LogLine(0, "back", "INFO", figures),
    )
    assert telemetry.service_logs(FRONT, 0) == (LogLine(-9, "front", "INFO", "not asked"),)


def test_the_most_notable_lines_are_kept() -> None:
    lines = tuple(RecordedLine(n - 8, "back", "INFO", f"kind {'abcdefgh'[n]}") for n in range(8))
    new = RecordedLine(-8, "back", "INFO", "never seen before", new=True)
    loud = RecordedLine(-8, "back", "ERROR", "failed")
    shown = _telemetry(LogWindow(0, (new, loud, *lines))).service_logs(BACK, 0)
    assert {line.message for line in shown[:-1]} == {
        "[new] never seen before", "failed", "kind f", "kind g", "kind h",
    }  # fmt: skip


def test_after_the_end_the_last_window_and_figures_stay() -> None:
    telemetry = _telemetry(
        LogWindow(0, (RecordedLine(-1, "back", "INFO", "first"),)),
        LogWindow(1, (RecordedLine(20, "back", "INFO", "last"),)),
    )
    assert telemetry.window(9) == telemetry.window(1)
    assert telemetry.overview(9) == telemetry.overview(1)
    assert telemetry.service_logs(BACK, 9)[:-1] == (
        LogLine(-1, "back", "INFO", "first"),
        LogLine(20, "back", "INFO", "last"),
    )
    assert telemetry.health(BACK, 9) == Reading(200, 35, 35)


def test_health_shows_the_trend_and_what_is_usual_before_the_recording() -> None:
    telemetry = _telemetry()
    assert telemetry.health(BACK, 1) == Reading(200, 35, 31)
    assert telemetry.health(BACK, 0) == Reading(100, 34, 20)
    assert telemetry.health(FRONT, 0) is None
    assert telemetry.slo(0) == Reading(None, 50, 7)


def test_a_recording_that_ends_before_the_opening_stays_on_its_last_window() -> None:
    telemetry = _telemetry(LogWindow(-1, (RecordedLine(-45, "back", "ERROR", "gone"),)))
    shown = (LogLine(-45, "back", "ERROR", "gone"),)
    for tick in (0, 5):
        assert telemetry.window(tick) == shown
        assert telemetry.overview(tick) == shown
        assert telemetry.service_logs(FRONT, tick) == ()


def test_nothing_recorded_is_nothing_shown() -> None:
    telemetry = RecordedTelemetry(Recording(services=(RecordedService("front", "edge"),)))
    assert telemetry.window(3) == ()
    assert telemetry.overview(3) == ()
    assert telemetry.service_logs(0, 3) == ()
    assert telemetry.health(0, 3) is None
    assert telemetry.slo(3) is None


def test_signals_stand_beside_what_is_usual() -> None:
    telemetry = RecordedTelemetry(
        Recording(
            services=(
                RecordedService("front", "edge", ("back",)),
                RecordedService(
                    "back",
                    baseline=Measure(network_ms=4, cpu_bp=125),
                    spread=Measure(network_ms=10),
                    series=Series(network_ms=(None,) * 4 + (104, 3), cpu_bp=(1,) * 6),
                    events=Shift((None,) * 5 + (0,), (None,) * 5 + (9000,), (None,) * 5 + (1500,)),
                ),
            )
        )
    )
    front, back = telemetry.signals(0)
    assert front == ()
    assert back == (Signal("network_ms", 104, 4, 10), Signal("cpu_bp", 1, 125, None))
    assert [one.stray for one in back] == [10.0, 0.0]
    shifted = Signal("events_bp", 0, 9000, 1500)
    assert telemetry.signals(1)[1][2] == shifted
    assert shifted.stray == -6.0
    # After the end the last figures stay.
    assert telemetry.signals(7) == telemetry.signals(1)


def test_alerts_fire_from_since_until_until() -> None:
    late = RecordedAlert("front", "HighLatency", 1, 2)
    telemetry = _telemetry(alerts=(late, RecordedAlert("back", "HighLatency", -1)))
    back, front = Alert("back", "HighLatency", -1), Alert("front", "HighLatency", 1)
    assert [telemetry.alerts(tick) for tick in range(4)] == [
        (back,), (back, front), (back, front), (back,),
    ]  # fmt: skip


def test_asked_for_metrics_are_the_signals_and_traces_the_spans() -> None:
    telemetry = RecordedTelemetry(
        Recording(
            services=(
                RecordedService("front", "edge", ("back",)),
                RecordedService(
                    "back",
                    calls=("store",),
                    baseline=Measure(calls=9, p99_ms=30, self_ms=4, cpu_bp=125),
                    series=Series(
                        calls=(None,) * 4 + (7,), self_ms=(None,) * 4 + (12,),
                        p50_ms=(None,) * 4 + (20,), p99_ms=(None,) * 4 + (88, 90),
                        network_ms=(None,) * 4 + (3,), cpu_bp=(None,) * 4 + (9050,),
                    ),
                    events=Shift((None,) * 4 + (1500,), (None,) * 4 + (0,), (None,) * 4 + (9,)),
                ),
                RecordedService("store", "datastore", series=Series(p99_ms=(None,) * 4 + (8,))),
            )
        )
    )  # fmt: skip
    shown = telemetry.metrics(BACK, 0)
    assert [one.name for one in shown] == [one.name for one in telemetry.signals(0)[1]]
    assert {(one.service, one.starts, one.tokens) for one in shown} == {("back", (0,), ())}
    assert [one.text for one in shown] == [
        "calls 7 (usual 9)", "self 12ms (usual 4ms)", "p50 20ms", "p99 88ms (usual 30ms)",
        "network 3ms", "cpu 90.5% (usual 1.2%)", "events 15.0% (usual 0.0% ± 0.09%)",
    ]  # fmt: skip
    assert telemetry.traces(BACK, 1) == (
        Trace(
            "back", "time", (1,), (),
            "90ms (usual 30ms), median 20ms, in itself 12ms (usual 4ms), on the way 3ms, "
            "store takes 8ms",
        ),
    )  # fmt: skip
    # Nothing was measured of the front, and nobody traced it: what it calls is not its own.
    assert telemetry.metrics(FRONT, 0) == ()
    assert telemetry.traces(FRONT, 0) == ()
