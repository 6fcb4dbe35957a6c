"""Shares of several faults in batches: what was named, paged for and fixed, as levels.

The kernels of single faults take an incident as a whole. Where it lists faults, the measures
that go by shares get other levels, which stand behind those of single faults in the same
tables. The counterpart of :mod:`logtriage.grading.parts`.
"""

from collections.abc import Callable, Mapping
from itertools import count, takewhile
from types import MappingProxyType
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.grading import criteria, triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure

Floats = NDArray[np.float64]

#: The credit left by 0, 1, ... wrong remedies, as long as there is any.
CREDITED: Final = tuple(takewhile(bool, map(triage.remedy_credit, count())))
#: What an incident with one fault may score: all or nothing, or what remedies leave.
ALL_OR_NOTHING: Final = (0.0, 1.0)
ONE_FIX: Final = (0.0, *CREDITED, *(credit * triage.UNAPPROVED_FIX for credit in CREDITED))
#: Halves that the fix of one fault is worth: without its page, and with it.
_HALVES: Final = round(1 / triage.UNAPPROVED_FIX)


@attrs.frozen(eq=False)
class Shares:
    """What was done about the faults of S incidents; ``rows`` (S,) are their places.

    All (S,): ``count`` faults, of which so many were ``named`` and ``paged`` for; ``halves``
    is what fixes are worth, two for each with its page and one without; ``fixed`` whether
    nothing is left, ``wrong`` how many remedies fixed nothing.
    """

    rows: Ints
    count: Ints
    named: Ints
    paged: Ints
    halves: Ints
    fixed: Ints
    wrong: Ints


def share_scores(most: int) -> tuple[float, ...]:
    """All or nothing, then the shares 0 to k of k faults, for k up to ``most``."""
    every = ((part, faults) for faults in range(1, most + 1) for part in range(faults + 1))
    return (*ALL_OR_NOTHING, *(part / faults for part, faults in every))


def _share_levels(faults: Ints, part: Ints) -> Ints:
    levels: Ints = len(ALL_OR_NOTHING) + (faults - 1) * (faults + 2) // 2 + part
    return levels


def fix_scores(most: int) -> tuple[float, ...]:
    """What one fix earns, then h halves of k faults after w wrong remedies, for k, w, h."""
    return (
        *ONE_FIX,
        *(
            halves * triage.UNAPPROVED_FIX / faults * credit
            for faults in range(1, most + 1)
            for credit in CREDITED
            for halves in range(_HALVES * faults + 1)
        ),
    )


def _fix_levels(shares: Shares) -> Ints:
    faults, wrong = shares.count, shares.wrong
    # Of 1, 2, ... k - 1 faults there are 3, 5, ... 2 k - 1 levels for each credit.
    begins = len(ONE_FIX) + len(CREDITED) * (faults * faults - 1)
    levels = begins + wrong * (_HALVES * faults + 1) + shares.halves
    return np.where(wrong < len(CREDITED), levels, 0)


#: The levels (S,) of measures that go by shares, from those of the incident as a whole.
SHARED: Final[Mapping[Measure, Callable[[Shares, Ints], Ints]]] = MappingProxyType(
    {
        criteria.escalation: lambda shares, _: _share_levels(shares.count, shares.paged),
        triage.root_cause: lambda shares, _: _share_levels(shares.count, shares.named),
        triage.remediation: lambda shares, _: _fix_levels(shares),
        triage.closure: lambda shares, whole: whole * shares.fixed,
    }
)


def share_levels(shares: Shares, levels: Mapping[Measure, Ints]) -> None:
    """Give the incidents that list faults their own levels, of levels (N,) by measure."""
    for measure, kept in levels.items():
        if measure in SHARED:
            kept[shares.rows] = SHARED[measure](shares, kept[shares.rows])


def unescalated_shares(shares: Shares, silence: Floats) -> Floats:
    """The share (S,) left by the discount for unpaged teams; ``silence`` (N,) if all are."""
    unpaged: Floats = (shares.count - shares.paged) / shares.count
    left: Floats = unpaged * silence[shares.rows] + (1.0 - unpaged)
    return left
