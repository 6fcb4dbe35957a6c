"""Rubrics compiled for batches: what stands in the tables, and what is added one by one."""

from math import prod

import attrs
import numpy as np
import pytest

from logtriage.grading import TRIAGE_2, Criterion, Rubric, criteria, triage
from logtriage.grading import plan as plan_module
from logtriage.grading.kernels import MEASURES, Span
from logtriage.grading.plan import plan_of

CLOCKS = ((300, 5),)
SPAN = Span(5, ((12, 5),))
LEVELS = {measure: len(scores(SPAN)) for measure, scores in MEASURES.items()}


def of(*measures: object) -> Rubric:
    rows = (
        Criterion(f"c{at}", 1 / len(measures), one)  # type: ignore[arg-type]
        for at, one in enumerate(measures)
    )
    return Rubric("mine/1", tuple(rows))


def test_a_table_has_an_entry_for_each_combination_of_levels() -> None:
    plan = plan_of(TRIAGE_2, SPAN)
    assert plan.benign is not None
    for totals, rows in ((plan.real, TRIAGE_2.criteria), (plan.benign, TRIAGE_2.benign)):
        measures = tuple(row.measure for row in rows)
        assert totals.measures == measures
        assert totals.table.shape == (prod(LEVELS[one] for one in measures),)
        assert (totals.table.min(), totals.table.max()) == (0.0, pytest.approx(1.0))
        assert totals.rest == ()


@pytest.mark.parametrize(("size", "tabled"), [(2, 0), (3, 1), (5, 1), (6, 2), (11, 2), (12, 3)])
def test_a_criterion_that_would_make_the_table_too_large_is_added_apart(
    monkeypatch: pytest.MonkeyPatch, size: int, tabled: int
) -> None:
    """Three severities, twice yes or no; and so is every one after it."""
    monkeypatch.setattr(plan_module, "TABLE_SIZE", size)
    measures = tuple(row.measure for row in TRIAGE_2.criteria)
    totals = plan_of(TRIAGE_2, SPAN).real
    assert tuple(measure for measure, _, _ in totals.strides) == measures[:tabled]
    assert tuple(measure for measure, _ in totals.rest) == measures[tabled:]


def test_what_follows_a_criterion_added_apart_is_too_even_if_it_is_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Floats are added in the order of the rubric."""
    monkeypatch.setattr(plan_module, "TABLE_SIZE", 4)
    totals = plan_of(of(criteria.root_cause, criteria.severity, criteria.escalation), SPAN).real
    assert [measure for measure, _, _ in totals.strides] == [criteria.root_cause]
    assert [measure for measure, _ in totals.rest] == [criteria.severity, criteria.escalation]


def test_places_in_a_table_are_as_narrow_as_it_is_long() -> None:
    """Nine times yes or no: the first eight find their place among 256."""
    strides = plan_of(of(*[criteria.root_cause] * 9), SPAN).real.strides
    assert [stride for _, stride, _ in strides] == [2**at for at in range(9)]
    assert [dtype for _, _, dtype in strides] == [np.uint8] * 8 + [np.uint16]
    ((_, _, dtype),) = plan_of(of(triage.closure), Span(255, CLOCKS)).real.strides
    assert dtype == np.uint16  # 257 places


def test_levels_are_as_narrow_as_there_are_many() -> None:
    types = plan_of(TRIAGE_2, Span(254, CLOCKS)).level_types
    assert types[triage.closure] == np.uint8  # none, and 0 to 254 ticks
    assert types[criteria.severity] == np.uint8
    assert plan_of(TRIAGE_2, Span(255, CLOCKS)).level_types[triage.closure] == np.uint16
    assert set(types) == {row.measure for row in (*TRIAGE_2.criteria, *TRIAGE_2.benign)}


def test_a_rubric_without_a_benign_part_has_no_plan_for_it() -> None:
    plan = plan_of(attrs.evolve(TRIAGE_2, id="mine/1", benign=()), SPAN)
    assert plan.benign is None
    assert set(plan.level_types) == {row.measure for row in TRIAGE_2.criteria}
