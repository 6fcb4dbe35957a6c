"""What computes a batch: NumPy, or kernels compiled by Numba. Both obey the same laws."""

from typing import Final, Protocol

import attrs

from logtriage.backend import BackendName, chosen_backend
from logtriage.vector.arrays import Ints
from logtriage.vector.episodes import Episodes, apply, pass_time
from logtriage.vector.incidents import IncidentArrays, draw_incidents
from logtriage.vector.layout import Floats
from logtriage.vector.screens import read_screens, write_observation
from logtriage.vector.setting import Setting

__all__ = ["Backend", "BackendName", "NumpyBackend", "backend_of"]

#: Rows observed at a time by NumPy: enough to pay for the calls, and so few that what
#: they leave in between stays in a core's cache.
BLOCK_ROWS: Final = 4096


class Backend(Protocol):
    """The steps of a batch. ``rows`` (R,) are different ones of the N."""

    @property
    def name(self) -> str:
        """As in :data:`BackendName`."""

    def draw(self, incidents: IncidentArrays, rows: Ints, split: str, index: Ints) -> None:
        """Draw the incidents ``index`` (R,) of a split into ``rows``."""

    def begin(self, episodes: Episodes, rows: Ints) -> None:
        """Begin new episodes in ``rows``."""

    def apply(
        self, episodes: Episodes, incidents: IncidentArrays, actions: Ints, rows: Ints, lane: int
    ) -> None:
        """Take the actions (R,) of ``lane`` in ``rows``, which are open; no time passes."""

    def pass_time(self, episodes: Episodes, rows: Ints) -> None:
        """Let a tick pass in ``rows``."""

    def observe(self, incidents: IncidentArrays, episodes: Episodes, out: Floats) -> None:
        """Read all screens, note what they say, and write the observation (N, D) to ``out``."""


def backend_of(name: str, setting: Setting) -> Backend:
    """The backend of that name; ``auto`` takes Numba where it is installed.

    Raises:
        UnknownName: for an unknown name.
        MissingExtra: for ``numba`` where it is not installed.
    """
    if chosen_backend(name, "logtriage.vector") == "numpy":
        return NumpyBackend(setting)
    from logtriage.vector.compiled import NumbaBackend

    return NumbaBackend(setting)


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
        episodes.put(rows, self.setting.begin(1))

    def apply(
        self, episodes: Episodes, incidents: IncidentArrays, actions: Ints, rows: Ints, lane: int
    ) -> None:
        """As :meth:`Backend.apply`."""
        apply(episodes, incidents, actions, self.setting.actions, rows, lane)

    def pass_time(self, episodes: Episodes, rows: Ints) -> None:
        """As :meth:`Backend.pass_time`."""
        pass_time(episodes, rows, self.setting.task.horizon)

    def observe(self, incidents: IncidentArrays, episodes: Episodes, out: Floats) -> None:
        """As :meth:`Backend.observe`."""
        task, layout = self.setting.task, self.setting.layout
        for start in range(0, len(out), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            here, now = incidents.view(block), episodes.view(block)
            screens = read_screens(task, here, now)
            write_observation(layout, task.horizon, here, now, screens, out[block])
