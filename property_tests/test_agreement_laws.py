"""Laws of agreement: figures of one incident do not contradict each other.

Tokens are drawn apart, so a law holds where the tokens that it is about agree; each says where.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import attrs
from hypothesis import assume, given
from hypothesis import strategies as st

from logtriage import Incident, Remediate, initial_state, transition
from logtriage.wording import edge_panel
from logtriage.world.channels import DOWN, EARLIEST, SCRAPE, SPANS, Channel, Evidence
from logtriage.world.conditions import affected
from logtriage.world.histories import drawn_alert
from logtriage.world.schedule import Doings
from logtriage.world.simulation import Simulation
from logtriage.world.telemetry import EdgePanel, Gauge, Series, Trace
from logtriage.world.voice import Voice, voice_of
from property_tests.strategies import (
    COMPOUND_FLEET,
    COMPOUND_TASKS,
    DRAWN,
    incidents,
    simulation_of,
)

#: Every shipped task that draws its incidents.
SHIPPED = (*DRAWN, *COMPOUND_TASKS, COMPOUND_FLEET)
#: A usual value strays by at most this share from the usual one, or by this much.
JITTER, LEAST = 0.15, 4


@attrs.frozen(repr=False)
class Shown:
    """All that can be asked for at a tick."""

    world: Simulation
    voice: Voice
    cells: tuple[Evidence, ...]
    edge: EdgePanel
    gauges: Mapping[tuple[str, str], Gauge]
    traces: Mapping[tuple[str, str], Trace]

    @property
    def series(self) -> Iterator[tuple[Gauge | Trace, Series]]:
        readings: list[Gauge | Trace] = [*self.gauges.values(), *self.traces.values()]
        for reading in readings:
            for row in reading.rows:
                yield reading, row

    def is_usual(self, reading: Gauge | Trace, place: int) -> bool:
        return reading.tokens[place] == self.world.setting.world.ordinary[reading.name]


def shown(incident: Incident, now: int, doings: Doings | None = None) -> Shown:
    world, setting = simulation_of(incident), simulation_of(incident).setting
    asked = tuple((now - 1, service) for service in range(len(incident.topology)))
    doings = attrs.evolve(doings or Doings(), metrics=asked, traces=asked)
    cells = tuple(world.shown(now, doings))
    voice = voice_of(setting.world, world.topology, world.seed, world.phrasing)
    edge = edge_panel(world, now, doings)
    gauges = voice.gauges([cell for cell in cells if cell.channel is Channel.METRICS])
    traces = voice.traces([cell for cell in cells if cell.channel is Channel.TRACES], edge)
    return Shown(
        world, voice, cells, edge, {(one.service, one.name): one for one in gauges},
        {(one.service, one.name): one for one in traces},
    )  # fmt: skip


@st.composite
def screens(draw: st.DrawFn) -> Shown:
    """Everything at a tick of an incident of a shipped task, while nobody acts."""
    incident = draw(incidents(SHIPPED, max_services=60))
    return shown(incident, draw(st.integers(0, incident.horizon - 1)))


@given(screens())
def test_a_slow_call_takes_at_least_what_the_service_called_takes(screen: Shown) -> None:
    names, heights = screen.world.topology.names, screen.voice.heights
    for (caller, half), trace in screen.traces.items():
        head, _, callee = trace.tokens[-1].partition(":") if trace.rows else ("", "", "")
        if half != SPANS[0] or not callee:
            continue
        called = screen.traces[names[int(callee)], half]
        assert head == "calls"
        assert heights[names.index(caller)] > heights[int(callee)]
        if called.rows:
            assert dict(trace.parts[-1][1])[called.service] >= called.rows[0].values[-1]


@given(screens())
def test_own_time_and_calls_add_up_to_the_span(screen: Shown) -> None:
    topology = screen.world.topology
    for (service, half), trace in screen.traces.items():
        if half != SPANS[0] or not trace.rows:
            continue
        assert bool(trace.parts) != screen.is_usual(trace, -1)
        for since, parts in trace.parts:  # while nobody acts, there is one time
            span = trace.rows[0].values[-1]
            assert since in trace.starts
            assert abs(sum(ms for _, ms in parts) - span) <= 0.05 * span
            assert len(parts) == 1 + len(topology.calls[topology.index(service)])
            assert all(ms >= 0 for _, ms in parts)


@given(screens())
def test_slow_spans_and_failed_requests_follow_the_edge(screen: Shown) -> None:
    """A slow span takes 0.5 to 1.5 of the edge's p99; failed requests are 1 to 2.5 of its errors.

    Where the edge is not that slow, or has fewer errors, they are told from the usual all the same.
    """
    tokens = screen.world.setting.world.tokens
    edge = dict(
        zip(screen.edge.starts, zip(screen.edge.errors, screen.edge.p99s, strict=True), strict=True)
    )
    for (_, half), trace in screen.traces.items():
        for row in trace.rows:
            for place, (start, value) in enumerate(zip(trace.starts, row.values, strict=True)):
                if screen.is_usual(trace, place):
                    continue
                errors, p99 = edge[start]
                if half == SPANS[0]:
                    assert value > 1.5 * row.usual
                    assert p99 < tokens.latency.slow or p99 // 2 <= value <= 1.5 * p99
                else:
                    assert value > 2 * row.usual
                    assert errors < tokens.failing / 2 or errors <= value <= 2.5 * errors


@given(screens())
def test_requests_are_the_sum_over_callers(screen: Shown) -> None:
    """Where service and callers have usual traffic; a service with more has them from elsewhere."""
    topology = screen.world.topology
    for service, name in enumerate(topology.names):
        callers = [
            screen.gauges[topology.names[caller], "traffic"]
            for caller, called in enumerate(topology.calls)
            if service in called
        ]
        own = screen.gauges[name, "traffic"]
        if service in topology.edges or not own.rows or not all(one.rows for one in callers):
            continue
        for place in range(len(own.starts)):
            if all(screen.is_usual(one, place) for one in callers):
                sent = sum(one.rows[0].values[place] for one in callers)
                assert own.rows[0].values[place] >= 0.9 * sent
                if screen.is_usual(own, place):
                    assert own.rows[0].values[place] <= 1.1 * sent


@given(screens())
def test_an_alert_fires_within_two_ticks_of_what_it_watches(screen: Shown) -> None:
    """Unless its rule misses, or a silent root alerts later; both are announced."""
    world = screen.world
    titles = {rule.watches: rule.title for rule in world.setting.world.tokens.alert.tokens}
    alerts = screen.voice.alerts([one for one in screen.cells if one.channel is Channel.ALERT])
    firing = {(one.service, one.name): one.since for one in alerts}
    for (service, half), trace in screen.traces.items():
        place = world.topology.index(service)
        at_once = drawn_alert(
            world.setting, world.seed, half, place, world.conditions[place], onset=-1
        )
        if not trace.rows or at_once != -1:
            continue
        strayed = [at for at in range(len(trace.starts)) if not screen.is_usual(trace, at)]
        since = firing.get((service, titles[half]))
        assert (since is not None) == bool(strayed)
        if since is not None:
            assert trace.starts[strayed[0]] <= since <= trace.starts[strayed[0]] + 2


@given(screens())
def test_no_series_jumps_from_band_to_band_and_back(screen: Shown) -> None:
    """Usual values jitter around a level; what strays leaves them for good, to one side."""
    for reading, row in screen.series:
        usual: list[int] = []
        strayed: list[int] = []
        for place, value in enumerate(row.values):
            (usual if screen.is_usual(reading, place) else strayed).append(value)
        odd = [screen.is_usual(reading, place) for place in range(len(row.values))]
        assert sum(before != after for before, after in pairwise(odd)) <= 1
        assert all(_is_usual(value, row.usual) for value in usual)
        same = all(_is_usual(value, row.usual) for value in strayed)  # a row of another token
        above = all(value > max([*usual, row.usual]) for value in strayed)
        assert same or above or all(value < min([*usual, row.usual]) for value in strayed)


@given(screens())
def test_the_edge_is_usual_until_the_trouble_and_then_keeps_its_picture(screen: Shown) -> None:
    """A task that shows the severity late may show a milder picture, or none, until then."""
    panel, setting = screen.edge, screen.world.setting
    assert panel.starts[: -EARLIEST // SCRAPE] == tuple(range(EARLIEST, 0, SCRAPE))
    bands = setting.world.bands
    kept = [at for at, start in enumerate(panel.starts) if start >= setting.severity_from]
    for half, values in enumerate((panel.errors, panel.p99s)):
        usual = (panel.usual_error_bp, panel.usual_p99_ms)[half]
        before = [
            value
            for start, value in zip(panel.starts, values, strict=True)
            if start < -2 * setting.onset - SCRAPE
        ]
        assert all(_is_usual(value, usual) for value in before)
        band = bands[panel.token.split("/")[half]]
        ends = band.errors if half == 0 else band.p99
        for at in kept:
            assert (
                _is_usual(values[at], usual) if ends is None else ends[0] <= values[at] <= ends[1]
            )


@given(incidents(SHIPPED, max_services=30), st.integers(0, 4))
def test_after_the_fix_all_series_are_back_within_two_ticks(incident: Incident, late: int) -> None:
    assume(not incident.truth.benign)
    world, state = simulation_of(incident), initial_state(incident)
    parts = incident.truth.parts if incident.truth.several else (incident.truth,)
    for part in parts:
        remedy, service = min(part.remedies)
        state = transition(state, Remediate(remedy, service))
    fixed, names = state.tick - 1, incident.topology.names
    screen = shown(incident, min(fixed + 2 + late, incident.horizon), state.facts.doings)
    well = {names[at] for at in affected(world.setting.world, world.topology, world.truth)}
    for reading, row in screen.series:
        if reading.service in well:
            for start, value in zip(reading.starts, row.values, strict=True):
                assert start <= fixed or _is_usual(value, row.usual)
    slight = world.setting.world.rules.edge.bands[1]  # what a calm edge may show
    for start, errors, p99 in zip(
        screen.edge.starts, screen.edge.errors, screen.edge.p99s, strict=True
    ):
        assert start <= fixed or errors <= slight.errors[1]
        assert start <= fixed or p99 <= (slight.p99 or (0, 0))[1]


@given(screens())
def test_same_tokens_same_bytes(screen: Shown) -> None:
    """Figures know no truth: a voice that never saw it says the same."""
    world = screen.world
    voice = Voice(world.setting.world, world.topology, world.seed, world.phrasing)
    metrics = [cell for cell in screen.cells if cell.channel is Channel.METRICS]
    traces = [cell for cell in screen.cells if cell.channel is Channel.TRACES]
    assert voice.gauges(metrics) == tuple(screen.gauges.values())
    assert voice.traces(traces, screen.edge) == tuple(screen.traces.values())
    assert not any(DOWN in one.tokens and one.rows for one in screen.traces.values())


def _is_usual(value: int, usual: int) -> bool:
    return abs(value - usual) <= max(LEAST, JITTER * usual)
