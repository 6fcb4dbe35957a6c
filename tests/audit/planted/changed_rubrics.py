"""Rubric ``logtriage/3`` with one thing changed: what mutants and holes are made of."""

from collections.abc import Callable
from typing import Any

import attrs

from logtriage.grading import TRIAGE_3, Criterion, Measure, Measured, Rubric
from logtriage.state import State

Factor = Callable[[State], Measured | None]


def _replaced(rows: tuple[Any, ...], field: str, new: dict[str, Any]) -> tuple[Any, ...]:
    """The rows with other functions; a name that is none of theirs is a mistake here."""
    assert new.keys() <= {row.name for row in rows}
    return tuple(
        attrs.evolve(row, **{field: new[row.name]}) if row.name in new else row for row in rows
    )


def with_measures(**measures: Measure) -> Rubric:
    """Other measures for some criteria of real faults."""
    return attrs.evolve(TRIAGE_3, criteria=_replaced(TRIAGE_3.criteria, "measure", measures))


def with_benign_measures(**measures: Measure) -> Rubric:
    """Other measures for some criteria of benign incidents."""
    return attrs.evolve(TRIAGE_3, benign=_replaced(TRIAGE_3.benign, "measure", measures))


def with_hand_over(measure: Measure) -> Rubric:
    """Another worth of a hand-over."""
    rows = _replaced(TRIAGE_3.handed_over, "measure", {"hand_over": measure})
    return attrs.evolve(TRIAGE_3, handed_over=rows)


def with_gates(**gates: Any) -> Rubric:
    """Other gates."""
    return attrs.evolve(TRIAGE_3, gates=_replaced(TRIAGE_3.gates, "holds", gates))


def with_discounts(**factors: Factor) -> Rubric:
    """Other discounts."""
    return attrs.evolve(TRIAGE_3, discounts=_replaced(TRIAGE_3.discounts, "factor", factors))


def without(name: str) -> Rubric:
    """One gate or discount less."""
    gates = [gate for gate in TRIAGE_3.gates if gate.name != name]
    discounts = [discount for discount in TRIAGE_3.discounts if discount.name != name]
    return attrs.evolve(TRIAGE_3, gates=gates, discounts=discounts)


def with_row(name: str, measure: Measure, weight: float = 0.10) -> Rubric:
    """One more criterion of real faults; the others share the rest in proportion."""
    rows = (attrs.evolve(row, weight=row.weight * (1.0 - weight)) for row in TRIAGE_3.criteria)
    return attrs.evolve(TRIAGE_3, criteria=(*rows, Criterion(name, weight, measure)))


def only(name: str, measure: Measure) -> Rubric:
    """A rubric of one criterion."""
    return Rubric(id=f"{name}-1", criteria=(Criterion(name, 1.0, measure),))
