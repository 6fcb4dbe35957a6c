"""How well a policy does on incidents that it never saw."""

import attrs
import numpy as np
import torch
from numpy.typing import NDArray

from logtriage.actions import all_actions
from logtriage.evaluation import SOLVED
from logtriage.grading import grade_actions
from logtriage.grading.batch import CLOSINGS
from logtriage.state import Closing
from logtriage.tasks import incident_ids
from logtriage.vector import BatchedTriage
from training.common.settings import EVAL_SPLIT
from training.ppo.networks import Agent
from training.ppo.rollouts import tensors_of


@attrs.frozen
class Result:
    """Means over some incidents; ``error`` is 1.96 standard errors of the mean grade.

    ``solved``, ``mis_paged`` (the gate holds), ``ignored`` (closed by Ignore and worth
    nothing, so a real fault) and ``out_of_time`` are shares.
    """

    incidents: int
    grade: float
    error: float
    solved: float
    mis_paged: float
    ignored: float
    out_of_time: float
    ticks: float


@attrs.frozen(eq=False)
class Played:
    """N played incidents: ids, ``actions`` (T, N), and ``ticks``, ``scores``, ``closing`` (N,)."""

    ids: tuple[str, ...]
    actions: NDArray[np.int64]
    ticks: NDArray[np.int64]
    scores: NDArray[np.float64]
    closing: NDArray[np.int8]

    def result(self) -> Result:
        """In figures."""

        def closed(closing: Closing) -> NDArray[np.bool_]:
            return np.asarray(self.closing == CLOSINGS.index(closing))

        return Result(
            incidents=len(self.ids),
            grade=float(self.scores.mean()),
            error=float(1.96 * self.scores.std() / np.sqrt(len(self.ids))),
            solved=float((self.scores >= SOLVED).mean()),
            mis_paged=float(closed(Closing.MISROUTED).mean()),
            ignored=float((closed(Closing.IGNORED) & (self.scores == 0)).mean()),
            out_of_time=float(closed(Closing.OUT_OF_TIME).mean()),
            ticks=float(self.ticks.mean()),
        )


def play_held_out(agent: Agent, task: str, incidents: int, *, sampled: bool = False) -> Played:
    """Play the first ``incidents`` of split ``test``, greedily or with sampled actions."""
    batch = BatchedTriage(task)
    screen = batch.reset(EVAL_SPLIT, np.arange(incidents))
    taken = []
    while (screen.closing < 0).any():
        action = agent.act(*tensors_of(screen), sampled=sampled).numpy()
        taken.append(action)
        screen = batch.step(action)
    return Played(
        incident_ids(task, EVAL_SPLIT, incidents),
        np.stack(taken),
        screen.tick,
        screen.score,
        screen.closing,
    )


def evaluate(agent: Agent, task: str, incidents: int, *, sampled: bool = False) -> Result:
    """The figures of :func:`play_held_out`. Leaves torch's generator as it was."""
    with torch.random.fork_rng():
        return play_held_out(agent, task, incidents, sampled=sampled).result()


def regrade(played: Played, task: str) -> list[float]:
    """The scores of the same actions, played and graded by the scalar core."""
    actions = all_actions(BatchedTriage(task).topology)
    scores = []
    for row, (incident, ticks) in enumerate(zip(played.ids, played.ticks, strict=True)):
        grade = grade_actions(incident, [actions[one] for one in played.actions[:ticks, row]])
        assert grade.score is not None
        scores.append(grade.score)
    return scores
