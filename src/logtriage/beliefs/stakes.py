"""What an episode can still earn: ``logtriage/3`` for one incident, whatever is the matter."""

from functools import lru_cache
from typing import Final

import attrs

from logtriage.grading import paging
from logtriage.grading.rubric import TRIAGE_3
from logtriage.grading.tables import ScoreTables, Span, tables_of
from logtriage.incident import Incident

#: Utilities are whole numbers of this unit.
UNIT: Final = 1 << 20
#: No episode has more remedies than these, of however many roles.
MOST_REMEDIES: Final = 4096


@attrs.frozen(cache_hash=True)
class Stakes:
    """What grades by ``logtriage/3`` depend on beside the truth and the actions.

    ``par`` is that of a fault. ``worth_of_hand_over`` is None if nobody takes the incident over.
    """

    horizon: int
    par: int
    par_benign: int
    worth_of_hand_over: float | None = None

    def tables(self, faults: int) -> ScoreTables:
        """The scores of levels for incidents with at most ``faults`` faults.

        The first pair of horizon and par is that of faults, the second that of benign incidents.
        """
        clocks = (self.horizon, self.par), (self.horizon, self.par_benign)
        return tables_of(TRIAGE_3, Span(self.horizon, clocks, faults, MOST_REMEDIES))

    def handed_over(self, used: int) -> float | None:
        """What a hand-over is worth before any page and remedy, with ``used`` ticks used.

        None if nobody takes the incident over, or it is too late.
        """
        if self.worth_of_hand_over is None or used > self.horizon:
            return None
        return paging.hand_over_worth(self.worth_of_hand_over, used, self.horizon, self.par)


_stakes: Final = lru_cache(maxsize=1024)(Stakes)


def stakes_for(incident: Incident, par: int, par_benign: int) -> Stakes:
    """The stakes of an incident; the pars are those of its setting."""
    worth = incident.worth_of_hand_over if incident.rubric == TRIAGE_3.id else None
    return _stakes(incident.horizon, par, par_benign, worth)
