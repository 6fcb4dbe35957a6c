"""The audit as a whole: the drawn tasks pass it."""

import attrs
import pytest

from logtriage import Incident, get_task, make_incident
from logtriage.audit import FAMILIES, QUICK, Draw, Report, Verdict, audit, subject_of
from logtriage.audit.limits import WITH_WORTH
from logtriage.audit.subject import DrawnTask
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import TRIAGE_3, rubric_of
from logtriage.policies import ExpertPolicy
from logtriage.recorded import shipped_incidents
from logtriage.tasks import TASKS
from logtriage.world.topologies import random_topology
from tests.audit.planted.holes import FEW

#: One kind of incident for the exact search and the laws, which say the same of every kind.
ONE_KIND = attrs.evolve(QUICK, oracle=1, kinds=1, same=2)
#: Enough for all checks to be made.
LEAST = attrs.evolve(FEW, oracle=1, leaks=120, permutations=40, screens=60, histories=20)


def test_a_drawn_task_passes() -> None:
    """Of each family everything but thousands of situations and new processes."""
    checks = [check for family in FAMILIES.values() for check in family if check != "determinism"]
    report = audit("cascading_failure-v4", sizes=LEAST, checks=checks)
    assert (report.failed, report.unsettled) == ((), ())
    assert [finding.check for finding in report.findings] == checks
    assert not [finding.check for finding in report.findings if finding.verdict is Verdict.SKIPPED]
    assert report.rubric == "logtriage/3"


def of_odd_worth(split: str, number: int) -> Incident:
    """A worth of a hand-over that no task has."""
    return attrs.evolve(make_incident(f"single_crash-v4/{split}/{number}"), worth_of_hand_over=0.6)


def test_an_odd_worth_ends_no_audit() -> None:
    sizes = attrs.evolve(QUICK, search=60, panel=40, worths=20)
    report = audit(of_odd_worth, families=["floor", "risk"], sizes=sizes, limits=WITH_WORTH)
    assert (report.failed, report.unsettled) == ((), ())


def test_a_script_that_fails_leaves_its_checks_untested(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object) -> None:
        raise KeyError("no such service")

    monkeypatch.setattr(ExpertPolicy, "act", lost)
    report = audit("single_crash-v4", families=["floor"], checks=["expert", "chance"], sizes=FEW)
    assert report.unsettled == ("expert",)
    assert "a script could not play: policy failed in tick 0" in report.finding("expert").summary
    assert report.finding("chance").verdict is Verdict.PASSED


def test_the_same_subject_has_the_same_report() -> None:
    families = [name for name in FAMILIES if name != "stability"]
    reports: list[Report] = [audit("tiny:outage", families=families, sizes=LEAST) for _ in range(2)]
    assert reports[0] == reports[1]


def on_small_topology(split: str, number: int) -> Incident:
    task = get_task("single_crash-v4")
    topology = random_topology(11, 6)
    return draw_incident(task, IncidentId(task, split, number), topology)


def test_a_function_of_ones_own_can_be_audited() -> None:
    report = audit(on_small_topology, sizes=ONE_KIND, families=["ceiling", "stability"])
    assert report.failed == ()
    assert report.subject == "on_small_topology"


def test_a_task_sheet_that_is_not_registered_can_be_audited() -> None:
    spec = attrs.evolve(get_task("single_crash-v4"), horizon=9)
    subject = subject_of(spec)
    assert subject.draw == DrawnTask(spec)
    assert subject.incident("test", 3).horizon == 9
    assert audit(subject, sizes=ONE_KIND, families=["ceiling"]).passed


def test_a_registered_task_is_drawn_by_its_ids() -> None:
    for task in TASKS:
        subject = subject_of(task)
        assert subject.draw == DrawnTask(task)
        assert subject.incident("ood", 5) is make_incident(f"{task.id}/ood/5")
        assert subject.rubric is rubric_of(subject.incident("test", 0))


def recorded(split: str, number: int) -> Incident:
    """The shipped recordings: a label for the root cause, and nothing else."""
    shipped = shipped_incidents()
    return shipped[(number + len(split)) % len(shipped)]


def test_recorded_incidents_can_be_audited() -> None:
    sizes = attrs.evolve(QUICK, search=12, panel=12, oracle=2, same=2)
    families = ["ceiling", "stability"]
    report = audit(recorded, sizes=sizes, families=families)
    assert report.rubric == "recorded/3"
    assert report.finding("exact-maximum").evidence["exact"] is True
    assert report.finding("mis-page").verdict is Verdict.SKIPPED
    assert report.failed == ()


def no_incident(split: str, number: int) -> Incident:
    return split * number  # type: ignore[return-value]


def test_what_cannot_be_audited_is_refused_with_a_reason() -> None:
    with pytest.raises(UnknownName, match="unknown task 'x'"):
        audit("x")
    with pytest.raises(InvalidInput, match="got int"):
        subject_of(3)  # type: ignore[arg-type]
    with pytest.raises(
        InvalidInput, match="no_incident: drew str for test/0, expected an Incident"
    ):
        subject_of(no_incident)
    draw: Draw = no_incident
    with pytest.raises(InvalidInput, match="drew str for test/0"):
        audit(draw, TRIAGE_3, families=["ceiling"])
