"""Measures and gates over many histories at once: one kernel for each scalar one.

A measure of a history takes few values. So a kernel gives each incident a *level*, a
small integer, and lists the score of each level by the functions of
:mod:`logtriage.grading.criteria`. No score is computed twice in two ways; what the
arrays count is held to the scalar grader by ``property_tests/test_batch_laws.py``.
"""

from collections.abc import Callable, Mapping
from itertools import count, takewhile
from types import MappingProxyType
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.grading import criteria, triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure, Measured
from logtriage.grading.locked import Bools
from logtriage.grading.played import Discounted, Played
from logtriage.grading.shares import ALL_OR_NOTHING, CREDITED, fix_scores, share_scores
from logtriage.state import State


@attrs.frozen
class Span:
    """What the levels of a batch range over: ticks, the pairs of horizon and par, and faults.

    ``faults`` is the most that an incident lists, 0 where none lists any.
    """

    ticks: int
    clocks: tuple[tuple[int, int], ...]
    faults: int = 0


@attrs.frozen
class Kernel:
    """A measure over a block: the level of each incident, and the score of each level."""

    levels: Callable[[Played], Ints]
    scores: Callable[[Span], tuple[float, ...]]


def _times(levels: Ints, counts: Bools) -> Ints:
    return levels * counts


#: The credit left by 0, 1, ... remedies on a benign incident, as long as there is any.
DISMISSED: Final = tuple(takewhile(bool, map(triage.dismissal_credit, count())))


def _remedy_levels(block: Played) -> Ints:
    """0 for no credit, w + 1 for what w wrong remedies leave; beyond these not approved."""
    number, most = block.wrong_remedies, len(CREDITED)
    late = (~block.approved).view(np.uint8) * np.uint8(most)
    return _times(number + 1 + late, block.fixed & (number < most))


def _dismissal_levels(block: Played) -> Ints:
    counts = block.ignored & ~block.blamed & (block.remedies < len(DISMISSED))
    return _times(block.remedies + 1, counts)


def _promptness_levels(block: Played, counts: Bools) -> Ints:
    """0 for none, else 1 + the ticks used, with a range for each pair of horizon and par."""
    levels = block.ticks + 1
    if block.clock_slot is not None:
        levels = levels + block.clock_slot * block.width
    return _times(levels, counts)


def _promptness_scores(span: Span) -> tuple[float, ...]:
    every = (
        criteria.promptness(used, horizon, par)
        for horizon, par in span.clocks
        for used in range(span.ticks + 1)
    )
    return (0.0, *every)


_SEVERITY_SCORES: Final = tuple(map(criteria.severity_credit, range(len(SEVERITIES))))

#: The kernel of each measure that has one: its levels are those of an incident as a whole, of
#: which those that list faults get others (:mod:`logtriage.grading.shares`).
MEASURES: Final[Mapping[Measure, Kernel]] = MappingProxyType(
    {
        criteria.severity: Kernel(lambda block: block.severity_off, lambda _: _SEVERITY_SCORES),
        criteria.root_cause: Kernel(lambda block: block.rightly_blamed, lambda _: ALL_OR_NOTHING),
        criteria.escalation: Kernel(
            lambda block: block.paged, lambda span: share_scores(span.faults)
        ),
        triage.root_cause: Kernel(
            lambda block: block.blamed_in_time, lambda span: share_scores(span.faults)
        ),
        triage.remediation: Kernel(_remedy_levels, lambda span: fix_scores(span.faults)),
        triage.closure: Kernel(
            lambda block: _promptness_levels(block, block.resolved & block.fixed),
            _promptness_scores,
        ),
        triage.dismissal: Kernel(_dismissal_levels, lambda _: (0.0, *DISMISSED)),
        triage.benign_closure: Kernel(
            lambda block: _promptness_levels(block, block.ignored & ~block.blamed),
            _promptness_scores,
        ),
    }
)

#: The kernel of each gate that has one: where it holds.
GATES: Final[Mapping[Callable[[State], str | None], Callable[[Played], Bools]]] = MappingProxyType(
    {
        criteria.wrong_escalation: lambda block: block.wrongly_paged,
        criteria.ignored_incident: lambda block: block.ignored & ~block.benign,
    }
)


def _unescalated(block: Discounted) -> NDArray[np.float64]:
    return np.where(block.benign | block.paged, 1.0, block.silence)


def _unapproved(block: Discounted) -> NDArray[np.float64]:
    applied = block.unapproved_remedies * ~block.benign
    most = int(applied.max())
    return np.array([triage.UNAPPROVED_REMEDY**one for one in range(most + 1)]).take(applied)


#: The kernel of each discount that has one: the share that is left, 1 where it does not apply.
DISCOUNTS: Final[
    Mapping[Callable[[State], Measured | None], Callable[[Discounted], NDArray[np.float64]]]
] = MappingProxyType({triage.unescalated: _unescalated, triage.unapproved: _unapproved})
