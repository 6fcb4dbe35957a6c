"""``grade`` and ``reward``: the only scorer of the project."""

from collections.abc import Iterable, Iterator
from math import isfinite
from numbers import Real
from typing import Any, Final, TypeGuard

import attrs

from logtriage._lib.references import imported, is_reference
from logtriage.actions import Action
from logtriage.errors import InvalidInput, RubricError, UnknownName, kind_of
from logtriage.grading.criteria import Measured
from logtriage.grading.debrief import AppliedDiscount, CriterionScore, Grade, Graded, Unscored
from logtriage.grading.impact import reported_impact
from logtriage.grading.rubric import RECORDED, TRIAGE_3, Discount, Rubric, check_rubric
from logtriage.incident import Incident
from logtriage.state import Closing, State, check_state

#: Scores lie on this grid (multiples of 2**-50, about 1e-15), so that the rewards of an
#: episode, as differences of scores, add up to its grade without any rounding.
GRID: Final = 2.0**50

#: Every rubric that some task or recording is graded by, by its id.
RUBRICS: Final = {rubric.id: rubric for rubric in (TRIAGE_3, RECORDED)}


def get_rubric(rubric_id: str) -> Rubric:
    """A built-in rubric by its id; UnknownName lists the known ids."""
    if rubric_id not in RUBRICS:
        raise UnknownName("rubric", rubric_id, RUBRICS)
    return RUBRICS[rubric_id]


def rubric_named(name: str) -> Rubric:
    """The rubric of that name; ``module:name`` imports, and so runs, a module.

    Raises:
        UnknownName, InvalidInput: if there is no such rubric.
    """
    if not is_reference(name):
        return get_rubric(name)
    rubric = imported(name)
    if not isinstance(rubric, Rubric):
        raise InvalidInput(f"{name}: expected a Rubric, found {type(rubric).__name__}")
    return rubric


def rubric_of(incident: Incident) -> Rubric:
    """The rubric that the incident's task is graded by."""
    return get_rubric(incident.rubric)


def _chosen(incident: Incident, rubric: Rubric | None) -> Rubric:
    """The rubric, checked; for None that of the incident's task."""
    if rubric is None:
        return rubric_of(incident)
    check_rubric(rubric)
    return rubric


def grade(
    state: State, rubric: Rubric | None = None, *, unplayed: int = 0, agent: str | None = None
) -> Grade:
    """Grade a state, closed or open, on what has been earned so far.

    ``rubric`` defaults to that of the incident's task: :data:`DEFAULT` for all that
    draw their incidents. ``unplayed`` and ``agent`` are copied into the grade.

    Raises:
        RubricError: if a measure of a user's rubric returns no finite number, or a
            discount a factor outside [0, 1]; a broken grader is never counted as 0.
        InvalidInput: if ``state`` is not a state, or ``rubric`` is not a rubric.
    """
    check_state(state)
    incident = state.incident
    rubric = _chosen(incident, rubric)
    gate, gate_reason = _first_gate(state, rubric)
    criteria, discounts, total = _evaluate(state, rubric)
    return Grade(
        incident=incident.id,
        task=incident.task,
        rubric=rubric.id,
        rubric_digest=rubric.digest,
        actions=state.actions,
        score=total if gate is None else 0.0,
        criteria=criteria,
        gate=gate,
        gate_reason=gate_reason,
        closing=state.closing,
        ticks=state.tick,
        unplayed=unplayed,
        discounts=discounts,
        impact=reported_impact(state),
        agent=agent,
        schedule=state.schedule,
        fault_kind=incident.truth.fault_kind,
        seal=incident.seal,
    )


def score(state: State, rubric: Rubric | None = None) -> float:
    """The score of :func:`grade` alone."""
    check_state(state)
    rubric = _chosen(state.incident, rubric)
    gate, _ = _first_gate(state, rubric)
    return 0.0 if gate is not None else _evaluate(state, rubric)[-1]  # the total


def reward(before: State, after: State, rubric: Rubric | None = None) -> float:
    """What a step earned: the difference of the two grades, which add up exactly (:data:`GRID`)."""
    return score(after, rubric) - score(before, rubric)


def is_handed_over(state: State, rubric: Rubric | None = None) -> bool:
    """Whether only the hand-over counts; with ``first_alone`` not after a page or a remedy."""
    rubric = _chosen(state.incident, rubric)
    if state.closing is not Closing.HANDED_OVER or not rubric.handed_over:
        return False
    return not (rubric.first_alone and (state.facts.pages or state.facts.remedies))


def _first_gate(state: State, rubric: Rubric) -> tuple[str | None, str | None]:
    """(name, reason) of the first gate that holds; (None, None) if none does."""
    for gate in rubric.gates:
        reason = gate.holds(state)
        if reason is None:
            continue
        if not isinstance(reason, str):
            raise RubricError(
                f"rubric {rubric.id!r}: gate {gate.name!r}: expected the reason in words, or None "
                f"where it does not hold; got {kind_of(reason)}"
            )
        return gate.name, reason
    return None, None


def _evaluate(
    state: State, rubric: Rubric
) -> tuple[tuple[CriterionScore, ...], tuple[AppliedDiscount, ...], float]:
    """(criteria, discounts that apply, total), whether or not a gate holds."""
    rows, penalties, discounts = rubric.criteria, rubric.penalties, rubric.discounts
    if is_handed_over(state, rubric):
        rows, penalties, discounts = rubric.handed_over, (), ()
    elif rubric.benign and state.incident.truth.benign:
        rows = rubric.benign
    criteria, total = [], 0.0
    for row in rows:
        points, reason = _pair(row.measure(state), rubric, row.name)
        criteria.append(CriterionScore(row.name, points, row.weight, reason))
        total += row.weight * points
    for row in penalties:
        points, reason = _pair(row.measure(state), rubric, row.name)
        criteria.append(CriterionScore(row.name, -points, row.weight, reason))
        total -= row.weight * points
    if not isfinite(total):
        scores = ", ".join(f"{criterion.name} {criterion.score!r}" for criterion in criteria)
        raise RubricError(f"rubric {rubric.id!r}: the total is {total!r}; scores: {scores}")
    applied = tuple(_applied(state, rubric, discounts))
    for discount in applied:
        total *= discount.factor
    return tuple(criteria), applied, finish(rubric, total)


def _applied(
    state: State, rubric: Rubric, discounts: tuple[Discount, ...]
) -> Iterator[AppliedDiscount]:
    for row in discounts:
        measured = row.factor(state)
        if measured is None:
            continue
        factor, reason = _pair(measured, rubric, row.name)
        if not 0.0 <= factor <= 1.0:
            raise RubricError(
                f"rubric {rubric.id!r}: the factor of {row.name!r} must lie in [0, 1], "
                f"got {factor!r}"
            )
        yield AppliedDiscount(row.name, factor, reason)


def is_measured(returned: object) -> TypeGuard[Measured]:
    """Whether a measure or a discount may return this: a tuple of a number and its reason."""
    if type(returned) is not tuple or len(returned) != 2:
        return False
    score, reason = returned
    # Nearly all scores are plain floats, and to ask about numbers in general is slow.
    return (type(score) is float or isinstance(score, Real)) and isinstance(reason, str)


def _pair(returned: Any, rubric: Rubric, name: str) -> Measured:
    """What a measure or a discount returned; RubricError unless it :func:`is_measured`."""
    if is_measured(returned):
        return returned
    got = repr(returned)[:80] if isinstance(returned, tuple) else kind_of(returned)
    raise RubricError(
        f"rubric {rubric.id!r}: {name!r}: expected a number and its reason in words, got {got}"
    )


def finish(rubric: Rubric, total: float) -> float:
    """A finite total, cut to the rubric's bounds and rounded to the grid."""
    low, high = rubric.bounds
    total = min(high, max(low, total))
    return round(total * GRID) / GRID


def unscored(
    incident: Incident,
    cause: str,
    rubric: Rubric | None = None,
    actions: Iterable[Action] = (),
    *,
    agent: str | None = None,
) -> Unscored:
    """The record of an episode that must not be scored; ``cause`` says why, in words."""
    rubric = _chosen(incident, rubric)
    return Unscored(
        incident=incident.id,
        task=incident.task,
        rubric=rubric.id,
        rubric_digest=rubric.digest,
        actions=tuple(actions),
        cause=cause,
        agent=agent,
        fault_kind=incident.truth.fault_kind,
        seal=incident.seal,
    )


#: The keys of a grade in JSON, in order. ``status`` is no field: ``score`` decides it.
_FIELDS: Final = (
    *("incident", "task", "rubric", "rubric_digest", "status", "score", "criteria", "gate"),
    *("gate_reason", "closing", "ticks", "unplayed", "cause", "agent", "fault_kind", "discounts"),
)


def grade_to_json(grade: Graded) -> dict[str, Any]:
    """A grade as JSON data, without its actions; seal and impact only if there are any."""
    data: dict[str, Any] = {name: getattr(grade, name, None) for name in _FIELDS}
    data["status"] = "unscored" if grade.score is None else "scored"
    data["closing"] = None if grade.closing is None else str(grade.closing)
    for name in ("criteria", "discounts"):
        data[name] = [attrs.asdict(row) for row in data[name]]
    if grade.seal is not None:
        data["seal"] = grade.seal
    if grade.impact is not None:
        data["impact"] = attrs.asdict(grade.impact)
    return {**data, "malformed": grade.malformed, "digest": grade.digest}
