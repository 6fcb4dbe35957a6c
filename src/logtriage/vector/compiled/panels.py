"""What the edge panel says of severities, row by row, as :mod:`logtriage.beliefs.edges` has it."""

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
def _keep(when: Int, panel: Any, tables: EdgeTables, powers: Powers, room: Room) -> None:
    """Write to ``room.kept`` how likely the panels are under each row that the edge may keep.

    Panels after ``when`` count for the recovered row alone.
    """
    starts, signs = np.int64(len(panel)), tables.prior.shape[1]
    until = min(np.int64(when) + 1, starts)
    for shown in range(len(room.kept)):
        for sign in range(signs):
            room.terms[sign] = tables.prior[shown, sign]
        begin = until if shown == EDGE_RECOVERED else np.int64(0)
        for start in range(begin, starts if shown == EDGE_RECOVERED else until):
            token = np.int64(panel[start])
            if token >= 0:
                late = np.int64(start >= tables.severity_from)
                for sign in range(signs):
                    room.terms[sign] += tables.panels[late, shown, token, sign]
        room.kept[shown] = log_sum(room.terms, signs, powers)


@kernel
def _by_severity(errors: Int, tables: EdgeTables, room: Room) -> Any:
    """The logarithms of what was kept by severity, where errors lead or latency does."""
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
    """Write into ``out`` (3,) what panels say, whatever the severity, if fixed in tick ``when``.

    The entries: latency leads, errors lead, a benign incident.
    """
    _keep(when, panel, tables, powers, room)
    for errors in range(NO_FAULT):
        a, b, c = _by_severity(errors, tables, room)
        out[errors] = log_sum3(a, b, c, powers)
    out[NO_FAULT] = room.kept[EDGE_CALM] + room.kept[EDGE_RECOVERED]


@kernel
def _write_severities(
    rows: Any, state: BeliefState, worlds: BeliefTables, room: Room, out: Longs
) -> None:
    for place in range(len(rows)):
        row = rows[place]
        tables = tables_in(worlds, np.uint64(state.world[row]))
        edges, powers = tables.edges, tables.powers
        for errors in range(NO_FAULT + 1):
            known_when, known = np.int64(-1), (np.int64(0), np.int64(0), np.int64(1))
            for hypothesis in range(out.shape[1]):
                if tables.errors[hypothesis] != errors:
                    continue
                when = np.int64(state.fixed_at[row, hypothesis])
                if errors != NO_FAULT and when != known_when:
                    _keep(when, state.panel[row], edges, powers, room)
                    a, b, c = _by_severity(errors, edges, room)
                    highest = max(a, b, c)
                    known = (edges.usual[0], edges.usual[1], edges.usual[2])
                    if highest > NEVER:
                        known = (
                            exp2(highest - a, powers),
                            exp2(highest - b, powers),
                            exp2(highest - c, powers),
                        )
                    known_when = when
                out[place, hypothesis, 0], out[place, hypothesis, 1], out[place, hypothesis, 2] = (
                    known
                )


def severities_of(state: BeliefState, tables: BeliefTables, room: Room, rows: Longs) -> Longs:
    """The weights (rows R, hypotheses H, 3) of P1, P2 and P3 under each hypothesis."""
    severities = np.empty((len(rows), tables.prior.shape[1], 3), np.int64)
    _write_severities(rows, state, tables, room, severities)
    return severities
