"""The checks of a simulated world: what they search, and what they compute."""

from math import sqrt

import attrs
import pytest

from logtriage import Incident, make_incident
from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Remediate,
    Resolve,
    Wait,
)
from logtriage.audit import QUICK, Verdict, audit
from logtriage.audit.plan_search import Node, PlanSearch
from logtriage.audit.probing import decision
from logtriage.audit.symptoms import chances, is_seen
from logtriage.belief import Belief, belief
from logtriage.errors import InvalidInput
from logtriage.grading import TRIAGE_3, priced, score
from logtriage.grading.rubric import Discount
from logtriage.state import initial_state
from logtriage.transition import play, transition
from logtriage.world.prior import prior
from tests.builders import SEVEN_SERVICES

TASK = "cascading_failure-v3"


def decided(number: int, price: float | None = None) -> Belief:
    incident = make_incident(f"{TASK}/test/{number}")
    found = decision(
        incident if price is None else attrs.evolve(incident, price_of_hand_over=price)
    )
    assert found is not None
    return found


@pytest.mark.parametrize("number", range(3))
def test_the_search_finds_by_itself_what_the_planner_finds(number: int) -> None:
    held = decided(number)
    alone, aided = PlanSearch(held).search(unaided=True), PlanSearch(held).search()
    assert alone.exact
    assert aided.exact
    assert alone.best == pytest.approx(aided.best, abs=1e-5)
    assert aided.gain >= 0.0


def test_if_probing_were_free_it_would_pay() -> None:
    """On the first screen, where most is in doubt, and handing over is worth little."""
    drawn = (make_incident(f"{TASK}-fog0/test/{number}") for number in (2, 3))
    for incident in drawn:
        held = belief(initial_state(attrs.evolve(incident, price_of_hand_over=0.3)))
        honest, search = PlanSearch(held).search(), PlanSearch(held)
        search.left = (1.0,) * 4
        assert honest.exact
        assert search.search().best > honest.best + 0.05


def test_plans_are_searched_before_anything_was_done() -> None:
    state = transition(initial_state(make_incident(f"{TASK}/test/0")), ClassifySeverity("P1"))
    with pytest.raises(InvalidInput, match="nothing was done yet"):
        PlanSearch(belief(state))


def test_probing_is_searched_at_the_decisions_of_the_observer() -> None:
    few = attrs.evolve(QUICK, same=4, beliefs=4)
    report = audit(TASK, families=["probing"], sizes=few)
    found = report.finding("probing")
    assert found.verdict is Verdict.PASSED, found.summary
    assert found.evidence["decisions"] == 4
    assert found.evidence["lost_unpaged"] > found.evidence["lost_paged"]


def test_only_a_fix_before_its_page_may_cost() -> None:
    few = attrs.evolve(QUICK, search=12, laws=1)
    found = audit(TASK, families=["monotone"], sizes=few)
    assert found.finding("monotonicity").verdict is Verdict.PASSED
    dearer = attrs.evolve(
        TRIAGE_3,
        id="dearer",
        discounts=(*TRIAGE_3.discounts, Discount("again", priced.unapproved_fix)),
    )
    found = audit(TASK, rubric=dearer, families=["monotone"], sizes=few)
    assert "remedy: none earns" in found.finding("monotonicity").summary


def severe(count: int) -> list[Incident]:
    """Real faults of the worst sort, which the edge panel shows without doubt."""
    drawn = (make_incident(f"{TASK}/test/{number}") for number in range(60))
    return [one for one in drawn if one.truth.severity == "P1" and not one.truth.benign][:count]


def test_a_hand_over_is_the_best_plan_where_little_is_known() -> None:
    """On the first screen, where the search is as good as the price, and no better."""
    incident = make_incident("cascading_failure-v3-fog3/test/0")
    start = initial_state(attrs.evolve(incident, price_of_hand_over=0.9))
    found = PlanSearch(belief(start)).search(unaided=True)
    assert found.exact
    assert found.best == found.page_first == pytest.approx(0.9, abs=1e-6)


@pytest.mark.parametrize("paged", [True, False])
@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_a_fix_is_worth_what_the_grader_pays(paged: bool, wrong: int) -> None:
    """The search adds up what the grader adds up, on the branch of the true hypothesis."""
    for incident in severe(3):
        truth, topology = incident.truth, incident.topology
        page, root = Escalate(min(truth.teams)), IdentifyRootCause(min(truth.root_causes))
        right = Remediate(*min(truth.remedies))
        tries = [Remediate(one, right.service) for one in SEVEN_SERVICES.remedies]
        tries = [one for one in tries if (one.remedy, one.service) not in truth.remedies][:wrong]
        waits = (Wait(),) * 4
        before: list[Action] = [*waits, *([page] if paged else []), root, *tries]
        ends: list[list[Action]] = [[ClassifySeverity("P1"), Resolve()]]
        if not paged:
            ends.append([page, *ends[0]])
        paid = max(score(play(incident, [*before, right, *end])[0]) for end in ends)
        search = PlanSearch(belief(play(incident, waits)[0]))
        sure = 1.0 * (
            (search.root == topology.index(root.service))
            & (search.team == topology.teams.index(page.team))
            & (search.hits[:, search.remedies.index((str(right.remedy), right.service))] > 0)
        )
        one = sure / sure.sum() if sure.any() else sure
        node = Node(
            len(before),
            one,
            paged,
            topology.index(root.service),
            tuple(range(wrong)),
            0 if paged else wrong,
        )
        assert search.fixed(node, one) == pytest.approx(paid, abs=1e-5)


def test_faults_stay_unseen_as_often_as_the_tables_say() -> None:
    """At a horizon of one tick, where that is not rare."""
    first = make_incident(f"{TASK}/test/0").simulation
    assert first is not None
    table = prior(first.setting, first.topology, first.held)
    weights = {
        one: weight
        for one, weight in zip(table.hypotheses, table.weights, strict=True)
        if one.faults
    }
    rows = chances(first.setting, first.topology, first.held, 1)
    expected = float(sum(row.chance * weights[row.hypothesis] for row in rows))
    expected /= sum(weights.values())
    drawn = [make_incident(f"{TASK}/test/{number}") for number in range(700)]
    faults = [attrs.evolve(one, horizon=1) for one in drawn if not one.truth.benign]
    unseen = sum(not is_seen(one) for one in faults) / len(faults)
    assert expected > 0.005
    assert abs(unseen - expected) < 4 * sqrt(expected * (1 - expected) / len(faults))


def test_teamwork_is_held_to_the_benchmark_alone() -> None:
    few = attrs.evolve(QUICK, teams=4)
    reported = audit("single_crash-v3", families=["teamwork"], sizes=few).finding("teamwork")
    assert reported.verdict is Verdict.REPORTED, reported.summary


def test_claims_earn_nothing_in_a_world_that_records_must_name() -> None:
    report = audit("tiny:outage", sizes=QUICK, checks=["canaries"])
    assert report.finding("canaries").verdict is Verdict.PASSED
