"""The reports, declarations and requests of N teams, and when each role hears of them.

:mod:`logtriage.joint` reads the same from the history of one team; here it is recorded as it comes.
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
    R, W) is the tick from which each listener knows them; ``declared_at`` (N, B) is the tick from
    which listeners without delay know of a declaration; ``made`` (N, R) counts requests.
    """

    def __init__(
        self, split: RoleSplit, topology: Topology, world: World, declarations: int
    ) -> None:
        self.split = split
        counts = {role.name: len(role_words(role, topology, world)) for role in split.roles}
        words, width = laid_out(counts)
        self.words = tuple(words.values())
        self._widths = width, declarations
        # The arrays for late news and for budgets are empty if no role needs them.
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
        """The number of requests (N,) that a role has left; None if it has no budget."""
        budget = self.split.roles[lane].budget
        if budget is None:
            return None
        left: Ints = np.maximum(0, budget - self.made[:, lane].astype(np.int64))
        return left

    def tell(self, lane: int, rows: Ints, word: Ints, tick: Ints, seeds: Bits) -> None:
        """Record that role ``lane`` reports a ``word`` (R,) of its own words in rows (R,).

        ``tick`` (R,) is when; the incidents' ``seeds`` (R,) decide which listeners miss it.
        """
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
        """Record which declarations ``flags`` (N, B) stand on the screens at ticks (N,)."""
        if self.late:
            new = (flags != 0) & (self.declared_at == NEVER)
            self.declared_at[new] = np.broadcast_to(tick[:, None], new.shape)[new]

    def heard(self, listener: int, speaker: int, tick: Ints) -> Bools:
        """Whether each of a speaker's words (N, W_s) has reached a listener by ticks (N,)."""
        words = self.words[speaker]
        if not self.split.roles[listener].hears_late:
            return self.said[:, words]
        known: Bools = self.heard_at[:, listener, words] <= tick[:, None]
        return known

    def known(self, listener: int, part: slice, tick: Ints) -> Bools:
        """Whether each declaration of a ``part`` (N, b) has reached a listener by ticks (N,)."""
        delay = self.split.roles[listener].delay
        known: Bools = self.declared_at[:, part].astype(np.int64) + delay <= tick[:, None]
        return known
