"""What was done and shown in N episodes, as arrays."""

from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES, RequestMoreLogs, action_id
from logtriage.grading.action_lists import ActionRanges, ranges_of
from logtriage.grading.batch import CLOSINGS
from logtriage.state import Closing
from logtriage.topology import Topology
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.layout import REQUESTS, TokenLayout
from logtriage.vector.tokens.tables import TokenTables
from logtriage.world.channels import SERIES, Channel

#: Later than any tick.
NEVER: Final = 255
#: Horizons end below this, so that the tick of a note does not pass for never.
MOST_TICKS: Final = 250
OPEN: Final = -1
RESOLVED: Final = CLOSINGS.index(Closing.RESOLVED)
IGNORED: Final = CLOSINGS.index(Closing.IGNORED)
MISROUTED: Final = CLOSINGS.index(Closing.MISROUTED)
OUT_OF_TIME: Final = CLOSINGS.index(Closing.OUT_OF_TIME)

Bytes = NDArray[np.uint8]
Signed = NDArray[np.int8]


@attrs.define(eq=False)
class TokenEpisodes:
    """The history of N episodes over n services, and what was shown in them.

    ``columns`` (N, D) are the numbers of the layout, in their units, shared with the
    incidents; ``time`` among them counts the ticks. ``closing`` (N,) index into
    :data:`logtriage.grading.batch.CLOSINGS`, -1 while open; ``severity`` and ``root_cause``
    (N,) first declarations, -1 if none; ``said_at``, ``paged_at`` and ``fixed_at`` (N,) the
    tick of the first root cause, accepted page and accepted remedy, or ``NEVER``;
    ``wrong_remedies`` and ``unapproved`` (N,) how many were applied, and how many of them
    before an accepted page; ``anew`` (N,) whether a remedy was applied in the last tick, so
    that everything is read anew; ``epochs`` (N, 3) the last ticks at which gauges were read,
    newest last, ``NEVER`` where there was none; ``lines_asked`` (N, n + 1) how often all
    services (first) and each were asked for lines; ``metrics_until`` and ``traces_until``
    (N, n) the last tick whose screen showed them, or ``NEVER``.
    """

    columns: Bytes
    closing: Signed
    severity: Signed
    root_cause: NDArray[np.int16]
    said_at: Bytes
    paged_at: Bytes
    fixed_at: Bytes
    wrong_remedies: Bytes
    unapproved: Bytes
    anew: Bools
    epochs: Bytes
    lines_asked: Bytes
    metrics_until: Bytes
    traces_until: Bytes

    @classmethod
    def begin(cls, incidents: TokenIncidents) -> "TokenEpisodes":
        """Fresh episodes of incidents, with nothing shown yet."""
        count, n = incidents.conditions.shape

        def never(*shape: int) -> Bytes:
            return np.full((count, *shape), NEVER, np.uint8)

        def none(*shape: int) -> Bytes:
            return np.zeros((count, *shape), np.uint8)

        incidents.board[:, : incidents.first_public] = 0
        return cls(
            columns=incidents.board,
            closing=np.full(count, OPEN, np.int8),
            severity=np.full(count, -1, np.int8),
            root_cause=np.full(count, -1, np.int16),
            said_at=never(),
            paged_at=never(),
            fixed_at=never(),
            wrong_remedies=none(),
            unapproved=none(),
            anew=np.zeros(count, bool),
            epochs=never(SERIES),
            lines_asked=none(n + 1),
            metrics_until=never(n),
            traces_until=never(n),
        )

    def begin_anew(self, rows: Ints, layout: TokenLayout) -> None:
        """Make the episodes of some rows fresh ones."""
        fresh = TokenEpisodes.begin(
            TokenIncidents.empty(1, len(layout.topology), np.dtype(np.uint8), layout)
        )
        self.columns[rows, : layout.first_public] = 0
        for field in attrs.fields(TokenEpisodes):
            if field.name != "columns":
                getattr(self, field.name)[rows] = getattr(fresh, field.name)

    def at(self, rows: Ints, incidents: TokenIncidents) -> "TokenEpisodes":
        """Some rows, on the board of their incidents (as of :meth:`TokenIncidents.at`)."""
        names = [field.name for field in attrs.fields(TokenEpisodes)][1:]
        return TokenEpisodes(incidents.board, *[getattr(self, name)[rows] for name in names])

    def copy(self) -> "TokenEpisodes":
        """The same episodes in arrays of their own."""
        return TokenEpisodes(
            *[getattr(self, field.name).copy() for field in attrs.fields(TokenEpisodes)]
        )


@attrs.frozen
class ActionPlaces:
    """The canonical integers of a topology's actions, and where they show in a layout.

    ``requests`` is the integer of the first request, for lines of all services; those of
    each, gauges and traces follow, ``services`` each.
    """

    ranges: ActionRanges
    requests: int
    services: int
    severity: int
    declared: int
    paged: int
    remedied: int
    applied: int
    eased: int
    time: int
    closed: int

    @classmethod
    def of(cls, topology: Topology, layout: TokenLayout) -> "ActionPlaces":
        """Of a topology and its layout."""
        blocks = ("severity", "declared", "paged", "remedied", "applied", "eased", "time", "closed")
        return cls(
            ranges_of(topology),
            action_id(RequestMoreLogs(None), topology),
            len(topology),
            *[layout[block].start for block in blocks],
        )


def asked_of(actions: Ints, places: ActionPlaces) -> tuple[Ints, Ints]:
    """Which request (number from 1) each action is, and of which service (from 1; 0: all).

    Both are 0 where it is none.
    """
    at = actions - places.requests  # all, then each service's lines, gauges, traces
    none = (at < 0) | (at > len(_BY_SERVICE) * places.services)
    kind, service = np.divmod(at - 1, places.services)
    of = np.where(at == 0, _OVERVIEW, _KINDS[np.where(none, 0, kind)])
    return np.where(none, 0, of), np.where(none | (at == 0), 0, service + 1)


_BY_SERVICE: Final = (Channel.LOGS, Channel.METRICS, Channel.TRACES)
_OVERVIEW: Final = 1 + REQUESTS.index(Channel.OVERVIEW)
_KINDS: Final = np.array([1 + REQUESTS.index(channel) for channel in _BY_SERVICE])


def forget(episodes: TokenEpisodes, layout: TokenLayout, rows: Ints) -> None:
    """Forget what was asked for in the last tick of some rows."""
    for lane in range(layout.lanes):
        at = layout.answer(lane)
        asked = rows[episodes.columns[rows, at.start] != 0]
        episodes.columns[asked, at] = 0


def apply(
    episodes: TokenEpisodes,
    incidents: TokenIncidents,
    tables: TokenTables,
    layout: TokenLayout,
    places: ActionPlaces,
    actions: Ints,
    rows: Ints,
    lane: int,
) -> None:
    """Enter the actions (R,) that ``lane`` takes in some open rows (R,) into their history."""
    now, ranges = episodes, places.ranges

    def among(first: int, count: int) -> tuple[Any, Any]:
        """The rows with an action of a range, and which of it."""
        said = actions - first
        at = np.flatnonzero((said >= 0) & (said < count))
        return rows[at], said[at]

    where, said = among(0, len(SEVERITIES))
    first = now.severity[where] < 0
    now.severity[where[first]] = said[first]
    now.columns[where[first], places.severity + said[first]] = 1

    where, said = among(ranges.root, ranges.roots)
    first = now.root_cause[where] < 0
    where, said = where[first], said[first]
    now.root_cause[where] = said
    now.said_at[where] = now.columns[where, places.time]
    now.columns[where, places.declared + said] = 1

    where, said = among(ranges.page, ranges.pages)
    now.columns[where, places.paged + said] = 1
    right = incidents.team[where] == said
    now.closing[where[~right]] = MISROUTED
    where = where[right]
    now.paged_at[where] = np.minimum(now.paged_at[where], now.columns[where, places.time])

    where, said = among(ranges.remedy, ranges.remedies)
    _remedy(now, incidents, tables, places, where, *np.divmod(said, places.services))

    kind, service = asked_of(actions, places)
    at = layout.answer(lane).start
    now.columns[rows, at] = kind
    now.columns[rows, at + 1] = service

    now.closing[rows[actions == ranges.resolve]] = RESOLVED
    now.closing[rows[actions == ranges.ignore]] = IGNORED


def _remedy(
    now: TokenEpisodes,
    incidents: TokenIncidents,
    tables: TokenTables,
    places: ActionPlaces,
    where: Ints,
    remedy: Ints,
    service: Ints,
) -> None:
    """Apply remedies (R,) to services (R,) of some rows."""
    when = now.columns[where, places.time]
    now.columns[where, places.remedied + service] = 1
    now.columns[where, places.applied + remedy] = 1
    now.anew[where] = True
    true = incidents.hypothesis[where]
    right = tables.remedies[true, remedy] & (tables.root[true] == service)
    fixed, wrong = where[right], where[~right]
    now.fixed_at[fixed] = np.minimum(now.fixed_at[fixed], when[right])
    now.columns[fixed, places.eased] = 1
    now.wrong_remedies[wrong] += 1
    now.unapproved[wrong] += now.paged_at[wrong] >= when[~right]


def pass_time(episodes: TokenEpisodes, places: ActionPlaces, rows: Ints, horizon: int) -> None:
    """Let one tick pass in some rows (R,); those still open at the horizon close."""
    now = episodes
    ticks = now.columns[rows, places.time] + 1
    now.columns[rows, places.time] = ticks
    late = rows[(ticks >= horizon) & (now.closing[rows] == OPEN)]
    now.closing[late] = OUT_OF_TIME
    now.columns[rows, places.closed] = now.closing[rows] != OPEN
