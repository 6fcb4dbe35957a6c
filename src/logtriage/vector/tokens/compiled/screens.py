"""Screens row by row: tokens drawn by table look-up, and counted.

As :meth:`logtriage.world.simulation.Simulation.shown` draws them for one incident.
"""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.vector.compiled.draws import Int, below, draw, premixed, subkey
from logtriage.vector.tokens.compiled.fields import ColumnPlaces
from logtriage.vector.tokens.compiled.playing import apply_action, forget_asked, pass_tick
from logtriage.vector.tokens.compiled.scoring import Scoring, score_of
from logtriage.vector.tokens.episodes import NEVER
from logtriage.vector.tokens.layout import MOST, REQUEST
from logtriage.world.channels import EPOCH, LINES, NOTE_DELAY, SERIES, WINDOW_LINES, Channel
from logtriage.world.kept import CHANNEL_KEYS, TOKEN_STREAM
from logtriage.world.simulation import SPEAKER_STREAM
from logtriage.world.tables import CALM, RECOVERED
from logtriage.world.vocabulary import ALERT, CHANGE, LOG, PLAIN_SORTS, WINDOW

_TOKEN: Final = premixed(TOKEN_STREAM)
_SPEAKER: Final = premixed(SPEAKER_STREAM)
_ALERT, _CHANGE, _EDGE, _WINDOW, _LOGS, _OVERVIEW, _METRICS, _TRACES, _NOTE = (
    premixed(CHANNEL_KEYS[channel])
    for channel in (
        Channel.ALERT,
        Channel.CHANGE,
        Channel.EDGE,
        Channel.WINDOW,
        Channel.LOGS,
        Channel.OVERVIEW,
        Channel.METRICS,
        Channel.TRACES,
        Channel.NOTE,
    )
)
_ALERT_SORT, _CHANGE_SORT, _LOG_SORT, _WINDOW_SORT = (
    PLAIN_SORTS.index(sort) for sort in (ALERT, CHANGE, LOG, WINDOW)
)
_LOGS_ASKED: Final = REQUEST[Channel.LOGS]
_OVERVIEW_ASKED: Final = REQUEST[Channel.OVERVIEW]
_METRICS_ASKED: Final = REQUEST[Channel.METRICS]
_48: Final = np.uint64(48)


@kernel
def _reached(steps: Any, row: Int, bits: np.uint64) -> Int:
    """How many thresholds of a row the top 16 of 64 random bits reach: mostly none."""
    point = np.int32(bits >> _48)
    if steps[row, 0] > point:
        return np.int64(0)
    count = np.int32(0)
    for step in range(np.uint64(steps.shape[1])):
        count += np.int32(steps[row, step] <= point)
    return np.int64(count)


@kernel
def _token(
    row: Int,
    service: Int,
    sort: Int,
    start: Int,
    bits: np.uint64,
    tables: Any,
    incidents: Any,
    now: Any,
) -> Int:
    """The token of a cell of a service, from its 64 random bits."""
    place = np.uint64(service)
    condition = np.uint64(incidents.conditions[row, place])
    if start > now.fixed_at[row]:
        true = np.uint64(incidents.hypothesis[row])
        if tables.recovers[true] and tables.condition_of[true, place] >= 0:
            condition = np.uint64(0)
    phase = np.uint64(tables.phase_of[np.uint64(start)])
    which = tables.row_of[np.uint64(sort), place, phase, condition]
    return _reached(tables.steps, np.uint64(which), bits)


@kernel
def _count(row: Int, sort: Int, service: Int, token: Int, column_of: Any, columns: Any) -> None:
    column = column_of[np.uint64(sort), np.uint64(service), np.uint64(token)]
    if column >= 0:
        before = columns[row, np.uint64(column)]
        columns[row, np.uint64(column)] = before + (before < MOST)


@kernel
def _read_of_all(
    row: Int,
    tick: Int,
    key: np.uint64,
    sort: Int,
    to_token: Int,
    tables: Any,
    incidents: Any,
    now: Any,
    column_of: Any,
    to: ColumnPlaces,
) -> None:
    """Read a cell of every service; write it from column ``to_token`` on, if that is one."""
    for service in range(to.n):
        bits = draw(key, service << 16, tick)
        token = _token(row, service, sort, tick, bits, tables, incidents, now)
        _count(row, sort, service, token, column_of, now.columns)
        if to_token >= 0:
            now.columns[row, np.uint64(to_token + service)] = token


@kernel
def _begin_epoch(
    row: Int, tick: Int, key: np.uint64, tables: Any, incidents: Any, now: Any, to: ColumnPlaces
) -> None:
    for place in range(SERIES - 1):
        now.epochs[row, place] = now.epochs[row, place + 1]
    now.epochs[row, SERIES - 1] = tick
    true = np.uint64(incidents.hypothesis[row])
    shown = np.int64(incidents.severity[row]) if tables.recovers[true] else CALM
    if now.fixed_at[row] < tick:
        shown = RECOVERED
    clear = 1 if tick >= to.severity_from else 0
    steps = tables.edge_steps[clear, np.uint64(tables.errors_first[true])]
    token = _reached(steps, np.uint64(shown), draw(subkey(key, _EDGE), tick, 0))
    now.columns[row, np.uint64(to.edge)] = token // to.bands
    now.columns[row, np.uint64(to.edge + 1)] = token % to.bands
    before = now.columns[row, np.uint64(to.seen_edge + token)]
    now.columns[row, np.uint64(to.seen_edge + token)] = before + (before < MOST)


@kernel
def _read_window(
    row: Int,
    tick: Int,
    key: np.uint64,
    tables: Any,
    incidents: Any,
    now: Any,
    column_of: Any,
    to: ColumnPlaces,
) -> None:
    speakers, lines = subkey(incidents.seed[row], _SPEAKER), subkey(key, _WINDOW)
    for slot in range(WINDOW_LINES):
        service = below(draw(speakers, tick, slot), to.n)
        bits = draw(lines, service << 16 | slot, tick)
        token = _token(row, service, _WINDOW_SORT, tick, bits, tables, incidents, now)
        _count(row, _WINDOW_SORT, service, token, column_of, now.columns)
        now.columns[row, np.uint64(to.window_service + slot)] = 1 + service
        now.columns[row, np.uint64(to.window_token + slot)] = 1 + token


@kernel
def _read_lines(
    row: Int,
    service: Int,
    tick: Int,
    key: np.uint64,
    first: Int,
    tables: Any,
    incidents: Any,
    now: Any,
    column_of: Any,
) -> None:
    """The lines of a service, new ones each time."""
    asked = now.lines_asked[row, np.uint64(1 + service)]
    now.lines_asked[row, np.uint64(1 + service)] = asked + 1
    for line in range(LINES):
        slot = np.int64(asked) * LINES + line
        bits = draw(key, service << 16 | slot, tick)
        token = _token(row, service, _LOG_SORT, tick, bits, tables, incidents, now)
        _count(row, _LOG_SORT, service, token, column_of, now.columns)
        now.columns[row, np.uint64(first + line)] = 1 + token


@kernel
def _read_overview(
    row: Int,
    tick: Int,
    key: np.uint64,
    first: Int,
    tables: Any,
    incidents: Any,
    now: Any,
    column_of: Any,
    to: ColumnPlaces,
) -> None:
    """A line of every service."""
    slot = np.int64(now.lines_asked[row, 0])
    now.lines_asked[row, 0] = slot + 1
    for service in range(to.n):
        bits = draw(key, service << 16 | slot, tick)
        token = _token(row, service, _LOG_SORT, tick, bits, tables, incidents, now)
        _count(row, _LOG_SORT, service, token, column_of, now.columns)
        now.columns[row, np.uint64(first + service)] = 1 + token


@kernel
def _read_slots(
    row: Int,
    service: Int,
    tick: Int,
    key: np.uint64,
    first: Int,
    sort: Int,
    slots: Int,
    until: Any,
    tables: Any,
    incidents: Any,
    now: Any,
    column_of: Any,
) -> None:
    """The last readings of gauges or spans; what an earlier screen showed counts no more."""
    last, to = until[row, np.uint64(service)], first
    for reading in range(SERIES):
        start = np.int64(now.epochs[row, reading])
        if start == NEVER:
            continue
        for slot in range(slots):
            bits = draw(key, service << 16 | slot, start)
            token = _token(row, service, sort + slot, start, bits, tables, incidents, now)
            if last == NEVER or start > last:
                _count(row, sort + slot, service, token, column_of, now.columns)
            now.columns[row, np.uint64(to)] = 1 + token
            to += 1
    until[row, np.uint64(service)] = tick


@kernel
def _answer(
    row: Int,
    lane: Int,
    tick: Int,
    key: np.uint64,
    tables: Any,
    incidents: Any,
    now: Any,
    column_of: Any,
    to: ColumnPlaces,
) -> None:
    """Read what one lane asked for in the last tick."""
    first = to.asked + lane * to.answers
    asked = now.columns[row, np.uint64(first)]
    service = np.int64(now.columns[row, np.uint64(first + 1)]) - 1
    first += 2
    if asked == _LOGS_ASKED:
        key = subkey(key, _LOGS)
        _read_lines(row, service, tick, key, first, tables, incidents, now, column_of)
    elif asked == _OVERVIEW_ASKED:
        key = subkey(key, _OVERVIEW)
        _read_overview(row, tick, key, first, tables, incidents, now, column_of, to)
    elif asked > 0:
        gauges = asked == _METRICS_ASKED
        _read_slots(
            row,
            service,
            tick,
            subkey(key, _METRICS if gauges else _TRACES),
            first,
            to.first_gauge if gauges else to.first_span,
            to.gauges if gauges else to.spans,
            now.metrics_until if gauges else now.traces_until,
            tables,
            incidents,
            now,
            column_of,
        )


@kernel
def _read_note(
    row: Int, tick: Int, key: np.uint64, tables: Any, incidents: Any, now: Any, to: ColumnPlaces
) -> None:
    true = np.uint64(incidents.hypothesis[row])
    which = np.uint64(tables.note_row[true])
    token = _reached(tables.note_steps, which, draw(subkey(key, _NOTE), tick, 0))
    now.columns[row, np.uint64(to.noted)] = 1
    number = tables.note_numbers[which, np.uint64(token)]
    now.columns[row, np.uint64(to.note + tables.root[true])] = number


@kernel
def _read_screen(
    row: Int, tables: Any, incidents: Any, now: Any, column_of: Any, to: ColumnPlaces
) -> None:
    """Read the next screen of a row."""
    tick = np.int64(now.columns[row, np.uint64(to.time)])
    key = subkey(incidents.seed[row], _TOKEN)
    anew = now.anew[row]
    now.anew[row] = False
    if tick == 0:
        sub = subkey(key, _CHANGE)
        _read_of_all(row, tick, sub, _CHANGE_SORT, -1, tables, incidents, now, column_of, to)
    if anew or tables.alert_at[np.uint64(tick)]:
        sub = subkey(key, _ALERT)
        at = to.alert
        _read_of_all(row, tick, sub, _ALERT_SORT, at, tables, incidents, now, column_of, to)
    if anew or tick % EPOCH == 0:
        _begin_epoch(row, tick, key, tables, incidents, now, to)
    _read_window(row, tick, key, tables, incidents, now, column_of, to)
    for lane in range(to.lanes):
        _answer(row, lane, tick, key, tables, incidents, now, column_of, to)
    if np.int64(now.paged_at[row]) + NOTE_DELAY == tick:
        _read_note(row, tick, key, tables, incidents, now, to)


@kernel
def read_rows(
    rows: Any, tables: Any, incidents: Any, now: Any, column_of: Any, to: ColumnPlaces
) -> None:
    """Read the next screens of ``rows`` (R,)."""
    for place in range(len(rows)):
        _read_screen(np.uint64(rows[place]), tables, incidents, now, column_of, to)


@kernel
def play_rows(
    rows: Any,
    actions: Any,
    tables: Any,
    incidents: Any,
    now: Any,
    column_of: Any,
    to: ColumnPlaces,
    time: Int,
    by: Scoring,
    scores: Any,
) -> None:
    """A tick of ``rows`` (R,) that one acts in, row by row while it is at hand.

    ``actions`` (N,) are of all rows, and so are ``scores`` (N,), which are made anew.
    """
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        forget_asked(row, now, to)
        if actions[row] >= 0:
            apply_action(row, actions[row], 0, now, incidents, tables, to)
        pass_tick(row, now, to)
        _read_screen(row, tables, incidents, now, column_of, to)
        scores[row] = score_of(row, now, incidents, tables, time, by)


@kernel
def observe_rows(columns: Any, units: Any, out: Any) -> None:
    """Write what ``columns`` (N, D) count, in their units, to ``out`` (N, D)."""
    width = np.uint64(columns.shape[1])
    for row in range(np.uint64(len(out))):
        for column in range(width):
            out[row, column] = np.float32(columns[row, column]) * units[column]
