"""What N screens show next: tokens drawn by table look-up, and counted, in NumPy.

As :meth:`logtriage.world.simulation.World.shown` draws them for one incident, cell by cell.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage.vector import arrays as vec
from logtriage.vector.arrays import Bits, Ints
from logtriage.vector.tokens.episodes import NEVER, TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.layout import MOST, REQUESTS, TokenLayout
from logtriage.vector.tokens.tables import SORTS, Table, TokenTables
from logtriage.world.channels import (
    BANDS,
    EPOCH,
    GAUGES,
    LINES,
    NOTE_DELAY,
    SERIES,
    SPANS,
    WINDOW_LINES,
    Channel,
)
from logtriage.world.simulation import CHANNEL_KEYS, SPEAKER_STREAM, TOKEN_STREAM
from logtriage.world.tables import CALM, RECOVERED

SORT: Final = {sort: number for number, sort in enumerate(SORTS)}
REQUEST: Final = {channel: 1 + number for number, channel in enumerate(REQUESTS)}
_48: Final = np.uint64(48)


def look_up(flat: Table, width: int, first: Ints, point: Ints) -> Ints:
    """How many thresholds the points reach, of the row of ``width`` that begins at ``first``.

    Most reach none: the others look on, by halving. The shape is that of ``point``.
    """
    found = np.zeros(point.size, np.int64)
    first, point = np.broadcast_to(first, point.shape).reshape(-1), point.reshape(-1)
    more = np.flatnonzero(flat.take(first) <= point)
    begin, wanted = first.take(more), point.take(more)
    at = begin.copy()
    half = width // 2
    while half:
        at += half * (flat.take(at + half) <= wanted)
        half //= 2
    found[more] = at - begin + 1
    return found


class Reader:
    """Reads the next screens of some rows (R,): their present ticks are ``now``."""

    def __init__(
        self,
        tables: TokenTables,
        layout: TokenLayout,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        rows: Ints,
    ) -> None:
        self.tables, self.layout = tables, layout
        self.incidents, self.episodes, self.rows = incidents, episodes, rows
        self.seed = incidents.seed[rows]
        self.keys = vec.subkey(self.seed, TOKEN_STREAM)
        self.now = episodes.columns[rows, layout["time"].start].astype(np.int64)
        self.true = incidents.hypothesis[rows].astype(np.int64)
        self.fixed_at = episodes.fixed_at[rows].astype(np.int64)
        self.columns = episodes.columns.reshape(-1)
        self.row_starts = rows * episodes.columns.shape[1]
        self.conditions = incidents.conditions.reshape(-1)
        self.width = tables.steps.shape[1]
        self.flat_steps = tables.steps.reshape(-1)
        self.flat_rows = tables.row_of.reshape(-1)

    def read(self) -> None:
        """Note what the screens show."""
        now, anew = self.now, self.episodes.anew[self.rows]
        self._changes(np.flatnonzero(now == 0))
        self._alerts(np.flatnonzero(self.tables.alert_at[now] | anew))
        self._epochs(np.flatnonzero((now % EPOCH == 0) | anew))
        self._window()
        for lane in range(self.layout.lanes):
            self._answers(lane)
        paged_at = self.episodes.paged_at[self.rows].astype(np.int64)
        self._notes(np.flatnonzero(paged_at + NOTE_DELAY == now))
        self.episodes.anew[self.rows] = False

    # -- cells ------------------------------------------------------------------------

    def _bits(self, at: Ints, channel: Channel, first: Any, second: Any = 0) -> Ints:
        """Sixteen random bits for the counters of a channel, of rows ``at`` that fit them."""
        key: Bits = vec.subkey(self.keys[at], CHANNEL_KEYS[channel])
        bits = vec.draw(key + vec.offsets_a(first) + vec.offsets_b(second)) >> _48
        return bits.astype(np.int32)

    def _tokens(
        self, at: Ints, channel: Channel, sort: Any, service: Ints, slot: Any, start: Ints
    ) -> Ints:
        """The tokens of cells of services: arguments of one shape, or that broadcast to it."""
        tables, n = self.tables, self.tables.n
        point = self._bits(at, channel, np.asarray(service) << 16 | slot, start)
        condition = self.conditions.take(self.rows[at] * n + service).astype(np.int64)
        late = np.flatnonzero(np.broadcast_to(start > self.fixed_at[at], point.shape))
        if len(late):  # what the fault reached has recovered
            true = np.broadcast_to(self.true[at], point.shape).reshape(-1)[late]
            who = np.broadcast_to(service, point.shape).reshape(-1)[late]
            well = tables.recovers[true] & (tables.condition_of[true, who] >= 0)
            condition = np.array(np.broadcast_to(condition, point.shape)).reshape(-1)
            condition[late[well]] = 0
            condition = condition.reshape(point.shape)
        phases, widest = tables.row_of.shape[2:]
        place = ((sort * n + service) * phases + tables.phase_of[start]) * widest
        first = self.flat_rows.take(place + condition).astype(np.int64) * self.width
        return look_up(self.flat_steps, self.width, first, point).reshape(point.shape)

    def _count(self, at: Ints, sort: Any, service: Ints, token: Ints) -> None:
        """Count tokens in rows ``at``, no two of which share row and column."""
        self._add(at, self.layout.column_of[sort, service, token])

    def _add(self, at: Ints, column: Ints) -> None:
        places = self.row_starts[at] + column
        before = self.columns[places]
        self.columns[places] = before + (before < MOST)

    def _write(self, at: Ints, column: Any, number: Any) -> None:
        self.columns[self.row_starts[at] + column] = number

    # -- panels -----------------------------------------------------------------------

    def _changes(self, at: Ints) -> None:
        if len(at):
            self._of_all(at, Channel.CHANGE, "change")

    def _alerts(self, at: Ints) -> None:
        if len(at):
            token = self._of_all(at, Channel.ALERT, "alert")
            self._write(at[:, None], self._span("alert"), token)

    def _span(self, block: str) -> Ints:
        at = self.layout[block]
        return np.arange(at.start, at.stop)

    def _of_all(self, at: Ints, channel: Channel, sort: str) -> Ints:
        """Draw a cell of every service (M, n), and count what is not ordinary."""
        service = np.arange(self.tables.n)[None]
        token = self._tokens(at[:, None], channel, SORT[sort], service, 0, self.now[at][:, None])
        rows, services = np.nonzero(token)
        self._count(at[rows], SORT[sort], services, token[rows, services])
        return token

    def _epochs(self, at: Ints) -> None:
        """Begin a new epoch: gauges will be read anew, and the edge panel is."""
        if not len(at):
            return
        rows, now, tables = self.rows[at], self.now[at], self.tables
        epochs = self.episodes.epochs
        epochs[rows, :-1] = epochs[rows, 1:]
        epochs[rows, -1] = now
        true = self.true[at]
        shown = np.where(tables.recovers[true], self.incidents.severity[rows], CALM)
        shown = np.where(self.fixed_at[at] < now, RECOVERED, shown)
        clear = (now >= tables.setting.severity_from).astype(np.int64)
        width = tables.edge_steps.shape[-1]
        row = (clear * 2 + tables.errors_first[true]) * (RECOVERED + 1) + shown
        point = self._bits(at, Channel.EDGE, now)
        token = look_up(tables.edge_steps.reshape(-1), width, row * width, point)
        errors, p99 = np.divmod(token, len(BANDS))
        first = self.layout["edge"].start
        self._write(at, first, errors)
        self._write(at, first + 1, p99)
        self._add(at, self.layout["seen:edge"].start + token)

    def _window(self) -> None:
        at, slots = np.arange(len(self.rows))[:, None], np.arange(WINDOW_LINES)
        now = self.now[:, None]
        key = vec.subkey(self.seed, SPEAKER_STREAM)[:, None]
        service = vec.below(
            vec.draw(key + vec.offsets_a(now) + vec.offsets_b(slots)), self.tables.n
        )
        token = self._tokens(at, Channel.WINDOW, SORT["window"], service, slots, now)
        self._write(at, self._span("window_service"), 1 + service)
        self._write(at, self._span("window_token"), 1 + token)
        columns = self.layout.column_of[SORT["window"], service, token]
        for slot in range(WINDOW_LINES):  # one at a time: lines may be alike
            self._add(at[:, 0], columns[:, slot])

    def _notes(self, at: Ints) -> None:
        if not len(at):
            return
        tables = self.tables
        row, width = tables.note_row[self.true[at]], tables.note_steps.shape[1]
        point = self._bits(at, Channel.NOTE, self.now[at])
        found = look_up(tables.note_steps.reshape(-1), width, row * width, point)
        self._write(at, self.layout["noted"].start, 1)
        root = tables.root[self.true[at]].astype(np.int64)
        self._write(at, self.layout["note"].start + root, tables.note_numbers[row, found])

    # -- what was asked for -----------------------------------------------------------

    def _answers(self, lane: int) -> None:
        first = self.layout.answer(lane).start
        asked = self.columns[self.row_starts + first]
        service = self.columns[self.row_starts + first + 1].astype(np.int64) - 1
        to = first + 2

        def rows_of(channel: Channel) -> tuple[Ints, Ints]:
            at = np.flatnonzero(asked == REQUEST[channel])
            return at, service[at]

        self._lines(to, *rows_of(Channel.LOGS))
        self._overview(to, rows_of(Channel.OVERVIEW)[0])
        sorts = tuple(SORT[gauge] for gauge in GAUGES), tuple(SORT[span] for span in SPANS)
        until = self.episodes.metrics_until, self.episodes.traces_until
        for number, channel in enumerate((Channel.METRICS, Channel.TRACES)):
            self._readings(to, *rows_of(channel), channel, sorts[number], until[number])

    def _times_asked(self, at: Ints, column: Any) -> Ints:
        """How often rows had asked for these lines before; now once more."""
        asked = self.episodes.lines_asked
        before = asked[self.rows[at], column]
        asked[self.rows[at], column] = before + 1
        found: Ints = before.astype(np.int64)
        return found

    def _lines(self, to: int, at: Ints, service: Ints) -> None:
        first = self._times_asked(at, 1 + service) * LINES
        for line in range(LINES):
            token = self._tokens(at, Channel.LOGS, SORT["log"], service, first + line, self.now[at])
            self._write(at, to + line, 1 + token)
            self._count(at, SORT["log"], service, token)

    def _overview(self, to: int, at: Ints) -> None:
        if not len(at):
            return
        every = np.arange(self.tables.n)[None]
        token = self._tokens(
            at[:, None],
            Channel.OVERVIEW,
            SORT["log"],
            every,
            self._times_asked(at, 0)[:, None],
            self.now[at][:, None],
        )
        self._write(at[:, None], to + every, 1 + token)
        self._count(at[:, None], SORT["log"], every, token)

    def _readings(
        self,
        to: int,
        at: Ints,
        service: Ints,
        channel: Channel,
        sorts: tuple[int, ...],
        until: NDArray[np.uint8],
    ) -> None:
        """The last readings of each slot; those that an earlier screen showed count no more."""
        epochs = self.episodes.epochs[self.rows[at]].astype(np.int64)
        missing = (epochs == NEVER).sum(axis=1)
        last = until[self.rows[at], service].astype(np.int64)
        slots = np.arange(len(sorts))[None]
        for reading in range(SERIES):
            held = np.flatnonzero(epochs[:, reading] != NEVER)
            here, who, start = at[held], service[held], epochs[held, reading]
            token = self._tokens(
                here[:, None], channel, np.array(sorts), who[:, None], slots, start[:, None]
            )
            place = to + (reading - missing[held])[:, None] * len(sorts) + slots
            self._write(here[:, None], place, 1 + token)
            new = np.flatnonzero((last[held] == NEVER) | (start > last[held]))
            self._count(here[new][:, None], np.array(sorts), who[new][:, None], token[new])
        until[self.rows[at], service] = self.now[at]
