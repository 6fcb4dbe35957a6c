"""Arrays over the hypotheses that matter, for plans of a single fault."""

from functools import cached_property
from typing import Final

import numpy as np

from logtriage.beliefs.cases import Case, Floats, Standing
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.model import NONE, Bools
from logtriage.beliefs.posterior import Posterior
from logtriage.beliefs.stakes import UNIT
from logtriage.errors import InvalidInput

#: A tick that never comes.
_NEVER: Final = 1 << 20


class Single(Case):
    """A case of at most one fault: H hypotheses.

    ``team``, ``root`` (H,) are indices, ``NONE`` for benign hypotheses; ``hits`` (H, M) is 1
    where a remedy is accepted; ``wrong`` and ``unapproved`` (H,) count the wrong remedies so
    far, ``fix_seen`` (H,) is whether there was a fix, ``fixed_early`` (H,) whether before the
    page, ``fix`` (H,) what it has earned, in units of 2**-20; ``root_counts`` (H,) is whether a
    root cause declared by now counts.
    """

    def __init__(
        self, posterior: Posterior, standing: Standing, negligible: int | None = None
    ) -> None:
        if posterior.model.setting.several:
            raise InvalidInput("several faults are planned for by logtriage.beliefs.portfolio")
        super().__init__(posterior, standing, negligible)
        self.tick, doings = standing.tick, standing.doings
        self.team, self.root, self.fault = self.teams[:, 0], self.services[:, 0], self.real[:, 0]
        self.hits: Floats = (self.fixes != NONE).astype(np.float64)
        # The first root cause stands.
        declared_at, said = (standing.root_causes or ((_NEVER, None),))[0]
        self.declared = None if said is None else self.topology.index(said)
        self.applied, self.paged = len(doings.remedies), bool(doings.pages)
        paged_at = doings.pages[0][0] if doings.pages else _NEVER
        when = np.array([tick for tick, _, _ in doings.remedies], np.int64)[:, np.newaxis]
        hit = np.zeros((self.applied, len(self.root)), np.bool_)
        for slot, (_, remedy, service) in enumerate(doings.remedies):
            hit[slot] = self.part(remedy, service) != NONE
        fixed_at = np.where(hit, when, _NEVER).min(axis=0, initial=_NEVER)
        self.wrong: Longs = (~hit).sum(axis=0)
        self.unapproved: Longs = (~hit & (when <= paged_at)).sum(axis=0)
        self.fix_seen: Bools = fixed_at < _NEVER
        self.fixed_early: Bools = self.fix_seen & (fixed_at <= paged_at)
        self.all_fixed = bool(self.fix_seen.all())
        self.fix: Floats = np.where(self.fix_seen, self.remedy_credit(0), 0.0)
        self.root_counts: Bools = ~self.fix_seen | (declared_at <= fixed_at)

    @cached_property
    def rash(self) -> Floats:
        """The share of the total left by wrong remedies and a fix before the page (H,)."""
        left = [self.stakes.rash(count) / UNIT for count in range(self.applied + 1)]
        early = np.where(self.fixed_early, self.stakes.early_fix / UNIT, 1.0)
        shares: Floats = np.array(left)[self.unapproved] * early
        return shares

    def handed_over(self, used: int) -> float | None:
        """What handing over is worth, with so many ticks used; None if it cannot be any more."""
        return None if self.paged or self.applied else self.stakes.handed_over(used)

    def remedy_credit(self, tried: int) -> Floats:
        """What a fix earns after that many more wrong remedies (H,), in units of 2**-20."""
        highest = int(self.wrong.max(initial=0)) + tried
        table = [self.stakes.remedy(wrong) for wrong in range(highest + 1)]
        return np.array(table, np.float64)[self.wrong + tried]

    @cached_property
    def _expected(self) -> Floats:
        """The expected credit of each severity that may be said (3, H), in units of 2**-20."""
        worth = self.stakes.severity_credits
        shares = (self.shown * UNIT // self.shown.sum(axis=1, keepdims=True)).astype(np.float64)
        table = [[worth[abs(said - true)] for true in range(3)] for said in range(3)]
        expected: Floats = np.array(table) @ shares.T
        return expected

    @cached_property
    def severity_votes(self) -> Floats:
        """The same in units of 2**-10, by which a severity is chosen (3, H)."""
        votes: Floats = np.floor(self._expected / 1024)
        return votes

    @cached_property
    def severity_credit(self) -> Floats:
        """What each severity that may be said earns (3, H), in units of 2**-20."""
        earned: Floats = np.floor(self._expected * (self.stakes.severity / UNIT))
        return earned

    @cached_property
    def calm_credit(self) -> Floats:
        """The grade of each severity (3,) that may be declared, if the incident is benign."""
        stakes = self.stakes
        worth = [int(stakes.benign_severity * credit) for credit in stakes.severity_credits]
        return np.array(worth[::-1], np.float64)

    @cached_property
    def root_onehot(self) -> Floats:
        """1 where a hypothesis has its root at a service (H, n)."""
        places: Floats = (self.root[:, np.newaxis] == np.arange(len(self.topology))).astype(
            np.float64
        )
        return places
