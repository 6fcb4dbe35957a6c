"""The batch as kernels that Numba compiles: a loop over rows, and nothing kept in between.

Facts come from the modules that the scalar core reads; formulas are written once more, for
one row, and ``property_tests/test_vector_laws.py`` holds them to the scalar core as it does
those for NumPy. Needs the extra ``fast`` (numba).
"""

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.grading.rubric import Rubric
from logtriage.vector.arrays import Ints
from logtriage.vector.compiled.drawing import draw_rows
from logtriage.vector.compiled.fields import ColumnFields, TaskFields, as_bytes, fields
from logtriage.vector.compiled.playing import apply_rows, pass_time_rows, put_rows
from logtriage.vector.compiled.screens import observe_rows
from logtriage.vector.episodes import Episodes
from logtriage.vector.incidents import IncidentArrays, benign_of
from logtriage.vector.layout import Floats
from logtriage.vector.seeds import seeds_of
from logtriage.vector.setting import Setting


@attrs.define(eq=False, slots=False)
class NumbaBackend:
    """The :class:`logtriage.vector.backends.Backend` of compiled kernels."""

    setting: Setting

    @property
    def name(self) -> str:
        """``numba``."""
        return "numba"

    @cached_property
    def _task(self) -> TaskFields:
        return TaskFields.of(self.setting)

    @cached_property
    def _columns(self) -> ColumnFields:
        return ColumnFields.of(self.setting.layout)

    @cached_property
    def _fresh(self) -> tuple[NDArray[np.uint8], ...]:
        return as_bytes(self.setting.fresh(1))

    def draw(self, incidents: IncidentArrays, rows: Ints, split: str, index: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.draw`."""
        task, n = self.setting.task, self.setting.graph.n
        draw_rows(
            rows,
            index,
            seeds_of(task.id, split, index),
            benign_of(task, split, index),
            fields(incidents),
            fields(self.setting.graph),
            fields(self.setting.choices(split)),
            np.array(task.severity_weights),
            self._task,
            np.empty(n, np.uint64),
            np.empty((2, n + 1), np.int64),
        )

    def begin(self, episodes: Episodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.begin`."""
        put_rows(rows, as_bytes(episodes), self._fresh)

    def forget(self, episodes: Episodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.forget`."""
        episodes.requested[rows] = -1

    def read(self, incidents: IncidentArrays, episodes: Episodes, rows: Ints) -> None:
        """Nothing: in the first world, to observe is to read."""

    def apply(
        self, episodes: Episodes, incidents: IncidentArrays, actions: Ints, rows: Ints, lane: int
    ) -> None:
        """As :meth:`logtriage.vector.backends.Backend.apply`."""
        table = self.setting.actions
        apply_rows(rows, actions, lane, fields(episodes), fields(incidents), fields(table))

    def pass_time(self, episodes: Episodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.pass_time`."""
        pass_time_rows(rows, fields(episodes), self.setting.task.horizon)

    def scores(
        self, rubric: Rubric, incidents: IncidentArrays, episodes: Episodes
    ) -> NDArray[np.float64]:
        """As :meth:`logtriage.vector.backends.Backend.scores`."""
        return self.setting.scores(rubric, incidents, episodes)

    def observe(self, incidents: IncidentArrays, episodes: Episodes, out: Floats) -> None:
        """As :meth:`logtriage.vector.backends.Backend.observe`."""
        n = self.setting.graph.n
        observe_rows(
            0,
            len(out),
            fields(incidents),
            fields(episodes),
            fields(self.setting.graph),
            self._task,
            self._columns,
            np.zeros((2, n + 1), np.int64),
            np.empty(n + 2, np.int64),
            out,
        )
