"""The worth of acting in N incidents: the expected grade of the best plan without a hand-over.

A belief in each row follows the screens of an engine, and a plan is made of it. R rows are open.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.cases import SCALE
from logtriage.beliefs.ledgers import NEVER, UNIT, Stakes, severity_shares
from logtriage.beliefs.plans import SILENT
from logtriage.grading.steps import Rules, facts_step, letters_of, move_of, untouched
from logtriage.vector.arrays import Ints
from logtriage.vector.engine import BatchedTriage
from logtriage.vector.following import FollowingBeliefs
from logtriage.vector.tokens.episodes import NEVER as NOT_YET

Floats = NDArray[np.float64]
#: Rows planned at a time: their intermediate arrays stay in the cache.
BLOCK_ROWS = 512


class BatchedValues:
    """The beliefs and values of the N incidents of an engine with single agents.

    :meth:`begin` in rows whose incidents are fresh, :meth:`follow` after each tick of those
    that are open.
    """

    def __init__(self, engine: BatchedTriage) -> None:
        # These load Numba.
        from logtriage.beliefs.plan_kernels import best_values
        from logtriage.beliefs.utility_kernels import plan_tables

        setting = self._setting = engine.setting
        self._best, self._engine = best_values, engine
        self._following = FollowingBeliefs(engine)
        (self.beliefs,) = self._following.beliefs
        known, horizon, tables = setting.public, setting.task.horizon, self.beliefs.tables
        stakes = Stakes(horizon, known.par, known.par_benign)
        self._letters = letters_of(setting.topology, NEVER)
        self._tables = plan_tables(
            stakes.tables(1), self._letters, horizon, tables.noted, tables.accepts
        )
        self._wrong = np.zeros(self.beliefs.weights.shape, np.int16)
        self._early = np.zeros_like(self._wrong)

    def begin(self, rows: Ints) -> None:
        """Begin new episodes in rows (R,), and take in their first screens."""
        for counts in (self._wrong, self._early):
            counts[rows] = 0
        self._following.begin(rows)

    def follow(self, actions: Ints, rows: Ints) -> None:
        """Take in the screens of rows (R,), open after ``actions`` (R,) in the last tick."""
        letters = self._letters
        remedied = (actions >= letters.remedy) & (actions < letters.remedy_end)
        self._enter(rows[remedied], actions[remedied])
        self._following.follow(rows, actions[np.newaxis])

    def _enter(self, rows: Ints, remedies: Ints) -> None:
        """Enter remedies (R,) that were just applied in some rows, by hypothesis."""
        which = remedies - self._letters.remedy
        right = self.beliefs.tables.accepts[self.beliefs.world[rows], which]
        move = move_of(remedies[:, np.newaxis], right, Rules(1, 1), self._letters)
        when = self._engine.ticks[rows] - 1
        before = untouched(NEVER)._replace(
            paged=_ticks(self._engine.episodes.paged_at[rows])[:, np.newaxis],
            wrong=self._wrong[rows],
            early=self._early[rows],
        )
        after = facts_step(before, move, True, False, when[:, np.newaxis])
        self._wrong[rows], self._early[rows] = after.wrong, after.early

    def values(self, rows: Ints) -> Floats:
        """The worth of acting in open rows (R,)."""
        worth = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            standings = self._standings(block)
            total = standings.weights.sum(axis=1)
            values = self._best(standings, self._tables) / UNIT / total
            worth[start : start + BLOCK_ROWS] = values
        return worth

    def _standings(self, rows: Ints) -> Any:
        from logtriage.beliefs.utility_kernels import Standings  # loads Numba

        beliefs, episodes = self.beliefs, self._engine.episodes
        weights, fixed_at = beliefs.weights[rows], beliefs.fixed_at(rows)
        paged, declared = _ticks(episodes.paged_at[rows]), episodes.root_cause[rows]
        root, said = self._tables.root[beliefs.world[rows]], episodes.severity[rows]
        right = (declared[:, np.newaxis] == root) & (root >= 0)
        return Standings(
            world=beliefs.world[rows],
            weights=scaled_weights(weights, SCALE),
            team=beliefs.right_team(rows),
            shares=severity_shares(beliefs.severities(rows)),
            tick=self._engine.ticks[rows],
            over=np.zeros(len(rows)),
            fixed=((fixed_at >= 0) | (weights == 0)).all(axis=1),
            declared=declared.astype(np.int64),
            severity=np.where(said < 0, SILENT, said).astype(np.int64),
            paged=paged,
            remedies=episodes.remedies[rows].astype(np.int64),
            wrong=self._wrong[rows].astype(np.int64),
            early=self._early[rows].astype(np.int64),
            said=np.where(right, _ticks(episodes.said_at[rows])[:, np.newaxis], NEVER),
            mended=np.where(fixed_at >= 0, fixed_at, NEVER),
        )


def _ticks(counted: Any) -> NDArray[np.int64]:
    return np.where(counted == NOT_YET, NEVER, counted.astype(np.int64))


def scaled_weights(weights: Any, whole: int) -> Floats:
    """Weights (R, H) as whole numbers, each rounded down; their sum is about ``whole``."""
    numbers = weights.astype(np.int64)
    scaled: Floats = (numbers * whole // numbers.sum(axis=1, keepdims=True)).astype(np.float64)
    return scaled
