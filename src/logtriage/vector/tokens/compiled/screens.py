"""Screens row by row: the cells that stand on them, and what columns make of these.

Spec: :mod:`logtriage.world.schedule`, :mod:`logtriage.world.histories`; law:
``property_tests/test_vector_laws.py``. A cell says what a history shows at a tick. A *look* at a
history writes the cells before and at its onset, before and after each remedy, and the newest: all
others follow from these. Functions that write cells take the next free place ``at`` and return it.
"""

from typing import Any, Final

import numpy as np

from logtriage._lib.jit import kernel
from logtriage.vector.cells import CHANNELS, FIELDS, IS_DOWN
from logtriage.vector.compiled.draws import Int, below, draw, premixed, subkey
from logtriage.vector.tokens.compiled.drawing import drawn_rule, reached
from logtriage.vector.tokens.compiled.fields import Scene, scene_in
from logtriage.vector.tokens.compiled.playing import apply_action, forget_asked, pass_tick
from logtriage.vector.tokens.compiled.scoring import Scoring, score_of
from logtriage.vector.tokens.incidents import NEVER_SHOWN
from logtriage.vector.tokens.layout import MOST, PARTS, REQUEST
from logtriage.world.channels import EARLIEST, NOTE_DELAY, SCRAPE, WINDOW_LINES, Channel
from logtriage.world.edge import EDGE_STREAM
from logtriage.world.histories import NOW
from logtriage.world.kept import CHANNEL_KEYS, TOKEN_STREAM
from logtriage.world.simulation import SPEAKER_STREAM
from logtriage.world.tables import CALM, RECOVERED
from logtriage.world.vocabulary import CHANGE, LOG, PLAIN_SORTS

_TOKEN: Final = premixed(TOKEN_STREAM)
_SPEAKER: Final = premixed(SPEAKER_STREAM)
_EDGE_SIGN: Final = premixed(EDGE_STREAM)
_EDGE_KEY, _NOTE_KEY = (premixed(CHANNEL_KEYS[channel]) for channel in (Channel.EDGE, Channel.NOTE))
# All are np.int64, because functions are compiled anew for each plain integer they are called with.
_ALERT: Final = np.int64(CHANNELS.index(Channel.ALERT))
_EDGE: Final = np.int64(CHANNELS.index(Channel.EDGE))
_WINDOW: Final = np.int64(CHANNELS.index(Channel.WINDOW))
_CHANGE: Final = np.int64(CHANNELS.index(Channel.CHANGE))
_LOGS: Final = np.int64(CHANNELS.index(Channel.LOGS))
_OVERVIEW: Final = np.int64(CHANNELS.index(Channel.OVERVIEW))
_METRICS: Final = np.int64(CHANNELS.index(Channel.METRICS))
_TRACES: Final = np.int64(CHANNELS.index(Channel.TRACES))
_NOTE: Final = np.int64(CHANNELS.index(Channel.NOTE))
_CHANGE_SORT, _LOG_SORT = (np.int64(PLAIN_SORTS.index(sort)) for sort in (CHANGE, LOG))
_LOGS_ASKED: Final = REQUEST[Channel.LOGS]
_OVERVIEW_ASKED: Final = REQUEST[Channel.OVERVIEW]
_METRICS_ASKED: Final = REQUEST[Channel.METRICS]
_LOGS_PART, _METRICS_PART, _TRACES_PART = (
    np.int64(PARTS.index(part)) for part in (Channel.LOGS, Channel.METRICS, Channel.TRACES)
)
_48: Final = np.uint64(48)
#: The most cells of one look at a history without remedies.
_LOOK: Final = 3


def most_cells(n: int, sorts: int, alerts: int, lanes: int, lines: int, horizon: int) -> int:
    """The most cells that :func:`screen` can write about n services."""
    # A look has two more for each remedy; on the first screen there was none.
    first = n * (1 + alerts) * _LOOK
    asked = lanes * max(n, sorts) * (_LOOK + 2 * horizon)
    panel_and_note = 2
    return first + asked + lines + panel_and_note


@kernel
def _cell(
    at: Int, channel: Int, service: Int, slot: Int, start: Int, token: Int, scene: Scene
) -> Int:
    """Write a cell at place ``at`` of ``scene.cells``; return the next place."""
    cells = scene.cells
    cells[at, 0], cells[at, 1], cells[at, 2] = channel, service, slot
    cells[at, 3], cells[at, 4] = start, token
    return at + 1


@kernel
def _instant(tick: Int) -> Int:
    """The instant of a tick (:mod:`logtriage.world.histories`)."""
    return np.int64(NOW) + (tick // np.int64(SCRAPE))


@kernel
def _is_well(row: Int, service: Int, start: Int, scene: Scene) -> Any:
    """Whether the fault reached a service and was fixed before tick ``start``."""
    fixed, true = np.int64(scene.now.fixed_at[row]), np.uint64(scene.incidents.hypothesis[row])
    return start > fixed and scene.tables.condition_of[true, np.uint64(service)] >= 0


@kernel
def _token_shown(row: Int, service: Int, sort: Int, start: Int, scene: Scene) -> Int:
    """The token that a history shows at tick ``start``."""
    incidents, place, column = scene.incidents, np.uint64(service), np.uint64(sort)
    if sort != _CHANGE_SORT and _is_well(row, service, start, scene):
        return np.int64(0)
    if _instant(start) < incidents.onset[row, place, column]:
        return np.int64(0)
    return np.int64(incidents.token[row, place, column])


@kernel
def _fires(row: Int, service: Int, rule: Int, start: Int, scene: Scene) -> Int:
    """The token of an alert at tick ``start``: 1 if it fires, else 0."""
    fires = np.int64(scene.incidents.fires[row, np.uint64(service), np.uint64(rule)])
    if _is_well(row, service, start, scene):
        begin = np.int64(scene.now.fixed_at[row]) + 1
        seed = scene.incidents.seed[row]
        _, fires = drawn_rule(seed, service, rule, begin, scene.tables)
    return np.int64(_instant(start) >= fires)


@kernel
def _scrape(row: Int, tick: Int, scene: Scene) -> Int:
    """The last tick up to ``tick`` with a reading: at a scrape, or just after a remedy."""
    last = tick - tick % np.int64(SCRAPE)
    if scene.now.remedies[row] > 0:
        for when in range(last, tick):
            if scene.now.remedied[row, np.uint64(when)]:
                last = when + 1
    return last


@kernel
def _look(
    at: Int, row: Int, channel: Int, service: Int, slot: Int, sort: Int, tick: Int, scene: Scene
) -> Int:
    """Write a look (at an alert if ``sort`` is -1) up to a tick; return the next place."""
    incidents = scene.incidents
    if sort < 0:
        onset = np.int64(incidents.fires[row, np.uint64(service), np.uint64(slot)])
    else:
        onset = np.int64(incidents.onset[row, np.uint64(service), np.uint64(sort)])
    if onset != NEVER_SHOWN:
        begun = (onset - np.int64(NOW)) * np.int64(SCRAPE)
        for start in (begun - np.int64(SCRAPE), begun):
            if EARLIEST <= start <= tick:
                at = _reading(at, row, channel, service, slot, sort, start, scene)
    if scene.now.remedies[row] > 0:
        for when in range(tick):
            if scene.now.remedied[row, np.uint64(when)]:
                start = _scrape(row, when, scene)
                at = _reading(at, row, channel, service, slot, sort, start, scene)
                at = _reading(at, row, channel, service, slot, sort, when + 1, scene)
    return _reading(at, row, channel, service, slot, sort, _scrape(row, tick, scene), scene)


@kernel
def _reading(
    at: Int, row: Int, channel: Int, service: Int, slot: Int, sort: Int, start: Int, scene: Scene
) -> Int:
    """Write a history's cell at ``start``, an alert's if ``sort`` is -1; return the next place."""
    if sort < 0:
        token = _fires(row, service, slot, start, scene)
    else:
        token = _token_shown(row, service, sort, start, scene)
    return _cell(at, channel, service, slot, start, token, scene)


@kernel
def _edge(at: Int, row: Int, tick: Int, scene: Scene) -> Int:
    """Write the cell of the edge panel at place ``at``; return the next place."""
    tables, incidents, to = scene.tables, scene.incidents, scene.to
    true, fixed = np.uint64(incidents.hypothesis[row]), np.int64(scene.now.fixed_at[row])
    shown, begin = np.int64(CALM), np.int64(0)
    if tables.has_fault[true]:
        shown = np.int64(incidents.severity[row])
    if fixed < tick:
        shown, begin = np.int64(RECOVERED), fixed + 1
    seed = incidents.seed[row]
    steps = tables.edge_signs[np.uint64(tables.errors_first[true])]
    point = np.int64(draw(subkey(seed, _EDGE_SIGN), begin, 0) >> _48)
    sign = reached(steps, np.uint64(shown), point)
    steps = tables.edge_steps[np.uint64(tick >= to.severity_from), np.uint64(shown)]
    point = np.int64(draw(subkey(subkey(seed, _TOKEN), _EDGE_KEY), 0, tick) >> _48)
    token = reached(steps, np.uint64(sign), point)
    return _cell(at, _EDGE, np.int64(-1), np.int64(0), tick, token, scene)


@kernel
def _answer(at: Int, row: Int, lane: Int, tick: Int, scene: Scene) -> Int:
    """Write the cells that answer a lane's request of the last tick; return the next place."""
    now, to = scene.now, scene.to
    first = to.asked + 2 * lane
    asked = now.columns[row, np.uint64(first)]
    if asked == 0:
        return at
    service = np.int64(now.columns[row, np.uint64(first + 1)]) - 1  # -1 for all
    for earlier in range(lane):  # if two lanes ask the same, it is shown once
        other = np.uint64(to.asked + 2 * earlier)
        same = now.columns[row, other] == asked
        if same and now.columns[row, other + np.uint64(1)] == service + 1:
            return at
    if asked == _OVERVIEW_ASKED:
        start = _scrape(row, tick, scene)
        for each in range(to.n):
            token = np.int64(IS_DOWN)
            if not scene.incidents.down[row, np.uint64(each), np.uint64(_LOGS_PART)]:
                token = _token_shown(row, each, _LOG_SORT, start, scene)
            at = _cell(at, _OVERVIEW, each, np.int64(0), start, token, scene)
        return at
    channel, part, sort, slots = _LOGS, _LOGS_PART, _LOG_SORT, np.int64(1)
    if asked != _LOGS_ASKED:
        gauges = asked == _METRICS_ASKED
        channel, part = (_METRICS, _METRICS_PART) if gauges else (_TRACES, _TRACES_PART)
        sort = np.int64(to.first_gauge if gauges else to.first_span)
        slots = np.int64(to.gauges if gauges else to.spans)
    if scene.incidents.down[row, np.uint64(service), np.uint64(part)]:
        start = _scrape(row, tick, scene)
        return _cell(at, channel, service, np.int64(0), start, np.int64(IS_DOWN), scene)
    for slot in range(slots):
        at = _look(at, row, channel, service, np.int64(slot), sort + slot, tick, scene)
    return at


@kernel
def _note(at: Int, row: Int, tick: Int, scene: Scene) -> Int:
    """Write the cell of the responders' note; return the next place."""
    tables, incidents = scene.tables, scene.incidents
    true = np.uint64(incidents.hypothesis[row])
    which = np.uint64(tables.note_row[true])
    key = subkey(subkey(incidents.seed[row], _TOKEN), _NOTE_KEY)
    token = reached(tables.note_steps, which, np.int64(draw(key, tick, 0) >> _48))
    number = np.int64(tables.note_numbers[which, np.uint64(token)])
    service = np.int64(tables.root[true]) if number > 0 else np.int64(-1)
    return _cell(at, _NOTE, service, np.int64(0), tick, number, scene)


@kernel
def screen(row: Int, scene: Scene) -> Int:
    """Write the cells of a row's screen to ``scene.cells``; return how many there are.

    Left out are cells that follow from others, or from those of the screens before.
    :mod:`logtriage.vector.cells` says what the numbers mean.
    """
    now, to = scene.now, scene.to
    tick = np.int64(now.columns[row, np.uint64(to.time)])
    anew = tick > 0 and now.remedied[row, np.uint64(tick - 1)]
    at = np.int64(0)
    if anew or tick % SCRAPE == 0:
        at = _edge(at, row, tick, scene)
        for service in range(to.n):
            for rule in range(to.alerts):
                if tick == 0:
                    at = _look(at, row, _ALERT, service, rule, np.int64(-1), tick, scene)
                else:
                    at = _reading(at, row, _ALERT, service, rule, np.int64(-1), tick, scene)
            if tick == 0:
                at = _look(at, row, _CHANGE, service, np.int64(0), _CHANGE_SORT, tick, scene)
            else:
                at = _reading(at, row, _CHANGE, service, np.int64(0), _CHANGE_SORT, tick, scene)
    speakers = subkey(scene.incidents.seed[row], _SPEAKER)
    for slot in range(WINDOW_LINES):
        service = below(draw(speakers, tick, slot), to.n)
        token = _token_shown(row, service, _LOG_SORT, tick, scene)
        at = _cell(at, _WINDOW, service, np.int64(slot), tick, token, scene)
    for lane in range(to.lanes):
        at = _answer(at, row, lane, tick, scene)
    if np.int64(now.paged_at[row]) + NOTE_DELAY == tick:
        at = _note(at, row, tick, scene)
    return at


@kernel
def _enter(row: Int, count: Int, scene: Scene) -> None:
    """Write what the first ``count`` cells of ``scene.cells`` say to the columns of a row."""
    columns, to = scene.now.columns, scene.to
    for place in range(count):
        channel, service = np.int64(scene.cells[place, 0]), np.int64(scene.cells[place, 1])
        slot, start = np.int64(scene.cells[place, 2]), np.int64(scene.cells[place, 3])
        token = np.int64(scene.cells[place, 4])
        instant = 1 + _instant(start)
        if channel == _EDGE:
            columns[row, np.uint64(to.edge)] = token // to.bands
            columns[row, np.uint64(to.edge + 1)] = token % to.bands
            seen = np.uint64(to.seen_edge + token)
            columns[row, seen] += columns[row, seen] < MOST
        elif channel == _NOTE:
            columns[row, np.uint64(to.noted)] = 1
            if token > 0:
                columns[row, np.uint64(to.note + service)] = token
        elif channel == _ALERT:
            column = np.uint64(to.alert + slot * to.n + service)
            if token == 0:
                columns[row, column] = 0
            elif columns[row, column] == 0:
                columns[row, column] = instant
        elif token == IS_DOWN:
            part = np.int64(_LOGS_PART)
            if channel in (_METRICS, _TRACES):
                part = _METRICS_PART if channel == _METRICS else _TRACES_PART
            columns[row, np.uint64(to.down + part * to.n + service)] = 1
        else:
            source = np.int64(_LOG_SORT)
            if channel == _WINDOW:
                source = np.int64(to.sorts)  # behind all sorts, as in ``sources_of``
            elif channel == _CHANGE:
                source = _CHANGE_SORT
            elif channel == _METRICS:
                source = to.first_gauge + slot
            elif channel == _TRACES:
                source = to.first_span + slot
            column = np.uint64(
                scene.column_of[np.uint64(source), np.uint64(service), np.uint64(token)]
            )
            before = columns[row, column]
            # The last instant as usual (token 0), the first of any other token.
            news = instant > before if token == 0 else instant < before
            if before == 0 or news:
                columns[row, column] = instant


@kernel
def read_rows(rows: Any, scene: Scene) -> None:
    """Write what the current screens of ``rows`` (R,) show to their columns."""
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        here = scene_in(row, scene)
        _enter(row, screen(row, here), here)


@kernel
def write_cells(rows: Any, scene: Scene, out: Any) -> Int:
    """Write the first M cells on the screens of ``rows`` (R,) to ``out`` (R, M, 5).

    Returns the most cells on a screen, which may be more than M.
    """
    most = np.int64(0)
    for place in range(len(rows)):
        row = np.uint64(rows[place])
        count = screen(row, scene_in(row, scene))
        most = max(most, count)
        for at in range(min(count, out.shape[1])):
            for field in range(len(FIELDS)):
                out[place, at, field] = scene.cells[at, field]
    return most


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
        _enter(row, screen(row, here), here)
        scores[row] = score_of(row, here, by)


@kernel
def observe_rows(columns: Any, units: Any, out: Any) -> None:
    """Write ``columns`` (N, D) times their units (D,) to ``out`` (N, D)."""
    width = np.uint64(columns.shape[1])
    for row in range(np.uint64(len(out))):
        for column in range(width):
            out[row, column] = np.float32(columns[row, column]) * units[column]
