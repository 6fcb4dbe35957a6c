"""Laws of simulated worlds: their tables, their draws, and figures that hold together."""

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import logtriage as lt
from logtriage.actions import Wait
from logtriage.drawing import incidents as drawing
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.evidence import evidence
from logtriage.policies import perfect_actions
from logtriage.tasks import TASKS, tasks_of
from logtriage.world.channels import Channel, Evidence
from logtriage.world.conditions import Condition, affected, errors_first, unaffected
from logtriage.world.histories import Part, coincidences, lasting, onsets, sign_weights
from logtriage.world.loading import load_world
from logtriage.world.model import WAITING, World
from logtriage.world.prior import prior
from logtriage.world.setting import Setting
from logtriage.world.tables import alphabet, edge_weights, places
from logtriage.world.telemetry import Series
from property_tests.strategies import (
    COMPOUND_TASKS,
    DRAWN,
    OTHER_WORLDS,
    episodes,
    incidents,
    joint_episodes,
    simulation_of,
)
from tests.builders import FIVE_TEAMS, known

WORLD = load_world("oncall")


@st.composite
def setting_of_any_task(draw: st.DrawFn) -> Setting:
    """The public constants of a task, at any fog."""
    others = [task for world in OTHER_WORLDS for task in tasks_of(world).values()]
    first, other = draw(st.sampled_from(TASKS)), draw(st.sampled_from(others))
    setting = draw(st.sampled_from((first.setting, other.setting)))
    assume(setting is not None)
    return known(setting)


@given(setting_of_any_task(), st.data())
def test_every_table_of_histories_is_whole_numbers_that_sum_to_65536(
    setting: Setting, data: st.DataObject
) -> None:
    world = setting.world
    sort = data.draw(st.sampled_from(world.cell_sorts))
    topology = data.draw(st.sampled_from(tuple(world.topologies.values())))
    place = data.draw(st.sampled_from(places(topology)))
    name = data.draw(st.sampled_from(tuple(world.signatures)))
    if name in world.kind_names:
        assume(place.tier in world.kind(name).tiers)
    condition = Condition(name, place.calls[:1] if name == WAITING else ())
    for row in (
        sign_weights(setting, sort, place, condition),
        lasting(setting, sort, place, condition),
        coincidences(setting, sort, place),
    ):
        assert sum(row) == 65_536
        assert min(row) >= 0
        assert len(row) == len(alphabet(setting, sort, place))
    for part in Part:
        assert sum(onsets(setting, part)) == 65_536


@given(setting_of_any_task(), st.sampled_from([*range(5)]), st.booleans(), st.integers(0, 16))
def test_every_row_of_the_edge_panel_sums_to_65536(
    setting: Setting, shown: int, errors_first: bool, start: int
) -> None:
    row = edge_weights(setting, shown, errors_first, start)
    assert sum(row) == 65_536
    assert min(row) >= 0


@given(incidents(), st.integers(0, 1))
def test_no_token_stands_where_it_makes_no_sense(incident: lt.Incident, asked: int) -> None:
    state = lt.initial_state(incident)
    for action in perfect_actions(incident)[: 1 + asked]:
        state = lt.transition(state, action)
    world = simulation_of(incident).setting.world
    for one in evidence(state):
        if one.service < 0:
            continue
        tier = incident.topology.services[one.service].tier
        if one.channel in (Channel.LOGS, Channel.WINDOW) and one.token in world.lines:
            assert tier in world.topic(one.token).tiers
        if one.channel is Channel.METRICS:
            assert one.token in world.tokens_at(tuple(world.gauges)[one.slot], tier)
        name, _, number = one.token.partition(":")
        if name in ("timeout", "calls"):
            assert int(number) in incident.topology.calls[one.service]
        if name == "names":
            assert tier in world.kind(number).tiers


@given(incidents())
def test_the_edge_shows_the_severity_from_the_announced_tick_on(incident: lt.Incident) -> None:
    world = simulation_of(incident)
    bands = {"usual": 2, "slight": 2, "P2": 1, "P1": 0}
    for start in range(world.setting.severity_from, incident.horizon):
        shown = 3 if incident.truth.benign else list(lt.Severity).index(world.severity)
        row = edge_weights(
            world.setting, shown, errors_first(world.setting.world, world.truth), start
        )
        for token, weight in zip(world.setting.world.edge_tokens, row, strict=True):
            if weight:
                worst = min(bands[part] for part in token.split("/"))
                assert list(lt.Severity)[worst] == (incident.truth.severity or "P3")
    panel = known(lt.observe(lt.initial_state(incident)).edge)
    for rule in world.setting.world.rules.severity_rule:
        worse = panel.error_bp >= rule.errors or panel.p99_ms >= rule.p99
        worst = min(bands[part] for part in panel.token.split("/"))
        assert worse == (worst <= list(lt.Severity).index(rule.severity))


@given(episodes())
def test_what_is_said_twice_is_said_the_same(states: tuple[lt.State, ...]) -> None:
    """A figure of a tick never changes, whatever was done since."""
    said: dict[object, int] = {}
    for state in states:
        screen = lt.observe(state)
        rows = [(one.service, one.starts, row) for one in screen.readings for row in one.rows]
        if screen.edge is not None:
            rows.append(("", screen.edge.starts, Series("errors", screen.edge.errors, 0)))
            rows.append(("", screen.edge.starts, Series("p99", screen.edge.p99s, 0)))
        for service, starts, row in rows:
            for start, value in zip(starts, row.values, strict=True):
                assert said.setdefault((service, row.label, start), value) == value


@given(incidents())
def test_a_minor_fault_never_sits_at_the_edge_and_makes_nobody_wait(incident: lt.Incident) -> None:
    world = simulation_of(incident)
    reached = affected(world.setting.world, world.topology, world.truth)
    for service, condition in enumerate(world.conditions):
        if service not in reached and condition.name in world.setting.world.kind_names:
            assert not world.topology.tier_of(world.topology.services[service]).entry
        if condition.name == WAITING:
            assert service in reached


@given(incidents())
def test_the_right_remedy_is_seen_at_once(incident: lt.Incident) -> None:
    if incident.truth.benign:
        return
    wanted = min(incident.truth.remedies)
    other = next(
        lt.Remediate(remedy, service)
        for remedy in incident.topology.remedies
        for service in incident.topology.names
        if (remedy, service) not in incident.truth.remedies
    )
    wrong = lt.transition(lt.initial_state(incident), other)
    assert [eased for *_, eased in lt.observe(wrong).effects] == [False]
    fixed = lt.transition(wrong, lt.Remediate(*wanted))
    assert [eased for *_, eased in lt.observe(fixed).effects] == [True]
    setting = simulation_of(incident).setting
    edge = setting.world.rules.edge
    recovered = {f"{row.errors}/{row.p99}" for row in edge.recovered if row.weight}
    # Early panels are read with error, whatever they keep.
    early = recovered | {f"{row.errors}/{row.p99}" for row in edge.calm if row.weight}
    states = [fixed]
    while not states[-1].is_closed:
        states.append(lt.transition(states[-1], Wait()))
    for state in states:
        panel = known(lt.observe(state).edge)
        (*_, shown) = (one for one in evidence(state) if one.channel is Channel.EDGE)
        assert panel.token == shown.token
        assert panel.token in (early if shown.start < setting.severity_from else recovered)


@settings(max_examples=20)
@given(incidents())
def test_a_note_comes_two_ticks_after_the_right_page(incident: lt.Incident) -> None:
    if incident.truth.benign:
        return
    (team,) = incident.truth.teams
    state = lt.transition(lt.initial_state(incident), lt.Escalate(team))
    assert not lt.observe(state).notes
    state = lt.transition(state, perfect_actions(incident)[0])
    (note,) = lt.observe(state).notes
    assert note.by == team


@given(incidents())
def test_the_directory_says_nothing_of_the_truth(incident: lt.Incident) -> None:
    graph, world = incident.topology, simulation_of(incident).setting.world
    if graph in world.topologies.values():
        assert set(incident.directory) <= set(world.rules.owners)
    for service, owner in zip(graph.services, incident.directory, strict=True):
        assert service.owner in (None, owner)
    if world == WORLD:
        assert {graph.pages("capacity"), graph.pages("security")}.isdisjoint(incident.directory)


def test_owners_that_nobody_reads_break_a_law_in_a_drawn_world(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law = test_the_directory_says_nothing_of_the_truth.hypothesis.inner_test  # type: ignore[attr-defined]
    # Those that are the same whichever modules are loaded, unlike the ones of hypothesis.
    worlds = OTHER_WORLDS[:4]
    tasks = [next(iter(tasks_of(world).values())) for world in worlds]
    drawn = [(task, IncidentId(task, "train", index)) for task in tasks for index in range(5)]
    for task, number in drawn:
        law(draw_incident(task, number))
    monkeypatch.setattr(World, "drawn_owners", lambda _, topology: topology.teams)
    # Owners that are kept from the draws above would hide the defect.
    monkeypatch.setattr(drawing, "_owners", drawing._owners.__wrapped__)
    broken = []
    for task, number in drawn:
        try:
            law(draw_incident(task, number))
        except AssertionError:
            broken.append(task.world.name)
    assert set(broken) == {world.name for world in worlds}


def test_no_team_is_right_in_more_than_35_per_cent_of_the_faults() -> None:
    settings = [task.setting for task in TASKS if task.fog == 2]
    assert len(settings) == len({one.name for one in TASKS if one.fog == 2}) == 7
    for setting in settings:
        table = prior(setting, FIVE_TEAMS, held=False)
        shares: defaultdict[str, Fraction] = defaultdict(Fraction)
        for hypothesis, weight in zip(table.hypotheses, table.weights, strict=True):
            if hypothesis.faults:
                kind, service = hypothesis.faults[0]
                paged = WORLD.pages(kind, FIVE_TEAMS)
                tier = FIVE_TEAMS.services[service].tier
                teams = (paged,) if paged else WORLD.owning_teams(FIVE_TEAMS)
                row = (1,) if paged else WORLD.owner_weights(FIVE_TEAMS, tier)
                for team, one in zip(teams, row, strict=True):
                    shares[team] += Fraction(weight * one, sum(row))
        assert set(shares) == set(FIVE_TEAMS.teams)
        assert max(shares.values()) <= Fraction(35, 100) * sum(shares.values())


def test_what_an_unaffected_service_is_sums_to_65536() -> None:
    for tier in ("edge", "service", "datastore", "queue"):
        rows = unaffected(load_world("oncall"), tier)
        assert sum(weight for _, weight in rows) == 65_536
        well = sum(weight for condition, weight in rows if condition.name == "healthy")
        assert 0.4 < well / 65_536 < 0.75


@settings(max_examples=25)
@given(
    episodes((*DRAWN, *COMPOUND_TASKS), max_services=9)
    | joint_episodes().map(lambda episode: episode[1])
)
def test_no_screen_depends_on_what_is_done_later(states: tuple[lt.State, ...]) -> None:
    world, later = simulation_of(states[0].incident), states[-1].facts.doings
    for state in states:
        screen = list(world.shown(state.tick, state.facts.doings))
        assert list(world.shown(state.tick, later)) == screen


def test_evidence_is_named_by_its_cell() -> None:
    one = Evidence(Channel.LOGS, 3, 1, 4, "everyday")
    assert one.cell == (Channel.LOGS, 3, 1, 4)
