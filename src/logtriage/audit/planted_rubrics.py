"""How the rubrics of :mod:`logtriage.audit.holes` are put together: one thing changed each."""

from typing import Any, Final

import attrs

from logtriage.audit import planted_measures as planted
from logtriage.grading import TRIAGE_1, Criterion, Gate, Measure, Rubric


def with_measures(**measures: Measure) -> Rubric:
    """The default rubric with other measures for some of its criteria on real faults."""
    rows = tuple(
        attrs.evolve(row, measure=measures.get(row.name, row.measure)) for row in TRIAGE_1.criteria
    )
    return attrs.evolve(TRIAGE_1, criteria=rows)


def with_row(name: str, measure: Measure, weight: float = 0.10) -> Rubric:
    """The default rubric with one more criterion; the others share the rest in proportion."""

    def scaled(rows: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
        return tuple(attrs.evolve(row, weight=row.weight * (1.0 - weight)) for row in rows)

    row = Criterion(name, weight, measure)
    return attrs.evolve(TRIAGE_1, criteria=(*scaled(TRIAGE_1.criteria), row))


def only(name: str, measure: Measure) -> Rubric:
    """A rubric of one criterion."""
    return Rubric(id=name, criteria=(Criterion(name, 1.0, measure),))


def with_page_gate(holds: Any) -> Rubric:
    """The default rubric with another gate for pages."""
    return attrs.evolve(TRIAGE_1, gates=(Gate("wrong_escalation", holds), *TRIAGE_1.gates[1:]))


#: Pays for looking, and is sound: ``looking_oracle`` earns the most that can be had.
LOOKING: Final = attrs.evolve(
    with_row("looked_first", planted.looked_first, 0.05), id="sound/looking"
)
