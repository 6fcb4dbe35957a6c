"""The screens of N teams in the first world: columns of flags, and words of reports."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logtriage.board_words import REPORT_WORDS
from logtriage.errors import InvalidInput
from logtriage.roles import RoleSplit
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.engine import BatchedTriage, Step
from logtriage.vector.layout import Floats
from logtriage.vector.team_layout import EVERY_SOURCE, role_layout_of, team_layout_of
from logtriage.vector.team_seats import Seat, mask_of, seat_of


def check_plain(split: RoleSplit) -> None:
    """Refuse roles that only the arrays of the second world know.

    Raises:
        InvalidInput: naming the role and its setting.
    """
    for role in split.roles:
        for setting, usual in (
            ("watches", frozenset()),
            ("words", ("kinds",)),
            ("delay", 0),
            ("loss", 0),
            ("budget", None),
        ):
            if getattr(role, setting) != usual:
                raise InvalidInput(
                    f"role {role.name!r} of split {split.name!r}: arrays of tasks of version 1 "
                    f"know no {setting!r}; choose a task of version 2"
                )


class FirstScreens:
    """What N teams see, and what they may do, beside what the engine keeps.

    Raises:
        InvalidInput: as :func:`check_plain`.
    """

    def __init__(self, batch: BatchedTriage, split: RoleSplit) -> None:
        check_plain(split)
        self._batch = batch
        self.layout = team_layout_of(batch.topology)
        self.layouts = tuple(role_layout_of(batch.topology, role) for role in split.roles)
        self.seats = tuple(seat_of(role, batch.topology) for role in split.roles)
        self._reported: Bools = np.empty((0, len(REPORT_WORDS)), bool)

    def begin(self) -> None:
        """All rows were begun anew."""
        self._reported = np.zeros((len(self._batch), len(REPORT_WORDS)), bool)

    def begin_anew(self, rows: Any) -> None:
        """Some rows were begun anew."""
        self._reported[rows] = False

    def allowed(self, chosen: list[Ints]) -> list[Ints]:
        """The canonical integers (N,) of what each role chose."""
        return [seat.canonical[one] for seat, one in zip(self.seats, chosen, strict=True)]

    def enter(
        self,
        chosen: list[Ints],
        acts: list[Ints],  # noqa: ARG002 (nothing is refused here)
        acted: tuple[Ints, ...],
    ) -> None:
        """Enter what the roles chose in a tick, where each of them ``acted``."""
        for seat, one, places in zip(self.seats, chosen, acted, strict=True):
            said = seat.word[one[places]]
            self._reported[places[said >= 0], said[said >= 0]] = True

    def look(self, seen: Step) -> tuple[Floats, tuple[Floats, ...], tuple[NDArray[np.int8], ...]]:
        """The team's observation (N, D), and each role's with its mask."""
        state = self._state(seen.observation)
        return (
            state,
            tuple(self._slice(state, seat) for seat in self.seats),
            tuple(mask_of(seen.mask, seat) for seat in self.seats),
        )

    def _state(self, alone: Floats) -> Floats:
        state = np.empty((len(self._batch), self.layout.size), np.float32)
        state[:, : alone.shape[1]] = alone
        state[:, self.layout["declared_owner"]] = 0
        rows, owner = self._batch.declared_owners()
        state[rows, self.layout["declared_owner"].start + owner] = 1
        state[:, self.layout["report"]] = self._reported
        return state

    def _slice(self, state: Floats, seat: Seat) -> Floats:
        mine: Floats = np.empty((len(state), seat.layout.size), np.float32)
        for whole, part in seat.runs:
            mine[:, part] = state[:, whole]
        if seat.sources not in (0, EVERY_SOURCE):
            self._batch.write_read(seat.layout, seat.sources, mine)
        return mine
