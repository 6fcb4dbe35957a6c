"""A rubric compiled for batches: which measures to take, and tables of the totals.

The tables are filled by the scalar grader's own functions.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.errors import RubricError
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure
from logtriage.grading.grade import GRID, finish
from logtriage.grading.kernels import DISCOUNTS, GATES, MEASURES, Span
from logtriage.grading.played import Discounted, Played
from logtriage.grading.rubric import Criterion, Rubric
from logtriage.grading.shares import SHARED_DISCOUNTS, Shares

Floats = NDArray[np.float64]
AnyCall = Callable[..., Any]

#: A table of totals is extended by a criterion as long as it has no more entries.
TABLE_SIZE: Final = 8192


def signed(rubric: Rubric, rows: tuple[Criterion, ...]) -> list[tuple[float, Criterion]]:
    """Criteria with the sign 1, then the penalties of the rubric with -1."""
    return [*((1.0, row) for row in rows), *((-1.0, row) for row in rubric.penalties)]


@attrs.frozen(eq=False)
class Totals:
    """The total of a list of criteria, from the levels of their measures.

    The totals of every combination of levels stand in ``table``, to be found at the
    sum of level times stride over ``strides``. Criteria that would make it too large
    are added one by one, and the sum then finished by ``finish``; None leaves that to
    whoever has discounts to take off before.
    """

    measures: tuple[Measure, ...]
    strides: tuple[tuple[Measure, int, np.dtype[Any]], ...]
    table: Floats
    rest: tuple[tuple[Measure, Floats], ...]
    finish: Callable[[float], float] | None

    def of(self, levels: Mapping[Measure, Ints]) -> Floats:
        """The totals (B,) of levels (B,)."""
        code: Any = np.uint8(0)
        for measure, stride, dtype in self.strides:
            code = code + np.multiply(levels[measure], stride, dtype=dtype)
        total = self.table.take(code)
        if not self.rest:
            return total
        for measure, points in self.rest:
            total = total + points.take(levels[measure])
        return total if self.finish is None else _finished(total, self.finish)


def _finished(totals: Floats, finish: Callable[[float], float]) -> Floats:
    distinct, places = np.unique(totals, return_inverse=True)
    return np.array([finish(total) for total in distinct.tolist()]).take(places)


def finish_all(rubric: Rubric, totals: Floats) -> Floats:
    """As :func:`logtriage.grading.grade.finish`, of many totals (B,)."""
    if rubric.digits is not None:  # rounded in decimal, as only Python does
        return _finished(totals, partial(finish, rubric))
    low, high = rubric.bounds
    totals = np.where(totals > low, totals, low)
    totals = np.where(totals < high, totals, high)
    totals *= GRID
    np.rint(totals, out=totals)
    totals /= GRID
    return totals


def _totals(rubric: Rubric, rows: tuple[Criterion, ...], span: Span) -> Totals:
    table = np.zeros(1)
    strides: list[tuple[Measure, int, np.dtype[Any]]] = []
    rest: list[tuple[Measure, Floats]] = []
    for sign, row in signed(rubric, rows):
        scores = np.array(MEASURES[row.measure].scores(span))
        points = sign * (row.weight * scores)
        if rest or len(table) * len(points) > TABLE_SIZE:
            rest.append((row.measure, points))
            continue
        narrow = np.min_scalar_type(len(table) * len(points) - 1)
        strides.append((row.measure, len(table), narrow))
        table = (table[np.newaxis, :] + points[:, np.newaxis]).ravel()

    end = None if rubric.discounts else partial(finish, rubric)
    if not rest and end is not None:
        table = _finished(table, end)
    measures = tuple(dict.fromkeys(row.measure for _, row in signed(rubric, rows)))
    return Totals(measures, tuple(strides), table, tuple(rest), end)


@attrs.frozen(eq=False)
class Plan:
    """A rubric compiled for a span: which measures to take, and where totals stand.

    ``level_types`` has the narrowest type for the levels of each measure.
    """

    level_types: Mapping[Measure, np.dtype[Any]]
    real: Totals
    benign: Totals | None

    def wanted(self, any_benign: bool) -> Iterable[Measure]:
        """The measures to take: those of benign incidents only where there are any."""
        return self.level_types if any_benign else self.real.measures


@lru_cache(maxsize=64)
def plan_of(rubric: Rubric, span: Span) -> Plan:
    """The rubric compiled for a span.

    Raises:
        RubricError: if a measure, gate or discount has no kernel.
    """
    check_kernels(rubric)
    real = _totals(rubric, rubric.criteria, span)
    benign = _totals(rubric, rubric.benign, span) if rubric.benign else None
    types = {
        measure: np.min_scalar_type(len(MEASURES[measure].scores(span)) - 1)
        for measure in (*real.measures, *(benign.measures if benign else ()))
    }
    return Plan(types, real, benign)


def check_kernels(rubric: Rubric) -> None:
    """Refuse a rubric with a rule that has no kernel.

    Raises:
        RubricError: naming the rule, and those that have one.
    """
    for row in (*rubric.criteria, *rubric.benign, *rubric.penalties):
        _check_kernel(rubric, "measure", row.name, row.measure, tuple(MEASURES))
    for gate in rubric.gates:
        _check_kernel(rubric, "gate", gate.name, gate.holds, tuple(GATES))
    for one in rubric.discounts:
        _check_kernel(rubric, "discount", one.name, one.factor, tuple(DISCOUNTS))


def _check_kernel(
    rubric: Rubric, what: str, name: str, function: AnyCall, known: tuple[AnyCall, ...]
) -> None:
    if function not in known:
        raise RubricError(
            f"rubric {rubric.id!r}: {what} {_name(function)} ({name!r}) cannot grade a batch; "
            f"those that can: {', '.join(map(_name, known))}"
        )


def _name(function: AnyCall) -> str:
    return f"{function.__module__}.{getattr(function, '__qualname__', function)}"


def levels_of(plan: Plan, played: Played) -> dict[Measure, Ints]:
    """The levels (B,) of every measure, benign incidents' included."""
    return {
        one: MEASURES[one].levels(played).astype(dtype) for one, dtype in plan.level_types.items()
    }


def total_of(
    plan: Plan,
    rubric: Rubric,
    played: Played,
    levels: Mapping[Measure, Ints],
    any_benign: bool,
    shares: Shares | None = None,
) -> tuple[Floats, NDArray[np.int8]]:
    """Scores and gates (B,) of what was played, from the levels of the measures.

    ``shares`` are those of incidents that list faults.
    """
    scores = summed(plan, rubric, played, levels, any_benign, shares)
    gates = np.full(len(scores), -1, np.int8)
    for index in reversed(range(len(rubric.gates))):
        np.copyto(gates, index, where=GATES[rubric.gates[index].holds](played))
    scores[gates >= 0] = 0.0
    return scores, gates


def summed(
    plan: Plan,
    rubric: Rubric,
    played: Discounted,
    levels: Mapping[Measure, Ints],
    any_benign: bool,
    shares: Shares | None,
) -> Floats:
    """Scores (B,) but for the gates, from the levels of the measures."""
    scores = plan.real.of(levels)
    if plan.benign is not None and any_benign:
        scores = np.where(played.benign, plan.benign.of(levels), scores)
    for one in rubric.discounts:
        factors: Floats = DISCOUNTS[one.factor](played)
        if shares is not None and one.factor in SHARED_DISCOUNTS:
            factors[shares.rows] = SHARED_DISCOUNTS[one.factor](shares, played.silence)
        scores = scores * factors
    if rubric.discounts:
        scores = finish_all(rubric, scores)
    return scores
