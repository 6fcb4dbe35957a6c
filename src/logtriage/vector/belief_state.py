"""The state of each incident in a batch of beliefs; new evidence costs a few additions."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.vector.arrays import Longs
from logtriage.vector.belief_tables import BeliefTables
from logtriage.vector.cells import CHANNELS
from logtriage.world.channels import Channel

Ints = NDArray[Any]

#: Channels whose cells stay on the screen, with their rows of ``seen``.
REPEATED: Final = {
    Channel.ALERT: 0,
    Channel.CHANGE: 1,
    Channel.METRICS: 2,
    Channel.TRACES: 3,
}
#: The row of ``seen`` of each channel; -1 where cells are shown once.
SEEN_ROW: Final = tuple(REPEATED.get(channel, -1) for channel in CHANNELS)
#: No cell of the edge panel with this start was seen.
NO_PANEL: Final = -1
#: The tick of a break that is free.
NO_BREAK: Final = -1


class BeliefState(NamedTuple):
    """N incidents, n services, U unaffected conditions, H hypotheses, S starts (horizon + 1).

    ``world`` (N,) is the number of each row's world. ``gains`` (N, T) are sums over readings,
    ``pooled`` (N, rows) what the pools say of their rows of conditions
    (:class:`~logtriage.vector.belief_pools.PoolTables`). ``own`` (N, U) are sums over the pools of
    a service, ``aloof`` (N, n) what it says where nothing reaches it;
    ``reached`` (N, H) what the services say that a hypothesis reaches, less those of ``aloof``.
    ``noted`` (N, H) is what notes say; far below zero, what actions revealed rules it out.
    ``edge`` (N, 3) is what the edge says of incidents that are not fixed: latency first, errors
    first, benign; ``panel`` (N, S) its tokens by start. ``fixed_at`` (N, H) is the tick in
    which a remedy fixed the hypothesis, the highest number of its type if none did; ``breaks``
    (N, K) are those ticks, ``before`` (N, K, T) the ``gains`` of readings that start until then.
    ``seen`` (N, 4, n, bytes) has a bit for each start of what may be shown again, ``owners``
    (N, n) the team of each service. ``screens`` and ``remedies`` (N,) count screens seen and
    remedies applied. ``weights`` (N, H) are those of the hypotheses, as of
    :class:`logtriage.beliefs.Belief`; all are 0 where no hypothesis fits.
    """

    world: NDArray[np.uint8]
    gains: Longs
    pooled: Longs
    own: Longs
    aloof: Longs
    reached: Longs
    noted: Longs
    edge: Longs
    panel: NDArray[np.int8]
    fixed_at: Ints
    breaks: NDArray[np.int16]
    before: Longs
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
        return sum(array.nbytes for array in self)

    def with_room(self) -> "BeliefState":
        """A copy with room for another break."""
        more = [(0, 0), (0, 1)]
        return self._replace(
            breaks=np.pad(self.breaks, more, constant_values=NO_BREAK),
            before=np.pad(self.before, [*more, (0, 0)]),
        )


def empty_state(count: int, tables: BeliefTables, teams: int, horizon: int) -> BeliefState:
    """The state of ``count`` incidents before any screen."""
    services, hypotheses = tables.services, tables.prior.shape[1]
    sums = tables.pools.sums
    ticks = np.int8 if horizon < np.iinfo(np.int8).max else np.int16
    state = BeliefState(
        world=np.zeros(count, np.uint8),
        gains=np.zeros((count, sums), np.int64),
        pooled=np.zeros((count, tables.pools.root.shape[1]), np.int64),
        own=np.zeros((count, tables.shares.shape[1]), np.int64),
        aloof=np.zeros((count, services), np.int64),
        reached=np.zeros((count, hypotheses), np.int64),
        noted=np.zeros((count, hypotheses), np.int64),
        edge=np.zeros((count, 3), np.int64),
        panel=np.zeros((count, horizon + 1), np.int8),
        fixed_at=np.zeros((count, hypotheses), ticks),
        breaks=np.zeros((count, 0), np.int16),
        before=np.zeros((count, 0, sums), np.int64),
        seen=np.zeros((count, len(REPEATED), services, horizon // 8 + 1), np.uint8),
        owners=np.zeros((count, services), np.min_scalar_type(-teams)),
        screens=np.zeros(count, np.int16),
        remedies=np.zeros(count, np.int16),
        weights=np.zeros((count, hypotheses), np.uint32),
    )
    clear(state, tables, slice(None))
    return state


def clear(state: BeliefState, tables: BeliefTables, rows: Any) -> None:
    """Forget everything seen in these rows."""
    for sums in (state.gains, state.pooled, state.own, state.noted, state.edge):
        sums[rows] = 0
    for counts in (state.seen, state.screens, state.remedies, state.weights):
        counts[rows] = 0
    worlds = state.world[rows]
    state.aloof[rows] = tables.aloof[worlds]
    state.reached[rows] = tables.alone[worlds]
    state.panel[rows] = NO_PANEL
    state.breaks[rows] = NO_BREAK
    state.fixed_at[rows] = state.unfixed
