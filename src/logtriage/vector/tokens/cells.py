"""The cells on N screens in the layout of beliefs, read from the board."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.cells import CHANNELS, EFFECTS, FIELDS, NO_CELL, Cells, line_places
from logtriage.vector.tokens.episodes import NEVER, TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.layout import REQUEST
from logtriage.vector.tokens.setting import TokenSetting
from logtriage.world.channels import (
    EASES,
    LINES,
    NO_CHANGE,
    NOTE_DELAY,
    WINDOW_LINES,
    Channel,
)
from logtriage.world.vocabulary import CHANGE, PLAIN_SORTS

_PLACE: Final = {channel: place for place, channel in enumerate(CHANNELS)}
_LINES: Final = (REQUEST[Channel.LOGS], REQUEST[Channel.OVERVIEW])
_EASES: Final = EFFECTS.index(EASES)
_NO_CHANGE: Final = EFFECTS.index(NO_CHANGE)


def screen_cells(
    setting: TokenSetting,
    incidents: TokenIncidents,
    episodes: TokenEpisodes,
    rows: Ints,
    acts: Ints,
) -> Cells:
    """The cells (R, M, 5) on the present screens of rows (R,), whoever sees them.

    These are all cells that no earlier screen showed, and some that one did. ``acts`` (L, R) are
    the canonical integers of what each lane did in the last tick, -1 for nothing.
    """
    screen = _Screen(setting, incidents, episodes, rows)
    which = acts - setting.ranges.remedy
    remedies = np.where((which >= 0) & (which < setting.ranges.remedies), which, -1)
    parts = screen.panels(np.asarray((remedies >= 0).any(axis=0)))
    return np.concatenate([*parts, *screen.answers(), *screen.effects(remedies)], axis=1)


def owners_of(setting: TokenSetting, incidents: TokenIncidents, rows: Ints) -> Ints:
    """The number of each service's team (R, n), read off the board."""
    layout = setting.layout
    teams = layout.world.owning_teams(setting.topology)
    flags = np.stack([incidents.board[rows, layout[f"owner:{team}"]] for team in teams], axis=2)
    numbers = setting.tables.owners[incidents.world[rows]]
    owners: Ints = np.take_along_axis(numbers, flags.argmax(axis=2), axis=1)
    return owners


class _Screen:
    """The screens of rows (R,): one method a channel, each (R, K, 5)."""

    def __init__(
        self,
        setting: TokenSetting,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        rows: Ints,
    ) -> None:
        self.setting, self.layout, self.world = setting, setting.layout, setting.layout.world
        self.incidents, self.episodes, self.rows = incidents, episodes, rows
        self.columns = episodes.columns[rows].astype(np.int64)
        self.now = self.columns[:, setting.time]
        self.every = np.arange(setting.n)[np.newaxis]

    def panels(self, remedied: Bools) -> list[Cells]:
        """What nobody has to ask for; ``remedied`` (R,) says where a remedy was just applied."""
        parts = [self._window(), self._edge()]
        parts += [self._changes()] if (self.now == 0).any() else []
        judged = self.setting.tables.alert_at[0, self.now] | remedied
        parts += [self._alerts(judged)] if judged.any() else []
        noted = self.episodes.paged_at[self.rows].astype(np.int64) + NOTE_DELAY == self.now
        parts += [self._notes(noted)] if noted.any() else []
        return parts

    def answers(self) -> list[Cells]:
        """What each lane asked for in the last tick.

        Where several lanes ask for the same lines, each shows new ones; the same readings are
        shown once.
        """
        asked = [self._asked(lane) for lane in range(self.layout.lanes)]
        parts, none = [], np.zeros(len(self.rows), np.int64)
        for lane, (kind, service, token) in enumerate(asked):
            if not kind.any():
                continue
            same = [(kind > 0) & (other == kind) & (whose == service) for other, whose, _ in asked]
            lines = np.isin(kind, _LINES)
            cells = self._answer(kind, service, token, sum(same[lane + 1 :], none) * lines)
            cells[(sum(same[:lane], none) > 0) & ~lines, :, 0] = NO_CELL
            parts.append(cells)
        return parts

    def effects(self, which: Ints) -> list[Cells]:
        """What became of the remedies (L, R) of the last tick, -1 for none, in order of lanes."""
        applied = which >= 0
        if not applied.any():
            return []
        tables, worlds = self.setting.tables, self.incidents.world[self.rows]
        true = self.incidents.hypothesis[self.rows]
        remedy, service = np.divmod(np.maximum(which, 0), self.setting.n)
        accepted = applied & tables.recovers[worlds, true] & tables.remedies[worlds, true, remedy]
        accepted &= service == tables.root[worlds, true]
        # Only the first accepted remedy changes anything.
        accepted &= (np.cumsum(accepted, axis=0) == 1) & (
            self.episodes.fixed_at[self.rows] == self.now - 1
        )
        before = self.episodes.remedies[self.rows] - applied.sum(axis=0)
        number = before + np.cumsum(applied, axis=0) - 1
        return [
            self._cells(
                _PLACE[Channel.EFFECT],
                -1,
                number[lane, :, None],
                self.now[:, None],
                np.where(accepted[lane], _EASES, _NO_CHANGE)[:, None],
                applied[lane, :, None],
            )
            for lane in np.flatnonzero(applied.any(axis=1))
        ]

    def _asked(self, lane: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """What a lane asked for in the last tick: kind (R,), service (R,) and tokens (R, K).

        Services and tokens count from 0, -1 where there is none.
        """
        answer = self.columns[:, self.layout.answer(lane)]
        return answer[:, 0], answer[:, 1] - 1, answer[:, 2:] - 1

    def _cells(
        self, channel: Any, service: Any, slot: Any, start: Any, token: Any, present: Any = True
    ) -> Cells:
        """The numbers of cells, broadcast to (R, K, 5); none where they are not present."""
        numbers = np.broadcast_arrays(channel, service, slot, start, token, present)
        cells = np.empty((*numbers[0].shape, len(FIELDS)), np.int16)
        for field, values in enumerate(numbers[: len(FIELDS)]):
            cells[..., field] = values
        cells[~numbers[-1], 0] = NO_CELL
        return cells

    def _block(self, name: str) -> NDArray[np.int64]:
        return self.columns[:, self.layout[name]]

    def _window(self) -> Cells:
        slot = np.arange(WINDOW_LINES)
        service, token = self._block("window_service") - 1, self._block("window_token") - 1
        return self._cells(_PLACE[Channel.WINDOW], service, slot, self.now[:, None], token)

    def _edge(self) -> Cells:
        bands = self._block("edge")
        token = bands[:, :1] * len(self.world.bands) + bands[:, 1:]
        start = self.episodes.epochs[self.rows, -1:]
        return self._cells(_PLACE[Channel.EDGE], -1, 0, start, token)

    def _changes(self) -> Cells:
        """Changes stand on the first screen of a row alone."""
        tokens = 1 + len(self.world.changes)
        columns = self.layout.column_of[PLAIN_SORTS.index(CHANGE), :, 1:tokens]
        token = self.columns[:, columns] @ np.arange(1, tokens)
        first = self.now[:, None] == 0
        return self._cells(_PLACE[Channel.CHANGE], self.every, 0, 0, token, first)

    def _alerts(self, judged: Bools) -> Cells:
        now = self.now[:, None]
        token = self._block("alert")
        return self._cells(_PLACE[Channel.ALERT], self.every, 0, now, token, judged[:, None])

    def _notes(self, noted: Bools) -> Cells:
        shown = self._block("note")
        service = shown.argmax(axis=1)
        place = shown[np.arange(len(shown)), service]
        lines = line_places(self.setting.public, self.setting.topology)
        token = 1 + service * len(self.world.lines) + lines[service, place - 1]
        token = np.where(place > 0, token, 0)
        return self._cells(
            _PLACE[Channel.NOTE], -1, 0, self.now[:, None], token[:, None], noted[:, None]
        )

    def _answer(self, kind: Ints, who: Ints, token: Ints, later: Ints) -> Cells:
        """What a lane asked for in the last tick, as :meth:`_asked` has it.

        ``later`` (R,) is how often the same lines were asked for after that in the tick.
        """
        asked = self.episodes.lines_asked[self.rows].astype(np.int64)
        service = who[:, None]
        at = np.arange(token.shape[1])[np.newaxis]
        row = np.arange(len(token))
        count = asked[row, np.where(kind == REQUEST[Channel.LOGS], who + 1, 0)] - later
        lines = self._cells(
            _PLACE[Channel.LOGS],
            service,
            (count[:, None] - 1) * LINES + at,
            self.now[:, None],
            token,
            at < LINES,
        )
        overview = self._cells(
            _PLACE[Channel.OVERVIEW],
            at,
            count[:, None] - 1,
            self.now[:, None],
            token,
            at < self.setting.n,
        )
        answer = np.full_like(lines, NO_CELL)
        for channel, cells in (
            (Channel.LOGS, lines),
            (Channel.OVERVIEW, overview),
            *(
                (channel, self._readings(channel, sorts, service, token, at))
                for channel, sorts in self.world.slots.items()
            ),
        ):
            here = kind == REQUEST[channel]
            answer[here] = cells[here]
        return answer

    def _readings(
        self, channel: Channel, sorts: Sequence[str], service: Ints, token: Ints, at: Ints
    ) -> Cells:
        """The readings of the epochs so far, one after the other."""
        slots = len(sorts)
        epochs = self.episodes.epochs[self.rows].astype(np.int64)
        missing = (epochs == NEVER).sum(axis=1, keepdims=True)
        reading = at // slots + missing
        present = reading < epochs.shape[1]
        start = np.take_along_axis(epochs, np.where(present, reading, 0), axis=1)
        return self._cells(_PLACE[channel], service, at % slots, start, token, present)
