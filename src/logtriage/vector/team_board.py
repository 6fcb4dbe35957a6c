"""The reports, declarations and requests of N teams, and when each role hears of them.

As :mod:`logtriage.joint` has it for one, from the history; here it is kept as it happens.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from logtriage.joint import LOSS_STREAM, loss_key
from logtriage.roles import RoleSplit, role_words
from logtriage.topology import Topology
from logtriage.vector.arrays import Bits, Bools, Ints
from logtriage.vector.layout import laid_out
from logtriage.world.model import World

#: Later than any tick, delays included.
NEVER: Final = np.iinfo(np.uint16).max
Ticks = NDArray[np.uint16]


class Boards:
    """The boards and budgets of N teams of R roles, with W words and B declarations.

    ``said`` (N, W) marks reported words, role by role in blocks of :attr:`words`; ``heard_at`` (N,
    R, W) is the tick in which each listener hears them; ``declared_at`` (N, B) is the tick in which
    listeners without delay hear of each declaration; ``made`` (N, R) counts requests.
    """

    def __init__(
        self, split: RoleSplit, topology: Topology, world: World, declarations: int
    ) -> None:
        self.split = split
        counts = {role.name: len(role_words(role, topology, world)) for role in split.roles}
        words, width = laid_out(counts)
        self.words = tuple(words.values())
        self._widths = width, declarations
        #: What follows is kept only where some role needs it.
        self.late = any(role.hears_late for role in split.roles)
        self.budgets = any(role.budget is not None for role in split.roles)
        self.begin(0)

    def begin(self, count: int) -> None:
        """Fresh boards for ``count`` teams."""
        words, declarations = self._widths
        late, roles = count * self.late, len(self.split)
        self.said: Bools = np.zeros((count, words), bool)
        self.heard_at: Ticks = np.full((late, roles, words), NEVER, np.uint16)
        self.declared_at: Ticks = np.full((late, declarations), NEVER, np.uint16)
        self.made = np.zeros((count * self.budgets, roles), np.uint8)

    def begin_anew(self, rows: Any) -> None:
        """Fresh boards in some rows."""
        self.said[rows] = False
        if self.late:
            self.heard_at[rows] = NEVER
            self.declared_at[rows] = NEVER
        if self.budgets:
            self.made[rows] = 0

    def left(self, lane: int) -> Ints | None:
        """How many requests (N,) a role has left; None for any number."""
        budget = self.split.roles[lane].budget
        if budget is None:
            return None
        left: Ints = np.maximum(0, budget - self.made[:, lane].astype(np.int64))
        return left

    def tell(self, lane: int, rows: Ints, word: Ints, tick: Ints, seeds: Bits) -> None:
        """Role ``lane`` reports words (R,) of its own in rows (R,), in a tick (R,)."""
        from logtriage.vector.compiled.draws import chances  # loads Numba

        column = self.words[lane].start + word
        self.said[rows, column] = True
        if not self.late:
            return
        speaker = self.split.names[lane]
        for listener, role in enumerate(self.split.roles):
            if listener == lane:
                arrives = tick + 1
            else:
                lost = chances(seeds, (LOSS_STREAM, loss_key(speaker, role.name)), tick, role.loss)
                arrives = np.where(lost, NEVER, tick + 1 + role.delay)
            before = self.heard_at[rows, listener, column]
            self.heard_at[rows, listener, column] = np.minimum(before, arrives)

    def declare(self, flags: NDArray[Any], tick: Ints) -> None:
        """Note which declarations (N, B) stand on the screens of ticks (N,)."""
        if self.late:
            new = (flags != 0) & (self.declared_at == NEVER)
            self.declared_at[new] = np.broadcast_to(tick[:, None], new.shape)[new]

    def heard(self, listener: int, speaker: int, tick: Ints) -> Bools:
        """Which of a speaker's words (N, W_s) have reached a listener by ticks (N,)."""
        words = self.words[speaker]
        if not self.split.roles[listener].hears_late:
            return self.said[:, words]
        known: Bools = self.heard_at[:, listener, words] <= tick[:, None]
        return known

    def known(self, listener: int, part: slice, tick: Ints) -> Bools:
        """Which of some declarations (N, b) have reached a listener by ticks (N,)."""
        delay = self.split.roles[listener].delay
        known: Bools = self.declared_at[:, part].astype(np.int64) + delay <= tick[:, None]
        return known
