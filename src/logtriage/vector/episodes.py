"""What was done in N episodes, as arrays: the facts of :class:`logtriage.state.Facts`."""

from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    REMEDIES,
    SEVERITIES,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Remedy,
    RequestMoreLogs,
    Resolve,
    all_actions,
)
from logtriage.grading.batch import CLOSINGS
from logtriage.state import Closing
from logtriage.topology import Topology
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.incidents import IncidentArrays

#: Later than any tick.
NEVER: Final = 1 << 14
OPEN: Final = -1
RESTART: Final = REMEDIES.index(Remedy.RESTART)
MISROUTED: Final = CLOSINGS.index(Closing.MISROUTED)
OUT_OF_TIME: Final = CLOSINGS.index(Closing.OUT_OF_TIME)

Shorts = NDArray[np.int16]
Bytes = NDArray[np.int8]
Bits8 = NDArray[np.uint8]


@attrs.define(eq=False)
class Episodes:
    """The history of N episodes over n services and m teams, and what was read in them.

    ``tick`` (N,); ``closing`` (N,) index into :data:`logtriage.grading.batch.CLOSINGS`,
    -1 while open; ``fixed_at`` (N,) tick of the first accepted remedy, or ``NEVER``;
    ``restarted`` (N, H + 1, L) the service restarted without need in each tick by each of
    the L who act in it, -1 if none; ``requested`` (N, L) what each asked for in the last
    tick: a service, -1 nothing or all; ``severity`` and ``root_cause`` (N,) first
    declarations, -1 if none;
    ``remedies`` and ``wrong_remedies`` (N,) how many were applied; ``paged_rightly`` and
    ``paged_wrongly`` (N,); flags ``paged`` (N, m), ``remedied`` (N, n), ``applied``
    (N, 5) and ``asked`` (N, n); ``blamed``, ``complaining`` and ``named`` (N, n) where it
    was read, in bits of :data:`~logtriage.vector.team_layout.SOURCES`; ``worst`` (N,)
    rank of the severest panel.
    """

    tick: Shorts
    closing: Bytes
    fixed_at: Shorts
    restarted: Shorts
    requested: Shorts
    severity: Bytes
    root_cause: Shorts
    remedies: Shorts
    wrong_remedies: Shorts
    paged_rightly: Bools
    paged_wrongly: Bools
    paged: Bools
    remedied: Bools
    applied: Bools
    asked: Bools
    blamed: Bits8
    complaining: Bits8
    named: Bits8
    worst: Bytes

    @classmethod
    def begin(cls, count: int, n: int, m: int, horizon: int, lanes: int = 1) -> "Episodes":
        """Fresh episodes, in which ``lanes`` act in each tick."""
        return cls(
            tick=np.zeros(count, np.int16),
            closing=np.full(count, OPEN, np.int8),
            fixed_at=np.full(count, NEVER, np.int16),
            restarted=np.full((count, horizon + 1, lanes), -1, np.int16),
            requested=np.full((count, lanes), -1, np.int16),
            severity=np.full(count, -1, np.int8),
            root_cause=np.full(count, -1, np.int16),
            remedies=np.zeros(count, np.int16),
            wrong_remedies=np.zeros(count, np.int16),
            paged_rightly=np.zeros(count, bool),
            paged_wrongly=np.zeros(count, bool),
            paged=np.zeros((count, m), bool),
            remedied=np.zeros((count, n), bool),
            applied=np.zeros((count, len(REMEDIES)), bool),
            asked=np.zeros((count, n), bool),
            blamed=np.zeros((count, n), np.uint8),
            complaining=np.zeros((count, n), np.uint8),
            named=np.zeros((count, n), np.uint8),
            worst=np.full(count, len(SEVERITIES) - 1, np.int8),
        )

    def put(self, rows: Ints, new: "Episodes") -> None:
        """Replace some rows by those of ``new``, or by its only one."""
        for field in attrs.fields(Episodes):
            getattr(self, field.name)[rows] = getattr(new, field.name)

    def copy(self) -> "Episodes":
        """The same episodes in arrays of their own."""
        return Episodes(*[getattr(self, field.name).copy() for field in attrs.fields(Episodes)])

    def view(self, rows: slice) -> "Episodes":
        """Some neighbouring rows; what is written there is written here."""
        return Episodes(*[getattr(self, field.name)[rows] for field in attrs.fields(Episodes)])


@attrs.frozen(eq=False)
class ActionTable:
    """The canonical actions of a topology, decoded: columns of length A, -1 where unused.

    ``closes`` is the closing of what ends an episode whatever its truth.
    """

    severity: NDArray[np.int64]
    root_cause: NDArray[np.int64]
    team: NDArray[np.int64]
    remedy: NDArray[np.int64]
    target: NDArray[np.int64]
    request: NDArray[np.int64]
    closes: NDArray[np.int64]

    @classmethod
    def of(cls, topology: Topology) -> "ActionTable":
        """The table of a topology."""
        columns: dict[str, list[int]] = {field.name: [] for field in attrs.fields(ActionTable)}
        for action in all_actions(topology):
            row = dict.fromkeys(columns, -1)
            match action:
                case ClassifySeverity(severity):
                    row["severity"] = SEVERITIES.index(severity)
                case IdentifyRootCause(service, _):
                    row["root_cause"] = topology.index(service)
                case Escalate(team):
                    row["team"] = topology.teams.index(team)
                case Remediate(remedy, service):
                    row["remedy"] = REMEDIES.index(remedy)
                    row["target"] = topology.index(service)
                case RequestMoreLogs(str() as service):
                    row["request"] = topology.index(service)
                case Resolve():
                    row["closes"] = CLOSINGS.index(Closing.RESOLVED)
                case Ignore():
                    row["closes"] = CLOSINGS.index(Closing.IGNORED)
                case _:
                    pass
            for name, value in row.items():
                columns[name].append(value)
        return cls(**{name: np.array(values) for name, values in columns.items()})


def apply(
    episodes: Episodes,
    incidents: IncidentArrays,
    actions: Ints,
    table: ActionTable,
    rows: Ints,
    lane: int,
) -> None:
    """Enter the actions (R,) that ``lane`` takes in some open rows (R,) into their history."""

    def among(column: NDArray[np.int64]) -> tuple[Any, Any]:
        """The rows with such an action, and what it says."""
        said = column[actions]
        at = np.flatnonzero(said >= 0)
        return rows[at], said[at]

    where, said = among(table.severity)
    first = episodes.severity[where] < 0
    episodes.severity[where[first]] = said[first]
    where, said = among(table.root_cause)
    first = episodes.root_cause[where] < 0
    episodes.root_cause[where[first]] = said[first]

    episodes.requested[rows, lane] = table.request[actions]
    where, said = among(table.request)
    episodes.asked[where, said] = True

    where, said = among(table.closes)
    episodes.closing[where] = said
    where, said = among(table.team)
    episodes.paged[where, said] = True
    right = incidents.team[where] == said
    episodes.paged_rightly[where[right]] = True
    episodes.paged_wrongly[where[~right]] = True
    episodes.closing[where[~right]] = MISROUTED

    where, target = among(table.target)
    _, remedy = among(table.remedy)
    when = episodes.tick[where]
    episodes.remedied[where, target] = True
    episodes.applied[where, remedy] = True
    right = incidents.remedies[where, remedy] & (incidents.root[where] == target)
    episodes.remedies[where] += 1
    episodes.wrong_remedies[where] += ~right
    fixed = where[right]
    episodes.fixed_at[fixed] = np.minimum(episodes.fixed_at[fixed], when[right])
    needless = ~right & (remedy == RESTART)
    episodes.restarted[where[needless], when[needless], lane] = target[needless]


def pass_time(episodes: Episodes, rows: Ints, horizon: int) -> None:
    """Let one tick pass in some rows (R,); those still open at the horizon close."""
    episodes.tick[rows] += 1
    late = rows[(episodes.tick[rows] >= horizon) & (episodes.closing[rows] == OPEN)]
    episodes.closing[late] = OUT_OF_TIME
