"""The evidence on the screens of a batch: numbers of a layout back to cells.

The batched engine shows tokens as numbers; a :class:`logtriage.vector.BeliefBatch` takes
cells. What stands between is public: when panels were read anew, how often lines were
asked for. Nothing here knows a truth.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.vector.arrays import Ints
from logtriage.vector.cells import CHANNELS, EFFECTS, FIELDS, NO_CELL, Cells, line_places
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.layout import REQUEST, TokenLayout
from logtriage.world.channels import EASES, EPOCH, LINES, NO_CHANGE, SERIES, WINDOW_LINES, Channel
from logtriage.world.setting import Setting

_NUMBER: Final = {channel: place for place, channel in enumerate(CHANNELS)}
_EASES: Final = EFFECTS.index(EASES)
_NO_CHANGE: Final = EFFECTS.index(NO_CHANGE)
_NONE: Final = -1


class ScreenCells:
    """Reads cells off the screens of N episodes on one topology, tick after tick.

    Every screen must be read once, in order: :meth:`begin` before the first, then
    :meth:`read`. Panels that an earlier screen showed are left out. For engines with one
    who acts.
    """

    def __init__(self, setting: Setting, layout: TokenLayout, horizon: int, count: int) -> None:
        n = len(layout.topology)
        self._setting, self._layout, self._horizon = setting, layout, horizon
        self._services = n
        self._lines = line_places(setting, layout.topology)
        self._slots = {channel: len(sorts) for channel, sorts in setting.world.slots.items()}
        self._epochs = np.full((count, SERIES), _NONE)
        self._asked = np.zeros((count, n + 1), np.int64)
        self._remedies = np.zeros(count, np.int64)
        self._eased = np.zeros(count, bool)
        self._noted = np.zeros(count, bool)
        self._judged = np.zeros(max(horizon, *setting.alert_ticks) + 1, bool)
        self._judged[list(setting.alert_ticks)] = True

    def begin(self, rows: Ints) -> None:
        """Begin new episodes in rows (R,)."""
        self._epochs[rows] = _NONE
        for one in (self._asked, self._remedies, self._eased, self._noted):
            one[rows] = 0

    def read(self, observation: Floats, remedied: NDArray[np.bool_], rows: Ints) -> Cells:
        """The new cells (R, M, 5) on the screens (R, D) of rows (R,).

        ``remedied`` (R,) says where the last action was a remedy.
        """
        layout, count = self._layout, len(rows)
        numbers = np.rint(observation / layout.units).astype(np.int64)
        now = numbers[:, layout["time"].start]
        anew = (now % EPOCH == 0) | remedied
        shifted = np.concatenate([self._epochs[rows, 1:], now[:, None]], axis=1)
        self._epochs[rows] = np.where(anew[:, None], shifted, self._epochs[rows])
        blank = np.full((count, 1, len(FIELDS)), NO_CELL)
        parts = [
            self._alerts(numbers, now, self._judged[now] | remedied),
            self._edge(numbers, now, anew),
            self._window(numbers, now),
            *([self._changes(numbers, now)] if (now == 0).any() else []),
            self._answers(numbers, now, rows),
            self._note(numbers, now, rows),
            self._effect(numbers, now, rows, remedied) if remedied.any() else blank,
        ]
        return np.concatenate(parts, axis=1).astype(np.int16)

    def _cells(
        self,
        channel: Channel,
        service: Ints | int,
        slot: Ints | int,
        start: Ints,
        token: Ints,
        there: NDArray[np.bool_],
    ) -> Ints:
        """Cells (R, M, 5) where ``there`` (R, M); the others broadcast to it."""
        found = np.empty((*there.shape, len(FIELDS)), np.int64)
        found[..., 0] = np.where(there, _NUMBER[channel], NO_CELL)
        for field, value in enumerate((service, slot, start, token), 1):
            found[..., field] = value
        return found

    def _alerts(self, numbers: Ints, now: Ints, judged: NDArray[np.bool_]) -> Ints:
        token = numbers[:, self._layout["alert"]]
        there = np.broadcast_to(judged[:, None], token.shape)
        every = np.arange(self._services)
        return self._cells(Channel.ALERT, every, 0, now[:, None], token, there)

    def _edge(self, numbers: Ints, now: Ints, anew: NDArray[np.bool_]) -> Ints:
        bands = numbers[:, self._layout["edge"]]
        token = bands[:, :1] * len(self._setting.world.bands) + bands[:, 1:]
        return self._cells(Channel.EDGE, -1, 0, now[:, None], token, anew[:, None])

    def _window(self, numbers: Ints, now: Ints) -> Ints:
        service = numbers[:, self._layout["window_service"]] - 1
        token = numbers[:, self._layout["window_token"]] - 1
        slot = np.arange(WINDOW_LINES)
        return self._cells(Channel.WINDOW, service, slot, now[:, None], token, token >= 0)

    def _changes(self, numbers: Ints, now: Ints) -> Ints:
        """Of a first screen, on which each is counted that is there."""
        counted = numbers[:, self._layout["seen:change"]].reshape(len(now), self._services, -1)
        token = np.where(counted.any(axis=2), 1 + counted.argmax(axis=2), 0)
        there = np.broadcast_to((now == 0)[:, None], token.shape)
        return self._cells(Channel.CHANGE, np.arange(self._services), 0, 0 * token, token, there)

    def _answers(self, numbers: Ints, now: Ints, rows: Ints) -> Ints:
        at = self._layout.answer(0)
        asked = numbers[:, at.start, None]
        service = numbers[:, at.start + 1, None] - 1
        token = numbers[:, at.start + 2 : at.stop] - 1
        place = np.arange(token.shape[1])
        channel = np.zeros((len(now), 1), np.int64)
        who = np.broadcast_to(service, token.shape).copy()
        slot, start = np.zeros_like(token), np.broadcast_to(now[:, None], token.shape).copy()
        for kind, number in REQUEST.items():
            at_kind = np.flatnonzero(asked[:, 0] == number)
            if not len(at_kind):
                continue
            channel[at_kind] = _NUMBER[kind]
            if kind in self._slots:
                reading, slot[at_kind] = np.divmod(place, self._slots[kind])
                held = self._epochs[rows[at_kind]]
                which = (held == _NONE).sum(axis=1)[:, None] + reading
                start[at_kind] = np.take_along_axis(held, np.minimum(which, SERIES - 1), axis=1)
                continue
            column = 1 + service[at_kind, 0]  # 0: lines of all services
            before = self._asked[rows[at_kind], column][:, None]
            self._asked[rows[at_kind], column] += 1
            if kind is Channel.OVERVIEW:
                who[at_kind], slot[at_kind] = place, before
            else:
                slot[at_kind] = before * LINES + place
        found = self._cells(Channel.LOGS, who, slot, start, token, token >= 0)
        found[..., 0] = np.where(token >= 0, channel, NO_CELL)
        return found

    def _note(self, numbers: Ints, now: Ints, rows: Ints) -> Ints:
        noted = numbers[:, self._layout["noted"].start] > 0
        told = numbers[:, self._layout["note"]]
        service = told.argmax(axis=1)
        line = self._lines[service, np.maximum(told.max(axis=1) - 1, 0)]
        token = np.where(told.any(axis=1), 1 + service * len(self._setting.world.lines) + line, 0)
        there = noted & ~self._noted[rows]
        self._noted[rows] |= noted
        return self._cells(Channel.NOTE, -1, 0, now[:, None], token[:, None], there[:, None])

    def _effect(self, numbers: Ints, now: Ints, rows: Ints, remedied: NDArray[np.bool_]) -> Ints:
        eased = numbers[:, self._layout["eased"].start] > 0
        token = np.where(eased & ~self._eased[rows], _EASES, _NO_CHANGE)
        slot = self._remedies[rows]
        self._eased[rows] |= eased
        self._remedies[rows] += remedied
        return self._cells(
            Channel.EFFECT, -1, slot[:, None], now[:, None], token[:, None], remedied[:, None]
        )
