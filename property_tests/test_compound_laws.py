"""Laws of several faults at once: what is drawn, what it shows, and what a response is worth."""

from collections import Counter
from typing import Final

import attrs
from hypothesis import assume, given
from hypothesis import strategies as st

from logtriage import Incident, grade, initial_state, make_incident, transition
from logtriage.audit.situations import Situations
from logtriage.drawing.ids import SPLITS
from logtriage.dynamics import play, play_jointly
from logtriage.grading import rubric_of, score
from logtriage.tasks import setting_of
from logtriage.topology import Service
from logtriage.world.compounds import SetPrior
from logtriage.world.conditions import (
    WELL,
    Hypothesis,
    affected,
    brings_about,
    secondary,
    unaffected,
)
from logtriage.world.loading import load_world
from logtriage.world.outcomes import condition_at, left_at
from logtriage.world.prior import Prior
from logtriage.world.schedule import Doings
from property_tests.strategies import (
    COMPOUND_FLEET,
    COMPOUND_TASKS,
    plans,
    simulation_of,
    triage_plays,
)
from tests.builders import own_topology

#: A caller with a pool, its database, and a queue beside them.
TINY: Final = own_topology(
    "tiny", ("red", "blue"),
    (
        Service("front", "edge", "red", ("shop", "mail")),
        Service("shop", "service", "red", ("store",)), Service("store", "datastore", "blue"),
        Service("mail", "queue", "blue"),
    ),
    "red", "blue",
)  # fmt: skip


WORLD: Final = load_world("oncall")
SETTING: Final = setting_of(WORLD, WORLD.tasks["compound_failure"], 2)
RULE: Final = WORLD.rules.secondary_fault
assert RULE is not None
POOL: Final = RULE.kind


@st.composite
def compound(draw: st.DrawFn, least: int = 0, *, fleets: bool = False) -> Incident:
    """Incidents of the tasks with several faults, ``least`` of them or more."""
    tasks = (*COMPOUND_TASKS, COMPOUND_FLEET) if fleets else COMPOUND_TASKS
    task = draw(st.sampled_from(tasks)).id
    first = draw(st.integers(0, 100_000))
    split = draw(st.sampled_from(SPLITS))
    found = (make_incident(f"{task}/{split}/{first + step}") for step in range(200))
    return next(one for one in found if len(one.truth.parts) >= least)


def light_prior(draw: st.DrawFn) -> SetPrior:
    """A prior with weights so small that every rank can be counted."""
    kinds = {"front": ["bad_deploy"], "shop": [POOL, "deadlock"], "store": ["slow_query", POOL],
             "mail": ["saturation"]}  # fmt: skip
    singles = [(kind, TINY.index(name)) for name, row in kinds.items() for kind in row]
    weights = tuple(draw(st.integers(1, 3)) for _ in singles)
    hypotheses = tuple(Hypothesis((one,)) for one in singles)
    return SetPrior(SETTING, TINY, Prior(hypotheses, weights, sum(weights)))


@given(st.composite(light_prior)())
def test_every_set_has_as_many_ranks_as_it_weighs(table: SetPrior) -> None:
    for size, total in enumerate(table.raw_totals, 1):
        drawn = Counter(table.of_rank(size, rank).faults for rank in range(total))
        sets = [one.faults for one in table.sets() if len(one.faults) == size]
        assert drawn == Counter({one: table.raw(one) for one in sets})
        for faults in sets:
            linked = len(secondary(WORLD, TINY, Hypothesis(faults)))
            plain = 1
            for one in faults:
                plain *= table.weight_of[one]
            assert table.raw(faults) == plain * (1 + table.linked * linked)


@given(compound(fleets=True))
def test_faults_strike_distinct_services_and_each_asks_for_its_own(incident: Incident) -> None:
    truth, world = incident.truth, simulation_of(incident)
    assert len(world.truth.faults) == len(truth.parts) <= 3
    assert len({service for _, service in world.truth.faults}) == len(truth.parts)
    assert frozenset().union(*(one.root_causes for one in truth.parts)) == truth.root_causes
    assert frozenset().union(*(one.teams for one in truth.parts)) == truth.teams
    assert frozenset().union(*(one.remedies for one in truth.parts)) == truth.remedies
    for one, other in zip(truth.parts, truth.parts[1:], strict=False):
        assert one.remedies.isdisjoint(other.remedies)


@given(compound(1, fleets=True))
def test_root_then_loaded_then_waiting_then_distracted(incident: Incident) -> None:
    world = simulation_of(incident)
    topology, faults = world.topology, {at: kind for kind, at in world.truth.faults}
    hidden = secondary(WORLD, topology, world.truth)
    for service, condition in enumerate(world.conditions):
        if service in faults and service not in hidden:
            assert condition.name == faults[service]
        elif condition.name == "waiting":
            assert condition.sick
            assert set(condition.sick) <= set(topology.calls[service])
        elif condition.name != "loaded":
            assert service not in hidden
            tier = topology.services[service].tier
            assert condition in [one for one, _ in unaffected(WORLD, tier)]
            assert not any(called in faults for called in topology.calls[service])


@given(st.data(), compound(2))
def test_what_is_left_shows_as_if_it_had_been_alone(
    data: st.DataObject, incident: Incident
) -> None:
    """Fixed faults leave no trace, and a service is never worse for a fix elsewhere."""
    world = simulation_of(incident)
    parts = data.draw(st.permutations(incident.truth.parts))
    gone = parts[: data.draw(st.integers(1, len(parts)))]
    remedies = tuple(
        (tick, str(remedy), service)
        for tick, part in enumerate(gone)
        for remedy, service in [min(part.remedies)]
    )
    left = left_at(WORLD, world.topology, world.truth, Doings(remedies=remedies), len(gone))
    fixed = {service for part in gone for service in part.root_causes}
    rest = [one for one in world.truth.faults if world.topology.names[one[1]] not in fixed]
    assert left == (Hypothesis(tuple(rest)) if rest else None)
    before = affected(WORLD, world.topology, world.truth)
    alone = affected(WORLD, world.topology, left) if left else {}
    assert set(alone) <= set(before)
    for service, own in enumerate(world.conditions):
        shown = condition_at(WORLD, world.topology, world.truth, left, service, own)
        assert shown == (alone.get(service, WELL) if service in before else own)


def test_a_secondary_fault_waits_for_its_database_and_outlasts_it() -> None:
    shop, store = TINY.index("shop"), TINY.index("store")
    both = Hypothesis(((POOL, shop), ("slow_query", store)))
    assert brings_about(WORLD, TINY, store)
    assert secondary(WORLD, TINY, both) == {shop}
    assert affected(WORLD, TINY, both)[shop].name == "waiting"
    assert affected(WORLD, TINY, both)[shop].sick == (store,)
    well = left_at(WORLD, TINY, both, Doings(remedies=((3, "kill-query", "store"),)), 4)
    assert well == Hypothesis(((POOL, shop),))
    assert affected(WORLD, TINY, well)[shop].name == POOL
    scaled = left_at(WORLD, TINY, both, Doings(remedies=((3, "scale", "shop"),)), 4)
    assert scaled == Hypothesis((("slow_query", store),))
    assert affected(WORLD, TINY, scaled)[shop].name == "waiting"


@given(st.data(), compound(1))
def test_one_fault_is_the_case_of_one_part(data: st.DataObject, incident: Incident) -> None:
    """A single fault written as a list of one is graded the same, bit for bit."""
    assume(len(incident.truth.parts) == 1)
    listed = attrs.evolve(
        incident, truth=attrs.evolve(incident.truth, several=incident.truth.parts)
    )
    plays = data.draw(triage_plays(incident))
    plain, other = (grade(play_jointly(one, plays)[0]) for one in (incident, listed))
    assert plain.score == other.score
    assert [one.score for one in plain.criteria] == [one.score for one in other.criteria]
    assert [one.factor for one in plain.discounts] == [one.factor for one in other.discounts]


@given(st.data(), compound(2))
def test_a_page_serves_every_fault_of_its_team(data: st.DataObject, incident: Incident) -> None:
    """Paging the teams one by one, silence fades with the share of faults they own."""
    parts = incident.truth.parts
    teams = data.draw(st.permutations(sorted(incident.truth.teams)))
    state = initial_state(incident)
    from logtriage import Escalate

    for count, team in enumerate(teams, 1):
        state = transition(state, Escalate(team))
        share = sum(not one.teams.isdisjoint(teams[:count]) for one in parts) / len(parts)
        graded = grade(state)
        assert graded.criterion("escalation").score == share
        assert bool(graded.discounts) == (share < 1.0)


@given(st.data(), compound(2))
def test_a_class_stands_for_all_its_actions(data: st.DataObject, incident: Incident) -> None:
    situations = Situations(incident, rubric_of(incident))
    assert not situations.unknown
    one = two = play(incident, ())[0]
    for action in data.draw(plans(incident, max_size=10)):
        if one.is_closed:
            break
        one = transition(one, action)
        two = transition(two, situations.classes[situations.class_of(action)])
        assert situations.of(one) == situations.of(two)
        assert score(one) == score(two)
