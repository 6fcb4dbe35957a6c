"""The actions and screens of N episodes, as arrays."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.vector.arrays import Bools
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.world.channels import SERIES

#: Later than any tick.
NEVER: Final = 255
#: The longest horizon: the tick of a note stays below :data:`NEVER`.
MOST_TICKS: Final = 250
OPEN: Final = -1

Bytes = NDArray[np.uint8]
Signed = NDArray[np.int8]


class TokenEpisodes(NamedTuple):
    """The history of N episodes over n services, and what was shown in them.

    ``columns`` (N, D) are the numbers of the layout, in their units, shared with the
    incidents; ``time`` among them counts the ticks. ``closing`` (N,) index into
    :data:`logtriage.grading.batch.CLOSINGS`, -1 while open; ``severity`` and ``root_cause``
    (N,) first declarations, -1 if none; ``said_at``, ``paged_at`` and ``fixed_at`` (N,) the
    tick of the first root cause, accepted page and accepted remedy, or ``NEVER``;
    ``remedies``, ``wrong_remedies`` and ``unapproved`` (N,) how many were applied, how many
    of them wrong, and how many of these before an accepted page; ``anew`` (N,) whether a remedy
    was applied in the last tick, so that everything is read anew; ``epochs`` (N, 3) the last
    ticks at which gauges were read, newest last, ``NEVER`` where there was none;
    ``lines_asked`` (N, n + 1) how often all services (first) and each were asked for lines;
    ``metrics_until`` and ``traces_until`` (N, n) the last tick whose screen showed them, or
    ``NEVER``; ``signs`` (N, sorts, n) the present sign of each sort and service plus one, 0
    where it has not been drawn.
    """

    columns: Bytes
    closing: Signed
    severity: Signed
    root_cause: NDArray[np.int16]
    said_at: Bytes
    paged_at: Bytes
    fixed_at: Bytes
    remedies: Bytes
    wrong_remedies: Bytes
    unapproved: Bytes
    anew: Bools
    epochs: Bytes
    lines_asked: Bytes
    metrics_until: Bytes
    traces_until: Bytes
    signs: Bytes

    @classmethod
    def begin(cls, incidents: TokenIncidents, sorts: int) -> "TokenEpisodes":
        """Fresh episodes of incidents with cells of so many sorts, with nothing shown yet."""
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
            remedies=none(),
            wrong_remedies=none(),
            unapproved=none(),
            anew=np.zeros(count, bool),
            epochs=never(SERIES),
            lines_asked=none(n + 1),
            metrics_until=never(n),
            traces_until=never(n),
            signs=none(sorts, n),
        )

    def copy(self) -> "TokenEpisodes":
        """A copy that shares no array."""
        return TokenEpisodes._make(array.copy() for array in self)
