"""The rules that kernels can grade by, and the score of each level of a measure.

A measure of a history takes few values. So a kernel gives each incident a *level*, a small integer,
and the functions of :mod:`logtriage.grading.criteria` list the score of each level. No score is
computed in two ways; ``property_tests/test_batch_laws.py`` checks the levels against the scalar
grader.
"""

from collections.abc import Callable, Mapping
from itertools import count, takewhile
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import SEVERITIES
from logtriage.grading import criteria, triage
from logtriage.grading.criteria import Measure
from logtriage.grading.shares import ALL_OR_NOTHING, fix_scores, share_scores
from logtriage.state import Closing

#: Why an incident closed, by number; -1 stands for open.
CLOSINGS: Final = tuple(Closing)
RESOLVED: Final = CLOSINGS.index(Closing.RESOLVED)
IGNORED: Final = CLOSINGS.index(Closing.IGNORED)
MISROUTED: Final = CLOSINGS.index(Closing.MISROUTED)
OUT_OF_TIME: Final = CLOSINGS.index(Closing.OUT_OF_TIME)


@attrs.frozen
class Span:
    """What the levels of a batch range over: ticks, the pairs of horizon and par, and faults.

    ``faults`` is the most that an incident lists, 0 where none lists any.
    """

    ticks: int
    clocks: tuple[tuple[int, int], ...]
    faults: int = 0


#: The credit left by 0, 1, ... remedies on a benign incident, as long as there is any.
DISMISSED: Final = tuple(takewhile(bool, map(triage.dismissal_credit, count())))


def _promptness_scores(span: Span) -> tuple[float, ...]:
    """0 for none, then by the ticks used, with a range for each pair of horizon and par."""
    every = (
        criteria.promptness(used, horizon, par)
        for horizon, par in span.clocks
        for used in range(span.ticks + 1)
    )
    return (0.0, *every)


_SEVERITY_SCORES: Final = tuple(map(criteria.severity_credit, range(len(SEVERITIES))))

#: The measures that kernels take, each with the score of each of its levels. Incidents that
#: list faults have levels of their own behind the others (:mod:`logtriage.grading.shares`).
MEASURES: Final[Mapping[Measure, Callable[[Span], tuple[float, ...]]]] = MappingProxyType(
    {
        criteria.severity: lambda _: _SEVERITY_SCORES,
        criteria.root_cause: lambda _: ALL_OR_NOTHING,
        criteria.escalation: lambda span: share_scores(span.faults),
        triage.root_cause: lambda span: share_scores(span.faults),
        triage.remediation: lambda span: fix_scores(span.faults),
        triage.closure: _promptness_scores,
        triage.dismissal: lambda _: (0.0, *DISMISSED),
        triage.benign_closure: _promptness_scores,
    }
)
#: The gates and the discounts that kernels take.
GATES: Final = (criteria.wrong_escalation, criteria.ignored_incident)
DISCOUNTS: Final = (triage.unescalated, triage.unapproved)
