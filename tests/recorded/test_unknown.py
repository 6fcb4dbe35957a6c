"""Unknown is told as unknown: no zero, no invented call, no old screen without a word."""

import attrs

from logtriage import initial_state, observe, render_observation
from logtriage.incident import Incident
from logtriage.recorded import (
    LogWindow,
    Measure,
    Metric,
    RecordedIncident,
    RecordedLine,
    RecordedService,
    RecordedTruth,
    Recording,
    Series,
    as_incident,
)
from logtriage.recorded.condensing.spans_to_calls import tiers_and_calls
from logtriage.rendering import system_prompt
from logtriage.world.telemetry import Signal
from tests.recorded.layout import shown_by

NOW = (None,) * 4


def incident_of(*services: RecordedService, **fields: object) -> Incident:
    recording = Recording(services, **fields)  # type: ignore[arg-type]
    truth = RecordedTruth((services[0].name,), "x")
    return as_incident(RecordedIncident("mine/1", "2031-05-06T10:00:00Z", recording, truth))


def _screen(incident: Incident) -> str:
    return render_observation(observe(initial_state(incident)))


def _quiet(name: str, network: int | None, now: int, **baseline: int) -> RecordedService:
    return RecordedService(
        name,
        "edge",
        baseline=Measure(network_ms=network, **baseline),
        spread=Measure(network_ms=None if network is None else 10),
        series=Series(network_ms=(*NOW, now)),
    )


def test_the_usual_value_of_the_others_stands_in_where_a_figure_can_be_compared() -> None:
    services = [_quiet(f"s{n}", 4 + n, 4) for n in range(3)]
    incident = incident_of(*services, _quiet("late", None, 1010))
    (late,) = shown_by(incident).signals(0)[3]
    # The median of 4, 5, 6; 10 of the services themselves, and how far they differ.
    assert late == Signal("network_ms", 1010, 5, 10, borrowed=True)
    assert late.stray > 90
    assert "late: network 1010 ms (others 5 ± 10)" in _screen(incident)
    told = [one.text for one in shown_by(incident).metrics(3, 0)]
    assert told == ["network 1010ms (usual of others 5ms ± 10ms)"]


def test_whoever_borrows_must_stand_out_from_how_services_differ() -> None:
    services = [_quiet(f"s{n}", 4 + 300 * n, 4) for n in range(4)]
    (late,) = shown_by(incident_of(*services, _quiet("late", None, 1010))).signals(0)[4]
    assert late.spread is not None
    assert late.spread > 300


def test_two_services_are_too_few_to_borrow_from_and_the_figure_is_always_shown() -> None:
    services = [_quiet(f"s{n}", 4, 4) for n in range(2)]
    incident = incident_of(*services, _quiet("late", None, 1010))
    (late,) = shown_by(incident).signals(0)[2]
    assert (late.usual, late.spread) == (None, None)
    assert _screen(incident).split("no usual value is known:\n")[1].startswith("late: network 1010")


def test_how_often_a_service_is_called_is_not_borrowed() -> None:
    usual = [
        RecordedService(f"s{n}", "edge", baseline=Measure(calls=9), spread=Measure(calls=3))
        for n in range(3)
    ]
    busy = RecordedService("busy", "edge", series=Series(calls=(*NOW, 900)))
    assert shown_by(incident_of(*usual, busy)).signals(0)[3] == (Signal("calls", 900),)


def test_errors_that_were_not_recorded_are_unknown_and_not_zero() -> None:
    late = Series(p99_ms=(*NOW, 40))
    screen = _screen(incident_of(RecordedService("front", "edge", series=late), edge=late))
    assert "SLO edge: errors unknown, p99 40 ms" in screen
    assert "0.00%" not in screen
    alone = _screen(incident_of(RecordedService("front", "edge"), edge=late))
    assert "no figures were recorded" not in alone


def test_an_edge_that_was_not_measured_has_no_panel() -> None:
    screen = _screen(incident_of(RecordedService("front", "edge")))
    assert "SLO" not in screen
    assert "NOTE: no logs were recorded" in screen
    assert "NOTE: no figures were recorded" in screen
    assert "NOTE: no time without a fault was recorded: what is usual is not known" in screen


def test_unknown_health_is_of_services_without_any_figure() -> None:
    incident = incident_of(
        RecordedService("front", "edge", series=Series(cpu_bp=(*NOW, 9000))),
        RecordedService("back", "edge"),
    )
    health = _screen(incident).split("HEALTH")[1].split("SIGNALS")[0].splitlines()[1:]
    assert health == ["figures below if they stray: front", "unknown: back"]


def test_an_old_screen_says_so() -> None:
    window = LogWindow(0, (RecordedLine(-1, "front", "INFO", "hello"),))
    metrics = (Metric("queue", (*NOW, 1, 2, 3)),)
    front = RecordedService("front", "edge", series=Series(p99_ms=(*NOW, 40, 41)), metrics=metrics)
    incident = incident_of(front, windows=(window,), baseline="fault-free")
    notes = [shown_by(incident).notes(tick) for tick in range(4)]
    lines = "logs were recorded up to tick 0: its lines are shown"
    figures = "figures of requests were recorded up to tick 1: they stand as they were then"
    samples = "samples were recorded up to tick 2: they stand as they were then"
    assert notes == [(), (lines,), (lines, figures), (lines, figures, samples)]


def test_no_call_is_invented() -> None:
    tiers, calls = tiers_and_calls(("a", "b", "c", "d"), [(None, "b"), ("b", "c")], {"c": "queue"})
    assert calls == {"a": (), "b": ("c",), "c": (), "d": ()}
    assert tiers == {"a": "edge", "b": "edge", "c": "queue", "d": "edge"}


def test_without_any_call_every_service_stands_by_itself() -> None:
    tiers, calls = tiers_and_calls(("a", "mysql", "z"), [], {})
    assert set(calls.values()) == {()}
    assert set(tiers.values()) == {"edge"}
    prompt = system_prompt(incident_of(*(RecordedService(name, "edge") for name in "abz")))
    assert "as recorded): no call was recorded" in prompt
    assert "SERVICES of which no call was recorded: a, b, z" in prompt


def test_of_a_circle_the_first_is_taken_for_the_way_in() -> None:
    tiers, calls = tiers_and_calls(("a", "b", "gateway"), [("a", "b"), ("b", "a")], {})
    assert (tiers["a"], tiers["b"], tiers["gateway"]) == ("edge", "service", "edge")
    assert calls["gateway"] == ()


def test_a_longer_tick_is_told() -> None:
    incident = incident_of(
        RecordedService("front", "edge", series=Series(cpu_bp=(*NOW, 5))), tick_seconds=300
    )
    assert "ticks of 300 s" in system_prompt(incident)
    seen = observe(initial_state(incident))
    assert seen.tick_seconds == 300
    signals = (Signal("cpu_bp", 9000, 100, 100),)
    text = render_observation(attrs.evolve(seen, signals=(signals,), health=(None,)))
    assert "SIGNALS of the last 5 minutes" in text
    assert "p99 20 min ago" in text


def test_new_complaints_come_first_and_are_marked() -> None:
    known = [RecordedLine(n - 8, "front", "ERROR", f"way {'abcdefgh'[n]} fails") for n in range(8)]
    new = RecordedLine(-8, "front", "WARN", "never seen", new=True)
    chatter = RecordedLine(-8, "front", "INFO", "new chatter", new=True)
    incident = incident_of(
        RecordedService("front", "edge"), windows=(LogWindow(0, (new, chatter, *known)),)
    )
    shown = [one.message for one in shown_by(incident).window(0)]
    assert "[new] never seen" in shown
    assert not any("chatter" in one for one in shown)
    asked = [one.message for one in shown_by(incident).service_logs(0, 0)]
    assert "[new] never seen" in asked
