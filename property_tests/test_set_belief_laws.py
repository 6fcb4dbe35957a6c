"""Laws of the belief over sets of faults: Bayes' rule read anew, and plans worth what is said."""

from collections.abc import Iterable
from functools import lru_cache
from math import isclose, log2

import attrs
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import logtriage as lt
from logtriage.actions import SEVERITIES
from logtriage.beliefs import Belief, belief
from logtriage.beliefs.ledgers import UNIT
from logtriage.beliefs.model import NONE, Model, any_model_of
from logtriage.beliefs.portfolio import Portfolio
from logtriage.beliefs.posterior import Seen
from logtriage.beliefs.search import ERROR, searched_posterior
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import SPLITS, IncidentId
from logtriage.drawing.incidents import truth_of
from logtriage.dynamics import play
from logtriage.evidence import evidence
from logtriage.grading import score
from logtriage.grading.impact import path_of
from logtriage.policies import perfect_actions
from logtriage.world.conditions import Hypothesis, affected, errors_first, teams_of
from logtriage.world.simulation import Simulation
from logtriage.world.topologies import random_topology
from property_tests.strategies import COMPOUND_TASKS
from property_tests.test_belief_laws import asked, check_calibrated
from property_tests.test_compound_laws import SETTING, TINY
from tests.builders import FIVE_TEAMS


@st.composite
def tiny_states(draw: st.DrawFn) -> lt.State:
    """Open states on four services: right pages and remedies, wrong ones, and requests."""
    task = draw(st.sampled_from(COMPOUND_TASKS))
    number = IncidentId(task, draw(st.sampled_from(SPLITS)), draw(st.integers(0, 100_000)))
    incident = draw_incident(task, number, TINY)
    right = perfect_actions(incident)[:-1]
    service = st.sampled_from(TINY.names)
    one = st.one_of(
        st.sampled_from(right), st.sampled_from(right), st.builds(lt.RequestMoreLogs, service),
        st.builds(lt.RequestMetrics, service), st.builds(lt.RequestTraces, service),
        st.builds(lt.Remediate, st.sampled_from(("restart", "scale")), service),
    )  # fmt: skip
    state = lt.initial_state(incident)
    for action in draw(st.lists(one, max_size=6)):
        state = lt.transition(state, action)
    return state


def told(incidents: Iterable[lt.Incident]) -> dict[str, list[tuple[float, bool]]]:
    """What was believed of roots, teams, calls and the number of faults, and whether it is so.

    After some requests, and in every other incident after a right remedy for one fault.
    """
    found: dict[str, list[tuple[float, bool]]] = {}
    for number, incident in enumerate(incidents):
        state = asked(incident, number % 5)
        fixes = [one for one in perfect_actions(incident) if isinstance(one, lt.Remediate)]
        for fix in fixes[: number % 2]:
            state = lt.transition(state, fix)
        held, truth, world = belief(state), incident.truth, incident.telemetry
        assert isinstance(world, Simulation)
        calls = path_of(world.setting.world, world.topology, world.truth).calls
        counts = [0.0] * 4
        for one, share in zip(held.hypotheses, held.probabilities, strict=True):
            counts[len(one.faults)] += share
        for what, believed, true in (
            ("roots", held.root_causes, truth.root_causes), ("teams", held.teams, truth.teams),
            ("calls", held.calls, calls), ("counts", dict(enumerate(counts)), {len(truth.parts)}),
        ):  # fmt: skip
            pairs = found.setdefault(what, [])
            pairs += [(share, name in true) for name, share in believed.items()]
    return found


def test_beliefs_over_sets_are_calibrated() -> None:
    """On four services, at every level of fog."""
    numbers = (IncidentId(COMPOUND_TASKS[one % 4], "test", 7000 + one) for one in range(40))
    for what, pairs in told(draw_incident(one.task, one, TINY) for one in numbers).items():
        check_calibrated(pairs, what)


def test_beliefs_over_sets_on_the_topologies_of_the_task_are_calibrated() -> None:
    """Half of ``ood`` lies on topologies of its own, where sets may be searched."""
    ids = [f"test/{7000 + one}" for one in range(6)] + ["ood/7000", "ood/7001"]
    drawn = (lt.make_incident(f"compound_failure-v4/{one}") for one in ids)
    for what, pairs in told(drawn).items():
        check_calibrated(pairs, what)


@lru_cache(maxsize=2)
def model(held: bool = False) -> Model:
    return any_model_of(SETTING, FIVE_TEAMS, held)


@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=20))
def test_what_is_compiled_is_what_each_set_affects(rows: list[int]) -> None:
    listed = model().listed
    for row in rows:
        members = [one for one in listed.members[row] if one != NONE]
        one = Hypothesis(tuple(model().singles[number] for number in members))
        reached = affected(model().world, FIVE_TEAMS, one)
        for service, place in enumerate(listed.place[row]):
            if service in reached:
                assert listed.conditions[service][place] == reached[service]
            else:
                assert place == NONE
        assert bool(listed.errors_first[row]) == errors_first(model().world, one)
        weight = model().sets.weight(one)
        whole = model().sets.total
        assert isclose(model().listed.logs[row] / 2**20, log2(weight), abs_tol=1e-3), whole


@given(st.integers(0, 20_000), st.data())
def test_every_part_of_a_set_is_a_set(row: int, data: st.DataObject) -> None:
    listed = model().listed
    members = listed.members[row]
    gone = np.array([data.draw(st.booleans()) for _ in members])
    left = np.where(gone, NONE, members)
    at = int(listed.row_of(left[np.newaxis])[0])
    if (left == NONE).all():
        assert at == NONE
    else:
        assert set(listed.members[at]) - {NONE} == set(left) - {NONE}


def test_every_part_of_a_set_that_is_searched_is_there() -> None:
    """A remedy leaves part of a set; what is left shows as it would alone."""
    task = COMPOUND_TASKS[2]
    fleet = random_topology(5, 20, FIVE_TEAMS.teams)
    incident = draw_incident(task, IncidentId(task, "test", 2), fleet)
    state = lt.initial_state(incident)
    whole = any_model_of(SETTING, fleet, incident.held)
    seen = Seen(incident.directory, evidence(state), state.facts.doings, misrouted=False)
    listed = searched_posterior(whole, seen).listed
    members = listed.members[: listed.sets]
    assert len(np.unique(members, axis=0)) == listed.sets
    for gone in range(members.shape[1]):
        left = members.copy()
        left[:, gone] = NONE
        left = left[(left != NONE).any(axis=1)]
        assert (listed.row_of(left) != NONE).all()


def graded(
    state: lt.State, one: Hypothesis, severities: tuple[int, ...], plan: list[lt.Action]
) -> float:
    """The mean grade of a plan if a hypothesis is true, by the grader itself."""
    incident, total = state.incident, 0.0
    assert incident.setting is not None
    world = incident.setting.world
    teams = teams_of(world, incident.topology, incident.directory, one)
    for severity, share in zip(SEVERITIES, severities, strict=True):
        if share:
            truth = truth_of(world, incident.topology, teams, one, severity)
            there = attrs.evolve(incident, truth=truth)
            if plan:
                whole, _ = play(there, [*state.actions, *plan])
            else:
                whole = lt.State(there, state.tick, state.history, state.closing)
            total += share / sum(severities) * score(whole)
    return total


def sample(held: Belief, count: int) -> list[int]:
    """Some hypotheses, the likeliest first, then others evenly."""
    order = sorted(range(len(held.weights)), key=lambda row: -held.weights[row])
    return [*order[:count], *order[count :: max(1, len(order) // count)]]


@settings(max_examples=12)
@given(tiny_states(), st.lists(st.integers(0, 5_000), max_size=10))
def test_a_list_earns_under_each_set_what_the_grader_says(
    state: lt.State, picks: list[int]
) -> None:
    held = belief(state)
    case = Portfolio(held.posterior, held.standing)
    remedies = ("restart", "scale", "rollback")
    kinds: list[list[lt.Action]] = [
        list(perfect_actions(state.incident)),
        [lt.Escalate(team) for team in TINY.teams],
        [lt.Remediate(remedy, name) for remedy in remedies for name in TINY.names],
        list(held.best().actions),
    ]
    plan: list[lt.Action] = []
    for pick in picks:
        kind = kinds[pick % len(kinds)]
        plan.append(kind[pick // len(kinds) % len(kind)])
        if type(plan[-1]).__name__ in ("Resolve", "Ignore", "HandOver"):
            break  # nothing follows the close in a plan
    ((found,), (later,)) = case.grades([tuple(plan)], 0, 1)
    ((behind, alone),) = case.grades([(lt.RequestMoreLogs(None), *plan), tuple(plan)], 0)
    assert (found == alone).all()
    assert (later == behind).all()
    for row in sample(held, 6):
        wanted = graded(state, held.hypotheses[row], held.posterior.severities[row], plan)
        assert isclose(found[row] / UNIT, wanted, abs_tol=1e-6)


@settings(max_examples=6)
@given(tiny_states())
def test_the_best_plan_is_worth_its_mean_grade(state: lt.State) -> None:
    held = belief(state)
    case = Portfolio(held.posterior, held.standing)
    plan = case.best()
    grades = case.grades([plan.actions], 0)[0, 0] / UNIT
    mean = sum(share * one for share, one in zip(held.probabilities, grades, strict=True))
    assert abs(mean - plan.value) < 1e-5
    for row in sample(held, 8):
        severities = held.posterior.severities[row]
        wanted = graded(state, held.hypotheses[row], severities, list(plan.actions))
        assert isclose(grades[row], wanted, abs_tol=1e-6)
    assert round(plan.value * UNIT) / UNIT == plan.value


Believed = dict[Hypothesis, float]


def apart(one: Believed, other: Believed) -> float:
    """The total variation between two posteriors."""
    return sum(abs(one.get(row, 0.0) - other.get(row, 0.0)) for row in {*one, *other}) / 2


def searched(state: lt.State, **wider: int) -> Believed:
    """The posterior of the search."""
    incident, world = state.incident, state.incident.telemetry
    assert isinstance(world, Simulation)
    whole = any_model_of(world.setting, incident.topology, incident.held)
    seen = Seen(incident.directory, evidence(state), state.facts.doings, misrouted=False)
    found = searched_posterior(whole, seen, **wider)
    total = sum(found.weights)
    shares = [weight / total for weight in found.weights]
    return dict(zip(found.hypotheses, shares, strict=True))


def small_systems() -> Iterable[lt.Incident]:
    """Incidents on the default topology, and at three levels of fog on drawn ones."""
    for number in range(4):
        yield lt.make_incident(f"compound_failure-v4/test/{number}")
    for number in range(3):
        task = COMPOUND_TASKS[number]
        drawn = random_topology(number, 8 + number, FIVE_TEAMS.teams)
        yield draw_incident(task, IncidentId(task, "test", number), drawn)


def test_the_search_misplaces_no_more_than_it_states() -> None:
    """On average, after some questions and after a remedy, where every set can be weighed."""
    gaps = []
    for number, incident in enumerate(small_systems()):
        names = incident.topology.names
        plan: list[lt.Action] = [
            lt.RequestMetrics(names[-1]), lt.RequestTraces(names[0]), lt.RequestMoreLogs(None),
        ]  # fmt: skip
        fix = [one for one in perfect_actions(incident) if isinstance(one, lt.Remediate)]
        state, _ = play(incident, [*plan[: number % 4], *fix[: number % 2]])
        held = belief(state)
        assert held.exact
        exact = dict(zip(held.hypotheses, held.probabilities, strict=True))
        gaps.append(apart(searched(state), exact))
    assert sum(gaps[:4]) / 4 <= ERROR
    assert sum(gaps[4:]) / 3 <= ERROR


def test_the_search_leaves_room_for_a_fault_that_shows_nothing_yet() -> None:
    """On a fleet nobody can weigh all sets: a wider search stands in for that."""
    task = COMPOUND_TASKS[2]
    fleet = random_topology(5, 20, FIVE_TEAMS.teams)
    state = lt.initial_state(draw_incident(task, IncidentId(task, "test", 2), fleet))
    wide = searched(state, singles=60, pairs=200, anchors=30)
    blind = apart(searched(state, anchors=0), wide)
    assert apart(searched(state), wide) < blind - 0.05


def test_a_fleet_is_searched_and_says_so() -> None:
    task = COMPOUND_TASKS[0]
    fleet = random_topology(5, 20, FIVE_TEAMS.teams)
    incident = draw_incident(task, IncidentId(task, "test", 1), fleet)
    held = belief(lt.initial_state(incident))
    assert not held.exact
    assert isclose(sum(held.probabilities), 1.0)
    assert max(len(one.faults) for one in held.hypotheses) == 3
    assert held.best().value > 0.0


def test_the_belief_over_sets_adds_up() -> None:
    task = COMPOUND_TASKS[0]
    incident: lt.Incident = draw_incident(task, IncidentId(task, "test", 3), TINY)
    held = belief(lt.initial_state(incident))
    assert held.exact
    assert isclose(sum(held.probabilities), 1.0)
    assert 1.0 <= sum(held.root_causes.values()) + held.benign <= 3.0
