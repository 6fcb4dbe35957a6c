"""What N episodes have earned so far, equal to ``grade`` to the last bit.

Measures, gates and discounts are the kernels of :mod:`logtriage.grading.kernels`, which
read of episodes what they read of action lists.
"""

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.errors import RubricError
from logtriage.grading import triage
from logtriage.grading.action_lists import Ints
from logtriage.grading.kernels import Span
from logtriage.grading.plan import check_kernels, levels_of, plan_of, total_of
from logtriage.grading.rubric import Rubric
from logtriage.vector.arrays import Bools
from logtriage.vector.tokens.episodes import IGNORED, MISROUTED, NEVER, RESOLVED, TokenEpisodes
from logtriage.vector.tokens.incidents import PRICES, TokenIncidents
from logtriage.vector.tokens.tables import TokenTables

Scores = NDArray[np.float64]
_WORST: Final = len(SEVERITIES) - 1
#: What silence leaves, by the number of the price.
SILENT: Final = PRICES / triage.MOST_UNPAGED


class Stand:
    """Where N episodes stand: a :class:`logtriage.grading.played.Played`, (N,) each."""

    def __init__(
        self,
        tables: TokenTables,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        ticks: NDArray[np.uint8],
        span: Span,
    ) -> None:
        self.width, self.ticks = span.ticks + 1, ticks
        self.severity, self.price = incidents.severity, incidents.price
        self.real: Bools = tables.recovers[incidents.hypothesis]
        self.root = tables.root[incidents.hypothesis]
        self.episodes = episodes

    @property
    def benign(self) -> Bools:
        """Whether there is no fault."""
        return ~self.real

    @property
    def silence(self) -> Scores:
        """The share that is left while no accepted team was paged."""
        found: Scores = SILENT[self.price]
        return found

    @property
    def clock_slot(self) -> Ints:
        """Where the horizon and par of each incident stand among :func:`clocks_of`."""
        return self.benign.astype(np.int16)

    @property
    def severity_off(self) -> Ints:
        """How many classes the first severity is off; the worst if none was declared."""
        said = self.episodes.severity
        return np.where(said < 0, np.int8(_WORST), np.abs(said - self.severity))

    @property
    def blamed(self) -> Bools:
        """Whether any service was declared the root cause."""
        found: Bools = self.episodes.root_cause >= 0
        return found

    @property
    def rightly_blamed(self) -> Bools:
        """Whether the first service declared is the root."""
        found: Bools = self.episodes.root_cause == self.root
        return found & self.real

    @property
    def blamed_in_time(self) -> Bools:
        """Whether it is, and no fix came before it."""
        return self.rightly_blamed & (self.episodes.said_at <= self.episodes.fixed_at)

    @property
    def paged(self) -> Bools:
        """Whether an accepted team was paged."""
        found: Bools = self.episodes.paged_at != NEVER
        return found

    @property
    def wrongly_paged(self) -> Bools:
        """Whether a team that is not accepted was paged, which closes the incident."""
        return self._closed_as(MISROUTED)

    @property
    def remedies(self) -> Ints:
        """How many remedies were applied to a benign incident, where all are wrong."""
        return self.wrong_remedies

    @property
    def wrong_remedies(self) -> Ints:
        """How many remedies were not accepted."""
        return self.episodes.wrong_remedies

    @property
    def unapproved_remedies(self) -> Ints:
        """How many of them when no accepted team had been paged before."""
        return self.episodes.unapproved

    @cached_property
    def fixed(self) -> Bools:
        """Whether an accepted remedy was applied."""
        found: Bools = self.episodes.fixed_at != NEVER
        return found

    @property
    def approved(self) -> Bools:
        """Whether an accepted team was paged in an earlier tick than the first fix."""
        found: Bools = self.episodes.paged_at < self.episodes.fixed_at
        return found

    @property
    def resolved(self) -> Bools:
        """Whether the incident was closed by ``Resolve``."""
        return self._closed_as(RESOLVED)

    @property
    def ignored(self) -> Bools:
        """Whether the incident was closed by ``Ignore``."""
        return self._closed_as(IGNORED)

    def _closed_as(self, closing: int) -> Bools:
        found: Bools = self.episodes.closing == closing
        return found


def check_scorable(rubric: Rubric) -> None:
    """Refuse a rubric with a rule that has no counterpart here.

    Raises:
        RubricError: naming the rule, and those that have one; for a dismissal that counts for
            faults, too, since nothing counts the right remedies.
    """
    check_kernels(rubric)
    real = (*rubric.criteria, *rubric.penalties)
    for row in real:
        if row.measure is triage.dismissal:
            raise RubricError(
                f"rubric {rubric.id!r}: {row.name!r} counts the remedies of a fault; a batched "
                "engine scores a dismissal of benign incidents alone"
            )


def scores_of(stand: Stand, rubric: Rubric, span: Span) -> Scores:
    """The grade so far (N,) of a rubric that :func:`check_scorable` passes."""
    plan = plan_of(rubric, span)
    scores, _ = total_of(plan, rubric, stand, levels_of(plan, stand), any_benign=True)
    return scores
