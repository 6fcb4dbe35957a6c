"""The actions and screens of N episodes, as arrays."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.vector.arrays import Bools
from logtriage.vector.tokens.incidents import TokenIncidents

#: Stands for a tick that has not come; later than any tick.
NEVER: Final = 255
#: The ``closing`` of an open incident.
OPEN: Final = -1

Bytes = NDArray[np.uint8]
Signed = NDArray[np.int8]


class TokenEpisodes(NamedTuple):
    """What was done and shown in N episodes over n services.

    ``columns`` (N, D) are the numbers of the layout, in their units; the array is the incidents'
    ``board``. ``closing`` (N,) indexes :data:`logtriage.grading.batch.CLOSINGS`, or is
    :data:`OPEN`. ``severity`` and ``root_cause`` (N,) are the first declared, -1 for none;
    ``declared_at``, ``paged_at`` and ``fixed_at`` (N,) the ticks of the first root cause, accepted
    page and accepted remedy, or :data:`NEVER`. ``remedies`` (N,) counts those applied,
    ``wrong_remedies`` the wrong ones, ``unapproved`` the wrong ones no later than the first
    accepted page. ``remedied`` (N, horizon + 1) marks ticks with a remedy; everything is read anew
    in the tick after it.
    """

    columns: Bytes
    closing: Signed
    severity: Signed
    root_cause: NDArray[np.int16]
    declared_at: Bytes
    paged_at: Bytes
    fixed_at: Bytes
    remedies: Bytes
    wrong_remedies: Bytes
    unapproved: Bytes
    remedied: Bools

    @classmethod
    def empty(cls, incidents: TokenIncidents, horizon: int) -> "TokenEpisodes":
        """Room for the episodes of these incidents, which kernels then begin."""
        count = len(incidents.index)

        def room(*shape: int) -> Bytes:
            return np.empty((count, *shape), np.uint8)

        return cls(
            columns=incidents.board,
            closing=np.empty(count, np.int8),
            severity=np.empty(count, np.int8),
            root_cause=np.empty(count, np.int16),
            declared_at=room(),
            paged_at=room(),
            fixed_at=room(),
            remedies=room(),
            wrong_remedies=room(),
            unapproved=room(),
            remedied=np.empty((count, horizon + 1), bool),
        )

    def copy(self) -> "TokenEpisodes":
        """A copy that shares no array."""
        return TokenEpisodes._make(array.copy() for array in self)
