"""Actions and time, row by row."""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.actions import SEVERITIES
from logtriage.grading.tables import IGNORED, MISROUTED, OUT_OF_TIME, RESOLVED
from logtriage.vector.compiled.draws import Int
from logtriage.vector.tokens.compiled.fields import ColumnPlaces
from logtriage.vector.tokens.episodes import NEVER, OPEN
from logtriage.vector.tokens.layout import REQUEST
from logtriage.world.channels import Channel

_SEVERITIES: Final = len(SEVERITIES)
_LOGS: Final = REQUEST[Channel.LOGS]
_OVERVIEW: Final = REQUEST[Channel.OVERVIEW]
_METRICS: Final = REQUEST[Channel.METRICS]
_TRACES: Final = REQUEST[Channel.TRACES]


@kernel
def _ask(row: Int, at: Int, lane: Int, columns: Any, to: ColumnPlaces) -> None:
    """Note a request, by its place among the requests: all, lines, gauges, traces."""
    first = np.uint64(to.asked + lane * to.answers)
    service = 0
    if at == 0:
        kind = _OVERVIEW
    else:
        service = 1 + (at - 1) % to.n
        which = (at - 1) // to.n
        kind = _LOGS if which == 0 else (_METRICS if which == 1 else _TRACES)
    columns[row, first] = kind
    columns[row, first + np.uint64(1)] = service


@kernel
def _remedy(
    row: Int, remedy: Int, service: Int, now: Any, incidents: Any, tables: Any, to: ColumnPlaces
) -> None:
    """Apply a remedy to a service."""
    when = now.columns[row, np.uint64(to.time)]
    now.columns[row, np.uint64(to.remedied + service)] = 1
    now.columns[row, np.uint64(to.applied + remedy)] = 1
    now.anew[row] = True
    now.remedies[row] += 1
    true = np.uint64(incidents.hypothesis[row])
    if tables.root[true] == service and tables.remedies[true, np.uint64(remedy)]:
        now.fixed_at[row] = min(now.fixed_at[row], when)
        now.columns[row, np.uint64(to.eased)] = 1
    else:
        now.wrong_remedies[row] += 1
        now.unapproved[row] += now.paged_at[row] >= when


@kernel
def apply_action(
    row: Int, action: Int, lane: Int, now: Any, incidents: Any, tables: Any, to: ColumnPlaces
) -> None:
    """Enter an action into the history of a row."""
    columns = now.columns
    when = columns[row, np.uint64(to.time)]
    if action < _SEVERITIES:
        if now.severity[row] < 0:
            now.severity[row] = action
            columns[row, np.uint64(to.severity + action)] = 1
    elif action < to.pages:
        if now.root_cause[row] < 0:
            service = action - to.roots
            now.root_cause[row] = service
            now.said_at[row] = when
            columns[row, np.uint64(to.declared + service)] = 1
    elif action < to.remedies:
        team = action - to.pages
        columns[row, np.uint64(to.paged + team)] = 1
        if incidents.team[row] == team:
            now.paged_at[row] = min(now.paged_at[row], when)
        else:
            now.closing[row] = MISROUTED
    elif action < to.requests:
        at = action - to.remedies
        _remedy(row, at // to.n, at % to.n, now, incidents, tables, to)
    elif action < to.resolve:
        _ask(row, action - to.requests, lane, columns, to)
    elif action == to.resolve:
        now.closing[row] = RESOLVED
    else:
        now.closing[row] = IGNORED


@kernel
def apply_rows(
    rows: Any,
    actions: Any,
    lane: Int,
    now: Any,
    incidents: Any,
    tables: Any,
    to: ColumnPlaces,
) -> None:
    """Apply the actions (R,) of ``lane`` in open ``rows`` (R,); no time passes."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        apply_action(row, actions[place], lane, now, incidents, tables, to)


@kernel
def pass_tick(row: Int, now: Any, to: ColumnPlaces) -> None:
    """Let a tick pass in a row, which closes at the horizon."""
    tick = now.columns[row, np.uint64(to.time)] + 1
    now.columns[row, np.uint64(to.time)] = tick
    if tick >= to.horizon and now.closing[row] == OPEN:
        now.closing[row] = OUT_OF_TIME
    now.columns[row, np.uint64(to.closed)] = now.closing[row] != OPEN


@kernel
def pass_time_rows(rows: Any, now: Any, to: ColumnPlaces) -> None:
    """Let a tick pass in ``rows`` (R,)."""
    for place in range(len(rows)):
        pass_tick(np.uint64(rows[place]), now, to)


@kernel
def forget_asked(row: Int, now: Any, to: ColumnPlaces) -> None:
    """Forget what was asked for in the last tick of a row."""
    for lane in range(to.lanes):
        first = np.uint64(to.asked + lane * to.answers)
        if now.columns[row, first]:
            for column in range(np.uint64(to.answers)):
                now.columns[row, first + column] = 0


@kernel
def forget_rows(rows: Any, now: Any, to: ColumnPlaces) -> None:
    """Forget the requests of the last tick in ``rows`` (R,)."""
    for place in range(len(rows)):
        forget_asked(np.uint64(rows[place]), now, to)


@kernel
def begin_rows(rows: Any, public: Int, now: Any) -> None:
    """Begin new episodes in ``rows`` (R,), with nothing shown yet.

    ``public`` is the first column that belongs to the incident.
    """
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        for column in range(np.uint64(public)):
            now.columns[row, column] = 0
        now.closing[row] = OPEN
        now.severity[row] = -1
        now.root_cause[row] = -1
        now.said_at[row] = NEVER
        now.paged_at[row] = NEVER
        now.fixed_at[row] = NEVER
        now.remedies[row] = 0
        now.wrong_remedies[row] = 0
        now.unapproved[row] = 0
        now.anew[row] = False
        now.epochs[row, :] = NEVER
        now.lines_asked[row, :] = 0
        now.metrics_until[row, :] = NEVER
        now.traces_until[row, :] = NEVER
