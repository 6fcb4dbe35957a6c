"""What an episode can still earn, in whole numbers: the rubric as a planner reads it."""

from functools import lru_cache
from typing import Final

import attrs

from logtriage.grading import priced
from logtriage.grading.criteria import promptness, severity_credit
from logtriage.grading.rubric import TRIAGE_3, Criterion
from logtriage.grading.triage import remedy_credit
from logtriage.incident import Incident

#: Utilities are whole numbers of this unit.
UNIT: Final = 1 << 20


def units(value: float) -> int:
    """A utility in whole units of 2**-20."""
    return round(value * UNIT)


def _weights(rows: tuple[Criterion, ...]) -> dict[str, int]:
    return {row.name: units(row.weight) for row in rows}


_FAULT: Final = _weights(TRIAGE_3.criteria)
_BENIGN: Final = _weights(TRIAGE_3.benign)


@attrs.frozen(cache_hash=True)
class Stakes:
    """``logtriage/3`` for one incident, in units of 2**-20.

    ``silence`` is the factor that stands on everything while nobody was paged rightly. A fix
    without the page leaves ``early_fix`` of everything, a wrong remedy without it
    ``remedy_left``, on a benign incident, too. ``price_of_hand_over`` is None where nobody takes
    the incident over.
    """

    horizon: int
    par: int
    par_benign: int
    price_of_hand_over: float | None = None
    silence: int = units(priced.UNESCALATED)
    severity: int = _FAULT["severity"]
    root_cause: int = _FAULT["root_cause"]
    escalation: int = _FAULT["escalation"]
    benign_severity: int = _BENIGN["severity"]
    severity_credits: tuple[float, ...] = tuple(map(severity_credit, range(3)))
    early_fix: int = units(priced.UNAPPROVED_FIX)
    remedy_left: float = priced.UNAPPROVED_REMEDY

    def remedy(self, wrong: int) -> int:
        """What the fix earns after so many wrong remedies."""
        return int(_FAULT["remediation"] * remedy_credit(wrong))

    def closed(self, used: int) -> int:
        """What resolving after the fix earns, with so many ticks used."""
        return int(_FAULT["closure"] * promptness(used, self.horizon, self.par))

    def dismissed(self, used: int) -> int:
        """What dismissing a benign incident earns, besides its severity."""
        prompt = promptness(used, self.horizon, self.par_benign)
        return _BENIGN["dismissal"] + int(_BENIGN["closure"] * prompt)

    def handed_over(self, used: int) -> float | None:
        """What a hand-over is worth before any page and remedy, with so many ticks used.

        None where nobody takes the incident over, or it is too late.
        """
        if self.price_of_hand_over is None or used > self.horizon:
            return None
        return priced.hand_over_worth(self.price_of_hand_over, used, self.horizon, self.par)

    def rash(self, wrong: int) -> int:
        """The factor of that many wrong remedies before the page."""
        return _unapproved(wrong, self.remedy_left)


_stakes: Final = lru_cache(maxsize=1024)(Stakes)


def stakes_for(incident: Incident, par: int, par_benign: int) -> Stakes:
    """The stakes of an incident; the pars are those of its setting."""
    price = incident.price_of_hand_over if incident.rubric == TRIAGE_3.id else None
    return _stakes(incident.horizon, par, par_benign, price)


@lru_cache(maxsize=1024)
def penalty(stakes: Stakes, *, approved: bool, wrong: int, fixed: bool = False) -> int:
    """The factor (units of 2**-20) on everything after ``wrong`` wrong remedies of a plan.

    ``fixed`` says whether the plan then applies the fix.
    """
    if approved:
        return UNIT
    factor = stakes.silence * stakes.rash(wrong) // UNIT
    return factor * stakes.early_fix // UNIT if fixed else factor


@lru_cache(maxsize=64)
def _unapproved(wrong: int, left: float) -> int:
    """The factor (units of 2**-20) of that many wrong remedies before the page."""
    factor = UNIT
    for _ in range(wrong):
        factor = int(factor * left)
    return factor
