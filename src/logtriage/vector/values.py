"""W of N incidents as they are played: the expected grade of each one's best plan.

A belief in each row follows the screens of an engine, and a plan is made of it. Equal to
:func:`logtriage.belief.shaping.value_of` row by row, to the last bit.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.belief.cases import SCALE
from logtriage.belief.stakes import UNIT, Stakes, units
from logtriage.vector.arrays import Ints, stacked
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.cases import Cases, PlanTables, scaled_weights
from logtriage.vector.tokens.cells import screen_cells
from logtriage.vector.tokens.episodes import NEVER, TokenEpisodes
from logtriage.vector.tokens.incidents import PRICES, TokenIncidents
from logtriage.vector.tokens.setting import TokenSetting

Floats = NDArray[np.float64]
#: Rows of which plans are made at a time, so that what lies between stays in a cache.
BLOCK_ROWS = 512


class BatchedValues:
    """The beliefs and values of N incidents of one setting, in which one acts a tick.

    :meth:`begin` in rows whose incidents are fresh, :meth:`follow` after each tick of those
    that are open; ``incidents`` and ``episodes`` are the engine's.
    """

    def __init__(self, setting: TokenSetting, count: int) -> None:
        from logtriage.vector.compiled.plans import best_values  # loads Numba

        self._best = best_values
        world, task = setting.tables.setting, setting.task
        self._setting = setting
        self.beliefs = BeliefBatch(*setting.models, count=count, horizon=task.horizon)
        root = stacked(
            [
                [one.faults[0][1] if one.faults else -1 for one in model.hypotheses]
                for model in setting.models
            ],
            -1,
        )
        stakes = [
            Stakes(task.horizon, world.par, world.par_benign, float(price)) for price in PRICES
        ]
        accepts = self.beliefs.accepts
        self._tables = PlanTables.of(stakes[0], root, len(setting.topology), accepts)
        # By price and ticks used; after the horizon nobody takes an incident over.
        self._over = np.array(
            [
                [units(one.handed_over(used) or 0.0) for used in range(task.horizon + 2)]
                for one in stakes
            ],
            np.float64,
        )
        self._wrong = np.zeros(self.beliefs.weights.shape, np.uint8)
        self._unapproved = np.zeros_like(self._wrong)

    def begin(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """Begin new episodes in rows (R,), of which the first screens are shown."""
        if not len(rows):
            return
        for counts in (self._wrong, self._unapproved):
            counts[rows] = 0
        owners = owners_of(self._setting, incidents, rows)
        self.beliefs.reset(owners, rows, incidents.world[rows])
        nothing = np.zeros(len(rows), bool)
        cells = screen_cells(self._setting, episodes, rows, nothing)
        self.beliefs.update(cells, rows=rows)

    def follow(self, episodes: TokenEpisodes, actions: Ints, rows: Ints) -> None:
        """Take in the screens of rows (R,), open after ``actions`` (R,) in the last tick."""
        if not len(rows):
            return
        ranges = self._setting.ranges
        which = actions - ranges.remedy
        remedied = (which >= 0) & (which < ranges.remedies)
        self._count(episodes, rows[remedied], which[remedied])
        cells = screen_cells(self._setting, episodes, rows, remedied)
        self.beliefs.update(cells, actions, rows=rows)

    def _count(self, episodes: TokenEpisodes, rows: Ints, which: Ints) -> None:
        """Count remedies (R,) that were just applied in some rows, by hypothesis."""
        wrong = ~self.beliefs.accepts[self.beliefs.world[rows], which]
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
        """W of rows (R,), which are open; without ``hand_over`` no plan hands over."""
        found = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            cases = self._cases(incidents, episodes, block)
            if not hand_over:
                cases = attrs.evolve(cases, over=np.zeros(len(block)))
            total = cases.weights.sum(axis=1)
            found[start : start + BLOCK_ROWS] = self._best(cases) / UNIT / total
        return found

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


def owners_of(setting: TokenSetting, incidents: TokenIncidents, rows: Ints) -> Any:
    """The number of each service's team (R, n), off the board."""
    topology, layout = setting.topology, setting.layout
    teams = layout.world.owning_teams(topology)
    flags = np.stack([incidents.board[rows, layout[f"owner:{team}"]] for team in teams], axis=2)
    numbers = setting.tables.owners[incidents.world[rows]]
    return np.take_along_axis(numbers, flags.argmax(axis=2), axis=1)
