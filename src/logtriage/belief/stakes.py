"""What an episode can still earn, in whole numbers: the rubric as a planner reads it."""

from functools import lru_cache
from typing import Final

import attrs

from logtriage.grading.criteria import promptness

#: Utilities are whole numbers of this unit.
UNIT: Final = 1 << 20


def units(value: float) -> int:
    """A utility in whole units of 2**-20."""
    return round(value * UNIT)


@attrs.frozen(cache_hash=True)
class Stakes:
    """Weights and formulas of ``logtriage/2`` in units of 2**-20.

    ``silence`` is the factor that stands on everything while nobody was paged rightly,
    ``unapproved`` the one for each wrong remedy before that.
    """

    horizon: int
    par: int
    par_benign: int
    silence: int
    severity: int = units(0.15)
    root_cause: int = units(0.25)
    escalation: int = units(0.25)
    remediation: int = units(0.25)
    closure: int = units(0.10)
    benign_severity: int = units(0.20)
    dismissal: int = units(0.70)
    benign_closure: int = units(0.10)
    unapproved: float = 0.7
    halved: float = 0.5
    severity_credits: tuple[float, ...] = (1.0, 0.25, 0.0)

    def remedy(self, wrong: int, *, approved: bool) -> int:
        """What the fix earns after so many wrong remedies."""
        credit = max(0.0, 1.0 - 0.4 * wrong)
        return int(self.remediation * credit * (1.0 if approved else self.halved))

    def closed(self, used: int) -> int:
        """What resolving after the fix earns, with so many ticks used."""
        return int(self.closure * promptness(used, self.horizon, self.par))

    def dismissed(self, used: int, remedies: int) -> int:
        """What dismissing a benign incident earns, besides its severity."""
        credit = max(0.0, 1.0 - 0.2 * remedies)
        prompt = promptness(used, self.horizon, self.par_benign)
        return int(self.dismissal * credit) + int(self.benign_closure * prompt)


@lru_cache(maxsize=1024)
def penalty(stakes: Stakes, *, approved: bool, wrong: int) -> int:
    """The factor (units of 2**-20) on everything after ``wrong`` wrong remedies of a plan."""
    if approved:
        return UNIT
    return stakes.silence * penalty_steps(stakes, wrong) // UNIT


@lru_cache(maxsize=1024)
def penalty_steps(stakes: Stakes, wrong: int) -> int:
    """The factor (units of 2**-20) of that many wrong remedies before the page."""
    factor = UNIT
    for _ in range(wrong):
        factor = int(factor * stakes.unapproved)
    return factor


@lru_cache(maxsize=1024)
def stakes_of(horizon: int, par: int, par_benign: int, price_of_silence: float) -> Stakes:
    """The stakes of an incident with a price of silence."""
    return Stakes(horizon, par, par_benign, units(price_of_silence / 0.625))
