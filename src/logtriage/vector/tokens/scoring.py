"""What N episodes have earned so far, equal to ``grade`` to the last bit.

Every score is looked up in a table that the scalar grader's own functions fill, and added
up in its order. Gates, discounts and criteria are those of the rubric, each known by its
scalar function.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.errors import RubricError
from logtriage.grading import criteria, triage
from logtriage.grading.grade import GRID, finish
from logtriage.grading.rubric import Rubric
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.tokens.episodes import (
    IGNORED,
    MISROUTED,
    NEVER,
    RESOLVED,
    ActionPlaces,
    TokenEpisodes,
)
from logtriage.vector.tokens.incidents import PRICES, TokenIncidents
from logtriage.vector.tokens.tables import TokenTables

Scores = NDArray[np.float64]
_WORST: Final = len(SEVERITIES) - 1


@attrs.frozen(eq=False)
class Stand:
    """Where N episodes stand: what measures, gates and discounts read, (N,) each."""

    tables: TokenTables
    places: ActionPlaces
    incidents: TokenIncidents
    episodes: TokenEpisodes
    horizon: int

    @property
    def real(self) -> Bools:
        """Whether there is a fault."""
        found: Bools = self.tables.recovers[self.incidents.hypothesis]
        return found

    @property
    def off(self) -> Ints:
        """How many classes the first severity is off; the worst if none was declared."""
        said = self.episodes.severity
        return np.where(said < 0, _WORST, np.abs(said - self.incidents.severity))

    @property
    def blamed(self) -> Bools:
        """Whether any service was declared the root cause."""
        found: Bools = self.episodes.root_cause >= 0
        return found

    @property
    def rightly_blamed(self) -> Bools:
        """Whether the first service declared is the root."""
        found: Bools = self.episodes.root_cause == self.tables.root[self.incidents.hypothesis]
        return found & self.real

    @property
    def in_time(self) -> Bools:
        """Whether a root cause was declared no later than the first fix."""
        found: Bools = self.episodes.said_at <= self.episodes.fixed_at
        return found

    @property
    def paged(self) -> Bools:
        """Whether an accepted team was paged."""
        found: Bools = self.episodes.paged_at != NEVER
        return found

    @property
    def approved(self) -> Bools:
        """Whether an accepted team was paged in an earlier tick than the first fix."""
        found: Bools = self.episodes.paged_at < self.episodes.fixed_at
        return found

    @property
    def fixed(self) -> Bools:
        """Whether an accepted remedy was applied."""
        found: Bools = self.episodes.fixed_at != NEVER
        return found

    @property
    def ticks(self) -> NDArray[np.uint8]:
        """Ticks used."""
        return self.episodes.columns[:, self.places.time]

    def closed_as(self, closing: int) -> Bools:
        """Whether the incident is closed for this reason."""
        found: Bools = self.episodes.closing == closing
        return found


def _table(values: Any) -> Scores:
    return np.array(list(values))


#: The credit of so many of what costs: there are fewer than this in an episode.
_MANY: Final = range(NEVER + 1)
SEVERITY: Final = _table(map(criteria.severity_credit, range(len(SEVERITIES))))
REMEDIED: Final = _table(map(triage.remedy_credit, _MANY))
DISMISSED: Final = _table(map(triage.dismissal_credit, _MANY))
UNAPPROVED: Final = _table(triage.UNAPPROVED_REMEDY**count for count in _MANY)
SILENT: Final = PRICES / triage.MOST_UNPAGED


def _flag(holds: Bools) -> Scores:
    return holds.astype(np.float64)


def _remediation(stand: Stand) -> Scores:
    credit = REMEDIED[stand.episodes.wrong_remedies]
    credit = np.where(stand.approved, credit, credit * triage.UNAPPROVED_FIX)
    return np.where(stand.fixed, credit, 0.0)


@lru_cache(maxsize=64)
def prompt_scores(horizon: int, par: int) -> Scores:
    """The score of a closing that took 0 to ``horizon`` ticks."""
    return _table(criteria.promptness(used, horizon, par) for used in range(horizon + 1))


def _promptness(stand: Stand, par: int, holds: Bools) -> Scores:
    return np.where(holds, prompt_scores(stand.horizon, par)[stand.ticks], 0.0)


def _dismissed(stand: Stand) -> Bools:
    return stand.closed_as(IGNORED) & ~stand.blamed


#: The score of each measure, (N,).
MEASURES: Final[Mapping[criteria.Measure, Callable[[Stand], Scores]]] = MappingProxyType(
    {
        criteria.severity: lambda stand: SEVERITY[stand.off],
        triage.root_cause: lambda stand: _flag(stand.rightly_blamed & stand.in_time),
        criteria.escalation: lambda stand: _flag(stand.paged),
        triage.remediation: _remediation,
        triage.closure: lambda stand: _promptness(
            stand, stand.tables.setting.par, stand.closed_as(RESOLVED) & stand.fixed
        ),
        triage.dismissal: lambda stand: np.where(
            _dismissed(stand), DISMISSED[stand.episodes.wrong_remedies], 0.0
        ),
        triage.benign_closure: lambda stand: _promptness(
            stand, stand.tables.setting.par_benign, _dismissed(stand)
        ),
    }
)
#: Where each gate holds, (N,).
GATES: Final[Mapping[Callable[..., object], Callable[[Stand], Bools]]] = MappingProxyType(
    {
        criteria.wrong_escalation: lambda stand: stand.closed_as(MISROUTED),
        criteria.ignored_incident: lambda stand: stand.closed_as(IGNORED) & stand.real,
    }
)
#: What each discount leaves, (N,); 1 where it does not apply.
DISCOUNTS: Final[Mapping[Callable[..., object], Callable[[Stand], Scores]]] = MappingProxyType(
    {
        triage.unescalated: lambda stand: np.where(
            stand.real & ~stand.paged, SILENT[stand.incidents.price], 1.0
        ),
        triage.unapproved: lambda stand: np.where(
            stand.real, UNAPPROVED[stand.episodes.unapproved], 1.0
        ),
    }
)


def check_scorable(rubric: Rubric) -> None:
    """Refuse a rubric with a rule that has no counterpart here.

    Raises:
        RubricError: naming the rule, and those that have one.
    """
    for what, rows, known in (
        ("measure", [(one.name, one.measure) for one in _rows(rubric)], MEASURES),
        ("gate", [(one.name, one.holds) for one in rubric.gates], GATES),
        ("discount", [(one.name, one.factor) for one in rubric.discounts], DISCOUNTS),
    ):
        every: Any = known
        for name, function in rows:
            if function not in every:
                raise RubricError(
                    f"rubric {rubric.id!r}: {what} {_name(function)} ({name!r}) cannot score a "
                    f"batch; those that can: {', '.join(map(_name, every))}"
                )


def _rows(rubric: Rubric) -> tuple[Any, ...]:
    return (*rubric.criteria, *rubric.benign, *rubric.penalties)


def _name(function: Any) -> str:
    return f"{function.__module__}.{getattr(function, '__qualname__', function)}"


def scores_of(stand: Stand, rubric: Rubric) -> Scores:
    """The grade so far (N,) of a rubric that :func:`check_scorable` passes."""
    total = _sum(stand, rubric, rubric.criteria)
    if rubric.benign:
        total = np.where(stand.real, total, _sum(stand, rubric, rubric.benign))
    for discount in rubric.discounts:
        total = total * DISCOUNTS[discount.factor](stand)
    total = _finished(rubric, total)
    for gate in rubric.gates:
        total[GATES[gate.holds](stand)] = 0.0
    return total


def _sum(stand: Stand, rubric: Rubric, rows: tuple[Any, ...]) -> Scores:
    total: Scores = np.zeros(len(stand.ticks))
    for row in rows:
        total = total + row.weight * MEASURES[row.measure](stand)
    for row in rubric.penalties:
        total = total - row.weight * MEASURES[row.measure](stand)
    return total


def _finished(rubric: Rubric, total: Scores) -> Scores:
    """As :func:`logtriage.grading.grade.finish`."""
    if rubric.digits is not None:  # Python rounds to digits otherwise than NumPy does
        distinct, places = np.unique(total, return_inverse=True)
        return _table(finish(rubric, one) for one in distinct.tolist())[places]
    low, high = rubric.bounds
    return np.rint(np.minimum(high, np.maximum(low, total)) * GRID) / GRID
