"""Ledgers: the actions so far, as grading counts them under many hypotheses at once.

Ledgers are graded by the code for batches (:mod:`logtriage.grading.steps`,
:mod:`logtriage.grading.scores`): there is no second rubric here.
"""

from functools import lru_cache
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.beliefs.fixedpoint import Longs
from logtriage.grading import paging
from logtriage.grading.rubric import TRIAGE_3
from logtriage.grading.scores import Case, gate_of, levels_of, score_row
from logtriage.grading.steps import (
    Facts,
    Letters,
    Move,
    Response,
    Rules,
    Shares,
    add_share,
    counts,
    facts_step,
    letters_of,
    move_of,
    response_step,
    untouched,
)
from logtriage.grading.tables import OPEN, ScoreTables, Span, fix_begin, share_begin, tables_of
from logtriage.incident import Incident
from logtriage.topology import Topology

#: Utilities are whole numbers of this unit.
UNIT: Final = 1 << 20
#: No episode has more remedies than this, for any number of roles.
MOST_REMEDIES: Final = 4096
#: A tick that never comes.
NEVER: Final = 1 << 20
#: 1.0 in units of 2**-30: those of grades under one severity, and of shares of severities.
WHOLE: Final = 1 << 30
#: Divides such a grade times such a share down to units of 2**-20.
PER_UNIT: Final = WHOLE * WHOLE // UNIT
#: An integer, or an array of them.
Int = Any
_SEVERITIES: Final = np.arange(len(SEVERITIES))


@attrs.frozen(cache_hash=True)
class Stakes:
    """What grades by ``logtriage/3`` depend on beside the truth and the actions.

    ``par`` holds for incidents with faults, ``par_benign`` for benign ones, both in ticks.
    ``worth_of_hand_over`` is None if nobody takes the incident over.
    """

    horizon: int
    par: int
    par_benign: int
    worth_of_hand_over: float | None = None

    def tables(self, faults: int) -> ScoreTables:
        """The score tables of the rubric for incidents with at most ``faults`` faults.

        The first pair of horizon and par is for faults, the second for benign incidents.
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


@attrs.frozen(eq=False)
class Ledger:
    """The facts of the actions so far, and the response to each of K faults (…, K).

    Fields are integers, or arrays that broadcast with each other.
    """

    facts: Facts
    response: Response

    def take(self, rows: Any) -> "Ledger":
        """The ledger at some ``rows``; integers and responses (K,) hold for all rows and stay."""
        facts = (value[rows] if np.ndim(value) else value for value in self.facts)
        response = (times[rows] if times.ndim > 1 else times for times in self.response)
        return Ledger(Facts(*facts), Response(*response))


#: Nothing was done yet.
EMPTY: Final = Ledger(untouched(NEVER), Response(*np.full((3, 1), NEVER)))


@attrs.frozen
class Bookkeeper:
    """Enters actions into ledgers, and grades them, for incidents of at most ``most`` faults.

    In its methods ``faults`` (…,) is how many faults a hypothesis has, 0 if it is benign.
    """

    stakes: Stakes
    letters: Letters
    most: int

    @classmethod
    def of(cls, stakes: Stakes, topology: Topology, most: int) -> "Bookkeeper":
        """The bookkeeper of an incident on a topology."""
        return cls(stakes, letters_of(topology, NEVER), most)

    def entered(
        self, ledger: Ledger, action: Int, tick: Int, hits: Any, faults: Int, *, anew: Any = True
    ) -> Ledger:
        """The ledger after a canonical action; unchanged if the incident is closed or time is up.

        ``hits`` (…, K) is whether each fault accepts what the action names, ``anew`` whether it
        declares a service for the first time.
        """
        facts, right = ledger.facts, np.any(hits, axis=-1)
        if right.all() or not right.any():
            right = bool(right.all())  # costs less than an array of equal values
        rules = Rules(strict=1, takes=self.stakes.worth_of_hand_over is not None)
        move = move_of(action, right, rules, self.letters)
        live = (facts.closing == OPEN) & (tick < self.stakes.horizon)
        counted = counts(facts, move, live, anew, np.maximum(faults, 1))
        of_faults = [np.asarray(value)[..., np.newaxis] for value in (live, counted, tick)]
        flags = Move(*[np.asarray(value)[..., np.newaxis] for value in move])
        response = response_step(ledger.response, flags, hits, *of_faults)
        return Ledger(facts_step(facts, move, live, counted, tick), response)

    def utilities(self, ledger: Ledger, used: Int, faults: Int, *, benign: bool) -> Longs:
        """The grades (3, …) by true severity if ``used`` ticks were used, in units of 2**-30."""
        facts, by, none = ledger.facts, self.stakes.tables(self.most), np.int64(NEVER)
        shares, several = Shares(0, 0, 0, 0), np.maximum(faults, 1)
        # Times (…, 1) are those of every fault.
        for fault in range(np.broadcast(*ledger.response).shape[-1]):
            part = Response(*(times[..., fault % times.shape[-1]] for times in ledger.response))
            shares = add_share(shares, part, facts.paged, none)
        shape = np.broadcast(*facts, *shares, used, several).shape
        case = Case(
            severity=_SEVERITIES.reshape(-1, *[1] * len(shape)),
            faults=several,
            shares=share_begin(several),
            fixes=fix_begin(several),
            clock=benign * (self.stakes.horizon + 1),  # past the levels for faults
            task_clock=0,
        )
        levels, gated = levels_of(facts, shares, case, used, none, by), False
        for gate in by.gates.tolist():
            gated = gated | gate_of(gate, facts, benign)
        worth = self.stakes.worth_of_hand_over or 0.0
        scores = score_row(levels, benign, gated * np.int64(1), worth, by)
        grades: Longs = np.rint(np.broadcast_to(scores, (3, *shape)) * WHOLE).astype(np.int64)
        return grades


def mean_over_severities(utilities: Longs, shares: Longs) -> Longs:
    """The mean (…, H) of utilities (3, …, H) over severities, in units of 2**-20.

    ``shares`` (H, 3) come from :func:`severity_shares`.
    """
    mean: Longs = sum(utilities[rank] * shares[:, rank] for rank in _SEVERITIES)
    return (mean + (PER_UNIT >> 1)) // PER_UNIT


def severity_shares(weights: NDArray[Any]) -> Longs:
    """Weights (…, 3) of severities as shares in units of 2**-30."""
    longs = np.asarray(weights, np.int64)
    shares: Longs = longs * WHOLE // longs.sum(axis=-1, keepdims=True)
    return shares
