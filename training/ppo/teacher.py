"""A scripted teacher that plays whole batches by the exact belief: PPO starts as its imitator.

    python -m training.ppo.teacher --task single_crash-v3 --output-dir runs/ppo/teacher

plays the incidents of ``test`` that trained agents are judged by, and leaves ``episodes.csv``.

It asks the likeliest root cause for metrics, traces and logs, then decides: it hands over where
acting is worth less than the price, dismisses what is likely benign, and else pages, declares,
and tries the likeliest remedies until one helps.
"""

import argparse
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    SEVERITIES,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    action_id,
)
from logtriage.grading.action_lists import ranges_of
from logtriage.vector import BatchedTriage, BeliefScreens, Step
from logtriage.vector.layout import Floats
from training.common.directory import check_empty
from training.common.rows import EPISODES, write_rows
from training.common.settings import EVAL_INCIDENTS, EVAL_SPLIT
from training.common.tasks import ids_of, sheet_of
from training.ppo.evaluate import Played

Numbers = NDArray[np.int64]

#: Ticks in which it asks, and above which probability of a team, or of no fault, it asks no more.
QUESTIONS, SURE = 5, 0.97
#: So many remedies are tried.
TRIES: Final = 2


class Teacher:
    """Labels the screens of one batch, each read once, in order."""

    def __init__(self, batch: BatchedTriage) -> None:
        self._batch, self._screens = batch, BeliefScreens(batch)
        self._ranges = ranges_of(batch.topology, hand_over=True)
        first = batch.topology.names[0]
        asks = RequestMetrics(first), RequestTraces(first), RequestMoreLogs(first)
        self._asks = np.array([action_id(ask, batch.topology) for ask in asks])

    def begin(self, screen: Step) -> Numbers:
        """The teacher's actions (N,) on first screens."""
        return self._label(screen, self._screens.begin(screen))

    def read(self, screen: Step, actions: Numbers, fresh: Numbers) -> Numbers:
        """The teacher's actions (N,) after ``actions`` (N,); rows ``fresh`` have begun anew."""
        return self._label(screen, self._screens.read(screen, actions, fresh))

    def _label(self, screen: Step, seen: Floats) -> Numbers:
        blocks, ranges = self._screens.layout.blocks, self._ranges

        def of(name: str) -> Floats:
            columns: Floats = seen[:, blocks[name]]
            return columns

        root, team, benign = of("root"), of("team"), of("benign")[:, 0]
        paged, declared = of("paged").any(axis=1), of("declared").any(axis=1)
        classified, tried = of("severity").any(axis=1), of("applied").sum(axis=1)
        left = self._batch.task.horizon - screen.tick
        weights = self._screens.beliefs.weights
        fixed = np.where(self._screens.beliefs.fixed, weights, 0).sum(axis=1) > weights.sum(1) / 2
        unsure = np.maximum(team.max(axis=1), benign) < SURE
        asks = self._asks[screen.tick % len(self._asks)] + root.argmax(axis=1)
        by_case = [
            (~paged & unsure & (screen.tick < QUESTIONS), asks),
            (~paged & (of("acting")[:, 0] < of("price")[:, 0]), ranges.hand_over),
            (~classified & (paged | (benign > 0.5)) & (left > 1), self._severities()),
            (~paged & (benign > 0.5), ranges.ignore),
            (~paged, ranges.page + team.argmax(axis=1)),
            (fixed | (tried >= TRIES) | (left <= 1), ranges.resolve),
            (~declared, ranges.root + root.argmax(axis=1)),
        ]
        otherwise = ranges.remedy + of("remedy").argmax(axis=1)
        return np.select([case for case, _ in by_case], [do for _, do in by_case], otherwise)

    def _severities(self) -> Numbers:
        """The likeliest severity (N,)."""
        beliefs = self._screens.beliefs
        severities = beliefs.severities().astype(np.float64)
        severities /= np.maximum(severities.sum(axis=2, keepdims=True), 1)
        votes = (severities * beliefs.weights[:, :, None]).sum(axis=1)
        assert votes.shape[1] == len(SEVERITIES)
        return votes.argmax(axis=1)


def play(task: str, split: str, incidents: int) -> Played:
    """Let the teacher play the first incidents of a split."""
    batch = BatchedTriage(sheet_of(task))
    teacher, none = Teacher(batch), np.zeros(0, np.int64)
    screen = batch.reset(split, np.arange(incidents))
    action, taken = teacher.begin(screen), []
    while (screen.closing < 0).any():
        taken.append(action)
        screen = batch.step(action)
        action = teacher.read(screen, action, none)
    return Played.of(batch, ids_of(task, split, incidents), taken, screen)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, play, and leave the episodes in a directory."""
    parser = argparse.ArgumentParser(prog="python -m training.ppo.teacher", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--task", required=True)
    parser.add_argument("--incidents", type=int, default=EVAL_INCIDENTS)
    parser.add_argument("--output-dir", type=Path, required=True)
    words = parser.parse_args(arguments)
    check_empty(words.output_dir)
    rows = play(words.task, EVAL_SPLIT, words.incidents).rows()
    words.output_dir.mkdir(parents=True, exist_ok=True)
    write_rows(words.output_dir / EPISODES, ["split"], {(EVAL_SPLIT,): rows})


if __name__ == "__main__":
    main()
