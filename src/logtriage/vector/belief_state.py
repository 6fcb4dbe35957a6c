"""The state of N incidents in a batch of beliefs: sums to which new evidence is added."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.vector.arrays import Longs
from logtriage.vector.belief_tables import BeliefTables

Ints = NDArray[Any]

#: The five numbers of what was seen of a history: the last instant at which it was usual, the token
#: that it shows, the first instant at which it showed it, when its alert was last quiet, and when
#: its alert first fired.
AFTER, TOKEN, UNTIL, QUIET, FIRED = range(5)
#: Nothing was seen of a history; 127 is later than any instant.
UNSEEN: Final = (-1, 0, 127, -1, 127)
#: Stands in ``panel`` for a tick whose edge panel was not seen.
NO_PANEL: Final = -1
#: Stands in ``breaks`` for a free place.
NO_BREAK: Final = -1


class BeliefState(NamedTuple):
    """N incidents, n services, S sorts, U unaffected conditions, H hypotheses, T = horizon + 1.

    ``world`` (N,) is the number of each row's world. A *break* is a tick in which a remedy fixed a
    hypothesis: ``breaks`` (N, K) lists them, ``fixed_at`` (N, H) has the break of each hypothesis,
    or :attr:`unfixed`. ``seen`` (N, 1 + 2 K, n, S, 5) is what was seen of each history (``AFTER``
    to ``FIRED``): first in all ticks, then for each break until it and since it.

    The next fields are sums of log-likelihoods: ``own`` (N, U) under each unaffected condition,
    ``aloof`` (N, n) of services that nothing reaches, ``reached`` (N, H) of the services that a
    hypothesis reaches, minus their ``aloof``, ``noted`` (N, H) of notes (far below zero if actions
    rule the hypothesis out), ``edge`` (N, 3) of the edge of an incident that is not fixed, for
    latency first, errors first, benign. ``panel`` (N, T) has the token of the edge panel by tick.

    ``owners`` (N, n) is the number of each service's team. ``screens`` and ``remedies`` (N,) count
    screens seen and remedies applied. ``weights`` (N, H) are those of
    :class:`logtriage.beliefs.Belief`; all are 0 where no hypothesis fits.
    """

    world: NDArray[np.uint8]
    seen: NDArray[np.int8]
    own: Longs
    aloof: Longs
    reached: Longs
    noted: Longs
    edge: Longs
    panel: NDArray[np.int8]
    fixed_at: Ints
    breaks: NDArray[np.int16]
    owners: Ints
    screens: Ints
    remedies: Ints
    weights: NDArray[np.uint32]

    @property
    def unfixed(self) -> int:
        """The value of ``fixed_at`` for a hypothesis that no remedy has fixed."""
        return int(np.iinfo(self.fixed_at.dtype).max)

    def with_room(self) -> "BeliefState":
        """This state with room for one more break in each row; it shares all other arrays."""
        seen = np.empty(
            (*self.seen.shape[:1], self.seen.shape[1] + 2, *self.seen.shape[2:]), np.int8
        )
        seen[:, :-2] = self.seen
        seen[:, -2:] = UNSEEN
        breaks = np.pad(self.breaks, [(0, 0), (0, 1)], constant_values=NO_BREAK)
        return self._replace(breaks=breaks, seen=seen)


def empty_state(count: int, tables: BeliefTables, teams: int, horizon: int) -> BeliefState:
    """The state of ``count`` incidents before any screen."""
    services, hypotheses = tables.services, tables.prior.shape[1]
    sorts = tables.histories.sizes.shape[-1]
    ticks = np.int8 if horizon < np.iinfo(np.int8).max else np.int16
    state = BeliefState(
        world=np.zeros(count, np.uint8),
        seen=np.zeros((count, 1, services, sorts, len(UNSEEN)), np.int8),
        own=np.zeros((count, tables.shares.shape[1]), np.int64),
        aloof=np.zeros((count, services), np.int64),
        reached=np.zeros((count, hypotheses), np.int64),
        noted=np.zeros((count, hypotheses), np.int64),
        edge=np.zeros((count, 3), np.int64),
        panel=np.zeros((count, horizon + 1), np.int8),
        fixed_at=np.zeros((count, hypotheses), ticks),
        breaks=np.zeros((count, 0), np.int16),
        owners=np.zeros((count, services), np.min_scalar_type(-teams)),  # signed
        screens=np.zeros(count, np.int16),
        remedies=np.zeros(count, np.int16),
        weights=np.zeros((count, hypotheses), np.uint32),
    )
    clear(state, tables, slice(None))
    return state


def clear(state: BeliefState, tables: BeliefTables, rows: Any) -> None:
    """Forget everything seen in these rows; their worlds and owners stay."""
    state.seen[rows] = UNSEEN
    for sums in (state.own, state.noted, state.edge):
        sums[rows] = 0
    for counts in (state.screens, state.remedies, state.weights):
        counts[rows] = 0
    worlds = state.world[rows]
    state.aloof[rows] = tables.aloof[worlds]
    state.reached[rows] = tables.alone[worlds]
    state.panel[rows] = NO_PANEL
    state.breaks[rows] = NO_BREAK
    state.fixed_at[rows] = state.unfixed
