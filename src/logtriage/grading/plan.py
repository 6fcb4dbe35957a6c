"""A rubric compiled for batches: which measures to take, and tables of the totals.

The tables are filled by the scalar grader's own functions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
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
from logtriage.grading.rubric import Criterion, Rubric

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
        scores = np.array(MEASURES[row.measure](span))
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
        measure: np.min_scalar_type(len(MEASURES[measure](span)) - 1)
        for measure in (*real.measures, *(benign.measures if benign else ()))
    }
    return Plan(types, real, benign)


def check_kernels(rubric: Rubric) -> None:
    """Refuse a rubric with a rule that has no kernel.

    Raises:
        RubricError: naming the rule, and those that have one.
    """
    for what, name, function, known in _rules(rubric):
        if function not in known:
            raise RubricError(
                f"rubric {rubric.id!r}: {what} {_name(function)} ({name!r}) has no kernel; "
                f"those that have one: {', '.join(map(_name, known))}"
            )


@lru_cache(maxsize=64)
def has_kernels(rubric: Rubric) -> bool:
    """Whether every rule of a rubric has a kernel."""
    return all(function in known for _, _, function, known in _rules(rubric))


def _rules(rubric: Rubric) -> Iterator[tuple[str, str, AnyCall, tuple[AnyCall, ...]]]:
    """What each rule is, its name and function, and the functions of its kind with a kernel."""
    for row in rubric.rows:
        yield "measure", row.name, row.measure, tuple(MEASURES)
    for gate in rubric.gates:
        yield "gate", gate.name, gate.holds, GATES
    for one in rubric.discounts:
        yield "discount", one.name, one.factor, DISCOUNTS


def _name(function: AnyCall) -> str:
    return f"{function.__module__}.{getattr(function, '__qualname__', function)}"
