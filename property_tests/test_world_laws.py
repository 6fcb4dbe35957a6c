"""Laws of simulated worlds: their tables, their draws, and figures that hold together."""

from collections import Counter
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from logtriage import (
    TASKS,
    Escalate,
    Incident,
    Remediate,
    Remedy,
    Severity,
    State,
    initial_state,
    make_incident,
    observe,
    transition,
)
from logtriage.evidence import evidence
from logtriage.policies import perfect_actions
from logtriage.topology import FIVE_TEAMS
from logtriage.world.channels import NOTHING_READ, Channel, Evidence
from logtriage.world.conditions import Condition, affected, errors_first, unaffected
from logtriage.world.loading import load_world
from logtriage.world.prior import prior
from logtriage.world.setting import Setting
from logtriage.world.simulation import Simulation
from logtriage.world.tables import Place, alphabet, edge_weights, places, weights
from logtriage.world.telemetry import Gauge, Trace
from logtriage.world.voice import Voice
from property_tests.strategies import (
    COMPOUND_TASKS,
    DRAWN,
    ONCALL,
    ONCALL_COMPOUND,
    episodes,
    incidents,
    joint_episodes,
)

SORTS = ("alert", "change", "log", "window", "cpu", "memory", "workers", "traffic", "tier",
         "time", "errors")  # fmt: skip
WORLD = load_world("second")
NAMES = tuple(WORLD.signatures)
BOTH = DRAWN + ONCALL


@st.composite
def setting_of_any_task(draw: st.DrawFn) -> Setting:
    """The public constants of a task, at any fog."""
    task = draw(st.sampled_from([one for one in TASKS if one.setting is not None]))
    assert task.setting is not None
    return task.setting


def simulation_of(incident: Incident) -> Simulation:
    """The simulated system behind an incident."""
    assert isinstance(incident.telemetry, Simulation)
    return incident.telemetry


@given(
    setting_of_any_task(),
    st.sampled_from(SORTS),
    st.sampled_from(places(FIVE_TEAMS)),
    st.sampled_from(NAMES),
    st.integers(0, 16),
)
def test_every_signature_is_whole_numbers_that_sum_to_65536(
    setting: Setting, sort: str, place: Place, name: str, start: int
) -> None:
    sick = place.calls[:1] if name == "waiting" else ()
    row = weights(setting, sort, place, Condition(name, sick), start)
    assert sum(row) == 65_536
    assert min(row) >= 0
    assert len(row) == len(alphabet(setting, sort, place))


@given(setting_of_any_task(), st.sampled_from([*range(5)]), st.booleans(), st.integers(0, 16))
def test_every_row_of_the_edge_panel_sums_to_65536(
    setting: Setting, shown: int, errors_first: bool, start: int
) -> None:
    row = edge_weights(setting, shown, errors_first, start)
    assert sum(row) == 65_536
    assert min(row) >= 0


@given(incidents(BOTH), st.integers(0, 1))
def test_no_token_stands_where_it_makes_no_sense(incident: Incident, asked: int) -> None:
    state = initial_state(incident)
    for action in perfect_actions(incident)[: 1 + asked]:
        state = transition(state, action)
    for one in evidence(state):
        if one.service < 0 or one.token in NOTHING_READ:
            continue
        tier = incident.topology.services[one.service].tier
        if one.token in WORLD.lines:
            assert tier in WORLD.topic(one.token).tiers
        if one.channel is Channel.METRICS:
            assert one.token in WORLD.tokens_at(tuple(WORLD.gauges)[one.slot], tier)
        name, _, number = one.token.partition(":")
        if name in ("timeout", "calls"):
            assert int(number) in incident.topology.calls[one.service]
        if name == "names":
            assert tier in WORLD.kind(number).tiers


@given(incidents(DRAWN))
def test_the_edge_shows_the_severity_from_the_announced_tick_on(incident: Incident) -> None:
    world = simulation_of(incident)
    bands = {"usual": 2, "slight": 2, "P2": 1, "P1": 0}
    for start in range(world.setting.severity_from, incident.horizon):
        shown = 3 if incident.truth.benign else list(Severity).index(world.severity)
        row = edge_weights(
            world.setting, shown, errors_first(world.setting.world, world.truth), start
        )
        for token, weight in zip(world.setting.world.edge_tokens, row, strict=True):
            if weight:
                worst = min(bands[part] for part in token.split("/"))
                assert list(Severity)[worst] == (incident.truth.severity or "P3")
    panel = observe(initial_state(incident)).edge
    assert panel is not None
    for rule in WORLD.rules.severity_rule:
        worse = panel.error_bp >= rule.errors or panel.p99_ms >= rule.p99
        worst = min(bands[part] for part in panel.token.split("/"))
        assert worse == (worst <= list(Severity).index(rule.severity))


@given(incidents(DRAWN))
def test_within_a_band_no_caller_is_faster_than_what_it_waits_for(incident: Incident) -> None:
    world = simulation_of(incident)
    voice = Voice(
        world.setting.world, world.topology, world.seed, world.phrasing, world.setting.onset
    )
    for caller, callees in enumerate(world.topology.calls):
        for callee in callees:
            if voice.heights[caller] > voice.heights[callee]:
                assert voice.latency(caller, "nowhere") >= voice.latency(callee, "nowhere")
                slow = voice.latency(caller, f"calls:{callee}")
                assert slow >= voice.latency(callee, "itself")


@given(incidents(DRAWN))
def test_a_guilty_change_precedes_the_onset(incident: Incident) -> None:
    onset = simulation_of(incident).setting.onset
    for change in observe(initial_state(incident)).changes:
        assert change.token is not None
        assert (change.minutes_ago > onset) == change.token.endswith("_before")
    for kind in WORLD.kind_names:
        row = WORLD.signatures[kind]["change"]
        likely = [token for token, share in row.items() if share > 20]
        assert all(token.endswith("_before") for token in likely), kind


@given(episodes(DRAWN))
def test_what_is_said_twice_is_said_the_same(states: tuple[State, ...]) -> None:
    said: dict[object, str] = {}
    for state in states:
        screen = observe(state)
        shown: list[Gauge | Trace] = [*screen.metrics, *screen.traces]
        for one in shown:
            key = (one.service, one.name, one.tokens)
            assert said.setdefault(key, one.text) == one.text


@given(incidents(BOTH))
def test_a_minor_fault_never_sits_at_the_edge_and_makes_nobody_wait(incident: Incident) -> None:
    world = simulation_of(incident)
    reached = affected(world.setting.world, world.topology, world.truth)
    for service, condition in enumerate(world.conditions):
        if service not in reached and condition.name in WORLD.kind_names:
            assert world.topology.services[service].tier != "edge"
        if condition.name == "waiting":
            assert service in reached


@given(incidents(BOTH))
def test_the_right_remedy_is_seen_at_once(incident: Incident) -> None:
    if incident.truth.benign:
        return
    wanted = min(incident.truth.remedies)
    other = next(
        Remediate(Remedy(kind.remedies[0]), service)
        for kind in WORLD.kinds
        for service in incident.topology.names
        if (kind.remedies[0], service) not in incident.truth.remedies
    )
    wrong = transition(initial_state(incident), other)
    assert [eased for *_, eased in observe(wrong).effects] == [False]
    fixed = transition(wrong, Remediate(*wanted))
    assert [eased for *_, eased in observe(fixed).effects] == [True]
    panel = observe(fixed).edge
    assert panel is not None
    edge = simulation_of(incident).setting.world.rules.edge
    rows = edge.recovered if incident.task.partition("-")[2].startswith("v2") else edge.calm
    assert panel.token in {f"{row.errors}/{row.p99}" for row in rows}


@settings(max_examples=20)
@given(incidents(BOTH))
def test_a_note_comes_two_ticks_after_the_right_page(incident: Incident) -> None:
    if incident.truth.benign:
        return
    (team,) = incident.truth.teams
    state = transition(initial_state(incident), Escalate(team))
    assert not observe(state).notes
    state = transition(state, perfect_actions(incident)[0])
    (note,) = observe(state).notes
    assert note.startswith(team)


@given(incidents(DRAWN))
def test_the_directory_says_nothing_of_the_truth(incident: Incident) -> None:
    graph = incident.topology
    special = {graph.capacity_team, graph.security_team}
    assert special.isdisjoint(incident.directory)
    # The same seed with another truth has the same owners.
    assert set(incident.directory) <= set(graph.teams)


def test_no_team_is_right_in_more_than_35_per_cent_of_the_faults() -> None:
    settings = [one.setting for one in TASKS if one.setting is not None and one.fog == 2]
    assert len(settings) == 6
    for setting in settings:
        table = prior(setting, FIVE_TEAMS, held=False)
        shares: Counter[str] = Counter()
        for hypothesis, weight in zip(table.hypotheses, table.weights, strict=True):
            if hypothesis.faults:
                fault_class = WORLD.kind(hypothesis.faults[0][0]).fault_class
                owner = fault_class in ("code", "data")
                shares["owner" if owner else fault_class] += weight
        whole = sum(shares.values())
        # Owners are drawn evenly among three teams.
        assert Fraction(shares["owner"], 3 * whole) <= Fraction(35, 100)
        assert Fraction(shares["capacity"], whole) <= Fraction(35, 100)
        assert Fraction(shares["security"], whole) <= Fraction(35, 100)


def test_what_an_unaffected_service_is_sums_to_65536() -> None:
    for tier in ("edge", "service", "datastore", "queue"):
        rows = unaffected(load_world("second"), tier)
        assert sum(weight for _, weight in rows) == 65_536
        well = sum(weight for condition, weight in rows if condition.name == "healthy")
        assert 0.4 < well / 65_536 < 0.75


def test_draws_have_the_shares_of_the_table() -> None:
    """Over many incidents, tokens of healthy services come as often as the table says."""
    counts: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for number in range(400):
        world = simulation_of(make_incident(f"single_crash-v2/train/{number}"))
        for one in evidence(initial_state(make_incident(f"single_crash-v2/train/{number}"))):
            if one.channel is not Channel.ALERT:
                continue
            place = places(world.topology)[one.service]
            row = weights(world.setting, "alert", place, world.conditions[one.service], 0)
            counts[one.token] += 1
            for token, weight in zip(alphabet(world.setting, "alert", place), row, strict=True):
                expected[token] += weight
    for token, total in expected.items():
        mean = total / 65_536
        assert abs(counts[token] - mean) < 5 * mean**0.5, token


@settings(max_examples=25)
@given(
    episodes((*BOTH, *COMPOUND_TASKS, *ONCALL_COMPOUND), max_services=9)
    | joint_episodes().map(lambda episode: episode[1])
)
def test_no_screen_depends_on_what_is_done_later(states: tuple[State, ...]) -> None:
    world, later = simulation_of(states[0].incident), states[-1].facts.doings
    for state in states:
        screen = list(world.shown(state.tick, state.facts.doings))
        assert list(world.shown(state.tick, later)) == screen
        assert list(world.shown(state.tick, later.before(state.tick))) == screen


def test_evidence_is_named_by_its_cell() -> None:
    one = Evidence(Channel.LOGS, 3, 1, 4, "everyday")
    assert one.cell == (Channel.LOGS, 3, 1, 4)
