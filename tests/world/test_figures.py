"""Figures that live: a level, a small jitter of each reading, and nothing of the truth."""

import re
from itertools import pairwise

import pytest

from logtriage import (
    Incident,
    RequestMetrics,
    RequestTraces,
    get_task,
    initial_state,
    make_incident,
    observe,
    transition,
)
from logtriage.dynamics import transition_jointly
from logtriage.tasks import TaskSpec
from logtriage.world.channels import DOWN, EARLIEST, Channel, Evidence
from logtriage.world.figures import Figures
from logtriage.world.loading import load_world
from logtriage.world.schema.forms import Climb, LatencyByHeight, Range
from logtriage.world.voice import Voice
from tests.builders import FIVE_TEAMS

WORLD = load_world("oncall")
FIGURES = Figures(WORLD, FIVE_TEAMS, 7)
SERVICES = range(len(FIVE_TEAMS))
STARTS = range(0, 21, 3)
TASK: TaskSpec = get_task("single_crash-v4")
RANGES = [
    (figure.key, figure.form)
    for gauge in WORLD.tokens.gauges
    for figure in gauge.figures.values()
    if isinstance(figure.form, Range)
]


def cells(channel: Channel, slot: int, *tokens: str) -> list[Evidence]:
    return [Evidence(channel, 3, slot, 3 * place, one) for place, one in enumerate(tokens)]


@pytest.mark.parametrize(("key", "form"), RANGES)
def test_every_reading_stays_within_its_band(key: str, form: Range) -> None:
    for service in SERVICES:
        level = FIGURES.at(None).figure(service, key, form.low, form.high)
        for start in range(30):
            value = FIGURES.at(start).figure(service, key, form.low, form.high)
            assert form.low <= value <= form.high
            assert abs(value - level) <= max(3, (form.high - form.low) // 8)


@pytest.mark.parametrize(("key", "form"), RANGES)
def test_no_two_readings_on_a_screen_repeat_digit_for_digit(key: str, form: Range) -> None:
    if form.high - form.low < 6:
        return  # too few values for three readings in a row
    for service in SERVICES:
        shown = [FIGURES.at(start).figure(service, key, form.low, form.high) for start in STARTS]
        assert all(len({*shown[place : place + 3]}) == 3 for place in range(len(shown) - 2))


@pytest.mark.parametrize("gauge", WORLD.gauges)
def test_the_text_of_a_reading_tells_its_token(gauge: str) -> None:
    for seed in range(5):
        figures = Figures(WORLD, FIVE_TEAMS, seed)
        for service, row in enumerate(FIVE_TEAMS.services):
            told: dict[object, str] = {}
            for token in WORLD.tokens_at(gauge, row.tier):
                for start in range(21):
                    text = figures.reading(service, gauge, token, start)
                    assert told.setdefault(text, token) == token


def test_services_and_incidents_have_levels_of_their_own() -> None:
    levels = {
        Figures(WORLD, FIVE_TEAMS, seed).at(None).figure(service, "cpu usual", 22, 48)
        for seed in range(20)
        for service in SERVICES
    }
    assert len(levels) > 15


def test_a_leak_climbs_from_reading_to_reading() -> None:
    form = WORLD.gauges["memory"].figures["climbing"].form
    assert isinstance(form, Climb)
    for service in SERVICES:
        ticks = range(EARLIEST, 13, 3)
        shown = [FIGURES.at(start).climbing(service, "x", form.low, form.high) for start in ticks]
        assert all(one < later for one, later in pairwise(shown))
        assert form.low <= shown[0]
        assert FIGURES.at(400).climbing(service, "x", form.low, form.high) <= form.high
    (gauge,) = FIGURES.gauges(cells(Channel.METRICS, 1, "climbing", "climbing", "climbing"))
    first, second, third = map(int, re.findall(r"(\d+)% and climbing", gauge.text))
    assert first < second < third


def test_a_series_shows_its_readings_and_what_is_usual() -> None:
    (gauge,) = FIGURES.gauges(cells(Channel.METRICS, 0, "usual", "high"))
    assert re.fullmatch(r"\d\d% (8[89]|9\d)% \(usual \d\d%\)", gauge.text)
    (gauge,) = FIGURES.gauges(cells(Channel.METRICS, 0, DOWN, DOWN))
    assert gauge.text == "not collected in this incident"


def test_a_trace_shows_when_it_changed() -> None:
    (time,) = FIGURES.traces(cells(Channel.TRACES, 0, "nowhere", "itself"))
    assert re.fullmatch(r"\d+ ms, spread as usual > 9\d\d ms, \d\d% of it in itself", time.text)
    (errors,) = FIGURES.traces(cells(Channel.TRACES, 1, "nowhere", "nowhere", "itself"))
    assert errors.text == "none > none > start in itself"
    (errors,) = FIGURES.traces(cells(Channel.TRACES, 1, "nowhere", "nowhere"))
    assert errors.text == "none"


def test_within_a_reading_no_caller_is_faster_than_what_it_waits_for() -> None:
    for seed in range(20):
        figures = Figures(WORLD, FIVE_TEAMS, seed)
        for start in STARTS:
            for caller, callees in enumerate(FIVE_TEAMS.calls):
                for callee in callees:
                    slow = figures.latency(caller, f"calls:{callee}", start)
                    assert slow >= figures.latency(callee, "itself", start)
                    calm = figures.latency(caller, "nowhere", start)
                    assert calm >= figures.latency(callee, "nowhere", start)


def test_the_edge_lives_too_and_keeps_to_its_bands() -> None:
    voice = Voice(WORLD, FIVE_TEAMS, 7, 0)
    for token in WORLD.edge_tokens:
        errors, p99 = (WORLD.bands[one] for one in token.split("/"))
        panels = [voice.edge(Evidence(Channel.EDGE, -1, 0, start, token)) for start in STARTS]
        for panel in panels:
            assert errors.errors[0] <= panel.error_bp <= errors.errors[1]
            if p99.p99 is not None:
                assert p99.p99[0] <= panel.p99_ms <= p99.p99[1]
        assert len({one.error_bp for one in panels}) > 4
        assert len({one.p99_ms for one in panels}) > 4
        assert len({(one.usual_error_bp, one.usual_p99_ms) for one in panels}) == 1


def incidents() -> list[Incident]:
    return [make_incident(f"{TASK.id}/val/{index}") for index in range(5)]


@pytest.mark.parametrize("incident", incidents(), ids=lambda one: one.id)
def test_a_reading_shown_twice_is_the_same_bytes(incident: Incident) -> None:
    name = incident.topology.names[1]
    state = initial_state(incident)
    shown: dict[str, str] = {}
    for action in (RequestMetrics(name), RequestTraces(name)) * 4:
        state = transition(state, action)
        for one in observe(state).readings:
            text, _, rest = one.text.partition(" (usual ")
            if "," not in rest:  # one figure, or a trace
                assert text.startswith(shown.setdefault(one.name, text))
    assert len(shown) > 3


def test_two_who_ask_in_one_tick_see_the_same_bytes() -> None:
    incident = make_incident(f"{TASK.id}/val/3")
    name = incident.topology.names[2]
    alone = observe(transition(initial_state(incident), RequestMetrics(name)))
    both = observe(
        transition_jointly(initial_state(incident), [RequestMetrics(name), RequestMetrics(name)])
    )
    assert both.metrics == alone.metrics


def test_figures_say_nothing_of_latency_bands_but_their_names() -> None:
    """The two latency figures of traces are made alike, so that their jitter stays below a step."""
    forms = [one.form for one in WORLD.spans["time"].figures.values()]
    assert sum(isinstance(one, LatencyByHeight) for one in forms) == 2
    assert FIGURES.slowest(0, "usual")[1] < WORLD.tokens.latency.step
