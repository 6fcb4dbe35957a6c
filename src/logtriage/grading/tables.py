"""A rubric as tables for kernels: its rules, and the score of each rule at each level.

A measure takes few values. So a kernel sums a list of actions up as *levels*, small whole numbers
(:class:`Levels`), and the scalar grader's functions fill tables with the score of each level. No
kernel holds a value of a rubric; ``property_tests/test_batch_laws.py`` checks the levels against
the scalar grader.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import count
from operator import truediv
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.errors import RubricError
from logtriage.grading import criteria, paging, triage
from logtriage.grading.criteria import Measure, Measured
from logtriage.grading.grade import GRID
from logtriage.grading.rubric import Criterion, Rubric, check_rubric
from logtriage.state import Closing, State

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Factor = Callable[[State], Measured | None]
AnyCall = Callable[..., Any]

#: Why an incident closed, by number.
CLOSINGS: Final = tuple(Closing)
RESOLVED, IGNORED = CLOSINGS.index(Closing.RESOLVED), CLOSINGS.index(Closing.IGNORED)
MISROUTED, OUT_OF_TIME = CLOSINGS.index(Closing.MISROUTED), CLOSINGS.index(Closing.OUT_OF_TIME)
HANDED_OVER = CLOSINGS.index(Closing.HANDED_OVER)
#: Stands for an incident that is open.
OPEN: Final = len(CLOSINGS)


class Levels(NamedTuple):
    """The levels that a list of actions is summed up as.

    ``off``: how many classes the severity is off. ``blamed``: whether the first service declared is
    accepted. ``named`` and ``paged``: the share of the faults that were named, or paged for.
    ``fixes``: how many faults were fixed, and after how many wrong remedies. ``dismissed``: whether
    the incident was. ``resolved``, ``calmed`` and ``handed``: 1 plus the ticks until it was
    resolved, dismissed or handed over, in a range for each pair of horizon and par; 0 if it was
    not. ``early`` and ``hasty``: wrong remedies, and faults fixed, no later than the first accepted
    page.
    """

    off: Any
    blamed: Any
    named: Any
    paged: Any
    fixes: Any
    dismissed: Any
    resolved: Any
    calmed: Any
    handed: Any
    early: Any
    hasty: Any


LEVELS: Final = Levels._fields
#: The level ``off`` of the worst severity, and of none declared.
WORST: Final = len(SEVERITIES) - 1
#: After this many wrong remedies, no credit remains.
CREDITS: Final = next(wrong for wrong in count() if triage.remedy_credit(wrong) == 0.0)
#: A table of totals takes in another criterion if it then has at most this many entries.
TABLE_SIZE: Final = 16_384


@attrs.frozen
class Span:
    """The largest numbers in a batch, which bound its levels.

    ``ticks`` is the most ticks, ``clocks`` the pairs of horizon and par, ``faults`` the most of an
    incident (at least 1), ``actions`` the most of a list.
    """

    ticks: int
    clocks: tuple[tuple[int, int], ...]
    faults: int = 1
    actions: int = 0

    @property
    def width(self) -> int:
        """The number of levels for one pair of horizon and par."""
        return self.ticks + 1


def share_begin(faults: Any) -> Any:
    """The level of share 0 of ``faults`` faults: one fault has two shares, two have three."""
    return (faults - 1) * (faults + 2) // 2


def fix_begin(faults: Any) -> Any:
    """The level of no fault fixed of ``faults`` faults, after no wrong remedy."""
    return share_begin(faults) * (CREDITS + 1)


def _shares(score: Callable[[int, int], float], span: Span) -> Iterator[float]:
    """The ``score`` of (part, faults) for 0, 1, … of one fault, of two, and so on."""
    for faults in range(1, span.faults + 1):
        yield from (score(part, faults) for part in range(faults + 1))


def _fixes(span: Span) -> Iterator[float]:
    """The remediation at each share of fixed faults, after 0 to :data:`CREDITS` wrong remedies."""
    for fixed in _shares(truediv, span):
        yield from (fixed * triage.remedy_credit(wrong) for wrong in range(CREDITS + 1))


def _by_clock(score: Callable[[int, int, int], float], span: Span) -> Iterator[float]:
    """0 for level 0, then the ``score`` of (ticks used, horizon, par) for each pair of the span."""
    yield 0.0
    for horizon, par in span.clocks:
        yield from (score(used, horizon, par) for used in range(span.width))


def _yes_or_no(_: Span) -> Iterator[float]:
    yield from (0.0, 1.0)


def _powers(left: float, field: str, span: Span) -> Iterator[float]:
    """What 0, 1, … things that leave ``left`` each leave; a ``field`` of the span counts them."""
    return (left**number for number in range(getattr(span, field) + 1))


@attrs.frozen
class Leveled:
    """A rule by level: the name of the level that it reads, and its score at each value of it."""

    level: str
    _scores: Callable[[Span], Iterator[float]]

    def scores(self, span: Span) -> Floats:
        """The score at each value of the level."""
        return np.array(list(self._scores(span)), np.float64)


@attrs.frozen
class Discounting(Leveled):
    """A discount: the share left at each value; ``everywhere``: in benign incidents, too."""

    everywhere: bool = False


_OFF: Final = range(WORST + 1)
#: The measures that kernels take.
MEASURES: Final[Mapping[Measure, Leveled]] = MappingProxyType(
    {
        criteria.severity: Leveled("off", lambda _: map(criteria.severity_credit, _OFF)),
        criteria.root_cause: Leveled("blamed", _yes_or_no),
        criteria.escalation: Leveled("paged", partial(_shares, truediv)),
        triage.root_cause: Leveled("named", partial(_shares, truediv)),
        triage.closure: Leveled("resolved", partial(_by_clock, criteria.promptness)),
        triage.benign_closure: Leveled("calmed", partial(_by_clock, criteria.promptness)),
        paging.remediation: Leveled("fixes", _fixes),
        paging.dismissal: Leveled("dismissed", _yes_or_no),
    }
)
#: The share of its worth that a hand-over earns, by :func:`paging.hand_over`: the only measure in
#: ``handed_over`` that kernels take.
HANDED: Final = Leveled("handed", partial(_by_clock, partial(paging.hand_over_worth, 1.0)))
#: The gates and the discounts that kernels take.
GATES: Final = (criteria.wrong_escalation, criteria.ignored_incident)
DISCOUNTS: Final[Mapping[Factor, Discounting]] = MappingProxyType(
    {
        paging.unescalated: Discounting(
            "paged", partial(_shares, lambda paged, of: paging.left_unescalated((of - paged) / of))
        ),
        paging.unapproved: Discounting(
            "early", partial(_powers, paging.UNAPPROVED_REMEDY, "actions"), everywhere=True
        ),
        paging.unapproved_fix: Discounting(
            "hasty", partial(_powers, paging.UNAPPROVED_FIX, "faults")
        ),
    }
)


class ScoreTables(NamedTuple):
    """A rubric as kernels take it; L levels in the order of :data:`LEVELS`.

    Criteria form G groups. The points of a group stand in ``points`` at its entry of ``begins``
    (2, G) plus the sum of all levels times ``strides`` (2, G, L); row 0 is for faults, row 1 for
    benign incidents. The total is the sum over groups. ``discounts`` (D, 3) are (level, where its
    ``factors`` begin, whether it applies everywhere). ``gates`` are places in :data:`GATES`.
    ``handed`` is the share of its worth that a hand-over earns, by level, ``handed_weight`` the
    weight of its criterion, -1 if there is none. Totals are cut to ``low`` and ``high``.
    ``credits`` is :data:`CREDITS`, ``grid`` is :data:`~logtriage.grading.grade.GRID`.
    """

    strides: NDArray[np.int32]
    begins: NDArray[np.int32]
    points: Floats
    discounts: Numbers
    factors: Floats
    gates: Numbers
    handed: Floats
    handed_weight: float
    credits: np.uint8
    low: float
    high: float
    grid: float


def _groups(
    rubric: Rubric, rows: tuple[Criterion, ...], span: Span
) -> list[tuple[Numbers, Floats]]:
    """(strides by level, table of points) of each group of criteria and penalties.

    The first criteria share a table, up to its size; the others have a table each, because floats
    must be added in the order of the scalar grader.
    """
    table, strides = np.zeros(1), np.zeros(len(LEVELS), np.int64)
    groups: list[tuple[Numbers, Floats]] = []
    for number, row in enumerate((*rows, *rubric.penalties)):
        sign = 1.0 if number < len(rows) else -1.0  # penalties come last
        by = MEASURES[row.measure]
        points, place = sign * (row.weight * by.scores(span)), LEVELS.index(by.level)
        if not groups and len(table) * len(points) <= TABLE_SIZE:
            strides[place] += len(table)  # += since several criteria may read one level
            table = (table[np.newaxis, :] + points[:, np.newaxis]).ravel()
        else:
            groups.append(((np.arange(len(LEVELS)) == place).astype(np.int64), points))
    return [(strides, table), *groups]


@lru_cache(maxsize=64)
def tables_of(rubric: Rubric, span: Span) -> ScoreTables:
    """The tables of a rubric for a span, shared by all; RubricError if a rule has no kernel."""
    check_kernels(rubric)
    benign = rubric.benign or rubric.criteria
    parts = [_groups(rubric, rows, span) for rows in (rubric.criteria, benign)]
    most = max(map(len, parts))
    strides = np.zeros((2, most, len(LEVELS)), np.int32)
    begins = np.zeros((2, most), np.int32)
    points, length = [np.zeros(1)], 1  # entry 0 is for a group that one part lacks
    for part, groups in enumerate(parts):
        for number, (stride, table) in enumerate(groups):
            strides[part, number], begins[part, number] = stride, length
            points.append(table)
            length += len(table)
    discounts, factors = np.zeros((len(rubric.discounts), 3), np.int64), [np.zeros(0)]
    for number, row in enumerate(rubric.discounts):
        discount = DISCOUNTS[row.factor]
        begin = sum(map(len, factors))
        discounts[number] = LEVELS.index(discount.level), begin, discount.everywhere
        factors.append(discount.scores(span))
    return ScoreTables(
        strides=strides,
        begins=begins,
        points=np.concatenate(points),
        discounts=discounts,
        factors=np.concatenate(factors),
        gates=np.array([GATES.index(gate.holds) for gate in rubric.gates], np.int64),
        handed=HANDED.scores(span),
        handed_weight=float(rubric.handed_over[0].weight) if rubric.handed_over else -1.0,
        credits=np.uint8(CREDITS),
        low=float(rubric.bounds[0]),
        high=float(rubric.bounds[1]),
        grid=GRID,
    )


def check_kernels(rubric: Rubric) -> None:
    """Raise RubricError for a rule without a kernel; it names the rules that have a kernel.

    Raise InvalidInput for anything but a rubric.
    """
    check_rubric(rubric)
    for what, name, function, known in _rules(rubric):
        if function not in known:
            raise RubricError(
                f"rubric {rubric.id!r}: {what} {_name(function)} ({name!r}) has no kernel; "
                f"those that have one: {', '.join(map(_name, known)) or 'none'}"
            )
    if not _hands_over_alone(rubric):
        raise RubricError(f"rubric {rubric.id!r}: first_alone = False has no kernel")


@lru_cache(maxsize=64)
def has_kernels(rubric: Rubric) -> bool:
    """Whether every rule of a rubric has a kernel."""
    has_kernel = [function in known for _, _, function, known in _rules(rubric)]
    return all(has_kernel) and _hands_over_alone(rubric)


def _hands_over_alone(rubric: Rubric) -> bool:
    """Whether a hand-over counts alone after no page and no remedy only, if at all."""
    return rubric.first_alone or not rubric.handed_over


def _rules(rubric: Rubric) -> Iterator[tuple[str, str, AnyCall, tuple[AnyCall, ...]]]:
    """(kind, name, function, all functions of the kind with a kernel) of each rule."""
    for row in (*rubric.criteria, *rubric.benign, *rubric.penalties):
        yield "measure", row.name, row.measure, tuple(MEASURES)
    for place, row in enumerate(rubric.handed_over):  # kernels take one at most
        yield "measure", row.name, row.measure, () if place else (paging.hand_over,)
    for gate in rubric.gates:
        yield "gate", gate.name, gate.holds, GATES
    for discount in rubric.discounts:
        yield "discount", discount.name, discount.factor, tuple(DISCOUNTS)


def _name(function: AnyCall) -> str:
    return f"{function.__module__}.{getattr(function, '__qualname__', function)}"
