"""Rubrics as data: the table of DESIGN.md, and everything that is refused."""

import math
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import Any

import attrs
import pytest

from logtriage import State, grade, initial_state
from logtriage.errors import InvalidInput, RubricError
from logtriage.grading import (
    DEFAULT,
    RECORDED,
    RUBRICS,
    TRIAGE_3,
    Criterion,
    Discount,
    Gate,
    Measure,
    Measured,
    Rubric,
    criteria,
)
from logtriage.grading.criteria import root_cause
from tests.builders import real_incident


def full_marks(state: State) -> Measured:  # noqa: ARG001
    return 1.0, "always"


def no_marks(state: State) -> Measured:  # noqa: ARG001
    return 0.0, "never"


def open_gate(state: State) -> str | None:  # noqa: ARG001
    return None


def no_discount(state: State) -> Measured | None:  # noqa: ARG001
    return None


def one(name: str = "one", weight: float = 1.0) -> Criterion:
    return Criterion(name, weight, full_marks)


def rubric(**changes: Any) -> Rubric:
    fields: dict[str, Any] = {"id": "mine/1", "criteria": (one(),), **changes}
    return Rubric(**fields)


def test_the_default_is_the_table_of_the_design() -> None:
    assert DEFAULT is TRIAGE_3
    assert TRIAGE_3.id == "logtriage/3"
    assert {row.name: row.weight for row in TRIAGE_3.criteria} == {
        "severity": 0.15,
        "root_cause": 0.25,
        "escalation": 0.25,
        "remediation": 0.25,
        "closure": 0.10,
    }
    assert {row.name: row.weight for row in TRIAGE_3.benign} == {
        "severity": 0.20,
        "dismissal": 0.70,
        "closure": 0.10,
    }
    assert [gate.name for gate in TRIAGE_3.gates] == ["wrong_escalation", "ignored_incident"]
    assert [one.name for one in TRIAGE_3.discounts] == [
        "unescalated",
        "unapproved",
        "unapproved_fix",
    ]
    assert [(row.name, row.weight) for row in TRIAGE_3.handed_over] == [("hand_over", 1.0)]
    assert (TRIAGE_3.penalties, TRIAGE_3.bounds) == ((), (0.0, 1.0))


def test_recorded_incidents_are_graded_by_root_cause_and_class() -> None:
    assert [(row.name, row.weight) for row in RECORDED.criteria] == [
        ("root_cause", 0.7),
        ("fault_class", 0.3),
    ]
    assert [row.name for row in RECORDED.benign] == ["dismissal"]
    assert [gate.name for gate in RECORDED.gates] == ["ignored_incident", "wrong_root_cause"]
    assert (RECORDED.penalties, RECORDED.discounts, RECORDED.first_alone) == ((), (), False)


def test_built_in_rubrics_stand_under_their_ids() -> None:
    assert set(RUBRICS) == {
        "logtriage/3",
        "recorded/3",
    }
    assert all(rubric.id == name for name, rubric in RUBRICS.items())


def test_built_in_digests_stay_what_they_are() -> None:
    """Stored grades name them."""
    assert (TRIAGE_3.digest, RECORDED.digest) == ("fe6164603cba0791", "50a4dceac21bd9f6")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": ""}, "a rubric needs an id"),
        ({"criteria": ()}, "rubric 'mine/1': weights of criteria must sum to 1, they sum to 0"),
        ({"criteria": (one(weight=0.9),)}, "weights of criteria must sum to 1, they sum to 0.9"),
        ({"criteria": (one(weight=1.1),)}, "weights of criteria must sum to 1, they sum to 1.1"),
        (
            {"criteria": (one("a", 1.2), one("b", -0.2))},
            "weight of 'b' must be a finite number >= 0, got -0.2",
        ),
        ({"criteria": (one(weight=math.nan),)}, "weight of 'one' must be a finite number >= 0"),
        ({"criteria": (one(weight=math.inf),)}, "weight of 'one' must be a finite number >= 0"),
        ({"criteria": (one("a", 0.5), one("a", 0.5))}, "the name 'a' appears twice"),
        ({"criteria": (one(""),)}, "a criterion, gate or discount has no name"),
        ({"gates": (Gate("", open_gate),)}, "a criterion, gate or discount has no name"),
        ({"gates": (Gate("one", open_gate),)}, "the name 'one' appears twice"),
        ({"gates": (Gate("g", open_gate), Gate("g", open_gate))}, "the name 'g' appears twice"),
        ({"discounts": (Discount("", no_discount),)}, "a criterion, gate or discount has no name"),
        ({"discounts": (Discount("one", no_discount),)}, "the name 'one' appears twice"),
        (
            {"gates": (Gate("g", open_gate),), "discounts": (Discount("g", no_discount),)},
            "the name 'g' appears twice",
        ),
        ({"benign": (one(weight=0.5),)}, "weights of benign must sum to 1, they sum to 0.5"),
        ({"benign": (one("a", 0.5), one("a", 0.5))}, "the name 'a' appears twice"),
        ({"benign": (one("g"),), "gates": (Gate("g", open_gate),)}, "the name 'g' appears twice"),
        ({"penalties": (one(),)}, "the name 'one' appears twice"),
        ({"penalties": (one("p", -0.1),)}, "weight of 'p' must be a finite number >= 0, got -0.1"),
        ({"penalties": (one("p", math.nan),)}, "weight of 'p' must be a finite number >= 0"),
        ({"bounds": (-0.1, 1.0)}, "bounds must be 0 <= low < high <= 1"),
        ({"bounds": (0.0, 1.1)}, "bounds must be 0 <= low < high <= 1"),
        ({"bounds": (0.5, 0.5)}, "bounds must be 0 <= low < high <= 1"),
        ({"bounds": (math.nan, 1.0)}, "bounds must be 0 <= low < high <= 1"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RubricError) as caught:
        rubric(**changes)
    assert message in str(caught.value)


def test_what_is_allowed() -> None:
    assert rubric(criteria=[one()]).criteria == (one(),)  # any iterable
    tenths = tuple(one(f"c{number}", 0.1) for number in range(10))  # 0.999… in floats
    assert len(rubric(criteria=tenths).criteria) == 10
    assert rubric(criteria=(one("a", 0.0), one("b", 1.0))).criteria[0].weight == 0.0
    assert rubric(benign=(one(),)).benign  # a name may stand in criteria and benign
    assert rubric(penalties=(one("p", 2.5),)).penalties[0].weight == 2.5  # no sum to keep


def test_a_rubric_is_changed_with_evolve_and_checked_again() -> None:
    lenient = attrs.evolve(TRIAGE_3, id="lenient/1", gates=())
    assert lenient.criteria == TRIAGE_3.criteria
    assert lenient.gates == ()
    with pytest.raises(RubricError, match="weights of criteria must sum to 1"):
        attrs.evolve(TRIAGE_3, id="broken/1", criteria=TRIAGE_3.criteria[:-1])
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        TRIAGE_3.id = "x"  # type: ignore[misc]


def test_equal_rubrics_are_equal_and_hash_alike() -> None:
    assert rubric() == rubric()
    assert hash(rubric()) == hash(rubric())
    assert rubric().digest == rubric().digest


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "mine/2"},
        {"criteria": (one("another"),)},
        {"criteria": (Criterion("one", 1.0, no_marks),)},
        {"criteria": (one("one", 0.6), one("two", 0.4))},
        {"criteria": (one("one", 0.4), one("two", 0.6))},
        {"benign": (one(),)},
        {"gates": (Gate("g", open_gate),)},
        {"discounts": (Discount("d", no_discount),)},
        {"discounts": (Discount("e", no_discount),)},
        {"penalties": (one("p", 0.1),)},
        {"penalties": (one("p", 0.2),)},
        {"bounds": (0.0, 0.9)},
    ],
)
def test_whatever_decides_a_score_changes_the_digest(changes: dict[str, Any]) -> None:
    assert rubric(**changes).digest != rubric().digest


def test_the_digest_is_that_of_these_lines() -> None:
    """Digests are stored beside grades: they must not change with the code."""
    lines = (
        "mine/1",
        "(0.0, 0.9)",
        "None",
        f"criteria one 1.0 {__name__}.full_marks",
        f"benign two 1 {__name__}.no_marks",
        "penalties p 0.25 logtriage.grading.criteria.root_cause",
        f"gate g {__name__}.open_gate",
        f"discount d {__name__}.no_discount",
    )
    given = rubric(
        benign=(Criterion("two", 1, no_marks),),
        penalties=(Criterion("p", 0.25, root_cause),),
        gates=(Gate("g", open_gate),),
        discounts=[Discount("d", no_discount)],
        bounds=(0.0, 0.9),
    )
    assert given.digest == blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def test_built_in_digests_are_distinct() -> None:
    assert len({one.digest for one in RUBRICS.values()}) == len(RUBRICS)


class Constant:
    """A measure that is an object: it has no name of its own."""

    def __call__(self, state: State) -> Measured:  # noqa: ARG002
        return (1.0, "always")


def test_a_measure_without_a_name_is_digested_by_its_type() -> None:
    def digest_with(measure: Measure) -> str:
        return Rubric(id="mine/1", criteria=(Criterion("one", 1.0, measure),)).digest

    assert digest_with(Constant()) == digest_with(Constant())
    assert digest_with(Constant()) != digest_with(partial(criteria.severity))


def answering(severity: str) -> Measure:
    def measure(_: State) -> Measured:
        return (1.0, severity)

    return measure


@attrs.frozen
class Answering:
    """A measure that is an object with a field."""

    severity: str

    def __call__(self, _: State) -> Measured:
        return (1.0, self.severity)


def answer(severity: str, _: State) -> Measured:
    return (1.0, severity)


@pytest.mark.parametrize(
    "make",
    [answering, Answering, lambda given: partial(answer, given)],
    ids=["closure", "object", "partial"],
)
def test_measures_that_do_different_things_have_different_digests(
    make: Callable[[str], Measure],
) -> None:
    def digest_with(given: str) -> str:
        return Rubric("mine/1", (Criterion("one", 1.0, make(given)),)).digest

    assert digest_with("P1") == digest_with("P1")
    assert digest_with("P1") != digest_with("P2")
    gates = [(Gate("late", lambda _: None),), (Gate("late", lambda _: "always"),)]
    both = [attrs.evolve(TRIAGE_3, id="mine/1", gates=one).digest for one in gates]
    assert both[0] != both[1]


def test_a_measure_that_may_change_is_refused() -> None:
    seen: list[str] = []

    def remembering(_: State) -> Measured:
        seen.append("once more")
        return (1.0, "")

    with pytest.raises(RubricError, match=r"^rubric 'mine/1': 'one': \[\] cannot be told from"):
        Rubric("mine/1", (Criterion("one", 1.0, remembering),))


def test_the_message_for_a_missing_id_says_so() -> None:
    with pytest.raises(RubricError, match=r"^a rubric needs an id$"):
        attrs.evolve(TRIAGE_3, id="")


def test_what_is_no_rubric_is_refused_and_an_id_is_explained() -> None:
    state = initial_state(real_incident())
    wrong: Any
    for wrong, message in (
        (5, "expected a rubric, got an int"),
        (
            "logtriage/3",
            "expected a rubric, got 'logtriage/3'; the built-in one of an id is "
            "logtriage.grading.get_rubric('logtriage/3')",
        ),
    ):
        with pytest.raises(InvalidInput) as raised:
            grade(state, wrong)
        assert str(raised.value) == message
