"""What computes a batch: NumPy, or kernels compiled by Numba. Both obey the same laws."""

from typing import Any, Final, Protocol, runtime_checkable

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.backend import BackendName, chosen_backend
from logtriage.grading.rubric import Rubric
from logtriage.vector.arrays import Ints
from logtriage.vector.episodes import Episodes, apply, pass_time
from logtriage.vector.incidents import IncidentArrays, draw_incidents
from logtriage.vector.layout import Floats
from logtriage.vector.screens import read_screens, write_observation
from logtriage.vector.setting import Setting
from logtriage.vector.tokens.backend import NumpyTokens
from logtriage.vector.tokens.setting import TokenSetting

__all__ = ["Backend", "BackendName", "NumpyBackend", "backend_of"]

#: Rows observed at a time by NumPy: enough to pay for the calls, and so few that what
#: they leave in between stays in a core's cache.
BLOCK_ROWS: Final = 4096


class Backend(Protocol):
    """The steps of a batch. ``rows`` (R,) are different ones of the N.

    ``incidents`` and ``episodes`` are the structures of arrays of the world that is played.
    """

    @property
    def name(self) -> str:
        """As in :data:`BackendName`."""

    def draw(self, incidents: Any, rows: Ints, split: str, index: Ints) -> None:
        """Draw the incidents ``index`` (R,) of a split into ``rows``."""

    def begin(self, episodes: Any, rows: Ints) -> None:
        """Begin new episodes in ``rows``; nothing is shown before :meth:`read`."""

    def forget(self, episodes: Any, rows: Ints) -> None:
        """Forget what was asked for in the last tick of ``rows``."""

    def apply(self, episodes: Any, incidents: Any, actions: Ints, rows: Ints, lane: int) -> None:
        """Take the actions (R,) of ``lane`` in ``rows``, which are open; no time passes."""

    def pass_time(self, episodes: Any, rows: Ints) -> None:
        """Let a tick pass in ``rows``."""

    def read(self, incidents: Any, episodes: Any, rows: Ints) -> None:
        """Draw what the screens of ``rows`` show, once in each of their ticks."""

    def scores(self, rubric: Rubric, incidents: Any, episodes: Any) -> NDArray[np.float64]:
        """The grade so far of each row (N,).

        Raises:
            RubricError: if a rule of the rubric cannot score a batch.
        """

    def observe(self, incidents: Any, episodes: Any, out: Floats) -> None:
        """Write the observation of all screens (N, D) to ``out``."""


@runtime_checkable
class WholeTicks(Protocol):
    """A backend that plays a tick at once where one acts: forget, apply, pass, read, score."""

    def play(
        self,
        rubric: Rubric,
        incidents: Any,
        episodes: Any,
        actions: Ints,
        rows: Ints,
        scores: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """The scores (N,) after a tick of ``rows``, with ``actions`` (N,), from those before."""


def backend_of(name: str, setting: Setting | TokenSetting) -> Backend:
    """The backend of that name; ``auto`` takes Numba where it is installed.

    Raises:
        UnknownName: for an unknown name.
        MissingExtra: for ``numba`` where it is not installed.
    """
    compiled = chosen_backend(name, "logtriage.vector") == "numba"
    if isinstance(setting, TokenSetting):
        return _compiled_tokens(setting) if compiled else NumpyTokens(setting)
    return _compiled(setting) if compiled else NumpyBackend(setting)


def _compiled(setting: Setting) -> Backend:
    from logtriage.vector.compiled import NumbaBackend  # loads Numba

    return NumbaBackend(setting)


def _compiled_tokens(setting: TokenSetting) -> Backend:
    from logtriage.vector.tokens.compiled import NumbaTokens  # loads Numba

    return NumbaTokens(setting)


@attrs.frozen(eq=False)
class NumpyBackend:
    """Arrays, without a Python loop over rows."""

    setting: Setting

    @property
    def name(self) -> str:
        """``numpy``."""
        return "numpy"

    def draw(self, incidents: IncidentArrays, rows: Ints, split: str, index: Ints) -> None:
        """As :meth:`Backend.draw`."""
        one, choices = self.setting, self.setting.choices(split)
        incidents.put(rows, draw_incidents(one.task, split, index, one.graph, choices))

    def begin(self, episodes: Episodes, rows: Ints) -> None:
        """As :meth:`Backend.begin`."""
        episodes.put(rows, self.setting.fresh(1))

    def forget(self, episodes: Episodes, rows: Ints) -> None:
        """As :meth:`Backend.forget`."""
        episodes.requested[rows] = -1

    def apply(
        self, episodes: Episodes, incidents: IncidentArrays, actions: Ints, rows: Ints, lane: int
    ) -> None:
        """As :meth:`Backend.apply`."""
        apply(episodes, incidents, actions, self.setting.actions, rows, lane)

    def pass_time(self, episodes: Episodes, rows: Ints) -> None:
        """As :meth:`Backend.pass_time`."""
        pass_time(episodes, rows, self.setting.task.horizon)

    def read(self, incidents: IncidentArrays, episodes: Episodes, rows: Ints) -> None:
        """Nothing: in the first world, to observe is to read."""

    def scores(
        self, rubric: Rubric, incidents: IncidentArrays, episodes: Episodes
    ) -> NDArray[np.float64]:
        """As :meth:`Backend.scores`."""
        return self.setting.scores(rubric, incidents, episodes)

    def observe(self, incidents: IncidentArrays, episodes: Episodes, out: Floats) -> None:
        """As :meth:`Backend.observe`."""
        task, layout = self.setting.task, self.setting.layout
        for start in range(0, len(out), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            here, now = incidents.view(block), episodes.view(block)
            screens = read_screens(task, here, now)
            write_observation(layout, task.horizon, here, now, screens, out[block])
