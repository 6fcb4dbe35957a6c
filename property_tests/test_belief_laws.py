"""Laws of beliefs: exact, calibrated, and blind to everything but the evidence."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import logtriage as lt
from logtriage.beliefs import belief
from logtriage.beliefs.explain import explain
from logtriage.beliefs.fixedpoint import EXP_BITS, ONE, exp2, log2, log_sums
from logtriage.beliefs.posterior import Seen, posterior
from logtriage.beliefs.questions import Asked
from logtriage.beliefs.shaping import shaped_reward, value_of
from logtriage.evidence import evidence
from logtriage.rng import below, draw, hash_name
from logtriage.roles import Role
from logtriage.roles.splits import TRIO
from logtriage.state import Closing
from property_tests.strategies import DRAWN, episodes, world_incidents

IDS = tuple(task.id for task in DRAWN)
SMALL = tuple(task for task in DRAWN if task.name != "fleet_outage")


def small_episodes(max_services: int) -> st.SearchStrategy[tuple[lt.State, ...]]:
    """Episodes on few services, in any world."""
    return episodes(SMALL, max_services) | episodes(source=world_incidents())


def asked(incident: lt.Incident, ticks: int) -> lt.State:
    """A state after some requests, which depend on the incident's id alone."""
    state, key = lt.initial_state(incident), hash_name(incident.id)
    kinds = (lt.RequestMoreLogs, lt.RequestMetrics, lt.RequestTraces)
    for tick in range(ticks):
        bits = draw(key, tick)
        service = incident.topology.names[below(bits, len(incident.topology))]
        state = lt.transition(state, kinds[bits % 3](service))
    return state


@given(st.integers(1, 1 << 60))
def test_logarithms_and_exponentials_are_inverse(value: int) -> None:
    whole = value.bit_length() - 1
    power = exp2(np.array(log2(value) - (whole + 1) * ONE))
    back = Fraction(int(power), 1 << EXP_BITS)
    assert abs(back - Fraction(value, 1 << (whole + 1))) < Fraction(1, 1 << 18)


@given(st.lists(st.integers(1, 1 << 40), min_size=1, max_size=20))
def test_the_logarithm_of_a_sum_is_that_of_the_sum(values: list[int]) -> None:
    found = log_sums(np.array([log2(one) for one in values]))
    assert abs(found - log2(sum(values))) < 64


@settings(max_examples=40)
@given(small_episodes(8), st.randoms(use_true_random=False))
def test_a_belief_is_of_its_evidence_alone(states: tuple[lt.State, ...], shuffled: object) -> None:
    """Neither the order of the evidence nor anything else of the incident matters."""
    state = states[-1]
    held = belief(state)
    cells = list(evidence(state))
    shuffled.shuffle(cells)  # type: ignore[attr-defined]
    misrouted = state.closing is Closing.MISROUTED
    seen = Seen(state.incident.directory, cells, state.facts.doings, misrouted)
    again = posterior(held.model.listed, seen)
    assert np.array_equal(again.weights, held.weights)


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
@pytest.mark.parametrize("task", [one for one in IDS if not one.startswith("fleet")])
def test_beliefs_are_calibrated(task: str, split: str) -> None:
    roots: list[tuple[float, bool]] = []
    teams: list[tuple[float, bool]] = []
    for number in range(70):
        incident = lt.make_incident(f"{task}/{split}/{5000 + number}")
        held = belief(asked(incident, number % 5))
        for service, probability in held.root_causes.items():
            roots.append((probability, service in incident.truth.root_causes))
        for team, probability in held.teams.items():
            teams.append((probability, team in incident.truth.teams))
    check_calibrated(roots, "root causes")
    check_calibrated(teams, "teams")


@pytest.mark.parametrize(
    ("task", "count", "ticks", "role"),
    [
        *(("cascading_failure-v4", 100, 4, role) for role in TRIO.roles),
        ("fleet_outage-v4", 40, 3, None),
    ],
)
def test_beliefs_of_roles_and_of_fleets_are_calibrated(
    task: str, count: int, ticks: int, role: Role | None
) -> None:
    pairs: list[tuple[float, bool]] = []
    for number in range(count):
        incident = lt.make_incident(f"{task}/test/{number}")
        held = belief(asked(incident, ticks), role)
        for service, probability in held.root_causes.items():
            pairs.append((probability, service in incident.truth.root_causes))
    check_calibrated(pairs, f"{task} {role}")


@settings(max_examples=15)
@given(small_episodes(8))
def test_asking_costs_nothing_while_there_is_time(states: tuple[lt.State, ...]) -> None:
    state = states[0]
    setting = state.incident.setting
    assert setting is not None
    # For the longest plan and a request before it.
    assume(setting.par >= 7 and setting.par_benign >= 4)
    names = state.incident.topology.names
    requests: tuple[lt.Action, ...] = (lt.RequestMetrics(names[0]), lt.RequestTraces(names[-1]))
    for one in Asked.of(belief(state), requests).worths():  # type: ignore[arg-type]
        assert one.grade >= -0.005  # the order of remedies is chosen greedily
        assert one.bits >= -(2**-10)


@settings(max_examples=6)
@given(small_episodes(7))
def test_the_parts_of_a_grade_add_up(states: tuple[lt.State, ...]) -> None:
    state = states[-1]
    while not state.is_closed:
        state = lt.transition(state, lt.Resolve())
    told = explain(state, samples=3)
    assert abs(told.without_luck + told.luck - told.grade) < 1e-9
    assert told.grade == lt.grade(state).score


@settings(max_examples=15)
@given(small_episodes(7))
def test_shaped_rewards_add_up_to_what_was_learnt_and_earned(states: tuple[lt.State, ...]) -> None:
    rewards = [shaped_reward(a, b) for a, b in pairwise(states)]
    gained = value_of(states[-1]) - value_of(states[0])
    assert abs(sum(rewards) - gained) < 1e-9
