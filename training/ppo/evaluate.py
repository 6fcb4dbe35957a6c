"""Evaluation of a policy on incidents that it never saw."""

from collections.abc import Sequence
from functools import lru_cache

import attrs
import numpy as np
import torch
from numpy.typing import NDArray

from logtriage.actions import all_actions
from logtriage.evaluation import SOLVED
from logtriage.grading import grade_actions
from logtriage.grading.batch import CLOSINGS
from logtriage.incident import Incident
from logtriage.state import Closing
from logtriage.tasks import TaskSpec
from logtriage.vector import BatchedTriage, Step
from training.common.rows import Row, net_value
from training.common.settings import EVAL_SPLIT
from training.common.tasks import ids_of, incident_of, sheet_of
from training.ppo.inputs import mask_of
from training.ppo.networks import Agent


@attrs.frozen
class Result:
    """Means over some incidents; ``error`` is 1.96 standard errors of the mean grade.

    ``net_value`` is what was earned beyond handing everything over, as a share of what could be.
    ``solved``, ``paged`` (a team was), ``mis_paged`` (the gate holds), ``ignored`` (closed
    by Ignore and worth nothing, so a real fault) and ``out_of_time`` are shares of all.
    """

    incidents: int
    net_value: float
    grade: float
    error: float
    solved: float
    paged: float
    mis_paged: float
    ignored: float
    out_of_time: float
    ticks: float


@attrs.frozen(eq=False)
class Played:
    """N played incidents of a task: ids, ``actions`` (T, N), and the outcome of each (N,).

    ``paged`` says whether any team was.
    """

    task: TaskSpec
    ids: tuple[str, ...]
    actions: NDArray[np.int64]
    ticks: NDArray[np.int64]
    scores: NDArray[np.float64]
    closing: NDArray[np.int8]
    paged: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        batch: BatchedTriage,
        ids: tuple[str, ...],
        taken: Sequence[NDArray[np.int64]],
        screen: Step,
    ) -> "Played":
        """A batch that was played to its last ``screen``; ``taken`` are T arrays (N,)."""
        paged = np.asarray(screen.observation[:, batch.layout["paged"]].any(axis=1))
        actions = np.stack(taken)
        return cls(batch.task, ids, actions, screen.tick, screen.score, screen.closing, paged)

    def incidents(self) -> tuple[Incident, ...]:
        """The incidents, drawn once more."""
        return _drawn(self.task, self.ids)

    def closed(self, closing: Closing) -> NDArray[np.bool_]:
        """Which incidents closed so (N,)."""
        return np.asarray(self.closing == CLOSINGS.index(closing))

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether an accepted team was paged (N,); a mis-page closes the incident."""
        return self.paged & ~self.closed(Closing.MISROUTED)

    def rows(self) -> list[Row]:
        """The episodes in figures."""
        handed_over = self.closed(Closing.HANDED_OVER)
        rows = []
        for number, incident in enumerate(self.incidents()):
            assert incident.price_of_hand_over is not None  # v3 tasks have a price
            rows.append(
                Row(
                    incident=incident.id,
                    price=incident.price_of_hand_over,
                    fault=not incident.truth.benign,
                    grade=float(self.scores[number]),
                    handed_over=bool(handed_over[number]),
                    paged_right=bool(self.right[number]),
                    mis_paged=bool(self.closed(Closing.MISROUTED)[number]),
                    ticks=int(self.ticks[number]),
                )
            )
        return rows

    def result(self) -> Result:
        """In figures."""
        return Result(
            incidents=len(self.ids),
            net_value=net_value(self.rows()),
            grade=float(self.scores.mean()),
            error=float(1.96 * self.scores.std() / np.sqrt(len(self.ids))),
            solved=float((self.scores >= SOLVED).mean()),
            paged=float(self.paged.mean()),
            mis_paged=float(self.closed(Closing.MISROUTED).mean()),
            ignored=float((self.closed(Closing.IGNORED) & (self.scores == 0)).mean()),
            out_of_time=float(self.closed(Closing.OUT_OF_TIME).mean()),
            ticks=float(self.ticks.mean()),
        )


@lru_cache(maxsize=4)
def _drawn(task: TaskSpec, ids: tuple[str, ...]) -> tuple[Incident, ...]:
    return tuple(incident_of(task, name) for name in ids)


def play_held_out(
    agent: Agent,
    task: str | TaskSpec,
    incidents: int,
    *,
    split: str = EVAL_SPLIT,
    sampled: bool = False,
) -> Played:
    """Play the first ``incidents`` of a split, greedily or with sampled actions."""
    batch = BatchedTriage(sheet_of(task))
    inputs = agent.reader(batch)
    screen = batch.reset(split, np.arange(incidents))
    seen, none = inputs.begin(screen), np.zeros(0, np.int64)
    taken = []
    while (screen.closing < 0).any():
        action = agent.act(seen, mask_of(screen), sampled=sampled).numpy()
        taken.append(action)
        screen = batch.step(action)
        seen = inputs.read(screen, action, none)
    return Played.of(batch, ids_of(task, split, incidents), taken, screen)


def evaluate(
    agent: Agent,
    task: str | TaskSpec,
    incidents: int,
    *,
    split: str = EVAL_SPLIT,
    sampled: bool = False,
) -> Result:
    """The figures of :func:`play_held_out`. Leaves torch's generator as it was."""
    with torch.random.fork_rng():
        return play_held_out(agent, task, incidents, split=split, sampled=sampled).result()


def regrade(played: Played) -> list[float]:
    """The scores of the same actions, played and graded by the scalar core."""
    scores = []
    for row, (incident, ticks) in enumerate(zip(played.incidents(), played.ticks, strict=True)):
        actions = all_actions(incident.topology, hand_over=True)
        grade = grade_actions(incident, [actions[action] for action in played.actions[:ticks, row]])
        assert grade.score is not None
        scores.append(grade.score)
    return scores
