"""``shift/1``: the grade of a shift is the mean grade of its incidents, weighed by severity."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import attrs

from logtriage.actions import Escalate
from logtriage.grading import Grade, grade_to_json
from logtriage.grading import grade as grade_incident
from logtriage.grading.grade import GRID
from logtriage.grading.grade import score as score_incident
from logtriage.shift.states import ShiftState
from logtriage.state import Closing, State

#: The id of the rubric.
RUBRIC: Final = "shift/1"


@attrs.frozen
class IncidentGrade:
    """What became of an incident, in ticks of the shift; None for what did not happen."""

    system: str
    weight: int
    arrived_at: int
    touched_at: int | None
    paged_at: int | None
    fixed_at: int | None
    closing: Closing | None
    grade: Grade

    @property
    def reason(self) -> str:
        """The reasons for the grade, in words."""
        if self.touched_at is None:
            return "nobody touched it"
        if self.grade.gate_reason is not None:
            return self.grade.gate_reason
        return "; ".join(row.reason for row in self.grade.criteria)


@attrs.frozen
class ShiftGrade:
    """The grade of a shift, with a row for each incident that has arrived.

    ``score`` is the mean of all incidents' grades, weighed by severity; those to come count 0.
    """

    shift: str
    tick: int
    score: float
    incidents: tuple[IncidentGrade, ...]
    rubric: str = RUBRIC

    @property
    def mtta(self) -> float | None:
        """Mean ticks from the first alert to the first action, of incidents that had an action."""
        return _mean([(row.arrived_at, row.touched_at) for row in self.incidents])

    @property
    def mttr(self) -> float | None:
        """Mean ticks from the first alert to the fix, of incidents that were fixed."""
        return _mean([(row.arrived_at, row.fixed_at) for row in self.incidents])

    @property
    def missed(self) -> int:
        """How many incidents nobody touched, or that ran out of time."""
        return sum(
            row.touched_at is None or row.closing is Closing.OUT_OF_TIME for row in self.incidents
        )

    @property
    def handed_over(self) -> int:
        """How many incidents were handed over."""
        return sum(row.closing is Closing.HANDED_OVER for row in self.incidents)

    @property
    def pages(self) -> Mapping[str, int]:
        """How often each team was paged, by its name."""
        teams = [
            action.team
            for row in self.incidents
            for action in row.grade.actions
            if isinstance(action, Escalate)
        ]
        return {team: teams.count(team) for team in sorted(set(teams))}


def _mean(spans: list[tuple[int, int | None]]) -> float | None:
    known = [end - begin for begin, end in spans if end is not None]
    return sum(known) / len(known) if known else None


def grade(state: ShiftState) -> ShiftGrade:
    """The grade of a shift, over or not, on what has been earned so far.

    Each incident is graded by ``logtriage/3`` with its own gates; none of them stops the shift.
    """
    rows = []
    for arrival, inner in state.arrived:
        facts, at = inner.facts, arrival.tick
        first = next((tick for tick, _ in inner.history), None)
        ticks = first, facts.paged_at, facts.fixed_at
        touched, paged, fixed = [None if tick is None else at + tick for tick in ticks]
        rows.append(
            IncidentGrade(
                arrival.system, arrival.weight, arrived_at=at, touched_at=touched, paged_at=paged,
                fixed_at=fixed, closing=inner.closing, grade=grade_incident(inner),
            )
        )  # fmt: skip
    return ShiftGrade(state.shift.id, state.tick, score(state), tuple(rows))


@lru_cache(maxsize=4096)
def _earned(state: State) -> int:
    """The score of an incident, in parts of :data:`GRID`."""
    return round(score_incident(state) * GRID)


def score(state: ShiftState) -> float:
    """The score of :func:`grade`, without its rows; a multiple of 1 / :data:`GRID`."""
    earned = sum(arrival.weight * _earned(inner) for arrival, inner in state.arrived)
    return round(Fraction(earned, sum(arrival.weight for arrival in state.shift.arrivals))) / GRID


def shift_grade_to_json(graded: ShiftGrade) -> dict[str, Any]:
    """The grade as JSON data."""
    incidents = [
        {
            **attrs.asdict(row, recurse=False, filter=lambda field, _: field.name != "grade"),
            "reason": row.reason,
            "grade": grade_to_json(row.grade),
        }
        for row in graded.incidents
    ]
    names = ("mtta", "mttr", "missed", "handed_over", "pages")
    figures = {name: getattr(graded, name) for name in names}
    return {
        "shift": graded.shift, "rubric": graded.rubric, "score": graded.score,
        "tick": graded.tick, **figures, "incidents": incidents,
    }  # fmt: skip
