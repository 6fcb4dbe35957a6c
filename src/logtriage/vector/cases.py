"""What plans depend on in R incidents: tables of a task, and where each incident stands."""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.belief.plans import REMEDIES_TRIED
from logtriage.belief.stakes import UNIT, Stakes, penalty
from logtriage.vector.arrays import stacked

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@attrs.frozen(eq=False)
class PlanTables:
    """Tables for plans over H hypotheses in W worlds.

    ``root`` (W, H) is -1 where there is no fault. ``stakes`` are those of the task by
    ``logtriage/3``, with a price that belongs to no incident. Pairs of a remedy and a hypothesis
    that accepts it are listed by remedy: ``hypothesis`` (W, P), and where the pairs of each remedy
    begin, the last one's end behind them: ``begins`` (W, M + 1).
    """

    stakes: Stakes
    root: Ints
    services: int
    hypothesis: Ints
    begins: Ints

    @classmethod
    def of(cls, stakes: Stakes, root: Ints, services: int, accepts: Bools) -> "PlanTables":
        """``accepts`` (W, remedies, H) says which remedies a hypothesis accepts."""
        pairs = [np.nonzero(one) for one in accepts]
        begins = [np.searchsorted(remedy, range(accepts.shape[1] + 1)) for remedy, _ in pairs]
        return cls(stakes, root, services, stacked([which for _, which in pairs]), np.array(begins))

    @cached_property
    def remedy_credit(self) -> Floats:
        """What a fix earns after so many wrong remedies (W,), with a page or without."""
        most = self.stakes.horizon + REMEDIES_TRIED
        worth = [self.stakes.remedy(wrong) for wrong in range(most + 1)]
        return np.array(worth, np.float64)

    @cached_property
    def closed(self) -> Floats:
        """What resolving earns with so many ticks used; past the horizon nothing."""
        horizon = self.stakes.horizon
        worth = [self.stakes.closed(used) for used in range(horizon + 1)]
        return np.array(worth + [0] * (REMEDIES_TRIED + 5), np.float64)

    @cached_property
    def calm(self) -> Floats:
        """What each severity said of a benign incident earns (3,)."""
        stakes = self.stakes
        worth = [int(stakes.benign_severity * one) for one in stakes.severity_credits]
        return np.array(worth[::-1], np.float64)

    @cached_property
    def dismissed(self) -> Floats:
        """What dismissing earns with so many ticks used (T,)."""
        ticks = range(self.stakes.horizon + 2)
        return np.array([self.stakes.dismissed(used) for used in ticks], np.float64)

    @cached_property
    def rash(self) -> Ints:
        """What so many wrong remedies before the page leave, in units of 2**-20 (W,)."""
        most = self.stakes.horizon + REMEDIES_TRIED
        return np.array([self.stakes.rash(wrong) for wrong in range(most + 1)])

    @cached_property
    def penalties(self) -> Ints:
        """What silence leaves after so many wrong remedies, without and with a fix (2, W)."""
        return np.array(
            [
                [
                    penalty(self.stakes, approved=False, wrong=wrong, fixed=fixed)
                    for wrong in range(REMEDIES_TRIED + 1)
                ]
                for fixed in (False, True)
            ]
        )

    def shares_left(self, unapproved: Ints, early: Bools) -> Floats:
        """What wrong remedies before the page, and a fix that was ``early``, have left."""
        left: Floats = (self.rash / UNIT)[unapproved]
        return left * np.where(early, self.stakes.early_fix / UNIT, 1.0)


@attrs.frozen(eq=False)
class Cases:
    """Arrays that plans depend on, for R incidents, as in :class:`logtriage.belief.single.Single`.

    ``world`` (R,) is the number of each one's world. ``weights`` (R, H) whole numbers with a sum
    of about 2**30; ``team``, ``wrong`` and ``rash`` (R, H); ``fix`` (R, H) in units of 2**-20;
    ``root_counts`` (R, H); ``severities`` (R, H, 3)
    in units of 2**-20. ``tick``, ``over`` (what a hand-over is worth, in units of 2**-20, 0 if it
    cannot be any more), ``fixed``, ``paged``, and ``severity`` and ``declared``, -1 if not yet
    (R,).
    """

    tables: PlanTables
    world: NDArray[np.uint8]
    weights: Floats
    team: Ints
    wrong: Ints
    rash: Floats
    fix: Floats
    root_counts: Bools
    severities: Floats
    tick: Ints
    over: Floats
    fixed: Bools
    paged: Bools
    severity: Ints
    declared: Ints


def scaled_weights(weights: Any, whole: int) -> Floats:
    """Weights (R, H) as whole numbers that sum to about ``whole``, rounded down each."""
    given = weights.astype(np.int64)
    found: Floats = (given * whole // given.sum(axis=1, keepdims=True)).astype(np.float64)
    return found
