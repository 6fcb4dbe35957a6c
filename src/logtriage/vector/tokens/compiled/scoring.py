"""Scores row by row, by the rules of :mod:`logtriage.grading.scores`."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.grading import triage
from logtriage.grading.rubric import Rubric
from logtriage.grading.scores import Case, gate_of, levels_of, score_row
from logtriage.grading.steps import Facts, Int, Response, Shares, add_share
from logtriage.grading.tables import MISROUTED, ScoreTables, Span, tables_of
from logtriage.vector.tokens.episodes import NEVER
from logtriage.vector.tokens.incidents import PRICES

_UNSAID: Final = len(SEVERITIES)


class Scoring(NamedTuple):
    """The tables of a rubric, and what silence leaves by the number of its price.

    ``width`` is the levels of a pair of horizon and par; the pars are those of faults, then of
    benign incidents.
    """

    tables: ScoreTables
    silent: NDArray[np.float64]
    width: int

    @classmethod
    def of(cls, rubric: Rubric, span: Span) -> "Scoring":
        """Of a rubric that can be scored."""
        return cls(tables_of(rubric, span), PRICES / triage.MOST_UNPAGED, span.width)


@kernel
def score_of(row: Int, now: Any, incidents: Any, tables: Any, time: Int, by: Scoring) -> Any:
    """The grade so far of a row."""
    true = np.uint64(incidents.hypothesis[row])
    real, root, declared = tables.recovers[true], tables.root[true], now.root_cause[row]
    rightly = real and declared == root
    none, zero, closing = np.int64(NEVER), np.int64(0), np.int64(now.closing[row])
    said, wrong = np.int64(now.severity[row]), np.int64(now.wrong_remedies[row])
    facts = Facts(
        said if said >= 0 else np.int64(_UNSAID),
        np.int64(declared >= 0),
        np.int64(rightly),
        np.int64(now.paged_at[row]),
        np.int64(closing == MISROUTED),
        wrong,
        wrong,
        np.int64(now.unapproved[row]),
        closing,
    )
    response = Response(
        np.int64(now.said_at[row]) if rightly else none,
        np.int64(now.paged_at[row]),
        np.int64(now.fixed_at[row]),
    )
    shares = add_share(Shares(zero, zero, zero, zero, zero), response, facts.paged, none)
    clock = zero if real else np.int64(by.width)
    case = Case(np.int64(incidents.severity[row]), np.int64(1), zero, zero, clock, zero)
    used = np.int64(now.columns[row, np.uint64(time)])
    levels = levels_of(facts, shares, case, used, none, by.tables)
    benign, gated = np.int64(not real), False
    for number in range(len(by.tables.gates)):
        gated |= gate_of(by.tables.gates[number], facts, benign)
    silence = by.silent[incidents.board[row, np.uint64(incidents.first_public)]]
    return score_row(levels, benign, gated, silence, 0.0, by.tables)


@kernel
def score_rows(
    rows: Any, now: Any, incidents: Any, tables: Any, time: Int, by: Scoring, out: Any
) -> None:
    """Write the grade so far of ``rows`` (R,) to ``out`` (N,)."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        out[row] = score_of(row, now, incidents, tables, time, by)
