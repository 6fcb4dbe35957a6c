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
from typing import Final

import attrs

from logtriage.actions import SEVERITIES
from logtriage.grading import criteria
from logtriage.grading.action_lists import Ints
from logtriage.grading.criteria import Measure
from logtriage.grading.played import Played
from logtriage.grading.truths import Bools
from logtriage.state import State


@attrs.frozen
class Span:
    """What the levels of a batch range over: ticks that can be used, and the horizons."""

    ticks: int
    horizons: tuple[int, ...]


@attrs.frozen
class Kernel:
    """A measure over a block: the level of each incident, and the score of each level."""

    levels: Callable[[Played], Ints]
    scores: Callable[[Span], tuple[float, ...]]


#: The credit left by 0, 1, ... wrong remedies, as long as there is any.
_CREDITED: Final = tuple(takewhile(bool, map(criteria.remedy_credit, count())))


def _times(levels: Ints, counts: Bools) -> Ints:
    return levels * counts


def _remedy_levels(number: Ints, counts: Bools) -> Ints:
    """0 for no credit, w + 1 for the credit that w wrong remedies leave."""
    return _times(number + 1, counts & (number < len(_CREDITED)))


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


_SEVERITY_SCORES: Final = tuple(map(criteria.severity_credit, range(len(SEVERITIES))))
_REMEDY_SCORES: Final = (0.0, *_CREDITED)
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
    }
)

#: The kernel of each gate that has one: where it holds.
GATES: Final[Mapping[Callable[[State], str | None], Callable[[Played], Bools]]] = MappingProxyType(
    {
        criteria.wrong_escalation: lambda block: block.wrongly_paged,
        criteria.ignored_incident: lambda block: block.ignored & ~block.benign,
    }
)
