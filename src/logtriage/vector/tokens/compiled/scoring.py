"""Scores row by row, as :mod:`logtriage.vector.tokens.scoring` has them for many at once."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.grading import criteria, triage
from logtriage.grading.grade import GRID
from logtriage.grading.rubric import Rubric
from logtriage.jit import kernel
from logtriage.vector.compiled.draws import Int
from logtriage.vector.tokens.episodes import IGNORED, MISROUTED, NEVER, RESOLVED
from logtriage.vector.tokens.scoring import (
    DISCOUNTS,
    DISMISSED,
    GATES,
    MEASURES,
    REMEDIED,
    SEVERITY,
    SILENT,
    UNAPPROVED,
    prompt_scores,
)
from logtriage.world.setting import Setting

Floats64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

_MEASURES: Final = tuple(MEASURES)
_GATES: Final = tuple(GATES)
_DISCOUNTS: Final = tuple(DISCOUNTS)
_SEVERITY: Final = _MEASURES.index(criteria.severity)
_ROOT_CAUSE: Final = _MEASURES.index(triage.root_cause)
_ESCALATION: Final = _MEASURES.index(criteria.escalation)
_REMEDIATION: Final = _MEASURES.index(triage.remediation)
_CLOSURE: Final = _MEASURES.index(triage.closure)
_DISMISSAL: Final = _MEASURES.index(triage.dismissal)
_UNESCALATED: Final = _DISCOUNTS.index(triage.unescalated)
_MISPAGED: Final = _GATES.index(criteria.wrong_escalation)
_WORST: Final = len(SEVERITIES) - 1
_HALVED: Final = float(triage.UNAPPROVED_FIX)
_GRID: Final = float(GRID)


class RubricFields(NamedTuple):
    """A rubric by numbers: which measures, gates and discounts, and how much they weigh.

    A penalty is a measure of negative weight that stands last. The other fields are the
    tables that the scalar grader's functions filled.
    """

    real: Numbers
    real_weights: Floats64
    benign: Numbers
    benign_weights: Floats64
    gates: Numbers
    discounts: Numbers
    bounds: tuple[float, float]
    severity: Floats64
    remedied: Floats64
    dismissed: Floats64
    prompt: Floats64
    prompt_benign: Floats64
    silent: Floats64
    unapproved: Floats64

    @classmethod
    def of(cls, rubric: Rubric, setting: Setting, horizon: int) -> "RubricFields":
        """Of a rubric that can be scored, for a task's world and horizon."""

        def rows(of: Any) -> tuple[Numbers, Floats64]:
            listed = [(row.measure, row.weight) for row in of]
            listed += [(row.measure, -row.weight) for row in rubric.penalties]
            numbers = [_MEASURES.index(measure) for measure, _ in listed]
            return np.array(numbers, np.int64), np.array([weight for _, weight in listed])

        return cls(
            *rows(rubric.criteria),
            *rows(rubric.benign or rubric.criteria),
            np.array([_GATES.index(one.holds) for one in rubric.gates], np.int64),
            np.array([_DISCOUNTS.index(one.factor) for one in rubric.discounts], np.int64),
            (float(rubric.bounds[0]), float(rubric.bounds[1])),
            SEVERITY,
            REMEDIED,
            DISMISSED,
            prompt_scores(horizon, setting.par),
            prompt_scores(horizon, setting.par_benign),
            SILENT,
            UNAPPROVED,
        )


@kernel
def _score(
    which: Int, row: Int, real: bool, root: Int, now: Any, incidents: Any, time: Int, by: Any
) -> float:
    """The score of a measure."""
    fixed = now.fixed_at[row] != NEVER
    dismissed = now.closing[row] == IGNORED and now.root_cause[row] < 0
    score = 0.0
    if which == _SEVERITY:
        off: Int = _WORST
        said: Int = np.int64(now.severity[row])
        if said >= 0:
            off = abs(said - np.int64(incidents.severity[row]))
        score = by.severity[np.uint64(off)]
    elif which == _ROOT_CAUSE:
        right = real and now.root_cause[row] == root
        score = 1.0 if right and now.said_at[row] <= now.fixed_at[row] else 0.0
    elif which == _ESCALATION:
        score = 1.0 if now.paged_at[row] != NEVER else 0.0
    elif which == _REMEDIATION:
        if fixed:
            score = by.remedied[np.uint64(now.wrong_remedies[row])]
            if now.paged_at[row] >= now.fixed_at[row]:
                score *= _HALVED
    elif which == _CLOSURE:
        if fixed and now.closing[row] == RESOLVED:
            score = by.prompt[np.uint64(now.columns[row, time])]
    elif which == _DISMISSAL:
        if dismissed:
            score = by.dismissed[np.uint64(now.wrong_remedies[row])]
    elif dismissed:
        score = by.prompt_benign[np.uint64(now.columns[row, time])]
    return score


@kernel
def _total(row: Int, real: bool, root: Int, now: Any, incidents: Any, time: Int, by: Any) -> float:
    """What all measures and discounts make of a row, before it is rounded."""
    total = 0.0
    if real:
        for place in range(len(by.real)):
            score = _score(by.real[place], row, real, root, now, incidents, time, by)
            total += by.real_weights[place] * score
    else:
        for place in range(len(by.benign)):
            score = _score(by.benign[place], row, real, root, now, incidents, time, by)
            total += by.benign_weights[place] * score
    if real:
        for place in range(len(by.discounts)):
            if by.discounts[place] != _UNESCALATED:
                total *= by.unapproved[np.uint64(now.unapproved[row])]
            elif now.paged_at[row] == NEVER:
                total *= by.silent[incidents.board[row, np.uint64(incidents.first_public)]]
    return total


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
    for gate in range(len(by.gates)):
        if by.gates[gate] == _MISPAGED:
            holds = now.closing[row] == MISROUTED
        else:
            holds = real and now.closing[row] == IGNORED
        if holds:
            total = 0.0
    return total


@kernel
def score_rows(
    now: Any, incidents: Any, tables: Any, time: Int, by: RubricFields, out: Any
) -> None:
    """The grade so far of every row, to ``out`` (N,)."""
    for place in range(len(out)):
        row = np.uint64(place)
        out[row] = score_row(row, now, incidents, tables, time, by)
