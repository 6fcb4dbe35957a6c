"""Random histories with one change: what breaks a law is found, and what is sound passes."""

import attrs
import pytest

from logtriage import Incident, get_task, make_incident
from logtriage.actions import IdentifyRootCause, ReportImpact
from logtriage.audit import QUICK, Verdict, audit, subject_of
from logtriage.audit.histories import drawn_histories
from logtriage.audit.vocabulary import IMPACTS, vocabulary
from logtriage.dynamics import play
from logtriage.grading import DEFAULT, TRIAGE_3, Criterion, Measured, paging
from logtriage.grading.rubric import Discount
from logtriage.recorded import shipped_incidents
from logtriage.state import State
from tests.audit.planted.holes import FEW, LOOKING
from tests.audit.planted.measures import looking_oracle

TASK = "single_crash-v4"
PAGED_FIRST = "cascading_failure-v4"


def recorded(split: str, number: int) -> Incident:
    """Another half of the shipped recordings for each of two splits."""
    shipped = shipped_incidents()
    place = {"train": 0, "test": 1}[split]
    return shipped[(2 * number + place) % len(shipped)]


@pytest.mark.parametrize("task", ["silent_degradation-v4", "compound_failure-v4"])
def test_the_tasks_of_the_benchmark_pass(task: str) -> None:
    report = audit(task, families=["histories"], sizes=attrs.evolve(QUICK, histories=25))
    assert (report.failed, report.unsettled) == ((), ())
    assert "ood; numbers from 0, 100,000" in report.finding("undeserved").summary


def test_recordings_pass_on_the_splits_that_there_are() -> None:
    report = audit(recorded, families=["histories"], sizes=attrs.evolve(QUICK, histories=25))
    assert report.failed == ()
    assert report.rubric == "recorded/3"
    assert "(train, test; numbers" in report.finding("undeserved").summary


def test_a_look_may_pay_where_the_oracle_looks() -> None:
    sizes = attrs.evolve(FEW, histories=60)
    alone = audit(TASK, LOOKING, families=["histories"], checks=["looks"], sizes=sizes)
    assert alone.failed == ("looks",)
    aided = audit(
        TASK, LOOKING, oracle=looking_oracle, families=["histories"], checks=["looks"], sizes=sizes
    )
    assert aided.finding("looks").verdict is Verdict.PASSED


def frugal_fix(state: State) -> Measured:
    asked = len(state.facts.requests)
    return (max(0.0, 1.0 - asked / 5) * (state.facts.fixed_at is not None), "few requests")


def test_a_worth_on_looking_is_said_with_a_history() -> None:
    rows = (attrs.evolve(row, weight=0.9 * row.weight) for row in DEFAULT.criteria)
    frugal = attrs.evolve(
        DEFAULT, id="test/frugal-1", criteria=(*rows, Criterion("frugal", 0.1, frugal_fix))
    )
    report = audit(TASK, frugal, families=["histories"], sizes=FEW)
    assert report.failed == ("looks",)
    finding = report.finding("looks")
    assert finding.evidence["worst"] == pytest.approx(0.02, abs=1e-6)
    assert "request_more_logs" in finding.evidence["witness"]


def test_histories_are_the_same_each_time_and_reach_what_holes_need() -> None:
    subject = subject_of(TASK)
    incident = make_incident(f"{TASK}/train/3")
    drawn = list(drawn_histories(subject, incident, 2_000))
    assert drawn == list(drawn_histories(subject, incident, 2_000))
    assert max(map(len, drawn)) <= get_task(TASK).horizon
    assert len(set(drawn)) > 1_900
    facts = [play(incident, one)[0].facts for one in drawn]
    roots = incident.truth.root_causes
    guessed_late = [
        one
        for one in facts
        if len({service for _, service in one.requests if service >= 0}) >= 6
        and one.root_cause is not None
        and one.root_cause not in roots
    ]
    assert guessed_late
    named = [action for plan in drawn for action in plan if isinstance(action, IdentifyRootCause)]
    assert {one.service for one in named} == set(incident.topology.names)


def test_reports_of_an_impact_have_every_length() -> None:
    topology = make_incident(f"{TASK}/train/3").topology
    words, calls = vocabulary(topology), sum(len(service.calls) for service in topology.services)
    lengths = [len(word.calls) for word in words if isinstance(word, ReportImpact)]
    assert lengths == list(range(1, 1 + min(IMPACTS, calls)))
    assert 4 in lengths


def test_only_a_fix_before_its_page_may_cost() -> None:
    few = attrs.evolve(QUICK, fuzzed=1, histories=40)
    report = audit(PAGED_FIRST, families=["histories"], sizes=few)
    assert report.finding("monotonicity").verdict is Verdict.PASSED
    dearer = attrs.evolve(
        TRIAGE_3,
        id="dearer-1",
        discounts=(*TRIAGE_3.discounts, Discount("again", paging.unapproved_fix)),
    )
    report = audit(PAGED_FIRST, rubric=dearer, families=["histories"], sizes=few)
    assert report.failed == ("monotonicity",)
