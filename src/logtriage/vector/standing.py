"""Where N episodes stand, as the measures and gates of a rubric read it."""

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.grading.batch import CLOSINGS
from logtriage.state import Closing
from logtriage.vector.arrays import Bools
from logtriage.vector.episodes import Episodes
from logtriage.vector.incidents import IncidentArrays

_RESOLVED = CLOSINGS.index(Closing.RESOLVED)
_IGNORED = CLOSINGS.index(Closing.IGNORED)


@attrs.frozen(eq=False)
class Standing:
    """A :class:`logtriage.grading.played.Played` of episodes of one horizon."""

    incidents: IncidentArrays
    episodes: Episodes
    horizon: int

    @property
    def width(self) -> int:
        """One more than the most ticks that can be used."""
        return self.horizon + 1

    @property
    def horizon_slot(self) -> None:
        """There is one horizon."""
        return

    @property
    def ticks(self) -> NDArray[np.int16]:
        """Ticks used (N,)."""
        return self.episodes.tick

    @property
    def severity_off(self) -> NDArray[np.int8]:
        """How many classes the first severity is off (N,); the worst if none was declared."""
        declared = self.episodes.severity
        off = np.abs(declared - self.incidents.severity).astype(np.int8)
        return np.where(declared < 0, np.int8(len(SEVERITIES) - 1), off)

    @property
    def blamed(self) -> Bools:
        """Whether any service was declared the root cause (N,)."""
        return self.episodes.root_cause >= 0

    @property
    def rightly_blamed(self) -> Bools:
        """Whether the first service declared is the root (N,)."""
        found: Bools = self.episodes.root_cause == self.incidents.root
        return found & ~self.incidents.benign

    @property
    def paged(self) -> Bools:
        """Whether the accepted team was paged (N,)."""
        return self.episodes.paged_rightly

    @property
    def wrongly_paged(self) -> Bools:
        """Whether another team was paged (N,)."""
        return self.episodes.paged_wrongly

    @property
    def remedies(self) -> NDArray[np.int16]:
        """How many remedies were applied (N,)."""
        return self.episodes.remedies

    @property
    def wrong_remedies(self) -> NDArray[np.int16]:
        """How many of them were not accepted (N,)."""
        return self.episodes.wrong_remedies

    @property
    def fixed(self) -> Bools:
        """Whether an accepted remedy was applied (N,)."""
        return self.episodes.remedies > self.episodes.wrong_remedies

    @property
    def resolved(self) -> Bools:
        """Whether the incident was closed by ``Resolve`` (N,)."""
        found: Bools = self.episodes.closing == _RESOLVED
        return found

    @property
    def ignored(self) -> Bools:
        """Whether the incident was closed by ``Ignore`` (N,)."""
        found: Bools = self.episodes.closing == _IGNORED
        return found

    @property
    def benign(self) -> Bools:
        """Whether there is nothing to act on (N,)."""
        return self.incidents.benign
