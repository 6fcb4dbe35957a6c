"""Every planted hole is found by the check that is there for it, and none where none is."""

from functools import cache

import attrs
import pytest

from logtriage.audit import FAMILIES, Draw, Report, Verdict, audit
from logtriage.drawing.generator import make_incident
from logtriage.errors import UnknownName
from logtriage.incident import Incident
from tests.audit.planted.holes import FEW, HOLES, LOOKING, Hole
from tests.audit.planted.measures import looking_oracle
from tests.audit.planted.tasks import OTHER_TASK, TASK

#: One hole for each check and task: the same check on the same task with nothing planted.
MENDED = {(hole.check, hole.mended().task): hole.mended() for hole in HOLES}


def named(task: str | Draw) -> str:
    return task if isinstance(task, str) else str(getattr(task, "__name__", task))


def test_every_check_has_a_hole_to_find() -> None:
    known = {check for checks in FAMILIES.values() for check in checks}
    assert {"risk", "fairness", "symptom"} < known
    assert known == {hole.check for hole in HOLES}


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.name)
def test_the_hole_is_found(hole: Hole) -> None:
    finding = hole.audited()
    assert finding.verdict is Verdict.FAILED, finding.summary


@cache
def sound_report(task: str | Draw, family: str) -> Report:
    """All checks of a family of which a hole is mended on that task: they share their searches."""
    checks = [check for check, one in MENDED if one == task and MENDED[check, one].family == family]
    return audit(task, families=[family], checks=checks, sizes=FEW)


@pytest.mark.parametrize(
    "hole", MENDED.values(), ids=lambda hole: f"{hole.check}-{named(hole.task)}"
)
def test_nothing_is_found_where_nothing_is_planted(hole: Hole) -> None:
    finding = sound_report(hole.task, hole.family).finding(hole.check)
    assert finding.verdict is Verdict.PASSED, finding.summary


def in_haste(task: str) -> Draw:
    """The task's incidents, with no tick to spare: a perfect response takes five, or two."""

    def draw(split: str, number: int) -> Incident:
        incident = make_incident(f"{task}/{split}/{number}")
        return attrs.evolve(incident, par=2 if incident.truth.benign else 5)

    return draw


@pytest.mark.parametrize("task", [TASK, OTHER_TASK])
def test_a_sound_rubric_that_pays_for_looking_passes_with_an_oracle_that_looks(task: str) -> None:
    """The full marks are out of reach: a look costs a tick, and the tick some promptness."""
    report = audit(
        in_haste(task), LOOKING, oracle=looking_oracle, families=["measures", "ceiling"], sizes=FEW
    )
    assert report.failed == ()
    assert report.unsettled == ("exact-maximum", "mis-page")
    assert report.finding("oracle").evidence["short"] > 0
    assert "lower bound" in report.finding("exact-maximum").summary
    assert "no list of actions beats" not in report.finding("exact-maximum").summary


def test_changes_of_the_oracles_list_stand_in_for_a_search() -> None:
    hole = next(hole for hole in HOLES if hole.name == "unseen-oracle")
    finding = hole.audited()
    assert finding.evidence["exact"] is False
    assert finding.evidence["gap"] > 0.0
    assert "found by changes of the oracle's list" in finding.summary


def test_a_failing_measure_is_a_finding_and_the_rest_goes_on() -> None:
    hole = next(hole for hole in HOLES if hole.name == "names-a-service")
    report = audit(
        TASK, hole.rubric, families=["measures", "stability"],
        checks=["measures", "renaming", "replay"], sizes=FEW,
    )  # fmt: skip
    assert report.failed == ("renaming",)
    assert report.finding("renaming").evidence["failing"] == "criterion 'root_cause'"
    assert "UnknownName" in report.finding("renaming").summary
    assert report.finding("replay").verdict is Verdict.PASSED


def test_a_measure_that_always_fails_fails_every_check_that_asks_it() -> None:
    hole = next(hole for hole in HOLES if hole.name == "fails-on-silence")
    report = audit(TASK, hole.rubric, families=["measures", "floor", "stability"], sizes=FEW)
    assert {"measures", "idle", "blind", "replay"} <= set(report.failed)
    assert len(report.findings) == 11


def test_only_the_checks_that_were_asked_for_are_made() -> None:
    report = audit(TASK, families=["floor"], checks=["idle", "chance"], sizes=FEW)
    assert [finding.check for finding in report.findings] == ["idle", "chance"]
    with pytest.raises(UnknownName, match="unknown check 'x'; known: measures"):
        audit(TASK, families=["measures"], checks=["x"], sizes=FEW)
