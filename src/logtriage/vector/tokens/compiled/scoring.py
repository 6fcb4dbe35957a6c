"""Scores row by row, by the rules of :mod:`logtriage.grading.scores`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.grading.kernels import add_share, gate_of, levels_of, score_row
from logtriage.grading.rubric import Rubric
from logtriage.grading.scores import Case
from logtriage.grading.steps import Int, Shares
from logtriage.grading.tables import ScoreTables, Span, tables_of
from logtriage.vector.tokens.compiled.fields import Scene, scene_in
from logtriage.vector.tokens.compiled.playing import facts_of, response_of
from logtriage.vector.tokens.episodes import NEVER
from logtriage.vector.tokens.incidents import WORTHS


class Scoring(NamedTuple):
    """The tables of a rubric, and the ``worths`` of a hand-over by their numbers of layout units.

    ``width`` is the number of levels for one pair of horizon and par. The levels for faults come
    first, then those for benign incidents.
    """

    tables: ScoreTables
    worths: NDArray[np.float64]
    width: int


def scoring_of(rubric: Rubric, span: Span) -> Scoring:
    """The tables of a rubric that can score a batch."""
    return Scoring(tables_of(rubric, span), WORTHS, span.width)


@kernel
def score_of(row: Int, scene: Scene, by: Scoring) -> Any:
    """The grade so far of a row."""
    tables, incidents, now = scene.tables, scene.incidents, scene.now
    facts = facts_of(row, scene)
    none, zero, one = np.int64(NEVER), np.int64(0), np.int64(1)
    response = response_of(row, facts, scene)
    shares = add_share(Shares(zero, zero, zero, zero), response, facts.paged, none)
    benign, gated = np.int64(not tables.has_fault[np.uint64(incidents.hypothesis[row])]), False
    clock = zero if benign == 0 else np.int64(by.width)
    severity = np.int64(incidents.severity[row])
    case = Case(severity, faults=one, shares=zero, fixes=zero, clock=clock, task_clock=zero)
    used = np.int64(now.columns[row, np.uint64(scene.to.time)])
    levels = levels_of(facts, shares, case, used, none, by.tables)
    for number in range(len(by.tables.gates)):
        gated |= gate_of(by.tables.gates[number], facts, benign)
    worth = by.worths[incidents.board[row, np.uint64(incidents.first_public)]]
    return score_row(levels, benign, np.int64(gated), worth, by.tables)


@kernel
def score_rows(rows: Any, scene: Scene, by: Scoring, out: Any) -> None:
    """Write the grade so far of ``rows`` (R,) to ``out`` (N,)."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        out[row] = score_of(row, scene_in(row, scene), by)
