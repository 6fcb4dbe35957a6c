"""Shaped rewards of N incidents: as :func:`logtriage.beliefs.shaping.shaped_reward`, row by row."""

import numpy as np
from numpy.typing import NDArray

from logtriage.errors import InvalidInput
from logtriage.grading.rubric import TRIAGE_3, Rubric
from logtriage.tasks import TaskSpec
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.engine import BatchedTriage
from logtriage.vector.values import BatchedValues

Floats = NDArray[np.float64]


def checked_discount(task: TaskSpec, rubric: Rubric | None, gamma: float) -> float:
    """The discount of shaped rewards, if a task and rubric have such.

    Raises:
        InvalidInput: for a discount out of (0, 1], and for another rubric than
            ``logtriage/3``, by which plans are valued.
    """
    if not 0 < gamma <= 1:
        raise InvalidInput(f"shaping: expected a discount above 0 and up to 1, got {gamma!r}")
    if rubric not in (None, TRIAGE_3) or task.rubric != TRIAGE_3.id:
        used = task.rubric if rubric is None else rubric.id
        raise InvalidInput(f"shaping: plans are valued by {TRIAGE_3.id}, not by rubric {used!r}")
    return float(gamma)


class BatchedShaping:
    """Potential-based shaping of the rewards of a batch, in units of the grade.

    ``potential`` (N,) is what is expected beyond the grade so far, 0 in closed rows. Tell
    :meth:`begin` of every reset and restart, and :meth:`shaped` of every step.

    Raises:
        InvalidInput: as :func:`checked_discount`, and for several who act in each tick.
    """

    def __init__(self, batch: BatchedTriage, gamma: float = 1.0) -> None:
        self.gamma = checked_discount(batch.task, batch.rubric, gamma)
        self._batch = batch
        if batch.setting.lanes != 1:
            raise InvalidInput(f"shaping: one acts in each tick, not {batch.setting.lanes}")
        self.potential = np.zeros(0)

    def begin(self, rows: Ints | None = None) -> None:
        """Begin in rows (R,) that were restarted; in all of them after a reset."""
        batch = self._batch
        if rows is None:
            count = len(batch)
            if len(self.potential) != count:
                self._values = BatchedValues(batch.setting, count)
            self.potential = np.zeros(count)
            rows = np.arange(count)
        if len(rows):
            self._values.begin(batch.incidents, batch.episodes, rows)
        self._look(rows)

    def shaped(self, rewards: Floats, actions: Ints, acted: Bools) -> Floats:
        """The shaped rewards (N,) of a step: ``actions`` (N,) were taken where ``acted`` (N,)."""
        rows, before = np.flatnonzero(acted), self.potential.copy()
        going = rows[self._batch.episodes.closing[rows] < 0]
        if len(going):
            batch = self._batch
            self._values.follow(batch.incidents, batch.episodes, actions[going], going)
        self._look(rows)
        shaped = rewards.copy()
        shaped[rows] = rewards[rows] + self.gamma * self.potential[rows] - before[rows]
        return shaped

    def _look(self, rows: Ints) -> None:
        """The potential of rows (R,) as they are now."""
        batch = self._batch
        going = rows[batch.episodes.closing[rows] < 0]
        self.potential[rows] = 0.0
        if len(going):
            worth = self._values.values(batch.incidents, batch.episodes, going)
            self.potential[going] = worth - batch.scores[going]
