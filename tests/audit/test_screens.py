"""The search of public fields: what it walks through, what it finds, and what it leaves alone."""

from collections.abc import Callable

import attrs
import pytest

from logtriage import Incident, make_incident
from logtriage.audit import Verdict, audit, subject_of
from logtriage.audit.public_fields import leaves, shown
from logtriage.audit.subject import NUMBERS, seed_of
from tests.audit.planted.holes import FEW
from tests.audit.planted.tasks import SIGNS_TASK, WORLD_TASK, pickled_with_the_root

LEAKS = ["leaks"]


class Bag:
    """An object whose fields are no attrs fields."""

    def __init__(self) -> None:
        self.inner = (1, {"key": frozenset({"b", "a"})})


@attrs.frozen
class Screen:
    name: str
    bag: Bag


def test_every_scalar_is_walked_to() -> None:
    assert list(leaves(Screen("x", Bag()))) == [
        ("name", "x"), ("bag.inner.length", 2), ("bag.inner[]", 1), ("bag.inner[].length", 1),
        ("bag.inner[][].length", 2), ("bag.inner[][][]", "key"), ("bag.inner[][][].length", 2),
        ("bag.inner[][][][]", "a"), ("bag.inner[][][][]", "b"),
    ]  # fmt: skip


def test_what_is_searched_survives_pickling_and_is_not_only_what_is_compared() -> None:
    (screen,) = shown(subject_of(pickled_with_the_root), 1)
    incident = screen.state.incident
    found = dict(screen.leaves)["topology.root"]
    assert found in {incident.topology.names[0], *incident.truth.root_causes}


def test_screens_are_of_all_splits_and_of_large_numbers() -> None:
    states = [screen.state for screen in shown(subject_of(WORLD_TASK), 8)]
    ids = [state.incident.id.split("/") for state in states]
    assert {split for _, split, _ in ids} == {"train", "val", "test", "ood"}
    assert {int(number) for *_, number in ids} == {NUMBERS[-1], NUMBERS[-1] + 1}
    assert any(state.history for state in states)


def named(name: Callable[[int], str]) -> Callable[[str, int], Incident]:
    """The task with another name for each topology."""

    def draw(split: str, number: int) -> Incident:
        incident = make_incident(f"{WORLD_TASK}/{split}/{number}")
        topology = attrs.evolve(incident.topology, name=name(seed_of(incident)))
        return attrs.evolve(incident, topology=topology)

    return draw


@pytest.mark.parametrize(
    "name",
    [str, "{:x}".format, lambda seed: f"t{seed ^ 0x5A5A5A5A5A}", lambda seed: f"a{seed >> 32}-b"],
    ids=["decimal", "hexadecimal", "by bits", "half"],
)
def test_the_seed_is_found_in_many_shapes(name: Callable[[int], str]) -> None:
    report = audit(named(name), families=LEAKS, checks=["seeds"], sizes=FEW)
    finding = report.finding("seeds")
    assert finding.verdict is Verdict.FAILED
    assert finding.evidence["telling"] == ["topology.name"]


def mostly_p1(split: str, number: int) -> Incident:
    """Chosen by severity, which the posterior does not know."""
    block = (make_incident(f"{SIGNS_TASK}/{split}/{100 * number + one}") for one in range(100))
    return next(incident for incident in block if incident.truth.severity == "P1")


def test_a_posterior_that_is_off_by_itself_is_no_measure() -> None:
    report = audit(mostly_p1, families=LEAKS, checks=["screens"], sizes=FEW)
    finding = report.finding("screens")
    assert finding.verdict is Verdict.UNTESTED
    assert "off for all screens together" in finding.summary


@pytest.mark.parametrize("task", ["silent_degradation-v4", "cascading_failure-v4-fog0"])
def test_screens_of_the_benchmark_tell_no_more_than_the_posterior(task: str) -> None:
    report = audit(task, families=LEAKS, checks=["screens", "seeds", "splits"], sizes=FEW)
    assert (report.failed, report.unsettled) == ((), ())
