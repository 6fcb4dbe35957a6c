"""What the edge panel says of severities, row by row, as :mod:`logtriage.belief.edges` has it."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.belief.fixedpoint import NEVER
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import BeliefState
from logtriage.vector.belief_tables import EDGE_CALM, EDGE_RECOVERED, BeliefTables
from logtriage.vector.compiled.fixedpoint import exp2, log_sum, log_sum3
from logtriage.vector.compiled.signs import Room

#: An integer, Python's or the machine's.
Int = Any

#: What :attr:`BeliefTables.errors` says of a benign incident.
CALM: Final = 2


@kernel
def _keep(row: Int, when: Int, state: BeliefState, tables: BeliefTables, room: Room) -> None:
    """How likely the panels are by what the edge keeps, into the room: until ``when``, and later.

    After a fix it keeps what a recovered edge shows.
    """
    starts, signs = np.int64(state.panel.shape[1]), tables.edge_prior.shape[1]
    until = min(np.int64(when) + 1, starts)
    for shown in range(len(room.kept)):
        for sign in range(signs):
            room.terms[sign] = tables.edge_prior[shown, sign]
        begin = until if shown == EDGE_RECOVERED else np.int64(0)
        for start in range(begin, starts if shown == EDGE_RECOVERED else until):
            token = np.int64(state.panel[row, start])
            if token >= 0:
                late = np.int64(start >= tables.severity_from)
                for sign in range(signs):
                    room.terms[sign] += tables.edge[late, shown, token, sign]
        room.kept[shown] = log_sum(room.terms, signs, tables)


@kernel
def panel_terms(errors: Int, tables: BeliefTables, room: Room) -> Any:
    """The logarithms of what was kept by severity, where errors lead or latency does."""
    after, first, severities = room.kept[EDGE_RECOVERED], 3 * errors, tables.severities
    return (
        severities[0] + room.kept[first] + after,
        severities[1] + room.kept[first + 1] + after,
        severities[2] + room.kept[first + 2] + after,
    )


@kernel
def renew_panel(
    row: Int, when: Int, state: BeliefState, tables: BeliefTables, room: Room, out: Longs
) -> None:
    """What the panels say whatever the severity if everything was fixed in tick ``when``.

    Into ``out`` (3,): where latency leads, where errors do, and of a benign incident.
    """
    _keep(row, when, state, tables, room)
    for errors in range(CALM):
        a, b, c = panel_terms(errors, tables, room)
        out[errors] = log_sum3(a, b, c, tables)
    out[CALM] = room.kept[EDGE_CALM] + room.kept[EDGE_RECOVERED]


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
                    _keep(row, when, state, tables, room)
                    a, b, c = panel_terms(errors, tables, room)
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


def severities_of(state: BeliefState, tables: BeliefTables, room: Room, rows: Longs) -> Longs:
    """The weights (R, H, 3) of P1, P2 and P3 under each hypothesis."""
    found = np.empty((len(rows), len(tables.prior), 3), np.int64)
    _write_severities(rows, state, tables, room, found)
    return found
