"""W of N incidents as they are played: the expected grade of the best plan of each.

A belief in each row follows the screens of an engine, and a plan is made of it. Equal to
:func:`logtriage.beliefs.shaping.value_of` row by row, to the last bit.
"""

import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.cases import SCALE
from logtriage.beliefs.stakes import UNIT, Stakes, units
from logtriage.vector.arrays import Ints
from logtriage.vector.cases import Cases, plan_tables, scaled_weights
from logtriage.vector.following import FollowingBeliefs
from logtriage.vector.tokens.episodes import NEVER, TokenEpisodes
from logtriage.vector.tokens.incidents import PRICES, TokenIncidents
from logtriage.vector.tokens.setting import TokenSetting

Floats = NDArray[np.float64]
#: Rows planned at a time: their intermediate arrays stay in the cache.
BLOCK_ROWS = 512


class BatchedValues:
    """The beliefs and values of N incidents of a setting with single agents.

    :meth:`begin` in rows whose incidents are fresh, :meth:`follow` after each tick of those
    that are open; ``incidents`` and ``episodes`` are the engine's.
    """

    def __init__(self, setting: TokenSetting, count: int) -> None:
        from logtriage.vector.compiled.plans import best_values  # loads Numba

        self._best, self._setting = best_values, setting
        self._following = FollowingBeliefs(setting, count)
        (self.beliefs,) = self._following.of
        known, horizon = setting.public, setting.task.horizon
        stakes = [Stakes(horizon, known.par, known.par_benign, float(price)) for price in PRICES]
        tables = self.beliefs.tables
        self._tables = plan_tables(stakes[0], tables.noted, tables.accepts)
        # By price and ticks used; after the horizon nobody takes an incident over.
        self._over = np.array(
            [
                [units(priced.handed_over(used) or 0.0) for used in range(horizon + 2)]
                for priced in stakes
            ],
            np.float64,
        )
        self._wrong = np.zeros(self.beliefs.weights.shape, np.uint8)
        self._unapproved = np.zeros_like(self._wrong)

    def begin(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """Begin new episodes in rows (R,), and take in their first screens."""
        for counts in (self._wrong, self._unapproved):
            counts[rows] = 0
        self._following.begin(incidents, episodes, rows)

    def follow(
        self, incidents: TokenIncidents, episodes: TokenEpisodes, actions: Ints, rows: Ints
    ) -> None:
        """Take in the screens of rows (R,), open after ``actions`` (R,) in the last tick."""
        ranges = self._setting.ranges
        which = actions - ranges.remedy
        remedied = (which >= 0) & (which < ranges.remedies)
        self._count(episodes, rows[remedied], which[remedied])
        self._following.follow(incidents, episodes, rows, actions[np.newaxis])

    def _count(self, episodes: TokenEpisodes, rows: Ints, which: Ints) -> None:
        """Count remedies (R,) that were just applied in some rows, by hypothesis."""
        wrong = ~self.beliefs.tables.accepts[self.beliefs.world[rows], which]
        when = episodes.columns[rows, self._setting.time].astype(np.int64) - 1
        approved = episodes.paged_at[rows] < when
        self._wrong[rows] += wrong
        self._unapproved[rows] += wrong & ~approved[:, None]

    def values(
        self,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        rows: Ints,
        *,
        hand_over: bool = True,
    ) -> Floats:
        """W of open rows (R,); without ``hand_over`` no plan hands over."""
        worth = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            cases = self._cases(incidents, episodes, block)
            if not hand_over:
                cases = cases._replace(over=np.zeros(len(block)))
            total = cases.weights.sum(axis=1)
            worth[start : start + BLOCK_ROWS] = self._best(cases) / UNIT / total
        return worth

    def _cases(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> Cases:
        beliefs, tables = self.beliefs, self._tables
        weights = beliefs.weights[rows]
        fixed_at = beliefs.fixed_at(rows)
        known = fixed_at >= 0
        paged_at = episodes.paged_at[rows].astype(np.int64)[:, None]
        said_at = episodes.said_at[rows].astype(np.int64)[:, None]
        wrong = self._wrong[rows].astype(np.int64)
        tick, paged = self._setting.ticks(episodes)[rows], episodes.paged_at[rows] != NEVER
        untouched = ~paged & (episodes.remedies[rows] == 0)
        severities = beliefs.severities(rows)
        shares = severities * UNIT // severities.sum(axis=2, keepdims=True)
        return Cases(
            tables=tables,
            world=beliefs.world[rows],
            weights=scaled_weights(weights, SCALE),
            team=beliefs.right_team(rows),
            wrong=wrong,
            rash=tables.shares_left(
                self._unapproved[rows].astype(np.int64), known & (fixed_at <= paged_at)
            ),
            fix=np.where(known, tables.remedy_credit[wrong], 0.0),
            root_counts=~known | (said_at <= fixed_at),
            severities=shares.astype(np.float64),
            tick=tick,
            over=np.where(untouched, self._over[incidents.price[rows], tick + 1], 0.0),
            fixed=(known | (weights == 0)).all(axis=1),
            paged=paged,
            severity=episodes.severity[rows].astype(np.int64),
            declared=episodes.root_cause[rows].astype(np.int64),
        )
