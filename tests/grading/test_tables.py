"""Rubrics as tables for kernels: what stands in one table, and what is added one by one."""

import attrs
import pytest

from logtriage.errors import RubricError
from logtriage.grading import TRIAGE_3, Criterion, Rubric, criteria
from logtriage.grading import tables as tables_module
from logtriage.grading.tables import HANDED, LEVELS, Span, check_kernels, has_kernels, tables_of

SPAN = Span(5, ((12, 5),), actions=3)


def of(*measures: object) -> Rubric:
    rows = (
        Criterion(f"c{at}", 1 / len(measures), one)  # type: ignore[arg-type]
        for at, one in enumerate(measures)
    )
    return Rubric("mine/1", tuple(rows))


def stride(rubric: Rubric, level: str, part: int = 0, group: int = 0) -> int:
    return int(tables_of(rubric, SPAN).strides[part, group, LEVELS.index(level)])


def test_a_criterion_that_would_make_the_table_too_large_is_added_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And so is every one after it, even if it is small: floats are added in their order."""
    monkeypatch.setattr(tables_module, "TABLE_SIZE", 4)
    rubric = of(criteria.root_cause, criteria.severity, criteria.escalation)
    tables = tables_of(rubric, SPAN)
    assert tables.begins.shape == (2, 3)
    assert [stride(rubric, "blamed", group=group) for group in range(3)] == [1, 0, 0]
    assert [stride(rubric, "off", group=group) for group in range(3)] == [0, 1, 0]
    assert [stride(rubric, "paged", group=group) for group in range(3)] == [0, 0, 1]


def test_a_hand_over_leaves_of_its_worth_what_its_ticks_do() -> None:
    found = HANDED.scores(Span(12, ((12, 5),)))
    assert found[1 + 5] == 1.0
    assert found[1 + 12] == pytest.approx(0.9)
    assert tables_of(TRIAGE_3, SPAN).handed_weight == 1.0
    without = attrs.evolve(TRIAGE_3, id="mine/1", handed_over=())
    assert tables_of(without, SPAN).handed_weight < 0.0


def test_what_has_no_kernel_is_named() -> None:
    twice = attrs.evolve(TRIAGE_3.handed_over[0], weight=0.5)
    both = (twice, attrs.evolve(twice, name="again"))
    rubric = attrs.evolve(TRIAGE_3, id="mine/1", handed_over=both)
    assert has_kernels(TRIAGE_3)
    assert not has_kernels(rubric)
    with pytest.raises(RubricError, match=r"hand_over \('again'\) has no kernel; .*: none$"):
        check_kernels(rubric)
    late = attrs.evolve(TRIAGE_3, id="mine/2", first_alone=False)
    assert not has_kernels(late)
    with pytest.raises(RubricError, match="first_alone = False has no kernel"):
        check_kernels(late)
