"""The value of acting in N incidents: the expected grade of the best plan without a hand-over.

A belief for each row follows the screens of an engine, and the plan is made from the belief.
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
    """The beliefs about the N incidents of an engine with one lane, and the values of acting.

    Call :meth:`begin` for rows with new incidents, and :meth:`follow` after each tick for rows
    that are still open.
    """

    def __init__(self, engine: BatchedTriage) -> None:
        # These load Numba.
        from logtriage.beliefs.plan_kernels import best_values
        from logtriage.beliefs.utility_kernels import plan_tables

        setting = self._setting = engine.setting
        self._best, self._engine = best_values, engine
        self._following = FollowingBeliefs(engine)
        (self.beliefs,) = self._following.beliefs
        self.due = self._following.due
        public, horizon, tables = setting.public, setting.task.horizon, self.beliefs.tables
        stakes = Stakes(horizon, public.par, public.par_benign)
        self._letters = letters_of(setting.topology, NEVER)
        self._tables = plan_tables(
            stakes.tables(1), self._letters, horizon, tables.noted, tables.accepts
        )
        # ``wrong`` and ``early`` of :class:`~logtriage.grading.steps.Facts` by hypothesis (N, H).
        self._wrong = np.zeros(self.beliefs.weights.shape, np.int16)
        self._early = np.zeros_like(self._wrong)

    def begin(self, rows: Ints) -> None:
        """Begin new episodes in rows (R,), and take in their first screens."""
        for counts in (self._wrong, self._early):
            counts[rows] = 0
        self._following.begin(rows)

    def follow(self, actions: Ints, rows: Ints) -> None:
        """Take in the screens of open rows (R,), whose agents took ``actions`` (R,) last tick."""
        letters = self._letters
        remedied = (actions >= letters.remedy) & (actions < letters.remedy_end)
        self._count_remedies(rows[remedied], actions[remedied])
        self._following.follow(rows, actions[np.newaxis])

    def _count_remedies(self, rows: Ints, remedies: Ints) -> None:
        """Count the remedies (R,) just applied in these rows, under each hypothesis."""
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
        """The expected grade of the best plan (R,) in open rows (R,); none of them hands over."""
        values = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            standings = self._standings(block)
            total = standings.weights.sum(axis=1)
            best = self._best(standings, self._tables) / UNIT / total
            values[start : start + BLOCK_ROWS] = best
        return values

    def _standings(self, rows: Ints) -> Any:
        """The :class:`~logtriage.beliefs.utility_kernels.Standings` of rows (R,)."""
        from logtriage.beliefs.utility_kernels import Standings  # loads Numba

        beliefs, episodes = self.beliefs, self._engine.episodes
        weights, fixed_at = beliefs.weights[rows], beliefs.fixed_at(rows)
        paged, declared = _ticks(episodes.paged_at[rows]), episodes.root_cause[rows]
        root, severity = self._tables.root[beliefs.world[rows]], episodes.severity[rows]
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
            severity=np.where(severity < 0, SILENT, severity).astype(np.int64),
            paged=paged,
            remedies=episodes.remedies[rows].astype(np.int64),
            wrong=self._wrong[rows].astype(np.int64),
            early=self._early[rows].astype(np.int64),
            said=np.where(right, _ticks(episodes.declared_at[rows])[:, np.newaxis], NEVER),
            mended=np.where(fixed_at >= 0, fixed_at, NEVER),
        )


def _ticks(stored: Any) -> NDArray[np.int64]:
    """Ticks that an engine stores, with the planner's ``NEVER`` in place of the engine's."""
    return np.where(stored == NOT_YET, NEVER, stored.astype(np.int64))


def scaled_weights(weights: Any, whole: int) -> Floats:
    """The weights (R, H) as whole numbers, scaled so that each row sums to about ``whole``."""
    numbers = weights.astype(np.int64)
    scaled: Floats = (numbers * whole // numbers.sum(axis=1, keepdims=True)).astype(np.float64)
    return scaled
