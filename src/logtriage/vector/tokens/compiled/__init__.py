"""The batch as kernels that Numba compiles: a loop over rows.

Facts come from the modules that the scalar core reads; formulas are written once more, for
one row, and ``property_tests/test_vector_laws.py`` holds them to the scalar core as it
does those for NumPy. Needs the extra ``fast`` (numba).
"""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.drawing import owning_teams
from logtriage.grading.rubric import Rubric
from logtriage.vector.arrays import Ints
from logtriage.vector.layout import Floats
from logtriage.vector.seeds import seeds_of
from logtriage.vector.tokens.compiled.drawing import draw_rows
from logtriage.vector.tokens.compiled.fields import (
    ColumnPlaces,
    episode_fields,
    incident_fields,
    table_fields,
)
from logtriage.vector.tokens.compiled.playing import (
    apply_rows,
    begin_rows,
    forget_rows,
    pass_time_rows,
)
from logtriage.vector.tokens.compiled.renewing import BLOCK_BYTES, renew_all
from logtriage.vector.tokens.compiled.scoring import RubricFields, score_rows
from logtriage.vector.tokens.compiled.screens import observe_rows, play_rows, read_rows
from logtriage.vector.tokens.episodes import TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.scoring import Scores
from logtriage.vector.tokens.setting import TokenSetting


@attrs.define(eq=False, slots=False)
class NumbaTokens:
    """The :class:`logtriage.vector.backends.Backend` of compiled kernels."""

    setting: TokenSetting
    _rubric: Rubric | None = None
    _by: RubricFields | None = None

    @property
    def name(self) -> str:
        """``numba``."""
        return "numba"

    @cached_property
    def _tables(self) -> Any:
        return table_fields(self.setting.tables)

    @cached_property
    def _places(self) -> ColumnPlaces:
        return ColumnPlaces.of(self.setting)

    def draw(self, incidents: TokenIncidents, rows: Ints, split: str, index: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.draw`."""
        topology, tables = self.setting.topology, self.setting.tables
        draw_rows(
            rows,
            index,
            seeds_of(self.setting.task.id, split, index),
            incident_fields(incidents),
            self._tables,
            np.array([topology.teams.index(team) for team in owning_teams(topology)]),
            np.array(tables.setting.severities),
            np.array([tables.total & 0xFFFFFFFF, tables.total >> 32], np.uint64),
        )

    def begin(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.begin`."""
        begin_rows(rows, self.setting.layout.first_public, episode_fields(episodes))

    def forget(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.forget`."""
        forget_rows(rows, episode_fields(episodes), self._places)

    def apply(
        self,
        episodes: TokenEpisodes,
        incidents: TokenIncidents,
        actions: Ints,
        rows: Ints,
        lane: int,
    ) -> None:
        """As :meth:`logtriage.vector.backends.Backend.apply`."""
        apply_rows(
            rows,
            actions,
            lane,
            episode_fields(episodes),
            incident_fields(incidents),
            self._tables,
            self._places,
        )

    def pass_time(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.pass_time`."""
        pass_time_rows(rows, episode_fields(episodes), self._places)

    def read(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.read`."""
        read_rows(
            rows,
            self._tables,
            incident_fields(incidents),
            episode_fields(episodes),
            self.setting.layout.column_of,
            self._places,
        )

    def scores(self, rubric: Rubric, incidents: TokenIncidents, episodes: TokenEpisodes) -> Scores:
        """As :meth:`logtriage.vector.backends.Backend.scores`."""
        if rubric.digits is not None:  # Python rounds to digits
            return self.setting.scores(rubric, incidents, episodes)
        found = np.empty(len(episodes.closing))
        score_rows(
            episode_fields(episodes),
            incident_fields(incidents),
            self._tables,
            self._places.time,
            self._rubric_fields(rubric),
            found,
        )
        return found

    def play(
        self,
        rubric: Rubric,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        actions: Ints,
        rows: Ints,
        scores: Scores,
    ) -> Scores:
        """As :meth:`logtriage.vector.backends.WholeTicks.play`."""
        found = scores.copy()
        play_rows(
            rows,
            actions,
            self._tables,
            incident_fields(incidents),
            episode_fields(episodes),
            self.setting.layout.column_of,
            self._places,
            self._places.time,
            self._rubric_fields(rubric),
            found,
        )
        if rubric.digits is not None:  # Python rounds to digits
            return self.setting.scores(rubric, incidents, episodes)
        return found

    def _rubric_fields(self, rubric: Rubric) -> RubricFields:
        if self._by is None or self._rubric is not rubric:
            self._rubric, self._by = rubric, RubricFields.of(rubric, self.setting.span)
        return self._by

    def observe(
        self,
        incidents: TokenIncidents,  # noqa: ARG002 (the board is shared)
        episodes: TokenEpisodes,
        out: Floats,
    ) -> None:
        """As :meth:`logtriage.vector.backends.Backend.observe`."""
        observe_rows(episodes.columns, self.setting.layout.units, out)

    def renew(self, episodes: TokenEpisodes, shown: NDArray[np.uint8], out: Floats) -> None:
        """As :meth:`logtriage.vector.backends.Renews.renew`."""
        numbers, before = episodes.columns.reshape(-1), shown.reshape(-1)
        even = numbers.size // BLOCK_BYTES * BLOCK_BYTES
        renew_all(
            numbers,
            numbers[:even].view(np.uint64),
            before[:even].view(np.uint64),
            self.setting.layout.units,
            before,
            out.reshape(-1),
        )
