"""Laws of beliefs: exact, calibrated, and blind to everything but the evidence."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom  # type: ignore[import-untyped]

from logtriage import (
    Action,
    Incident,
    Remediate,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    State,
    grade,
    initial_state,
    make_incident,
    transition,
)
from logtriage.belief import belief
from logtriage.belief.explain import explain
from logtriage.belief.fixedpoint import EXP_BITS, ONE, exp2, log2, log_sums
from logtriage.belief.posterior import Seen, posterior
from logtriage.belief.questions import worths
from logtriage.belief.shaping import shaped_reward, value_of
from logtriage.evidence import evidence
from logtriage.rng import below, draw, hash_name
from logtriage.roles.splits import TRIO
from logtriage.state import Closing
from logtriage.world.channels import Channel, Evidence
from logtriage.world.conditions import (
    WELL,
    Condition,
    Hypothesis,
    accepted_remedies,
    affected,
    errors_first,
    teams_of,
    unaffected,
)
from logtriage.world.prior import prior
from logtriage.world.setting import Setting
from logtriage.world.simulation import Simulation
from logtriage.world.tables import (
    CALM,
    RECOVERED,
    alphabet,
    edge_weights,
    note_weights,
    places,
    weights,
)
from property_tests.strategies import DRAWN, episodes, world_incidents

V2 = tuple(task.id for task in DRAWN)
SMALL = tuple(task for task in DRAWN if task.name != "fleet_outage")


def small_episodes(max_services: int) -> st.SearchStrategy[tuple[State, ...]]:
    """Episodes on few services, in any world."""
    return episodes(SMALL, max_services) | episodes(source=world_incidents())


def asked(incident: Incident, ticks: int) -> State:
    """A state after some requests, which depend on the incident's id alone."""
    state, key = initial_state(incident), hash_name(incident.id)
    kinds = (RequestMoreLogs, RequestMetrics, RequestTraces)
    for tick in range(ticks):
        bits = draw(key, tick)
        service = incident.topology.names[below(bits, len(incident.topology))]
        state = transition(state, kinds[bits % 3](service))
    return state


# --- fixed point ------------------------------------------------------------------------


@given(st.integers(1, 1 << 60))
def test_logarithms_and_exponentials_are_inverse(value: int) -> None:
    whole = value.bit_length() - 1
    power = exp2(np.array(log2(value) - (whole + 1) * ONE))
    back = Fraction(int(power), 1 << EXP_BITS)
    assert abs(back - Fraction(value, 1 << (whole + 1))) < Fraction(1, 1 << 18)


@given(st.lists(st.integers(1, 1 << 40), min_size=1, max_size=20))
def test_the_logarithm_of_a_sum_is_that_of_the_sum(values: list[int]) -> None:
    (found,) = log_sums(np.array([[log2(one) for one in values]]))
    assert abs(found - log2(sum(values))) < 64


# --- Bayes' rule, read anew ----------------------------------------------------------------


def naive_posterior(state: State) -> list[Fraction]:
    """Bayes' rule by exact fractions, straight from the tables and the history."""
    world = state.incident.telemetry
    assert isinstance(world, Simulation)
    topology, directory = world.topology, state.incident.directory
    public = world.setting.world
    shown, doings = evidence(state), state.facts.doings
    table = prior(world.setting, topology, world.held)
    edge = [one for one in shown if one.channel is Channel.EDGE]

    # Each factor by its own arguments, so that hypotheses which agree in them share it.
    @cache
    def shown_by(service: int, condition: Condition, fixed: int | None) -> Fraction:
        cells = [one for one in shown if one.service == service]
        return _cells(world, service, condition, cells, fixed)

    @cache
    def spared(service: int) -> Fraction:
        return sum(
            (
                Fraction(share, 65_536) * shown_by(service, condition, None)
                for condition, share in unaffected(public, topology.services[service].tier)
            ),
            Fraction(0),
        )

    @cache
    def panel(faulty: bool, errors_first: bool, fixed: int | None) -> Fraction:
        return _edge(world.setting, faulty, errors_first, edge, fixed)

    found = []
    for hypothesis, weight in zip(table.hypotheses, table.weights, strict=True):
        wanted = accepted_remedies(public, topology, hypothesis)
        fixes = [number for number, one in enumerate(doings.remedies) if one[1:] in wanted]
        fixed = doings.remedies[fixes[0]][0] if fixes else None
        total = Fraction(weight)
        for place, (_, team) in enumerate(doings.pages):
            wrong = state.closing is Closing.MISROUTED and place == len(doings.pages) - 1
            if (team in teams_of(public, topology, directory, hypothesis)) == wrong:
                total = Fraction(0)
        reached = affected(public, topology, hypothesis)
        for service in range(len(topology)):
            if service in reached:
                total *= shown_by(service, reached[service], fixed)
            else:
                total *= spared(service)
        total *= panel(bool(hypothesis.faults), errors_first(public, hypothesis), fixed)
        for one in shown:
            if one.channel is Channel.EFFECT:
                total *= (one.token == "eases") == (bool(fixes) and one.slot == fixes[0])
            elif one.channel is Channel.NOTE:
                total *= _note(world, hypothesis, one.token)
        found.append(total)
    whole = sum(found)
    return [one / whole for one in found]


def _cells(
    world: Simulation,
    service: int,
    condition: Condition,
    cells: Sequence[Evidence],
    fixed: int | None,
) -> Fraction:
    """The likelihood of what a service showed, healthy again after the fix."""
    place, numerator = places(world.topology)[service], 1
    for one in cells:
        sort = world.setting.world.sort_of(one.channel, one.slot)
        over = fixed is not None and one.start > fixed
        row = weights(world.setting, sort, place, WELL if over else condition, one.start)
        numerator *= row[alphabet(world.setting, sort, place).index(one.token)]
    return Fraction(numerator, 65_536 ** len(cells))


def _edge(
    setting: Setting,
    faulty: bool,
    errors_first: bool,
    cells: Sequence[Evidence],
    fixed: int | None,
) -> Fraction:
    """The likelihood of the edge panel, over the severities."""

    def product(shown: int) -> Fraction:
        total = Fraction(1)
        for one in cells:
            over = fixed is not None and one.start > fixed and shown != CALM
            row = edge_weights(setting, RECOVERED if over else shown, errors_first, one.start)
            total *= Fraction(row[setting.world.edge_tokens.index(one.token)], 65_536)
        return total

    if not faulty:
        return product(CALM)
    shares = setting.severities
    return sum(
        (Fraction(share, sum(shares)) * product(rank) for rank, share in enumerate(shares)),
        Fraction(0),
    )


def _note(world: Simulation, hypothesis: Hypothesis, token: str) -> Fraction:
    public, topology = world.setting.world, world.topology
    if teams_of(public, topology, ("owner",) * len(topology), hypothesis) != ("owner",):
        return Fraction(token == "nothing")
    kind, service = hypothesis.faults[0]
    rows = dict(note_weights(world.setting, kind, topology.services[service].tier))
    if token == "nothing":
        return Fraction(rows[token], 65_536)
    where, _, told = token.partition(":")
    return Fraction(rows.get(told, 0) if int(where) == service else 0, 65_536)


@settings(max_examples=10)
@given(small_episodes(6), st.integers(1, 3))
def test_the_posterior_is_bayes_rule(states: tuple[State, ...], ticks: int) -> None:
    state = states[min(len(states) - 1, ticks)]
    # Where signs stay, readings of one condition are no independent factors.
    assume(state.incident.world is None or state.incident.world.rules.signs is None)
    held = belief(state)
    for probability, exact in zip(held.probabilities, naive_posterior(state), strict=True):
        assert abs(probability - exact) < Fraction(1, 2_000)


@settings(max_examples=40)
@given(small_episodes(8), st.randoms(use_true_random=False))
def test_a_belief_is_of_its_evidence_alone(states: tuple[State, ...], shuffled: object) -> None:
    """Neither the order of the evidence nor anything else of the incident matters."""
    state = states[-1]
    held = belief(state)
    cells = list(evidence(state))
    shuffled.shuffle(cells)  # type: ignore[attr-defined]
    misrouted = state.closing is Closing.MISROUTED
    seen = Seen(state.incident.directory, cells, state.facts.doings, misrouted)
    again = posterior(held.model.listed, seen)
    assert again.weights == held.weights


# --- calibration ---------------------------------------------------------------------------


def check_calibrated(pairs: Sequence[tuple[float, bool]], what: str) -> None:
    """Of what was believed to p, a share of p is true: by bins, with exact binomial bounds."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for probability, true in pairs:
        bins.setdefault(min(int(probability * 5), 4), []).append((probability, true))
    for number, row in bins.items():
        mean = sum(probability for probability, _ in row) / len(row)
        hits = sum(true for _, true in row)
        low = binom.cdf(hits, len(row), mean)
        high = binom.sf(hits - 1, len(row), mean)
        assert min(low, high) > 1e-5, (what, number, len(row), mean, hits)


@pytest.mark.parametrize("split", ["test", "ood"])
@pytest.mark.parametrize("task", [one for one in V2 if not one.startswith("fleet")])
def test_beliefs_are_calibrated(task: str, split: str) -> None:
    roots: list[tuple[float, bool]] = []
    teams: list[tuple[float, bool]] = []
    for number in range(70):
        incident = make_incident(f"{task}/{split}/{5000 + number}")
        held = belief(asked(incident, number % 5))
        for service, probability in held.root_causes.items():
            roots.append((probability, service in incident.truth.root_causes))
        for team, probability in held.teams.items():
            teams.append((probability, team in incident.truth.teams))
    check_calibrated(roots, "root causes")
    check_calibrated(teams, "teams")


@pytest.mark.parametrize("role", TRIO.roles, ids=lambda role: role.name)
def test_beliefs_of_roles_are_calibrated(role: object) -> None:
    pairs: list[tuple[float, bool]] = []
    for number in range(100):
        incident = make_incident(f"cascading_failure-v3/test/{number}")
        held = belief(asked(incident, 4), role)  # type: ignore[arg-type]
        for service, probability in held.root_causes.items():
            pairs.append((probability, service in incident.truth.root_causes))
    check_calibrated(pairs, str(role))


def test_beliefs_of_fleets_are_calibrated() -> None:
    pairs: list[tuple[float, bool]] = []
    for number in range(40):
        incident = make_incident(f"fleet_outage-v3/test/{number}")
        held = belief(asked(incident, 3))
        for service, probability in held.root_causes.items():
            pairs.append((probability, service in incident.truth.root_causes))
    check_calibrated(pairs, "fleet")


# --- decisions -----------------------------------------------------------------------------


def carry_out(state: State) -> tuple[State, float]:
    """Play the best plan as it stands, whatever else is shown; its value beforehand."""
    plan = belief(state).best()
    for action in plan.actions:
        if state.is_closed:
            break
        if isinstance(action, Remediate) and state.facts.fixed_at is not None:
            continue
        state = transition(state, action)
    return state, plan.value


@pytest.mark.parametrize("task", ["single_crash-v3-fog3", "cascading_failure-v3"])
def test_the_mean_grade_of_the_best_plan_is_its_mean_value(task: str) -> None:
    gaps = []
    for number in range(250):
        incident = make_incident(f"{task}/val/{number}")
        after, value = carry_out(asked(incident, 1 + number % 5))
        gaps.append((grade(after).score or 0.0) - value)
    mean = sum(gaps) / len(gaps)
    spread = sqrt(sum((gap - mean) ** 2 for gap in gaps) / (len(gaps) - 1))
    assert abs(mean) < 4 * spread / sqrt(len(gaps))


@settings(max_examples=15)
@given(small_episodes(8))
def test_asking_costs_nothing_while_there_is_time(states: tuple[State, ...]) -> None:
    state = states[0]
    setting = state.incident.setting
    assert setting is not None
    # For the longest plan and a request before it.
    assume(setting.par >= 7 and setting.par_benign >= 4)
    names = state.incident.topology.names
    requests: tuple[Action, ...] = (RequestMetrics(names[0]), RequestTraces(names[-1]))
    for one in worths(belief(state), requests):  # type: ignore[arg-type]
        assert one.grade >= -0.005  # the order of remedies is chosen greedily
        assert one.bits >= -(2**-10)


@settings(max_examples=6)
@given(small_episodes(7))
def test_the_parts_of_a_grade_add_up(states: tuple[State, ...]) -> None:
    state = states[-1]
    while not state.is_closed:
        state = transition(state, Resolve())
    told = explain(state, samples=3)
    assert abs(told.without_luck + told.luck - told.grade) < 1e-9
    assert told.grade == grade(state).score


@settings(max_examples=15)
@given(small_episodes(7))
def test_shaped_rewards_add_up_to_what_was_learnt_and_earned(states: tuple[State, ...]) -> None:
    rewards = [shaped_reward(a, b) for a, b in pairwise(states)]
    gained = value_of(states[-1]) - value_of(states[0])
    assert abs(sum(rewards) - gained) < 1e-9
