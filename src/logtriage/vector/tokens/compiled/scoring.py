"""Scores row by row, from the tables of :mod:`logtriage.grading.kernels`."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.grading import criteria, triage
from logtriage.grading.grade import GRID
from logtriage.grading.kernels import (
    DISCOUNTS,
    DISMISSED,
    GATES,
    IGNORED,
    MEASURES,
    MISROUTED,
    RESOLVED,
    Span,
)
from logtriage.grading.plan import signed
from logtriage.grading.rubric import Criterion, Rubric
from logtriage.grading.shares import CREDITED
from logtriage.vector.compiled.draws import Int
from logtriage.vector.tokens.episodes import NEVER
from logtriage.vector.tokens.incidents import PRICES

Floats64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

_MEASURES: Final = tuple(MEASURES)
_SEVERITY: Final = _MEASURES.index(criteria.severity)
_BLAMED: Final = _MEASURES.index(criteria.root_cause)
_ROOT_CAUSE: Final = _MEASURES.index(triage.root_cause)
_ESCALATION: Final = _MEASURES.index(criteria.escalation)
_REMEDIATION: Final = _MEASURES.index(triage.remediation)
_CLOSURE: Final = _MEASURES.index(triage.closure)
_DISMISSAL: Final = _MEASURES.index(triage.dismissal)
_UNESCALATED: Final = DISCOUNTS.index(triage.unescalated)
_MISPAGED: Final = GATES.index(criteria.wrong_escalation)
_WORST: Final = len(SEVERITIES) - 1
_CREDITS: Final = len(CREDITED)
_DISMISSALS: Final = len(DISMISSED)
_GRID: Final = float(GRID)
#: What silence leaves, by the number of the price.
_SILENT: Final = PRICES / triage.MOST_UNPAGED
#: How many values a count of an episode can have: it is a byte.
_COUNTS: Final = 256


class RubricFields(NamedTuple):
    """A rubric by numbers: which measures, gates and discounts there are.

    ``real_points`` and ``benign_points`` (M, L) are what each level of a measure adds;
    penalties stand last. ``width`` is one more than the most ticks; ``powers`` (256,) what so
    many unapproved remedies leave: several roles may apply one in a tick.
    """

    real: Numbers
    real_points: Floats64
    benign: Numbers
    benign_points: Floats64
    gates: Numbers
    discounts: Numbers
    bounds: tuple[float, float]
    silent: Floats64
    powers: Floats64
    width: int

    @classmethod
    def of(cls, rubric: Rubric, span: Span) -> "RubricFields":
        """Of a rubric that can be scored."""
        return cls(
            *_points(rubric, rubric.criteria, span),
            *_points(rubric, rubric.benign or rubric.criteria, span),
            np.array([GATES.index(row.holds) for row in rubric.gates], np.int64),
            np.array([DISCOUNTS.index(row.factor) for row in rubric.discounts], np.int64),
            (float(rubric.bounds[0]), float(rubric.bounds[1])),
            _SILENT,
            np.array([triage.UNAPPROVED_REMEDY**one for one in range(_COUNTS)]),
            span.ticks + 1,
        )


def _points(rubric: Rubric, of: tuple[Criterion, ...], span: Span) -> tuple[Numbers, Floats64]:
    rows = signed(rubric, of)
    scores = [np.array(MEASURES[row.measure](span)) for _, row in rows]
    points = np.zeros((len(rows), max(map(len, scores), default=0)))
    for place, ((sign, row), found) in enumerate(zip(rows, scores, strict=True)):
        points[place, : len(found)] = sign * (row.weight * found)
    return np.array([_MEASURES.index(row.measure) for _, row in rows], np.int64), points


@kernel
def _level(
    which: Int, row: Int, real: bool, root: Int, now: Any, incidents: Any, time: Int, width: Int
) -> Int:
    """The level of a measure."""
    fixed = now.fixed_at[row] != NEVER
    dismissed = now.closing[row] == IGNORED and now.root_cause[row] < 0
    level: Int = np.int64(0)
    if which == _SEVERITY:
        said: Int = np.int64(now.severity[row])
        level = abs(said - np.int64(incidents.severity[row])) if said >= 0 else _WORST
    elif which == _BLAMED:
        level = np.int64(real and now.root_cause[row] == root)
    elif which == _ROOT_CAUSE:
        early = now.said_at[row] <= now.fixed_at[row]
        level = np.int64(real and now.root_cause[row] == root and early)
    elif which == _ESCALATION:
        level = np.int64(now.paged_at[row] != NEVER)
    elif which == _REMEDIATION:
        wrong: Int = np.int64(now.wrong_remedies[row])
        if fixed and wrong < _CREDITS:
            level = 1 + wrong + (0 if now.paged_at[row] < now.fixed_at[row] else _CREDITS)
    elif which == _DISMISSAL:
        applied: Int = np.int64(now.wrong_remedies[row])
        if dismissed and applied < _DISMISSALS:
            level = 1 + applied
    else:
        resolved = fixed and now.closing[row] == RESOLVED
        if resolved if which == _CLOSURE else dismissed:
            level = 1 + np.int64(now.columns[row, time]) + (0 if real else width)
    return level


@kernel
def _sum(
    measures: Any,
    points: Any,
    row: Int,
    real: bool,
    root: Int,
    now: Any,
    incidents: Any,
    time: Int,
    width: Int,
) -> float:
    total = 0.0
    for place in range(len(measures)):
        level = _level(measures[place], row, real, root, now, incidents, time, width)
        total += points[place, np.uint64(level)]
    return total


@kernel
def _total(row: Int, real: bool, root: Int, now: Any, incidents: Any, time: Int, by: Any) -> float:
    """What all measures and discounts make of a row, before it is rounded."""
    if not real:
        return _sum(by.benign, by.benign_points, row, real, root, now, incidents, time, by.width)
    total = _sum(by.real, by.real_points, row, real, root, now, incidents, time, by.width)
    for place in range(len(by.discounts)):
        if by.discounts[place] != _UNESCALATED:
            total *= by.powers[np.uint64(now.unapproved[row])]
        elif now.paged_at[row] == NEVER:
            total *= by.silent[incidents.board[row, np.uint64(incidents.first_public)]]
    return total


@kernel
def _gated(row: Int, real: bool, now: Any, by: RubricFields) -> bool:
    """Whether a gate holds in a row."""
    holds = False
    for gate in range(len(by.gates)):
        if by.gates[gate] == _MISPAGED:
            holds |= now.closing[row] == MISROUTED
        else:
            holds |= real and now.closing[row] == IGNORED
    return holds


@kernel
def score_row(
    row: Int, now: Any, incidents: Any, tables: Any, time: Int, by: RubricFields
) -> float:
    """The grade so far of a row, by a rubric that rounds to the grid."""
    low, high = by.bounds
    true = np.uint64(incidents.hypothesis[row])
    real, root = tables.recovers[true], tables.root[true]
    total = _total(row, real, root, now, incidents, np.uint64(time), by)
    total = np.rint(min(high, max(low, total)) * _GRID) / _GRID
    if _gated(row, real, now, by):
        total = 0.0
    return total


@kernel
def score_rows(
    rows: Any, now: Any, incidents: Any, tables: Any, time: Int, by: RubricFields, out: Any
) -> None:
    """Write the grade so far of ``rows`` (R,) to ``out`` (N,)."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        out[row] = score_row(row, now, incidents, tables, time, by)


@kernel
def total_rows(
    rows: Any,
    now: Any,
    incidents: Any,
    tables: Any,
    time: Int,
    by: RubricFields,
    out: Any,
    gated: Any,
) -> None:
    """Write unrounded scores of ``rows`` (R,) to ``out`` and held gates to ``gated`` (N,)."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        true = np.uint64(incidents.hypothesis[row])
        real, root = tables.recovers[true], tables.root[true]
        out[row] = _total(row, real, root, now, incidents, np.uint64(time), by)
        gated[row] = _gated(row, real, now, by)
