"""Figures that live: a level, a small jitter of each reading, and nothing of the truth."""

from itertools import pairwise

import pytest

from logtriage import RequestTraces, get_task, initial_state, make_incident, observe, transition
from logtriage.observation import slice_for
from logtriage.roles import Role
from logtriage.tasks import TaskSpec
from logtriage.world.channels import DOWN, EARLIEST, Channel, Evidence
from logtriage.world.figures import Reading
from logtriage.world.loading import load_world
from logtriage.world.schema.forms import Climb, Range
from logtriage.world.voice import Voice
from tests.builders import FIVE_TEAMS

WORLD = load_world("oncall")
VOICE = Voice(WORLD, FIVE_TEAMS, 7, 0)
SERVICES = range(len(FIVE_TEAMS))
STARTS = range(0, 21, 3)
TASK: TaskSpec = get_task("single_crash-v4")
RANGES = [
    (figure.key, figure.form)
    for gauge in WORLD.tokens.gauges
    for figure in gauge.figures.values()
    if isinstance(figure.form, Range)
]


CALM = VOICE.edge_over([0, 3], ["usual/usual"] * 2)


def read(start: int, ramp: int = 0) -> Reading:
    return Reading(VOICE, VOICE.figure_key, {}, start, EARLIEST, ramp)


def cells(channel: Channel, slot: int, *tokens: str) -> list[Evidence]:
    return [Evidence(channel, 3, slot, 3 * place, one) for place, one in enumerate(tokens)]


@pytest.mark.parametrize(("key", "form"), RANGES)
def test_every_reading_stays_within_its_band(key: str, form: Range) -> None:
    for service in SERVICES:
        level = VOICE.level.figure(service, key, form.low, form.high)
        for start in range(30):
            value = read(start).figure(service, key, form.low, form.high)
            assert form.low <= value <= form.high
            assert abs(value - level) <= max(3, (form.high - form.low) // 6)
            for ramp in (-1, 1):
                begun = read(start, ramp).figure(service, key, form.low, form.high)
                assert form.low <= begun <= form.high
                assert (begun - level) * ramp <= 0  # on the way, and not beyond


@pytest.mark.parametrize(("key", "form"), RANGES)
def test_readings_wander_and_follow_no_cycle(key: str, form: Range) -> None:
    if form.high - form.low < 6:
        return  # too few values
    cycles = [0, 0]
    for service in SERVICES:
        shown = [read(start).figure(service, key, form.low, form.high) for start in range(0, 63, 3)]
        assert len({*shown}) > 3
        for place, period in enumerate((7, 14)):
            cycles[place] += shown[:-period] == shown[period:]
    assert cycles == [0, 0]


@pytest.mark.parametrize("gauge", WORLD.gauges)
def test_the_figures_of_a_series_tell_its_token(gauge: str) -> None:
    for seed in range(5):
        voice = Voice(WORLD, FIVE_TEAMS, seed, 0)
        for service, row in enumerate(FIVE_TEAMS.services):
            told: dict[object, str] = {}
            ordinary, *others = WORLD.tokens_at(gauge, row.tier)
            for token in (ordinary, *others):
                for onset in range(1, 7):
                    tokens = [ordinary] * onset + [token] * (8 - onset)
                    rows = voice.series(service, gauge, range(0, 24, 3), tokens)
                    newest = tuple((series.values[-1], series.mark) for series in rows)
                    assert told.setdefault(newest, token) == token


def test_services_and_incidents_have_levels_of_their_own() -> None:
    levels = {
        Voice(WORLD, FIVE_TEAMS, seed, 0).level.figure(service, "cpu usual", 22, 48)
        for seed in range(20)
        for service in SERVICES
    }
    assert len(levels) > 15


def test_a_leak_climbs_from_reading_to_reading() -> None:
    form = WORLD.gauges["memory"].figures["climbing"].form
    assert isinstance(form, Climb)
    ticks = range(EARLIEST, 13, 3)
    for service in SERVICES:
        (row,) = VOICE.series(service, "memory", ticks, ["climbing"] * len(ticks))
        assert all(one < later for one, later in pairwise(row.values))
        assert form.low <= row.values[0]
        assert row.mark == "climbing"
        far = read(400).climbing(service, "memory climbing", form.low, form.high)
        assert far == form.high
        late, *_ = VOICE.series(service, "memory", [0, 30, 33], ["usual", "climbing", "climbing"])
        # A leak begins where it begins, however late.
        assert late.values[1] == row.values[0] < late.values[2]


def test_an_onset_begins_at_the_near_end_of_its_range() -> None:
    service = FIVE_TEAMS.index("user-db")
    (high,) = VOICE.series(service, "cpu", range(0, 12, 3), ["usual", "high", "high", "high"])
    (low,) = VOICE.series(service, "cpu", range(0, 12, 3), ["usual", "low", "low", "low"])
    assert high.values[1] in (88, 89)
    assert low.values[1] in (8, 9)
    before, *_ = VOICE.series(service, "cpu", range(0, 12, 3), ["high"] * 4)
    assert before.values[2:] == high.values[2:]


def test_what_is_down_has_words_and_no_rows() -> None:
    for slot in (0, 1):
        (gauge,) = VOICE.gauges(cells(Channel.METRICS, slot, DOWN, DOWN))
        (trace,) = VOICE.traces(cells(Channel.TRACES, slot, DOWN, DOWN), CALM)
        assert gauge.text == trace.text == "not collected in this incident"
        assert gauge.rows == trace.rows == ()


def test_a_trace_says_when_it_changed_and_where_it_goes() -> None:
    caller = FIVE_TEAMS.index("payment-service")
    callee = FIVE_TEAMS.index("payment-db")
    row = [
        Evidence(Channel.TRACES, caller, 0, 3 * place, token)
        for place, token in enumerate(("nowhere", f"calls:{callee}", "itself", "nowhere"))
    ]
    (time,) = VOICE.traces(row, CALM)
    (series,) = time.rows
    (first, waits), (then, own) = time.parts
    assert (first, then) == (3, 6)
    assert series.values[1] == sum(ms for _, ms in waits)
    assert series.values[2] == sum(ms for _, ms in own)
    assert max(waits, key=lambda part: part[1])[0] == "payment-db"
    assert max(own, key=lambda part: part[1])[0] == "own"
    assert series.values[1] > 3 * series.usual > series.values[3]


def test_who_does_not_see_the_edge_learns_nothing_of_it_from_traces() -> None:
    row = cells(Channel.TRACES, 0, "itself", "itself")
    slow = VOICE.edge_over([0, 3], ["usual/P1"] * 2)
    (calm,), (bad,) = VOICE.traces(row, CALM), VOICE.traces(row, slow)
    assert bad.rows[0].values[-1] > 4 * calm.rows[0].values[-1]
    assert bad.alone == calm.alone
    state = initial_state(make_incident(f"{TASK.id}/val/1"))
    for name in state.incident.topology.names:
        seen = observe(transition(state, RequestTraces(name)))
        role = Role("blind", frozenset({"traces"}), frozenset({"request_traces"}))
        alone = tuple(trace.alone or trace for trace in seen.traces)
        assert slice_for(seen, role).traces == alone


def test_the_edge_lives_too_and_keeps_to_its_bands() -> None:
    voice = Voice(WORLD, FIVE_TEAMS, 7, 0)
    for token in WORLD.edge_tokens:
        errors, p99 = (WORLD.bands[one] for one in token.split("/"))
        panels = [voice.edge_over([start], [token]) for start in STARTS]
        for panel in panels:
            assert errors.errors[0] <= panel.error_bp <= errors.errors[1]
            if p99.p99 is not None:
                assert p99.p99[0] <= panel.p99_ms <= p99.p99[1]
        assert len({one.error_bp for one in panels}) > 2
        assert len({one.p99_ms for one in panels}) > 2
        assert len({(one.usual_error_bp, one.usual_p99_ms) for one in panels}) == 1
