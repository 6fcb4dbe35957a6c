"""What an episode can still earn, in whole numbers: the rubric as a planner reads it."""

from functools import lru_cache
from typing import Final

import attrs

from logtriage.grading import priced
from logtriage.grading.criteria import promptness, severity_credit
from logtriage.grading.rubric import TRIAGE_2, TRIAGE_3, Criterion
from logtriage.grading.triage import (
    MOST_UNPAGED,
    UNAPPROVED_FIX,
    UNAPPROVED_REMEDY,
    dismissal_credit,
    remedy_credit,
)
from logtriage.incident import Incident

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
    """``logtriage/2`` or ``logtriage/3`` for one incident, in units of 2**-20.

    ``silence`` is the factor that stands on everything while nobody was paged rightly. A fix
    without the page leaves ``fix_share`` of the remediation and ``early_fix`` of everything, a
    wrong remedy without it ``remedy_left`` of everything: on a benign incident, too, if
    ``calm_counts``; if not, it costs of the dismissal. ``price_of_hand_over`` is None where
    nobody takes the incident over.
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
    fix_share: float = UNAPPROVED_FIX
    early_fix: int = UNIT
    remedy_left: float = UNAPPROVED_REMEDY
    calm_counts: bool = False
    price_of_hand_over: float | None = None

    def remedy(self, wrong: int, *, approved: bool) -> int:
        """What the fix earns after so many wrong remedies."""
        left = 1.0 if approved else self.fix_share
        return int(_FAULT["remediation"] * remedy_credit(wrong) * left)

    def closed(self, used: int) -> int:
        """What resolving after the fix earns, with so many ticks used."""
        return int(_FAULT["closure"] * promptness(used, self.horizon, self.par))

    def dismissed(self, used: int, remedies: int) -> int:
        """What dismissing a benign incident earns, besides its severity."""
        prompt = promptness(used, self.horizon, self.par_benign)
        left = 1.0 if self.calm_counts else dismissal_credit(remedies)
        return int(_BENIGN["dismissal"] * left) + int(_BENIGN["closure"] * prompt)

    def handed_over(self, used: int) -> float | None:
        """What a hand-over is worth before any page and remedy, with so many ticks used.

        None where nobody takes the incident over, or it is too late.
        """
        if self.price_of_hand_over is None or used > self.horizon:
            return None
        return priced.hand_over_worth(self.price_of_hand_over, used, self.horizon, self.par)

    def rash(self, wrong: int) -> int:
        """The factor of that many wrong remedies before the page."""
        return unapproved(wrong, self.remedy_left)


@lru_cache(maxsize=1024)
def stakes_of(horizon: int, par: int, par_benign: int, price_of_silence: float) -> Stakes:
    """The stakes of an incident with a price of silence."""
    return Stakes(horizon, par, par_benign, units(price_of_silence / MOST_UNPAGED))


def stakes_for(incident: Incident, par: int, par_benign: int) -> Stakes:
    """The stakes of an incident, by its rubric; the pars are those of its setting."""
    if incident.rubric != TRIAGE_3.id:
        return stakes_of(incident.horizon, par, par_benign, incident.price_of_silence or 0.0)
    return priced_stakes(incident.horizon, par, par_benign, incident.price_of_hand_over)


@lru_cache(maxsize=1024)
def priced_stakes(
    horizon: int, par: int, par_benign: int, price_of_hand_over: float | None
) -> Stakes:
    """The stakes of an incident with a price of hand-over."""
    return Stakes(
        horizon,
        par,
        par_benign,
        units(priced.UNESCALATED),
        fix_share=1.0,
        early_fix=units(priced.UNAPPROVED_FIX),
        remedy_left=priced.UNAPPROVED_REMEDY,
        calm_counts=True,
        price_of_hand_over=price_of_hand_over,
    )


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
def unapproved(wrong: int, left: float = UNAPPROVED_REMEDY) -> int:
    """The factor (units of 2**-20) of that many wrong remedies before the page."""
    factor = UNIT
    for _ in range(wrong):
        factor = int(factor * left)
    return factor
