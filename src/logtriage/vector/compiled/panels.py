"""The likelihood of edge panels, row by row, as :mod:`logtriage.beliefs.edges` computes it.

The *states* of the edge are those of :class:`logtriage.vector.belief_tables.EdgeTables`.
"""

from typing import Any

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.beliefs.fixedpoint import NEVER
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import BeliefState
from logtriage.vector.belief_tables import (
    EDGE_CALM,
    EDGE_RECOVERED,
    NO_FAULT,
    BeliefTables,
    EdgeTables,
    Powers,
)
from logtriage.vector.compiled.draws import Int
from logtriage.vector.compiled.fixedpoint import exp2, log_sum, log_sum3
from logtriage.vector.compiled.outcomes import Room
from logtriage.vector.compiled.worlds import tables_in


@kernel
def _weigh_panels(fixed: Int, panel: Any, tables: EdgeTables, powers: Powers, room: Room) -> None:
    """Write the log-likelihood of the panels in each state of the edge to ``room.kept``.

    If the fault is fixed in tick ``fixed``, the edge is in that state up to it, and recovered then.
    """
    ticks, tokens = np.int64(len(panel)), tables.prior.shape[1]
    until = min(np.int64(fixed) + 1, ticks)
    for state in range(len(room.kept)):
        for kept in range(tokens):
            room.terms[kept] = tables.prior[state, kept]
        begin, end = np.int64(0), until
        if state == EDGE_RECOVERED:
            begin, end = until, ticks
        for tick in range(begin, end):
            token = np.int64(panel[tick])
            if token >= 0:
                late = np.int64(tick >= tables.severity_from)
                for kept in range(tokens):
                    room.terms[kept] += tables.panels[late, state, token, kept]
        room.kept[state] = log_sum(room.terms, tokens, powers)


@kernel
def _by_severity(errors: Int, tables: EdgeTables, room: Room) -> Any:
    """Prior times likelihood of P1, P2 and P3 as logarithms; ``errors``: errors come first."""
    after, first, severities = room.kept[EDGE_RECOVERED], 3 * errors, tables.severities
    return (
        severities[0] + room.kept[first] + after,
        severities[1] + room.kept[first + 1] + after,
        severities[2] + room.kept[first + 2] + after,
    )


@kernel
def renew_panel(
    when: Int, panel: Any, tables: EdgeTables, powers: Powers, room: Room, out: Longs
) -> None:
    """Write the log-likelihood of the panels, if fixed in tick ``when``, to ``out`` (3,).

    The entries: latency first and errors first, summed over severities; a benign incident.
    """
    _weigh_panels(when, panel, tables, powers, room)
    for errors in range(NO_FAULT):
        a, b, c = _by_severity(errors, tables, room)
        out[errors] = log_sum3(a, b, c, powers)
    out[NO_FAULT] = room.kept[EDGE_CALM] + room.kept[EDGE_RECOVERED]


@kernel
def _severity_weights(
    when: Int, panel: Any, errors: Int, tables: EdgeTables, powers: Powers, room: Room
) -> Any:
    """The weights of P1, P2 and P3 given the panels, for a fault that is fixed in tick ``when``.

    They are the usual ones where no severity fits the panels.
    """
    _weigh_panels(when, panel, tables, powers, room)
    a, b, c = _by_severity(errors, tables, room)
    highest = max(a, b, c)
    if highest <= NEVER:
        return tables.usual[0], tables.usual[1], tables.usual[2]
    return exp2(highest - a, powers), exp2(highest - b, powers), exp2(highest - c, powers)


@kernel
def _write_severities(
    rows: Any, state: BeliefState, worlds: BeliefTables, room: Room, out: Longs
) -> None:
    for place in range(len(rows)):
        row = rows[place]
        tables = tables_in(worlds, np.uint64(state.world[row]))
        panel = state.panel[row]
        for errors in range(NO_FAULT + 1):
            # A benign incident is P3. Else ``weights`` are those of faults fixed in tick ``known``.
            known, weights = np.int64(-1), (np.int64(0), np.int64(0), np.int64(1))
            for hypothesis in range(out.shape[1]):
                if tables.errors[hypothesis] != errors:
                    continue
                when = np.int64(state.fixed_at[row, hypothesis])
                if errors != NO_FAULT and when != known:
                    edges, powers = tables.edges, tables.powers
                    weights = _severity_weights(when, panel, errors, edges, powers, room)
                    known = when
                for severity in range(3):
                    out[place, hypothesis, severity] = weights[severity]


def severities_of(state: BeliefState, tables: BeliefTables, room: Room, rows: Longs) -> Longs:
    """The weights (rows R, hypotheses H, 3) of P1, P2 and P3 under each hypothesis."""
    severities = np.empty((len(rows), tables.prior.shape[1], 3), np.int64)
    _write_severities(rows, state, tables, room, severities)
    return severities
