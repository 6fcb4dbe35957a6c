"""What was done in N episodes, as arrays: the facts of :class:`logtriage.state.Facts`."""

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import REMEDIES, SEVERITIES, Remedy
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.incidents import IncidentArrays

#: Later than any tick.
NEVER = 1 << 20
RESTART = REMEDIES.index(Remedy.RESTART)


@attrs.define(eq=False)
class Episodes:
    """The history of N episodes over n services and m teams, and what was read in them.

    ``tick`` (N,); ``fixed_at`` (N,) tick of the first accepted remedy, or ``NEVER``;
    ``restarted`` (N, H + 1, L) the service restarted without need in each tick by each of
    the L who act in it, -1 if none; ``requested`` (N, L) what was asked for in the last
    tick: a service, -1 nothing or all; ``severity`` and ``root_cause`` (N,) first
    declarations, -1 if none; flags ``paged`` (N, m), ``remedied`` (N, n), ``applied``
    (N, 5) and ``asked`` (N, n); ``blamed``, ``complaining`` and ``named`` (N, n) where it
    was read, in bits of :data:`~logtriage.vector.team_layout.SOURCES`; ``worst`` (N,)
    rank of the severest panel.
    """

    tick: Ints
    fixed_at: Ints
    restarted: NDArray[np.int8]
    requested: Ints
    severity: Ints
    root_cause: Ints
    paged: Bools
    remedied: Bools
    applied: Bools
    asked: Bools
    blamed: NDArray[np.uint8]
    complaining: NDArray[np.uint8]
    named: NDArray[np.uint8]
    worst: Ints

    @classmethod
    def begin(cls, count: int, n: int, m: int, horizon: int, lanes: int = 1) -> "Episodes":
        """Fresh episodes, in which ``lanes`` act in each tick."""
        return cls(
            tick=np.zeros(count, np.int64),
            fixed_at=np.full(count, NEVER, np.int64),
            restarted=np.full((count, horizon + 1, lanes), -1, np.int8 if n < 128 else np.int16),
            requested=np.full((count, lanes), -1, np.int64),
            severity=np.full(count, -1, np.int64),
            root_cause=np.full(count, -1, np.int64),
            paged=np.zeros((count, m), bool),
            remedied=np.zeros((count, n), bool),
            applied=np.zeros((count, len(REMEDIES)), bool),
            asked=np.zeros((count, n), bool),
            blamed=np.zeros((count, n), np.uint8),
            complaining=np.zeros((count, n), np.uint8),
            named=np.zeros((count, n), np.uint8),
            worst=np.full(count, len(SEVERITIES) - 1, np.int64),
        )

    def put(self, rows: Ints, new: "Episodes") -> None:
        """Replace some rows by those of ``new``."""
        for field in attrs.fields(Episodes):
            getattr(self, field.name)[rows] = getattr(new, field.name)


@attrs.frozen(eq=False)
class ActionTable:
    """The canonical actions of a topology, decoded: columns of length A, -1 where unused.

    ``closes``: whether it closes whatever the truth is.
    """

    severity: NDArray[np.int64]
    root_cause: NDArray[np.int64]
    team: NDArray[np.int64]
    remedy: NDArray[np.int64]
    target: NDArray[np.int64]
    request: NDArray[np.int64]
    closes: NDArray[np.bool_]


def take(
    episodes: Episodes,
    incidents: IncidentArrays,
    actions: Ints,
    table: ActionTable,
    rows: Ints,
    lane: int = 0,
) -> None:
    """Enter the actions (N,) of some rows (R,) into their history; no time passes."""
    chosen = actions[rows]
    tick = episodes.tick[rows]
    severity, root_cause = table.severity[chosen], table.root_cause[chosen]
    undeclared = episodes.severity[rows] < 0
    episodes.severity[rows] = np.where(undeclared, severity, episodes.severity[rows])
    undeclared = episodes.root_cause[rows] < 0
    episodes.root_cause[rows] = np.where(undeclared, root_cause, episodes.root_cause[rows])
    request = table.request[chosen]
    episodes.requested[rows, lane] = request
    asked = request >= 0
    episodes.asked[rows[asked], request[asked]] = True
    team = table.team[chosen]
    pages = team >= 0
    episodes.paged[rows[pages], team[pages]] = True
    remedies = table.remedy[chosen] >= 0
    where, when = rows[remedies], tick[remedies]
    remedy, target = table.remedy[chosen][remedies], table.target[chosen][remedies]
    episodes.remedied[where, target] = True
    episodes.applied[where, remedy] = True
    right = incidents.remedies[where, remedy] & (incidents.root[where] == target)
    fixed = where[right]
    episodes.fixed_at[fixed] = np.minimum(episodes.fixed_at[fixed], when[right])
    needless = ~right & (remedy == RESTART)
    episodes.restarted[where[needless], when[needless], lane] = target[needless]
