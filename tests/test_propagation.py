"""How impact climbs, falls back and blips: levels and readings by hand."""

from typing import Any

import pytest

from logtriage.propagation import Affected, Impact, Mode, Scenario, level, read, resting
from logtriage.telemetry import NO_EFFECTS, Effects
from tests.builders import errors_of

REST = Impact(base_error=10, base_p99=100, peak_error=10, peak_p99=100)
PEAK = Impact(base_error=10, base_p99=100, peak_error=2010, peak_p99=1100)


def scenario(**changes: Any) -> Scenario:
    """Starts at tick -4, full after 4 ticks, one tick later for each hop."""
    fields: dict[str, Any] = {
        "seed": 7,
        "mode": Mode.CASCADE,
        "affected": (Affected(0, 0, -1, PEAK, 0),),
        "slo": PEAK,
        "edge_hops": 1,
        "onset": -4,
        "ramp": 4,
        "lag": 1,
        "peak_tick": 0,
        "voice_at": 3,
        "distractors": (),
        "changes": (),
        "version": "1.2.3",
        **changes,
    }
    return Scenario(**fields)


def near(value: int, true: float) -> bool:
    """Within 3 % noise, give or take the rounding."""
    return 0.97 * true - 1 <= value <= 1.03 * true + 1


@pytest.mark.parametrize(
    ("hops", "expected"),
    [
        (0, {-5: 0, -4: 0, -3: 250, -2: 500, -1: 750, 0: 1000, 9: 1000}),
        (2, {-3: 0, -2: 0, -1: 250, 0: 500, 1: 750, 2: 1000, 9: 1000}),
    ],
)
def test_impact_climbs_with_a_lag_for_each_hop(hops: int, expected: dict[int, int]) -> None:
    assert {tick: level(scenario(), hops, tick, NO_EFFECTS) for tick in expected} == expected


def test_impact_is_gone_two_ticks_after_the_fix() -> None:
    fixed = Effects(fixed_at=3)
    assert [level(scenario(), 0, tick, fixed) for tick in range(2, 8)] == [1000, 1000, 400, 0, 0, 0]


def test_a_fix_during_the_climb_stops_it() -> None:
    slow = scenario(onset=0, ramp=10, lag=0)
    fixed = Effects(fixed_at=5)
    assert [level(slow, 0, tick, fixed) for tick in range(4, 8)] == [400, 500, 200, 0]


def test_a_benign_load_climbs_for_eight_ticks_and_falls_for_five() -> None:
    load = scenario(mode=Mode.BENIGN, peak_tick=1)
    expected = {-8: 0, -7: 0, -3: 500, 0: 875, 1: 1000, 2: 800, 4: 400, 5: 200, 6: 0, 20: 0}
    assert {tick: level(load, 0, tick, NO_EFFECTS) for tick in expected} == expected


def test_readings_are_the_impact_give_or_take_three_percent() -> None:
    for tick, share in ((-3, 0.25), (-2, 0.5), (5, 1.0)):
        reading = read(scenario(), PEAK, 0, 2, tick, NO_EFFECTS)
        assert near(reading.p99_ms, 100 + 1000 * share)
        assert near(errors_of(reading), 10 + 2000 * share)


def test_readings_wobble_but_are_the_same_every_time() -> None:
    readings = [read(scenario(), PEAK, 0, 2, tick, NO_EFFECTS) for tick in range(40)]
    assert readings == [read(scenario(), PEAK, 0, 2, tick, NO_EFFECTS) for tick in range(40)]
    assert len({one.p99_ms for one in readings[4:]}) > 15
    assert readings != [read(scenario(seed=8), PEAK, 0, 2, tick, NO_EFFECTS) for tick in range(40)]


@pytest.mark.parametrize(
    "effects",
    [
        NO_EFFECTS,
        Effects(fixed_at=3),
        pytest.param(Effects(None, ((2, 3),)), id="after a needless restart"),
    ],
)
def test_the_earlier_figure_is_what_the_panel_showed_four_ticks_before(effects: Effects) -> None:
    shown = {tick: read(scenario(), PEAK, 0, 2, tick, effects) for tick in range(-4, 16)}
    for tick in range(16):
        assert shown[tick].earlier_p99_ms == shown[tick - 4].p99_ms, tick


def test_a_service_that_the_fault_does_not_reach_stays_at_rest() -> None:
    for tick in range(12):
        reading = read(scenario(), REST, -1, 5, tick, NO_EFFECTS)
        assert near(reading.p99_ms, 100)
        assert near(errors_of(reading), 10)


def test_a_needless_restart_makes_a_blip_of_two_ticks() -> None:
    effects = Effects(None, ((5, 3),))
    calm = [read(scenario(), REST, -1, 5, tick, NO_EFFECTS) for tick in range(8)]
    after = [read(scenario(), REST, -1, 5, tick, effects) for tick in range(8)]
    errors = [errors_of(b) - errors_of(a) for a, b in zip(calm, after, strict=True)]
    p99 = [b.p99_ms - a.p99_ms for a, b in zip(calm, after, strict=True)]
    assert errors == [0, 0, 0, 0, 600, 300, 0, 0]
    assert p99 == [0, 0, 0, 0, 300, 150, 0, 0]


def test_a_blip_stays_with_the_restarted_service_and_shows_faintly_at_the_edge() -> None:
    effects = Effects(None, ((5, 3),))
    for tick in range(8):
        assert read(scenario(), REST, -1, 4, tick, effects) == read(
            scenario(), REST, -1, 4, tick, NO_EFFECTS
        )
        calm = read(scenario(), REST, -1, -1, tick, NO_EFFECTS)
        edge = read(scenario(), REST, -1, -1, tick, effects)
        assert errors_of(edge) - errors_of(calm) == (15 if tick in (4, 5) else 0)
        assert edge.p99_ms == calm.p99_ms


def test_restarts_in_the_same_tick_do_not_pile_up() -> None:
    once = read(scenario(), REST, -1, 5, 4, Effects(None, ((5, 3),)))
    twice = read(scenario(), REST, -1, 5, 4, Effects(None, ((5, 3), (5, 3))))
    assert once == twice


def test_services_rest_at_their_own_figures() -> None:
    rests = [resting(3, service) for service in range(100)]
    for rest in rests:
        assert 3 <= rest.base_error <= 18
        assert 20 <= rest.base_p99 <= 80
        assert (rest.peak_error, rest.peak_p99) == (rest.base_error, rest.base_p99)
    assert len(set(rests)) > 80


def test_readings_are_integers() -> None:
    reading = read(scenario(), PEAK, 0, 2, 5, NO_EFFECTS)
    assert all(type(v) is int for v in (errors_of(reading), reading.p99_ms, reading.earlier_p99_ms))
