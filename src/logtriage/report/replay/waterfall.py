"""The steps of a grade: the points of each criterion, and what gates and discounts took."""

from collections.abc import Sequence

import attrs

from logtriage.grading import Grade

#: The largest difference between the parts and the grade that is rounding.
_ROUNDING = 1e-9


@attrs.frozen
class Fall:
    """One step of the waterfall.

    ``points`` are added to the total (what a gate or a discount takes is negative),
    ``tick`` is that of the action which last changed it, None if none ever did.
    """

    name: str
    kind: str
    points: float
    reason: str
    tick: int | None
    score: float | None = None
    weight: float | None = None


def waterfall(grades: Sequence[Grade]) -> tuple[Fall, ...]:
    """The steps from 0 to the last of an episode's grades, one for each of its states."""
    last = grades[-1]
    # A grade may lack a criterion, as after a hand-over.
    scores = [{row.name: row.score for row in grade.criteria} for grade in grades]
    factors = [{row.name: row.factor for row in grade.discounts} for grade in grades]
    falls = [
        Fall(
            criterion.name,
            "criterion",
            criterion.score * criterion.weight,
            criterion.reason,
            _tick_of([of.get(criterion.name, 0.0) for of in scores]),
            criterion.score,
            criterion.weight,
        )
        for criterion in last.criteria
    ]
    total = sum(fall.points for fall in falls)
    for discount in last.discounts if last.gate is None else ():  # a gate takes everything
        name, factor = discount.name, discount.factor
        lost = total * (factor - 1.0)
        tick = _tick_of([of.get(name, 1.0) for of in factors])
        falls.append(Fall(name, "discount", lost, discount.reason, tick, factor))
        total += lost
    if last.gate is not None:
        held = [grade.gate == last.gate for grade in grades]
        reason = last.gate_reason or ""
        falls.append(Fall(last.gate, "gate", -total, reason, _tick_of(held)))
        total = 0.0
    rest = last.score - total
    if abs(rest) > _ROUNDING:
        reason = "the rubric keeps its grades within bounds"
        falls.append(Fall("bounds", "bounds", rest, reason, None))
    return tuple(falls)


def _tick_of(values: Sequence[float]) -> int | None:
    """The tick of the action that changed a value last."""
    changes = [tick for tick in range(len(values) - 1) if values[tick] != values[tick + 1]]
    return changes[-1] if changes else None
