"""Whose fault it is: what measures, gates, discounts and oracles raise."""

from collections.abc import Callable
from typing import Any, NamedTuple

import attrs
import pytest

from logtriage import State, get_task, initial_state, make_incident
from logtriage.audit import QUICK, Verdict, audit
from logtriage.audit.failing import AuditedCodeFailed, failure, rules_of, score
from logtriage.audit.situations import Situations
from logtriage.grading import TRIAGE_3, Criterion, Discount, Measured, Rubric
from logtriage.grading.tables import has_kernels
from tests.audit.planted.holes import FEW

INCIDENT = make_incident("single_crash-v4/test/1")
#: Of few ticks, where every list of actions is searched.
SHORT = attrs.evolve(get_task("single_crash-v4"), horizon=6)


def half(_: State) -> tuple[float, str]:
    return 0.5, "for everyone"


def too_much(_: State) -> tuple[float, str]:
    return -0.5, "below nothing"


class Named(NamedTuple):
    points: float
    reason: str


def by_name(_: State) -> tuple[float, str]:
    return Named(0.5, "the grader takes plain tuples alone")


def discounted(factor: Callable[[State], tuple[float, str]]) -> Rubric:
    return attrs.evolve(TRIAGE_3, id="test/discounted-1", discounts=(Discount("d", factor),))


def breaks(_: State) -> Measured:
    raise RuntimeError("no such figure")


def test_the_measure_that_raises_is_named_with_the_history() -> None:
    rubric = attrs.evolve(
        TRIAGE_3, id="test/breaks-1", criteria=(*TRIAGE_3.criteria, Criterion("odd", 0.0, breaks))
    )
    expected = r"criterion 'odd' raised RuntimeError: no such figure \(on single.*after nothing\)"
    with pytest.raises(AuditedCodeFailed, match=expected):
        score(initial_state(INCIDENT), rubric)


def test_what_no_rule_raises_is_the_rubrics() -> None:
    found = failure(ValueError("sum"), initial_state(INCIDENT), TRIAGE_3)
    assert str(found).startswith("rubric 'logtriage/3' raised ValueError: sum")


@pytest.mark.parametrize("oracle", [lambda _: ["resolve"], lambda _: 3, lambda one: one.nothing])
def test_an_oracle_that_gives_no_actions_is_a_finding(oracle: Any) -> None:
    report = audit(
        "single_crash-v4", oracle=oracle, families=["ceiling"], checks=["oracle", "exact-maximum"],
        sizes=FEW,
    )  # fmt: skip
    assert report.failed == ("oracle", "exact-maximum")
    assert report.finding("oracle").evidence == {"failing": "the oracle"}


def test_what_needs_no_oracle_goes_on_without_one() -> None:
    sizes = attrs.evolve(FEW, oracle=1)
    report = audit(SHORT, oracle=lambda _: 3, families=["ceiling"], sizes=sizes)  # type: ignore[arg-type, return-value]
    assert report.failed == ("oracle", "exact-maximum")
    assert report.finding("mis-page").verdict is Verdict.PASSED


def test_discounts_are_rules_like_any_other() -> None:
    rubric = discounted(half)
    assert [name for kind, name, _ in rules_of(rubric, INCIDENT) if kind == "discount"] == ["d"]
    assert not has_kernels(rubric)
    assert "d" in Situations(INCIDENT, rubric).unknown
    report = audit(
        "single_crash-v4", rubric, families=["measures"], checks=["measures"], sizes=QUICK
    )
    assert report.passed
    for wrong, returned in ((too_much, "-0.5"), (by_name, "Named(points=0.5")):
        report = audit(
            "single_crash-v4", discounted(wrong), families=["measures"], checks=["measures"],
            sizes=QUICK,
        )  # fmt: skip
        assert report.finding("measures").summary.startswith(f"discount 'd' returns {returned}")
