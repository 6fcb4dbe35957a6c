"""What the edge panel says of severities, row by row, as :mod:`logtriage.belief.edges` has it."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.belief.fixedpoint import NEVER
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import BeliefState
from logtriage.vector.belief_tables import EDGE_CALM, EDGE_RECOVERED, BeliefTables
from logtriage.vector.compiled.fixedpoint import exp2, log_sum, log_sum3
from logtriage.vector.compiled.signs import Room, room_for

#: An integer, Python's or the machine's.
Int = Any

#: What :attr:`BeliefTables.errors` says of a benign incident.
CALM: Final = 2


@kernel
def _kept(
    row: Int, shown: Int, begin: Int, end: Int, state: BeliefState, tables: BeliefTables, room: Room
) -> Int:
    """How likely panels that start from ``begin`` to before ``end`` are if ``shown`` is kept."""
    signs = tables.edge_prior.shape[1]
    terms = room.terms
    for sign in range(signs):
        terms[sign] = tables.edge_prior[shown, sign]
    for start in range(begin, end):
        token = np.int64(state.panel[row, start])
        if token >= 0:
            late = np.int64(start >= tables.severity_from)
            for sign in range(signs):
                terms[sign] += tables.edge[late, shown, token, sign]
    return log_sum(terms, signs, tables)


@kernel
def panel_terms(
    row: Int, errors: Int, when: Int, state: BeliefState, tables: BeliefTables, room: Room
) -> Any:
    """The panel's logarithms by severity if the fault was fixed in tick ``when``."""
    starts = np.int64(state.panel.shape[1])
    until = min(np.int64(when) + 1, starts)
    after = _kept(row, EDGE_RECOVERED, until, starts, state, tables, room)
    first = 3 * errors
    a = _kept(row, first, 0, until, state, tables, room)
    b = _kept(row, first + 1, 0, until, state, tables, room)
    c = _kept(row, first + 2, 0, until, state, tables, room)
    severities = tables.severities
    return severities[0] + a + after, severities[1] + b + after, severities[2] + c + after


@kernel
def fixed_panel(
    row: Int, errors: Int, when: Int, state: BeliefState, tables: BeliefTables, room: Room
) -> Int:
    """The panel's logarithm if the fault was fixed in tick ``when``, whatever the severity."""
    a, b, c = panel_terms(row, errors, when, state, tables, room)
    return log_sum3(a, b, c, tables)


@kernel
def renew_panel(row: Int, state: BeliefState, tables: BeliefTables, room: Room) -> None:
    """What the panels say of incidents that are not fixed."""
    starts = np.int64(state.panel.shape[1])
    for errors in range(CALM):
        state.edge[row, errors] = fixed_panel(row, errors, starts, state, tables, room)
    calm = _kept(row, EDGE_CALM, 0, starts, state, tables, room)
    none = _kept(row, EDGE_RECOVERED, starts, starts, state, tables, room)
    state.edge[row, CALM] = calm + none


@kernel
def _write_severities(
    rows: Any, state: BeliefState, tables: BeliefTables, room: Room, out: Longs
) -> None:
    for place in range(len(rows)):
        row = rows[place]
        for errors in range(CALM + 1):
            known_when, known = np.int64(-1), (np.int64(0), np.int64(0), np.int64(1))
            for one in range(out.shape[1]):
                if tables.errors[one] != errors:
                    continue
                when = np.int64(state.fixed_at[row, one])
                if errors != CALM and when != known_when:
                    a, b, c = panel_terms(row, errors, when, state, tables, room)
                    highest = max(a, b, c)
                    known = (tables.usual[0], tables.usual[1], tables.usual[2])
                    if highest > NEVER:
                        known = (
                            exp2(highest - a, tables),
                            exp2(highest - b, tables),
                            exp2(highest - c, tables),
                        )
                    known_when = when
                out[place, one, 0], out[place, one, 1], out[place, one, 2] = known


def severities_of(state: BeliefState, tables: BeliefTables, rows: Longs) -> Longs:
    """The weights (R, H, 3) of P1, P2 and P3 under each hypothesis."""
    found = np.empty((len(rows), len(tables.prior), 3), np.int64)
    _write_severities(rows, state, tables, room_for(tables), found)
    return found
