"""Measures and gates over many histories at once: one kernel for each scalar one.

A measure of a history takes few values. So a kernel gives each incident a *level*, a
small integer, and lists the score of each level by the functions of
:mod:`logtriage.grading.criteria`. No score is computed twice in two ways; what the
arrays count is held to the scalar grader by ``property_tests/test_batch_laws.py``.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count, takewhile
from types import MappingProxyType
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.grading import criteria, triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure, Measured
from logtriage.grading.played import Ordered, Played
from logtriage.grading.truths import Bools
from logtriage.state import State


@attrs.frozen
class Span:
    """What the levels of a batch range over: ticks that can be used, and the horizons.

    ``clocks`` are the pairs of horizon and par, for rubrics that read the par.
    """

    ticks: int
    horizons: tuple[int, ...]
    clocks: tuple[tuple[int, int], ...] = ()


@attrs.frozen
class Kernel:
    """A measure over a block: the level of each incident, and the score of each level."""

    levels: Callable[[Any], Ints]  # of a Played, or of an Ordered where `ordered` says so
    scores: Callable[[Span], tuple[float, ...]]
    ordered: bool = False


#: The credit left by 0, 1, ... wrong remedies, as long as there is any.
CREDITED: Final = tuple(takewhile(bool, map(criteria.remedy_credit, count())))


def _times(levels: Ints, counts: Bools) -> Ints:
    return levels * counts


def _remedy_levels(number: Ints, counts: Bools) -> Ints:
    """0 for no credit, w + 1 for the credit that w wrong remedies leave."""
    return _times(number + 1, counts & (number < len(CREDITED)))


def _promptness_levels(block: Played, counts: Bools) -> Ints:
    """0 for none, else 1 + the ticks used, with a range for each distinct horizon."""
    levels = block.ticks + 1
    if block.horizon_slot is not None:
        levels = levels + block.horizon_slot * block.width
    return _times(levels, counts)


def _promptness_scores(free: int, span: Span) -> tuple[float, ...]:
    every = (
        criteria.promptness(used, horizon, free)
        for horizon in span.horizons
        for used in range(span.ticks + 1)
    )
    return (0.0, *every)


#: Of ``logtriage/2``: the credit left by wrong remedies, paged in time, and not.
TRIAGE_CREDITED: Final = tuple(takewhile(bool, map(triage.remedy_credit, count())))
_TRIAGE_REMEDY_SCORES: Final = (
    0.0,
    *TRIAGE_CREDITED,
    *(credit * triage.UNAPPROVED_FIX for credit in TRIAGE_CREDITED),
)
DISMISSED: Final = tuple(takewhile(bool, map(triage.dismissal_credit, count())))


def _triage_remedy_levels(block: Ordered) -> Ints:
    number, most = block.wrong_remedies, len(TRIAGE_CREDITED)
    late = (~block.approved).view(np.uint8) * np.uint8(most)
    return _times(number + 1 + late, block.fixed & (number < most))


def _dismissal_levels(block: Ordered) -> Ints:
    counts = block.ignored & ~block.blamed & (block.remedies < len(DISMISSED))
    return _times(block.remedies + 1, counts)


def _clock_levels(block: Ordered, counts: Bools) -> Ints:
    """As :func:`_promptness_levels`, with a range for each distinct pair of horizon and par."""
    levels = block.ticks + 1
    if block.clock_slot is not None:
        levels = levels + block.clock_slot * block.width
    return _times(levels, counts)


def clock_scores(span: Span) -> tuple[float, ...]:
    """The scores of the levels that name a pair of horizon and par, and the ticks used."""
    every = (
        criteria.promptness(used, horizon, par)
        for horizon, par in span.clocks
        for used in range(span.ticks + 1)
    )
    return (0.0, *every)


_SEVERITY_SCORES: Final = tuple(map(criteria.severity_credit, range(len(SEVERITIES))))
_REMEDY_SCORES: Final = (0.0, *CREDITED)
_NO_OR_YES: Final = (0.0, 1.0)

#: The kernel of each measure that has one.
MEASURES: Final[Mapping[Measure, Kernel]] = MappingProxyType(
    {
        criteria.severity: Kernel(lambda block: block.severity_off, lambda _: _SEVERITY_SCORES),
        criteria.root_cause: Kernel(lambda block: block.rightly_blamed, lambda _: _NO_OR_YES),
        criteria.escalation: Kernel(lambda block: block.paged, lambda _: _NO_OR_YES),
        criteria.remediation: Kernel(
            lambda block: _remedy_levels(block.wrong_remedies, block.fixed),
            lambda _: _REMEDY_SCORES,
        ),
        criteria.closure: Kernel(
            lambda block: _promptness_levels(block, block.resolved & block.fixed),
            partial(_promptness_scores, criteria.FREE_TICKS),
        ),
        criteria.dismissal: Kernel(
            lambda block: _remedy_levels(block.remedies, block.ignored & ~block.blamed),
            lambda _: _REMEDY_SCORES,
        ),
        criteria.benign_closure: Kernel(
            lambda block: _promptness_levels(block, block.ignored & ~block.blamed),
            partial(_promptness_scores, criteria.FREE_TICKS_BENIGN),
        ),
        triage.root_cause: Kernel(
            lambda block: block.blamed_in_time, lambda _: _NO_OR_YES, ordered=True
        ),
        triage.remediation: Kernel(
            _triage_remedy_levels, lambda _: _TRIAGE_REMEDY_SCORES, ordered=True
        ),
        triage.closure: Kernel(
            lambda block: _clock_levels(block, block.resolved & block.fixed),
            clock_scores,
            ordered=True,
        ),
        triage.dismissal: Kernel(_dismissal_levels, lambda _: (0.0, *DISMISSED), ordered=True),
        triage.benign_closure: Kernel(
            lambda block: _clock_levels(block, block.ignored & ~block.blamed),
            clock_scores,
            ordered=True,
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


def _unescalated(block: Ordered) -> NDArray[np.float64]:
    return np.where(block.benign | block.paged, 1.0, block.silence)


def _unapproved(block: Ordered) -> NDArray[np.float64]:
    applied = block.unapproved_remedies * ~block.benign
    most = int(applied.max(initial=0))
    return np.array([triage.UNAPPROVED_REMEDY**one for one in range(most + 1)]).take(applied)


#: The kernel of each discount that has one: the share that is left, 1 where it does not apply.
DISCOUNTS: Final[
    Mapping[Callable[[State], Measured | None], Callable[[Ordered], NDArray[np.float64]]]
] = MappingProxyType({triage.unescalated: _unescalated, triage.unapproved: _unapproved})
