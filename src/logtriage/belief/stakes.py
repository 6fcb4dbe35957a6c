"""What an episode can still earn, in whole numbers: the rubric as a planner reads it."""

from functools import lru_cache
from typing import Final

import attrs

from logtriage.grading.criteria import promptness, severity_credit
from logtriage.grading.rubric import TRIAGE_2, Criterion
from logtriage.grading.triage import (
    MOST_UNPAGED,
    UNAPPROVED_FIX,
    UNAPPROVED_REMEDY,
    dismissal_credit,
    remedy_credit,
)

#: Utilities are whole numbers of this unit.
UNIT: Final = 1 << 20


def units(value: float) -> int:
    """A utility in whole units of 2**-20."""
    return round(value * UNIT)


def _weights(rows: tuple[Criterion, ...]) -> dict[str, int]:
    return {row.name: units(row.weight) for row in rows}


_FAULT: Final = _weights(TRIAGE_2.criteria)
_BENIGN: Final = _weights(TRIAGE_2.benign)


@attrs.frozen(cache_hash=True)
class Stakes:
    """``logtriage/2`` for one incident, in units of 2**-20.

    ``silence`` is the factor that stands on everything while nobody was paged rightly.
    """

    horizon: int
    par: int
    par_benign: int
    silence: int
    severity: int = _FAULT["severity"]
    root_cause: int = _FAULT["root_cause"]
    escalation: int = _FAULT["escalation"]
    benign_severity: int = _BENIGN["severity"]
    severity_credits: tuple[float, ...] = tuple(map(severity_credit, range(3)))

    def remedy(self, wrong: int, *, approved: bool) -> int:
        """What the fix earns after so many wrong remedies."""
        left = 1.0 if approved else UNAPPROVED_FIX
        return int(_FAULT["remediation"] * remedy_credit(wrong) * left)

    def closed(self, used: int) -> int:
        """What resolving after the fix earns, with so many ticks used."""
        return int(_FAULT["closure"] * promptness(used, self.horizon, self.par))

    def dismissed(self, used: int, remedies: int) -> int:
        """What dismissing a benign incident earns, besides its severity."""
        prompt = promptness(used, self.horizon, self.par_benign)
        return int(_BENIGN["dismissal"] * dismissal_credit(remedies)) + int(
            _BENIGN["closure"] * prompt
        )


@lru_cache(maxsize=1024)
def stakes_of(horizon: int, par: int, par_benign: int, price_of_silence: float) -> Stakes:
    """The stakes of an incident with a price of silence."""
    return Stakes(horizon, par, par_benign, units(price_of_silence / MOST_UNPAGED))


@lru_cache(maxsize=1024)
def penalty(stakes: Stakes, *, approved: bool, wrong: int) -> int:
    """The factor (units of 2**-20) on everything after ``wrong`` wrong remedies of a plan."""
    return UNIT if approved else stakes.silence * unapproved(wrong) // UNIT


@lru_cache(maxsize=64)
def unapproved(wrong: int) -> int:
    """The factor (units of 2**-20) of that many wrong remedies before the page."""
    factor = UNIT
    for _ in range(wrong):
        factor = int(factor * UNAPPROVED_REMEDY)
    return factor
