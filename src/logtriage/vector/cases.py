"""What plans depend on in R incidents: tables of a task, and where each incident stands."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.plans import REMEDIES_TRIED
from logtriage.beliefs.stakes import UNIT, Stakes, penalty

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class PlanTables(NamedTuple):
    """Tables for plans over H hypotheses in W worlds; credits in units of 2**-20.

    ``root`` (W, H) is -1 where there is no fault. Pairs of a remedy and a hypothesis that accepts
    it are listed by remedy: ``hypothesis`` (W, P), and where the pairs of each remedy begin, the
    last one's end behind them: ``begins`` (W, M + 1).

    By wrong remedies so far: ``remedy_credit`` is the credit of a fix, ``rash`` what is left if
    they came before the page, ``penalties`` (2, …) what silence leaves without and with a fix. By
    ticks used: ``closed`` is the credit of resolving, nothing past the horizon, ``dismissed`` that
    of dismissing. ``calm`` (3,) is the credit of each severity declared for a benign incident,
    ``near`` (3,) that of a severity so many classes off, from 0 to 1. ``early_fix`` is what a fix
    before the page leaves; the other numbers are those of the stakes.
    """

    root: Ints
    hypothesis: Ints
    begins: Ints
    remedy_credit: Floats
    closed: Floats
    rash: Ints
    penalties: Ints
    dismissed: Floats
    calm: Floats
    near: Floats
    early_fix: int
    horizon: int
    severity: int
    root_cause: int
    escalation: int

    def shares_left(self, unapproved: Ints, early: Bools) -> Floats:
        """What wrong remedies before the page, and a fix that was ``early``, have left."""
        left: Floats = (self.rash / UNIT)[unapproved]
        return left * np.where(early, self.early_fix / UNIT, 1.0)


def plan_tables(stakes: Stakes, root: Ints, accepts: Bools) -> PlanTables:
    """The tables of a task with the stakes of ``logtriage/3``, whatever a hand-over is worth.

    ``accepts`` (W, M, H) says which remedies a hypothesis accepts; ``root`` as in the tables.
    """
    pairs = [np.nonzero(world) for world in accepts]
    begins = [np.searchsorted(remedy, range(accepts.shape[1] + 1)) for remedy, _ in pairs]
    listed = np.zeros((len(pairs), max(len(which) for _, which in pairs)), np.int64)
    for row, (_, which) in zip(listed, pairs, strict=True):
        row[: len(which)] = which
    horizon = stakes.horizon
    wrongs = range(horizon + REMEDIES_TRIED + 1)
    closed = [stakes.closed(used) for used in range(horizon + 1)]
    calm = [int(stakes.benign_severity * credit) for credit in stakes.severity_credits]
    return PlanTables(
        root=root,
        hypothesis=listed,
        begins=np.array(begins),
        remedy_credit=np.array([stakes.remedy(wrong) for wrong in wrongs], np.float64),
        closed=np.array(closed + [0] * (REMEDIES_TRIED + 5), np.float64),
        rash=np.array([stakes.rash(wrong) for wrong in wrongs]),
        penalties=np.array(
            [
                [
                    penalty(stakes, approved=False, wrong=wrong, fixed=fixed)
                    for wrong in range(REMEDIES_TRIED + 1)
                ]
                for fixed in (False, True)
            ]
        ),
        dismissed=np.array([stakes.dismissed(used) for used in range(horizon + 2)], np.float64),
        calm=np.array(calm[::-1], np.float64),
        near=np.array(stakes.severity_credits),
        early_fix=stakes.early_fix,
        horizon=horizon,
        severity=stakes.severity,
        root_cause=stakes.root_cause,
        escalation=stakes.escalation,
    )


class Cases(NamedTuple):
    """Arrays that plans depend on, for R incidents, as in :class:`logtriage.beliefs.single.Single`.

    ``world`` (R,) is the number of each row's world. ``weights`` (R, H) whole numbers with a sum
    of about 2**30; ``team``, ``wrong`` and ``rash`` (R, H); ``fix`` (R, H) in units of 2**-20;
    ``root_counts`` (R, H); ``severities`` (R, H, 3) in units of 2**-20. ``tick``, ``over`` (what a
    hand-over is worth, in units of 2**-20, 0 if it cannot be any more), ``fixed``, ``paged``, and
    ``severity`` and ``declared``, -1 if not yet (R,).
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
    """Weights (R, H) as whole numbers, each rounded down; their sum is about ``whole``."""
    numbers = weights.astype(np.int64)
    scaled: Floats = (numbers * whole // numbers.sum(axis=1, keepdims=True)).astype(np.float64)
    return scaled
