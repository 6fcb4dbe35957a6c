"""Screens row by row: tokens drawn by table look-up, and counted.

As :meth:`logtriage.world.simulation.Simulation.shown` draws them for one incident.
"""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.rng import hash_name
from logtriage.vector.compiled.draws import Int, below, draw, premixed, scrambled, subkey
from logtriage.vector.tokens.compiled.fields import Scene, scene_in
from logtriage.vector.tokens.compiled.playing import apply_action, forget_asked, pass_tick
from logtriage.vector.tokens.compiled.scoring import Scoring, score_of
from logtriage.vector.tokens.episodes import NEVER
from logtriage.vector.tokens.layout import MOST, REQUEST
from logtriage.world.channels import EPOCH, LINES, NOTE_DELAY, SERIES, WINDOW_LINES, Channel
from logtriage.world.kept import CHANNEL_KEYS, TOKEN_STREAM
from logtriage.world.signs import BLIND_STREAM, SIGN_STREAM
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
# Of one type, since functions are compiled anew for each plain integer that they are called with.
_ALERT_SORT, _CHANGE_SORT, _LOG_SORT, _WINDOW_SORT = (
    np.int64(PLAIN_SORTS.index(sort)) for sort in (ALERT, CHANGE, LOG, WINDOW)
)
_LOGS_ASKED: Final = REQUEST[Channel.LOGS]
_OVERVIEW_ASKED: Final = REQUEST[Channel.OVERVIEW]
_METRICS_ASKED: Final = REQUEST[Channel.METRICS]
_SIGN: Final = premixed(SIGN_STREAM)
_BLIND: Final = premixed(BLIND_STREAM)
_EDGE_SIGN: Final = premixed(hash_name(Channel.EDGE))
_METRICS_PART, _TRACES_PART, _LOGS_PART = (
    premixed(hash_name(part)) for part in (Channel.METRICS, Channel.TRACES, Channel.LOGS)
)
_48: Final = np.uint64(48)


@kernel
def _reached(steps: Any, row: Int, bits: np.uint64) -> Int:
    """Count the thresholds that the top 16 of 64 random bits reach: mostly none."""
    point = np.int32(bits >> _48)
    if steps[row, 0] > point:
        return np.int64(0)
    count = np.int32(0)
    for step in range(np.uint64(steps.shape[1])):
        count += np.int32(steps[row, step] <= point)
    return np.int64(count)


@kernel
def _sign(row: Int, service: Int, sort: Int, start: Int, quiet: Any, scene: Scene) -> Int:
    """The sign of a sort (no line of the window) at a service in tick ``start``, by its place.

    ``quiet`` is whether a root keeps it to itself at first.
    """
    tables, incidents = scene.tables, scene.incidents
    place, fixed = np.uint64(service), np.int64(scene.now.fixed_at[row])
    condition, begin = np.uint64(incidents.conditions[row, place]), np.int64(0)
    if start > fixed and tables.condition_of[np.uint64(incidents.hypothesis[row]), place] >= 0:
        condition, begin = np.uint64(0), fixed + 1
    hidden = quiet and start < scene.to.root_silent and tables.silenced[place, condition]
    key = subkey(subkey(incidents.seed[row], _SIGN), tables.sign_stream[np.uint64(sort)])
    key = subkey(key, scrambled(np.uint64(service << 1 | np.int64(hidden))))
    which = tables.sign_row[np.uint64(sort), place, np.uint64(0) if hidden else condition]
    return _reached(tables.steps, np.uint64(which), draw(key, begin, 0))


@kernel
def _token(row: Int, service: Int, sort: Int, start: Int, bits: np.uint64, scene: Scene) -> Int:
    """The token of a reading of a service, from its 64 random bits."""
    tables = scene.tables
    place, phase = np.uint64(service), np.uint64(tables.phase_of[np.uint64(start)])
    which = tables.reading_row[np.uint64(sort), place, phase]
    shown = _reached(tables.steps, np.uint64(which), bits)
    base = np.int64(_LOG_SORT if sort == _WINDOW_SORT else sort)
    if shown == 1:
        return np.int64(scene.sizes[np.uint64(base), place])
    if shown > 1:
        return shown - 2
    quiet = sort in (_WINDOW_SORT, _ALERT_SORT)
    return _sign(row, service, base, start, quiet, scene)


@kernel
def _count(row: Int, sort: Int, service: Int, token: Int, scene: Scene) -> None:
    """Count a token; a gap tells nothing."""
    if token >= scene.sizes[np.uint64(sort), np.uint64(service)]:
        return
    column = scene.column_of[np.uint64(sort), np.uint64(service), np.uint64(token)]
    if column >= 0:
        before = scene.now.columns[row, np.uint64(column)]
        scene.now.columns[row, np.uint64(column)] = before + (before < MOST)


@kernel
def _read_cell(
    row: Int, service: Int, sort: Int, slot: Int, start: Int, key: np.uint64, scene: Scene
) -> Int:
    """Read a cell of a service, and count its token."""
    bits = draw(key, service << 16 | slot, start)
    token = _token(row, service, sort, start, bits, scene)
    _count(row, sort, service, token, scene)
    return token


@kernel
def _is_down(row: Int, service: Int, part: np.uint64, scene: Scene) -> Any:
    """Whether a part of a service's telemetry is down in this incident."""
    incidents, to = scene.incidents, scene.to
    key = subkey(subkey(incidents.seed[row], _BLIND), part)
    return np.int64(draw(key, service, 0) >> _48) < to.blind


@kernel
def _begin_epoch(row: Int, tick: Int, key: np.uint64, scene: Scene) -> None:
    tables, incidents, now, to = scene.tables, scene.incidents, scene.now, scene.to
    for place in range(SERIES - 1):
        now.epochs[row, place] = now.epochs[row, place + 1]
    now.epochs[row, SERIES - 1] = tick
    true, fixed = np.uint64(incidents.hypothesis[row]), np.int64(now.fixed_at[row])
    shown, begin = np.int64(CALM), np.int64(0)
    if tables.recovers[true]:
        shown = np.int64(incidents.severity[row])
    if fixed < tick:
        shown, begin = np.int64(RECOVERED), fixed + 1
    signs = subkey(subkey(incidents.seed[row], _SIGN), _EDGE_SIGN)
    steps = tables.edge_signs[np.uint64(tables.errors_first[true])]
    sign = _reached(steps, np.uint64(shown), draw(signs, begin, 0))
    steps = tables.edge_steps[np.uint64(tick >= to.severity_from), np.uint64(shown)]
    token = _reached(steps, np.uint64(sign), draw(subkey(key, _EDGE), 0, tick))
    now.columns[row, np.uint64(to.edge)] = token // to.bands
    now.columns[row, np.uint64(to.edge + 1)] = token % to.bands
    before = now.columns[row, np.uint64(to.seen_edge + token)]
    now.columns[row, np.uint64(to.seen_edge + token)] = before + (before < MOST)


@kernel
def _read_window(row: Int, tick: Int, key: np.uint64, scene: Scene) -> None:
    incidents, now, to = scene.incidents, scene.now, scene.to
    speakers, lines = subkey(incidents.seed[row], _SPEAKER), subkey(key, _WINDOW)
    for slot in range(WINDOW_LINES):
        service = below(draw(speakers, tick, slot), to.n)
        token = _read_cell(row, service, _WINDOW_SORT, slot, tick, lines, scene)
        now.columns[row, np.uint64(to.window_service + slot)] = 1 + service
        now.columns[row, np.uint64(to.window_token + slot)] = 1 + token


@kernel
def _read_lines(row: Int, who: Int, tick: Int, key: np.uint64, first: Int, scene: Scene) -> None:
    """The lines of a service, or with -1 one line of each; new ones each time."""
    now, to = scene.now, scene.to
    asked = np.int64(now.lines_asked[row, np.uint64(1 + who)])
    now.lines_asked[row, np.uint64(1 + who)] = asked + 1
    for place in range(to.n if who < 0 else LINES):
        service, slot = (place, asked) if who < 0 else (who, asked * LINES + place)
        token = np.int64(scene.sizes[_LOG_SORT, np.uint64(service)]) + 1
        if not _is_down(row, service, _LOGS_PART, scene):
            token = _read_cell(row, service, _LOG_SORT, slot, tick, key, scene)
        now.columns[row, np.uint64(first + place)] = 1 + token


@kernel
def _read_slots(
    row: Int,
    service: Int,
    tick: Int,
    key: np.uint64,
    first: Int,
    sort: Int,
    slots: Int,
    down: Any,
    until: Any,
    scene: Scene,
) -> None:
    """Show the last readings of gauges or spans; count those that no earlier screen showed."""
    now = scene.now
    last, at = until[row, np.uint64(service)], first
    for reading in range(SERIES):
        start = np.int64(now.epochs[row, reading])
        if start == NEVER:
            continue
        for slot in range(slots):
            of = sort + slot
            token = np.int64(scene.sizes[np.uint64(of), np.uint64(service)]) + 1
            if not down:
                bits = draw(key, service << 16 | slot, start)
                token = _token(row, service, of, start, bits, scene)
                if last == NEVER or start > last:
                    _count(row, of, service, token, scene)
            now.columns[row, np.uint64(at)] = 1 + token
            at += 1
    until[row, np.uint64(service)] = tick


@kernel
def _answer(row: Int, lane: Int, tick: Int, key: np.uint64, scene: Scene) -> None:
    """Read what one lane asked for in the last tick."""
    now, to = scene.now, scene.to
    first = to.asked + lane * to.answers
    asked = now.columns[row, np.uint64(first)]
    service = np.int64(now.columns[row, np.uint64(first + 1)]) - 1
    first += 2
    if asked in (_LOGS_ASKED, _OVERVIEW_ASKED):
        key = subkey(key, _LOGS if asked == _LOGS_ASKED else _OVERVIEW)
        _read_lines(row, service, tick, key, first, scene)
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
            _is_down(row, service, _METRICS_PART if gauges else _TRACES_PART, scene),
            now.metrics_until if gauges else now.traces_until,
            scene,
        )


@kernel
def _read_note(row: Int, tick: Int, key: np.uint64, scene: Scene) -> None:
    tables, incidents, now, to = scene.tables, scene.incidents, scene.now, scene.to
    true = np.uint64(incidents.hypothesis[row])
    which = np.uint64(tables.note_row[true])
    token = _reached(tables.note_steps, which, draw(subkey(key, _NOTE), tick, 0))
    now.columns[row, np.uint64(to.noted)] = 1
    number = tables.note_numbers[which, np.uint64(token)]
    now.columns[row, np.uint64(to.note + tables.root[true])] = number


@kernel
def _read_screen(row: Int, scene: Scene) -> None:
    """Read the next screen of a row."""
    tables, incidents, now, to = scene.tables, scene.incidents, scene.now, scene.to
    tick = np.int64(now.columns[row, np.uint64(to.time)])
    key = subkey(incidents.seed[row], _TOKEN)
    anew = now.anew[row]
    now.anew[row] = False
    for alerts in range(2):  # changes, then alerts: what is inlined once compiles faster
        if (anew or tables.alert_at[np.uint64(tick)]) if alerts else tick == 0:
            sort = _ALERT_SORT if alerts else _CHANGE_SORT
            sub = subkey(key, _ALERT if alerts else _CHANGE)
            for service in range(to.n):
                token = _read_cell(row, service, sort, np.int64(0), tick, sub, scene)
                if alerts:
                    now.columns[row, np.uint64(to.alert + service)] = token
    if anew or tick % EPOCH == 0:
        _begin_epoch(row, tick, key, scene)
    _read_window(row, tick, key, scene)
    for lane in range(to.lanes):
        _answer(row, lane, tick, key, scene)
    if np.int64(now.paged_at[row]) + NOTE_DELAY == tick:
        _read_note(row, tick, key, scene)


@kernel
def read_rows(rows: Any, scene: Scene) -> None:
    """Read the next screens of ``rows`` (R,)."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        _read_screen(row, scene_in(row, scene))


@kernel
def play_rows(rows: Any, actions: Any, scene: Scene, by: Scoring, scores: Any) -> None:
    """Play a tick of ``rows`` (R,) with single agents, each row from its action to its score.

    ``actions`` (N,) and ``scores`` (N,) are indexed by row; the scores of ``rows`` are written.
    """
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        here = scene_in(row, scene)
        forget_asked(row, here)
        if actions[row] >= 0:
            apply_action(row, actions[row], 0, here)
        pass_tick(row, here)
        _read_screen(row, here)
        scores[row] = score_of(row, here, by)


@kernel
def observe_rows(columns: Any, units: Any, out: Any) -> None:
    """Write ``columns`` (N, D) times their units (D,) to ``out`` (N, D)."""
    width = np.uint64(columns.shape[1])
    for row in range(np.uint64(len(out))):
        for column in range(width):
            out[row, column] = np.float32(columns[row, column]) * units[column]
