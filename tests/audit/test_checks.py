"""Every check can fail: each meets the fault that it is there to find."""

import sys

import attrs
import numpy as np
import pytest

import logtriage as lt
from logtriage.audit import QUICK, Finding, Verdict, audit
from logtriage.audit.action_lists import Scorer
from logtriage.audit.episodes import renamed
from logtriage.audit.leaks import mutual_information
from logtriage.audit.limits import WITH_WORTH
from logtriage.audit.players import WATCHERS
from logtriage.audit.subject import subject_of
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.grading import TRIAGE_3, Criterion, batch, score
from logtriage.policies import perfect_actions
from logtriage.policies.constant import fitted
from logtriage.tasks import TaskSpec
from logtriage.world.topologies import random_topology
from tests.audit.planted.holes import FEW
from tests.audit.planted.mutants import MUTANTS
from tests.audit.planted.tasks import root_first
from tests.builders import named

BY_NAME = {mutant.name: mutant.rubric for mutant in MUTANTS}
TASK = lt.get_task("silent_degradation-v4")
#: A fault and a benign incident, of few ticks: the exact search of each kind takes seconds.
ONE_OF_EACH = attrs.evolve(QUICK, oracle=2)
SHORT = attrs.evolve(TASK, horizon=7, setting=attrs.evolve(TASK.setting, benign=500))


def finding(
    check: str, family: str, rubric: lt.Rubric | None = None, task: TaskSpec | str = TASK
) -> Finding:
    sizes = FEW
    if family == "ceiling":
        task, sizes = SHORT, ONE_OF_EACH
    report = audit(task, rubric, families=[family], checks=[check], sizes=sizes)
    return report.finding(check)


def single(name: str, measure: object) -> lt.Rubric:
    return lt.Rubric(id=f"test/{name}-1", criteria=(Criterion(name, 1.0, measure),))  # type: ignore[arg-type]


def test_an_unknown_measure_makes_the_search_a_lower_bound() -> None:
    closure = next(row for row in BY_NAME["closure-unhurried"].criteria if row.name == "closure")
    rows = (closure if row.name == "closure" else row for row in TRIAGE_3.criteria)
    unhurried = attrs.evolve(TRIAGE_3, id="unhurried-1", criteria=rows)
    known, unknown = (finding("exact-maximum", "ceiling", one) for one in (TRIAGE_3, unhurried))
    assert known.evidence["exact"] is True
    assert unknown.evidence["exact"] is False
    assert unknown.evidence["unknown"] == ["closure"]
    assert "lower bound" in unknown.summary


def test_what_a_new_process_cannot_import_is_said() -> None:
    found = finding("determinism", "stability", single("local", named(lambda _: (0.5, "half"))))
    assert found.verdict is Verdict.UNTESTED
    assert "a new process cannot import what is audited" in found.summary


def test_an_answer_in_the_order_of_what_is_shown_is_found() -> None:
    sizes = attrs.evolve(QUICK, leaks=2_000)
    report = audit(root_first, families=["leaks"], checks=["leaks"], sizes=sizes)
    leaking = report.finding("leaks").evidence["leaking"]
    found = {(row["feature"], row["answer"]) for row in leaking}
    alerts = "order of alerts that began together"
    assert (alerts, "team") in found
    assert {feature for feature, _ in found} <= {alerts, "order of lines"}


def test_mutual_information_of_what_is_known() -> None:
    first = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    assert mutual_information(first, first) == pytest.approx(2.0)
    assert mutual_information(first, first // 2) == pytest.approx(1.0)
    assert mutual_information(first, np.array([0, 1] * 4)) == pytest.approx(0.0, abs=1e-12)
    uneven = np.array([0, 0, 0, 1])
    entropy = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert mutual_information(uneven, uneven) == pytest.approx(entropy)


def test_thresholds_are_in_one_place_and_can_be_changed() -> None:
    strict = attrs.evolve(WITH_WORTH, expert=1.0, chance=-3.0)
    subject = subject_of("cascading_failure-v4")
    for limits, failed in ((WITH_WORTH, ()), (strict, ("expert", "chance"))):
        report = audit(
            subject, families=["floor"], checks=["idle", "shallow", "chance", "expert"],
            sizes=QUICK, limits=limits,
        )  # fmt: skip
        assert set(report.failed) == set(failed)


def test_lists_are_fitted_to_each_topology(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)  # a warning would be an error
    batch._advise.cache_clear()
    task = lt.get_task("single_crash-v4")
    incidents = [
        draw_incident(task, IncidentId(task, "test", number), topology)
        for number, topology in enumerate((None, random_topology(1, 8), random_topology(2, 5)))
    ]
    plans = [perfect_actions(incident) for incident in incidents]
    scores = Scorer(incidents, TRIAGE_3).by_kind(plans * batch.WORTH_A_KERNEL)
    for row, plan in enumerate(plans):
        for column, one in enumerate(incidents):
            expected = score(lt.play(one, [fitted(action, one.topology) for action in plan]))
            assert scores[row, column] == expected
    assert scores[:3].diagonal().tolist() == [1.0, 1.0, 1.0]


def test_a_renamed_incident_is_the_same_one() -> None:
    incident = lt.make_incident("single_crash-v4/test/1")
    there, translate = renamed(incident)
    assert not set(there.topology.names) & set(incident.topology.names)
    plan = perfect_actions(incident)
    played = lt.play(there, [translate(action) for action in plan])
    assert lt.grade(played).score == 1.0
    assert perfect_actions(there) != plan
    old = {*incident.topology.names, *incident.topology.teams}
    for action in lt.all_actions(incident.topology):
        named = translate(action)
        assert type(named) is type(action)
        assert not old & {getattr(named, field.name) for field in attrs.fields(type(named))}
    assert translate(lt.RequestMoreLogs(None)) == lt.RequestMoreLogs(None)


@pytest.mark.parametrize("name", WATCHERS)
@pytest.mark.parametrize("task", ["single_crash-v4", "silent_degradation-v4"])
def test_who_watches_the_panel_reads_no_line(name: str, task: str) -> None:
    """The same actions with every line blanked; and it does look at what a remedy did."""
    subject, cured = subject_of(task), 0
    for incident in subject.incidents("test", 12):
        end = lt.play(incident, WATCHERS[name](incident))
        assert not end.facts.requests
        policy, memory = WATCHERS[name](incident), None
        for before in range(len(end.actions)):
            screen = lt.observe(lt.play(incident, end.actions[:before]))
            action, memory = policy.act(attrs.evolve(screen, window=(), inspection=()), memory)
            assert action == end.actions[before]
        right = end.facts.root_cause in incident.truth.root_causes
        cured += right and end.facts.fixed_at is not None
    assert cured > 2
