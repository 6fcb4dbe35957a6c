"""Rubrics as data: the table of DESIGN.md, and everything that is refused."""

import math
from functools import partial
from hashlib import blake2b
from typing import Any

import attrs
import pytest

from logtriage import State
from logtriage.errors import RubricError
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
)
from logtriage.grading.criteria import root_cause


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
        "severity": 0.15, "root_cause": 0.25, "escalation": 0.25, "remediation": 0.25,
        "closure": 0.10,
    }  # fmt: skip
    assert {row.name: row.weight for row in TRIAGE_3.benign} == {
        "severity": 0.20, "dismissal": 0.70, "closure": 0.10,
    }  # fmt: skip
    assert [gate.name for gate in TRIAGE_3.gates] == ["wrong_escalation", "ignored_incident"]
    assert [one.name for one in TRIAGE_3.discounts] == [
        "unescalated", "unapproved", "unapproved_fix",
    ]  # fmt: skip
    assert [(row.name, row.weight) for row in TRIAGE_3.handed_over] == [("hand_over", 1.0)]
    assert (TRIAGE_3.penalties, TRIAGE_3.bounds) == ((), (0.0, 1.0))


def test_built_in_rubrics_stand_under_their_ids() -> None:
    assert set(RUBRICS) == {"logtriage/3", "recorded/3"}
    assert all(rubric.id == name for name, rubric in RUBRICS.items())


def test_built_in_digests_stay_what_they_are() -> None:
    """Stored grades name them."""
    assert (TRIAGE_3.digest, RECORDED.digest) == ("2b2adbdff64ee472", "50a4dceac21bd9f6")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": ""}, "a rubric needs an id"),
        ({"criteria": ()}, "rubric 'mine/1': weights of criteria must sum to 1, they sum to 0"),
        ({"criteria": (one(weight=0.9),)}, "weights of criteria must sum to 1, they sum to 0.9"),
        ({"criteria": (one(weight=1.1),)}, "weights of criteria must sum to 1, they sum to 1.1"),
        ({"criteria": (one("a", 1.2), one("b", -0.2))},
         "weight of 'b' must be a finite number >= 0, got -0.2"),
        ({"criteria": (one(weight=math.nan),)}, "weight of 'one' must be a finite number >= 0"),
        ({"criteria": (one(weight=math.inf),)}, "weight of 'one' must be a finite number >= 0"),
        ({"criteria": (one("a", 0.5), one("a", 0.5))}, "the name 'a' appears twice"),
        ({"criteria": (one(""),)}, "a criterion, gate or discount has no name"),
        ({"gates": (Gate("", open_gate),)}, "a criterion, gate or discount has no name"),
        ({"gates": (Gate("one", open_gate),)}, "the name 'one' appears twice"),
        ({"gates": (Gate("g", open_gate), Gate("g", open_gate))}, "the name 'g' appears twice"),
        ({"discounts": (Discount("", no_discount),)}, "a criterion, gate or discount has no name"),
        ({"discounts": (Discount("one", no_discount),)}, "the name 'one' appears twice"),
        ({"gates": (Gate("g", open_gate),), "discounts": (Discount("g", no_discount),)},
         "the name 'g' appears twice"),
        ({"benign": (one(weight=0.5),)}, "weights of benign must sum to 1, they sum to 0.5"),
        ({"handed_over": (one(weight=0.5),)}, "weights of handed_over must sum to 1, they sum to"),
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
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RubricError) as caught:
        rubric(**changes)
    assert message in str(caught.value)


def test_a_rubric_is_changed_with_evolve_and_checked_again() -> None:
    lenient = attrs.evolve(TRIAGE_3, id="lenient/1", gates=())
    assert lenient.criteria == TRIAGE_3.criteria
    assert lenient.gates == ()
    with pytest.raises(RubricError, match="weights of criteria must sum to 1"):
        attrs.evolve(TRIAGE_3, id="broken/1", criteria=TRIAGE_3.criteria[:-1])
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        TRIAGE_3.id = "x"  # type: ignore[misc]


def test_the_digest_is_that_of_these_lines() -> None:
    """Digests are stored beside grades: they must not change with the code."""
    lines = (
        "mine/1", "(0.0, 0.9)", "handed over late", f"criteria one 1.0 {__name__}.full_marks",
        f"benign two 1 {__name__}.no_marks",
        "penalties p 0.25 logtriage.grading.criteria.root_cause",
        f"handed_over h 1.0 {__name__}.full_marks",
        f"gate g {__name__}.open_gate",
        f"discount d {__name__}.no_discount",
    )  # fmt: skip
    given = rubric(
        benign=(Criterion("two", 1, no_marks),), penalties=(Criterion("p", 0.25, root_cause),),
        gates=(Gate("g", open_gate),), discounts=[Discount("d", no_discount)], bounds=(0.0, 0.9),
        handed_over=(one("h"),), first_alone=False,
    )  # fmt: skip
    assert given.digest == blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


@attrs.frozen
class Constant:
    """A measure that is an object: it has no name of its own."""

    def __call__(self, state: State) -> Measured:  # noqa: ARG002
        return (1.0, "always")

    def method(self, state: State) -> Measured:  # noqa: ARG002
        return (1.0, "always")


@pytest.mark.parametrize(
    "measure",
    [lambda _: (1.0, ""), partial(full_marks), Constant(), Constant().method],
    ids=["lambda", "partial", "object", "method"],
)
def test_what_has_no_name_in_a_module_is_refused(measure: Measure) -> None:
    for rows in (
        {"criteria": (Criterion("odd", 1.0, measure),)},
        {"gates": (Gate("odd", measure),)},  # type: ignore[arg-type]
        {"discounts": (Discount("odd", measure),)},
    ):
        with pytest.raises(RubricError, match=r"^rubric 'mine/1': 'odd': .* has no name in a mod"):
            rubric(**rows)


@pytest.mark.parametrize("wrong", ["mine", "mine/one", "mine1", "/1", "1"])
def test_an_id_without_a_version_is_refused(wrong: str) -> None:
    with pytest.raises(RubricError, match=f"^rubric '{wrong}': expected an id that ends in its"):
        rubric(id=wrong)
    assert rubric(id="acme/mine-1").id == "acme/mine-1"
