"""The checks of a simulated world: what they search, and what they compute."""

from math import sqrt

import attrs

from logtriage import make_incident
from logtriage.audit import QUICK, Verdict, audit
from logtriage.audit.symptoms import chances
from logtriage.grading import TRIAGE_3, priced
from logtriage.grading.rubric import Discount
from logtriage.world.prior import prior
from tests.audit.seen import is_seen

TASK = "cascading_failure-v4"


def test_only_a_fix_before_its_page_may_cost() -> None:
    few = attrs.evolve(QUICK, fuzzed=1, histories=40)
    report = audit(TASK, families=["histories"], sizes=few)
    assert report.finding("monotonicity").verdict is Verdict.PASSED
    dearer = attrs.evolve(
        TRIAGE_3,
        id="dearer-1",
        discounts=(*TRIAGE_3.discounts, Discount("again", priced.unapproved_fix)),
    )
    report = audit(TASK, rubric=dearer, families=["histories"], sizes=few)
    assert report.failed == ("monotonicity",)


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
    expected = float(sum(chance * weights[fault] for fault, chance in rows.items()))
    expected /= sum(weights.values())
    drawn = [make_incident(f"{TASK}/test/{number}") for number in range(700)]
    faults = [attrs.evolve(incident, horizon=1) for incident in drawn if not incident.truth.benign]
    unseen = sum(not is_seen(fault) for fault in faults) / len(faults)
    assert expected > 0.005
    assert abs(unseen - expected) < 4 * sqrt(expected * (1 - expected) / len(faults))
