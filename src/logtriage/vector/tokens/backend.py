"""The :class:`logtriage.vector.backends.Backend` in NumPy."""

import attrs

from logtriage.grading.rubric import Rubric
from logtriage.vector.arrays import Ints
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.episodes import TokenEpisodes, apply, forget, pass_time
from logtriage.vector.tokens.incidents import TokenIncidents, draw_incidents
from logtriage.vector.tokens.scoring import Scores
from logtriage.vector.tokens.screens import Reader
from logtriage.vector.tokens.setting import TokenSetting

#: Rows read at a time: so few that what they leave in between stays in a core's cache.
BLOCK_ROWS = 8192


@attrs.frozen(eq=False)
class NumpyTokens:
    """Arrays, without a Python loop over rows."""

    setting: TokenSetting

    @property
    def name(self) -> str:
        """``numpy``."""
        return "numpy"

    def draw(self, incidents: TokenIncidents, rows: Ints, split: str, index: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.draw`."""
        one = self.setting
        incidents.put(rows, draw_incidents(one.task, split, index, one.tables, one.layout))

    def begin(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.begin`."""
        episodes.begin_anew(rows, self.setting.layout)

    def forget(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.forget`."""
        forget(episodes, self.setting.layout, rows)

    def apply(
        self,
        episodes: TokenEpisodes,
        incidents: TokenIncidents,
        actions: Ints,
        rows: Ints,
        lane: int,
    ) -> None:
        """As :meth:`logtriage.vector.backends.Backend.apply`."""
        one = self.setting
        apply(episodes, incidents, one.tables, one.layout, one.places, actions, rows, lane)

    def pass_time(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.pass_time`."""
        pass_time(episodes, self.setting.places, rows, self.setting.task.horizon)

    def read(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.read`."""
        one = self.setting
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            Reader(one.tables, one.layout, incidents, episodes, block).read()

    def scores(self, rubric: Rubric, incidents: TokenIncidents, episodes: TokenEpisodes) -> Scores:
        """As :meth:`logtriage.vector.backends.Backend.scores`."""
        return self.setting.scores(rubric, incidents, episodes)

    def observe(
        self,
        incidents: TokenIncidents,  # noqa: ARG002 (the board is shared)
        episodes: TokenEpisodes,
        out: Floats,
    ) -> None:
        """As :meth:`logtriage.vector.backends.Backend.observe`."""
        layout = self.setting.layout
        out[...] = episodes.columns
        for at in layout.scaled:
            out[:, at] *= layout.units[at]
