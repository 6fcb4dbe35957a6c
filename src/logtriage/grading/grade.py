"""``grade`` and ``reward``: the one scorer of the project."""

from collections.abc import Iterable
from enum import StrEnum
from hashlib import blake2b
from math import isfinite
from typing import Final

import attrs

from logtriage.actions import Action, Malformed, action_value
from logtriage.errors import RubricError, UnknownName
from logtriage.grading.criteria import Measured
from logtriage.grading.original import ORIGINAL
from logtriage.grading.rubric import DEFAULT, RECORDED, Criterion, Rubric
from logtriage.incident import Incident
from logtriage.state import Closing, State

#: Scores lie on this grid (multiples of 2**-50, about 1e-15), so that the rewards of an
#: episode, as differences of scores, add up to its grade without any rounding.
GRID: Final = 2.0**50

RUBRICS: Final = {rubric.id: rubric for rubric in (DEFAULT, RECORDED, *ORIGINAL)}


class GradeStatus(StrEnum):
    """Whether there is a score. A failure of the infrastructure is never a silent 0."""

    SCORED = "scored"
    UNSCORED = "unscored"


@attrs.frozen
class CriterionScore:
    """One criterion of a grade. ``score`` times ``weight`` are its points.

    Scores lie in [0, 1]; under ``logtriage-env/0`` also below 0, and penalties
    have a negative score.
    """

    name: str
    score: float
    weight: float
    reason: str


@attrs.frozen
class Grade:
    """A score with its reasons.

    ``score`` is None if ``status`` is unscored, with the ``cause`` in words. If a
    ``gate`` holds, the score is 0 and ``criteria`` still say what was earned.
    ``digest`` hashes rubric, incident id and actions; ``unplayed`` counts the
    actions after the closing one. ``ticks`` are those used.
    """

    incident: str
    task: str
    rubric: str
    digest: str
    status: GradeStatus
    score: float | None
    criteria: tuple[CriterionScore, ...]
    gate: str | None = None
    gate_reason: str | None = None
    closing: Closing | None = None
    ticks: int = 0
    unplayed: int = 0
    cause: str | None = None
    agent: str | None = None

    def criterion(self, name: str) -> CriterionScore:
        """The criterion of that name.

        Raises:
            UnknownName: if the grade has none of that name.
        """
        for one in self.criteria:
            if one.name == name:
                return one
        raise UnknownName("criterion", name, (one.name for one in self.criteria))


def get_rubric(rubric_id: str) -> Rubric:
    """A built-in rubric by its id.

    Raises:
        UnknownName: listing the known ids.
    """
    try:
        return RUBRICS[rubric_id]
    except KeyError:
        raise UnknownName("rubric", rubric_id, RUBRICS) from None


def rubric_of(incident: Incident) -> Rubric:
    """The rubric that the incident's task is graded by."""
    return get_rubric(incident.rubric)


def grade(state: State, rubric: Rubric | None = None, *, unplayed: int = 0) -> Grade:
    """Grade a state, closed or open, on what has been earned so far.

    ``rubric`` defaults to the one of the incident's task: :data:`DEFAULT` for all
    ``*-v1`` tasks.

    Raises:
        RubricError: if a measure of a user's rubric returns no finite number; a
            broken grader is never counted as 0.
    """
    incident = state.incident
    rubric = rubric_of(incident) if rubric is None else rubric
    rows = _rows(incident, rubric)
    measured = [_measure(row, state, rubric) for row in rows]
    lost = [_measure(row, state, rubric) for row in rubric.penalties]
    gate = gate_reason = None
    for one in rubric.gates:
        gate_reason = one.holds(state)
        if gate_reason is not None:
            gate = one.name
            break
    score = 0.0 if gate is not None else _total(rubric, rows, measured, lost)
    criteria = tuple(
        CriterionScore(row.name, got.score, row.weight, got.reason)
        for row, got in zip(rows, measured, strict=True)
    ) + tuple(
        CriterionScore(row.name, -got.score, row.weight, got.reason)
        for row, got in zip(rubric.penalties, lost, strict=True)
    )
    return Grade(
        incident.id,
        incident.task,
        rubric.id,
        grade_digest(rubric, incident.id, state.actions),
        GradeStatus.SCORED,
        score,
        criteria,
        gate,
        gate_reason,
        state.closing,
        state.tick,
        unplayed,
    )


def score(state: State, rubric: Rubric | None = None) -> float:
    """The score of :func:`grade` alone."""
    rubric = rubric_of(state.incident) if rubric is None else rubric
    if any(gate.holds(state) is not None for gate in rubric.gates):
        return 0.0
    rows = _rows(state.incident, rubric)
    measured = [_measure(row, state, rubric) for row in rows]
    lost = [_measure(row, state, rubric) for row in rubric.penalties]
    return _total(rubric, rows, measured, lost)


def reward(before: State, after: State, rubric: Rubric | None = None) -> float:
    """What a step earned: the difference of the two grades.

    From an initial state on, the rewards of an episode under ``logtriage/1`` sum to
    exactly its final score (see :data:`GRID`). Negative where something earned was
    lost, above all by a wrong escalation.
    """
    return score(after, rubric) - score(before, rubric)


def _rows(incident: Incident, rubric: Rubric) -> tuple[Criterion, ...]:
    return rubric.benign if rubric.benign and incident.truth.benign else rubric.criteria


def _measure(row: Criterion, state: State, rubric: Rubric) -> Measured:
    got = row.measure(state)
    if not isfinite(got.score):
        raise RubricError(
            f"rubric {rubric.id!r}: criterion {row.name!r} returned {got.score!r}, not a number"
        )
    return got


def _total(
    rubric: Rubric,
    rows: tuple[Criterion, ...],
    measured: list[Measured],
    lost: list[Measured],
) -> float:
    total = 0.0
    for row, got in zip(rows, measured, strict=True):
        total += row.weight * got.score
    for row, got in zip(rubric.penalties, lost, strict=True):
        total -= row.weight * got.score
    low, high = rubric.bounds
    total = min(high, max(low, total))
    if rubric.digits is not None:
        return round(total, rubric.digits)
    return round(total * GRID) / GRID


def unscored(
    incident: Incident, rubric: Rubric, cause: str, actions: Iterable[Action] = ()
) -> Grade:
    """The grade of an episode that must not be scored, with its cause."""
    return Grade(
        incident.id,
        incident.task,
        rubric.id,
        grade_digest(rubric, incident.id, tuple(actions)),
        GradeStatus.UNSCORED,
        None,
        (),
        cause=cause,
    )


def grade_digest(rubric: Rubric, incident_id: str, actions: Iterable[Action]) -> str:
    """Sixteen hex digits that identify what was graded, and by which rubric."""
    parts = [rubric.digest, incident_id]
    for action in actions:
        if isinstance(action, Malformed):
            parts.append(f"Malformed {action.text!r}")
        else:
            parts.append(f"{type(action).__name__} {action_value(action)}")
    return blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
