"""What a batch keeps of every incident, so that new evidence is a few additions."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.vector.belief_tables import BeliefTables, floor_of
from logtriage.vector.cells import CHANNELS
from logtriage.world.channels import Channel

Ints = NDArray[Any]

#: The channels of which a screen shows cells again, with the rows of ``seen``.
REPEATED: Final = {
    Channel.ALERT: 0,
    Channel.CHANGE: 1,
    Channel.METRICS: 2,
    Channel.TRACES: 3,
}
#: The row of ``seen`` of each channel; -1 for one whose cells are shown once.
SEEN_ROW: Final = tuple(REPEATED.get(channel, -1) for channel in CHANNELS)
#: No cell of the edge panel was seen that holds from this start.
NO_PANEL: Final = -1


class BeliefState(NamedTuple):
    """N incidents, n services, U unaffected conditions, H hypotheses, S starts (horizon + 1).

    ``own`` (N, U) and ``reached`` (N, H) are sums of columns, less those of their peaks,
    which ``base`` (N,) has; the lowest number of their type stands for "ruled out".
    ``edge`` (N, 7) are sums over the panel's cells, ``panel`` (N, S) their tokens by
    start. ``fixed_at`` (N, H) is the tick in which a remedy fixed the hypothesis, the
    highest number of its type if none did. ``seen`` (N, 4, n, bytes) has a bit for each
    start of what may be shown again, ``owners`` (N, n) the team of each service.
    ``screens`` and ``remedies`` (N,) count screens seen and remedies applied. ``weights``
    (N, H) are those of the hypotheses, as of :class:`logtriage.belief.Belief`.
    """

    own: Ints
    reached: Ints
    base: NDArray[np.int64]
    edge: NDArray[np.int64]
    panel: NDArray[np.int8]
    fixed_at: Ints
    seen: NDArray[np.uint8]
    owners: Ints
    screens: Ints
    remedies: Ints
    weights: NDArray[np.uint32]

    @property
    def unfixed(self) -> int:
        """What ``fixed_at`` says of a hypothesis that no remedy fixed."""
        return int(np.iinfo(self.fixed_at.dtype).max)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays together."""
        return sum(one.nbytes for one in self)

    def wide(self) -> "BeliefState":
        """The same sums in 64 bits."""
        old, new = floor_of(self.own.dtype), floor_of(np.int64)
        found = []
        for given in (self.own, self.reached):
            sums = given.astype(np.int64)
            sums[given == old] = new
            found.append(sums)
        return self._replace(own=found[0], reached=found[1])


def empty_state(
    count: int, tables: BeliefTables, teams: int, horizon: int, dtype: Any
) -> BeliefState:
    """The state of ``count`` incidents, of which nothing has been seen."""
    services, hypotheses = tables.services, len(tables.prior)
    ticks = np.int8 if horizon < np.iinfo(np.int8).max else np.int16
    state = BeliefState(
        own=np.zeros((count, len(tables.shares)), dtype),
        reached=np.zeros((count, hypotheses), dtype),
        base=np.zeros(count, np.int64),
        edge=np.zeros((count, 7), np.int64),
        panel=np.zeros((count, horizon + 1), np.int8),
        fixed_at=np.zeros((count, hypotheses), ticks),
        seen=np.zeros((count, len(REPEATED), services, horizon // 8 + 1), np.uint8),
        owners=np.zeros((count, services), np.min_scalar_type(-teams)),
        screens=np.zeros(count, np.int16),
        remedies=np.zeros(count, np.int16),
        weights=np.zeros((count, hypotheses), np.uint32),
    )
    clear(state, slice(None))
    return state


def clear(state: BeliefState, rows: Any) -> None:
    """Forget all that was seen in these rows."""
    for one in (state.own, state.reached, state.base, state.edge, state.seen):
        one[rows] = 0
    for one in (state.screens, state.remedies, state.weights):
        one[rows] = 0
    state.panel[rows] = NO_PANEL
    state.fixed_at[rows] = state.unfixed
