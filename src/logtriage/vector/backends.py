"""What computes a batch: NumPy, or kernels compiled by Numba. Both obey the same laws."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from logtriage.backend import BackendName, chosen_backend
from logtriage.grading.rubric import Rubric
from logtriage.vector.arrays import Ints
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.backend import NumpyTokens
from logtriage.vector.tokens.episodes import TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.setting import TokenSetting

__all__ = ["Backend", "BackendName", "backend_of"]


class Backend(Protocol):
    """The steps of a batch. ``rows`` (R,) are different ones of the N."""

    @property
    def name(self) -> str:
        """As in :data:`BackendName`."""

    def draw(self, incidents: TokenIncidents, rows: Ints, split: str, index: Ints) -> None:
        """Draw the incidents ``index`` (R,) of a split into ``rows``."""

    def begin(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """Begin new episodes in ``rows``; nothing is shown before :meth:`read`."""

    def forget(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """Forget what was asked for in the last tick of ``rows``."""

    def apply(
        self,
        episodes: TokenEpisodes,
        incidents: TokenIncidents,
        actions: Ints,
        rows: Ints,
        lane: int,
    ) -> None:
        """Take the actions (R,) of ``lane`` in ``rows``, which are open; no time passes."""

    def pass_time(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """Let a tick pass in ``rows``."""

    def read(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """Draw what the screens of ``rows`` show, once in each of their ticks."""

    def scores(
        self, rubric: Rubric, incidents: TokenIncidents, episodes: TokenEpisodes
    ) -> NDArray[np.float64]:
        """The grade so far of each row (N,).

        Raises:
            RubricError: if a rule of the rubric cannot score a batch.
        """

    def observe(self, incidents: TokenIncidents, episodes: TokenEpisodes, out: Floats) -> None:
        """Write the observation of all screens (N, D) to ``out``."""


@runtime_checkable
class WholeTicks(Protocol):
    """A backend that plays a tick at once where one acts: forget, apply, pass, read, score."""

    def play(
        self,
        rubric: Rubric,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        actions: Ints,
        rows: Ints,
        scores: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """The scores (N,) after a tick of ``rows``, with ``actions`` (N,), from those before."""


@runtime_checkable
class Renews(Protocol):
    """A backend that brings an observation up to date where something has changed."""

    def renew(self, episodes: TokenEpisodes, shown: NDArray[np.uint8], out: Floats) -> None:
        """Write the observation of all screens to ``out`` (N, D).

        ``shown`` (N, D) are the numbers that ``out`` was made of, and afterwards again.
        """


def backend_of(name: str, setting: TokenSetting) -> Backend:
    """The backend of that name; ``auto`` takes Numba where it is installed.

    Raises:
        UnknownName: for an unknown name.
        MissingExtra: for ``numba`` where it is not installed.
    """
    if chosen_backend(name, "logtriage.vector") != "numba":
        return NumpyTokens(setting)
    from logtriage.vector.tokens.compiled import NumbaTokens  # loads Numba

    return NumbaTokens(setting)
