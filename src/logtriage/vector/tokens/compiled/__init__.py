"""The engine's kernels: loops over rows. Needs the extra ``fast`` (numba).

They write the formulas of the scalar core a second time, for one row;
``property_tests/test_vector_laws.py`` checks that both agree.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from logtriage.grading.rubric import Rubric
from logtriage.vector.arrays import Ints
from logtriage.vector.cells import FIELDS, NO_CELL, Cells
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.compiled.drawing import draw_rows
from logtriage.vector.tokens.compiled.fields import ColumnPlaces, Scene
from logtriage.vector.tokens.compiled.playing import (
    apply_rows,
    begin_rows,
    forget_rows,
    pass_time_rows,
)
from logtriage.vector.tokens.compiled.scoring import score_rows, scoring_of
from logtriage.vector.tokens.compiled.screens import (
    most_cells,
    observe_rows,
    play_rows,
    read_rows,
    write_cells,
)
from logtriage.vector.tokens.episodes import OPEN, TokenEpisodes
from logtriage.vector.tokens.incidents import WORTH_NUMBERS, TokenIncidents, seeds_of
from logtriage.vector.tokens.setting import TokenSetting
from logtriage.world.channels import WINDOW_LINES

Scores = NDArray[np.float64]


class TokenKernels:
    """The kernels of a batch of N rows, by name; ``rows`` (R,) are distinct rows."""

    def __init__(self, setting: TokenSetting, rubric: Rubric) -> None:
        self._setting, self._layout = setting, setting.layout
        self._places = ColumnPlaces.of(setting)
        self._scoring = scoring_of(rubric, setting.span)
        to = self._places
        most = most_cells(to.n, to.sorts, to.alerts, to.lanes, WINDOW_LINES, to.horizon)
        self._cells = np.empty((most, len(FIELDS)), np.int16)
        self._widest = 0  # the most cells on a screen so far

    def _scene(self, incidents: TokenIncidents, episodes: TokenEpisodes) -> Scene:
        return Scene(
            tables=self._setting.tables,
            incidents=incidents,
            now=episodes,
            column_of=self._layout.column_of,
            to=self._places,
            cells=self._cells,
        )

    def draw(
        self, incidents: TokenIncidents, rows: Ints, split: str, index: Ints, worlds: Ints
    ) -> None:
        """Draw the incidents ``index`` (R,) of a split into ``rows``.

        ``worlds`` (R,) are the places of their worlds in the pool.
        """
        seeds = seeds_of(self._setting.task.id, split, index)
        tables, to = self._setting.tables, self._places
        draw_rows(rows, index, seeds, worlds, incidents, tables, WORTH_NUMBERS, to.fog, to.blind)

    def begin(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """Begin new episodes in ``rows``; nothing is shown before :meth:`read`."""
        begin_rows(rows, self._layout.first_public, episodes)

    def take(
        self, incidents: TokenIncidents, episodes: TokenEpisodes, acts: Sequence[Ints], rows: Ints
    ) -> tuple[Ints, ...]:
        """Let lanes act in turn in open ``rows`` by ``acts`` (N,) each, then let time pass.

        Returns the rows in which each lane had a turn. :meth:`read` shows the new evidence.
        """
        going, acted, scene = rows, [], self._scene(incidents, episodes)
        forget_rows(rows, scene)
        for lane, chosen in enumerate(acts):
            acted.append(going)
            acting = going[chosen[going] >= 0]
            apply_rows(acting, chosen[acting], lane, scene)
            if lane + 1 < len(acts):
                going = going[episodes.closing[going] == OPEN]
        pass_time_rows(rows, scene)
        return tuple(acted)

    def read(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """Write what the current screens of ``rows`` show; call it once in each of their ticks."""
        read_rows(rows, self._scene(incidents, episodes))

    def cells(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> Cells:
        """The cells (R, M, 5) on the current screens of ``rows``, as :func:`screen` writes them."""
        while True:
            out = np.full((len(rows), self._widest, len(FIELDS)), NO_CELL, np.int16)
            most = write_cells(rows, self._scene(incidents, episodes), out)
            if most <= self._widest:
                return out[:, :most]
            self._widest = most  # some were left out: write them all anew

    def scores(
        self,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        rows: Ints,
        out: Scores | None = None,
    ) -> Scores:
        """Write the grades so far of ``rows`` to ``out`` (N,), by default a new array."""
        totals = np.zeros(len(episodes.closing)) if out is None else out
        score_rows(rows, self._scene(incidents, episodes), self._scoring, totals)
        return totals

    def play(
        self,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        actions: Ints,
        rows: Ints,
        scores: Scores,
    ) -> Scores:
        """Play a tick of ``rows`` with one lane; return the scores (N,) after it.

        ``actions`` (N,) are taken, and the new screens are read. ``scores`` (N,) are those before.
        """
        after = scores.copy()
        play_rows(rows, actions, self._scene(incidents, episodes), self._scoring, after)
        return after

    def observe(self, episodes: TokenEpisodes, out: Floats) -> None:
        """Write the observation of all screens (N, D) to ``out``."""
        observe_rows(episodes.columns, self._layout.units, out)
