"""What lists of actions earn under every set of faults at once: the rubrics by arrays.

The rules are those of :mod:`logtriage.grading`; a law holds the two to each other.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from logtriage.actions import (
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Resolve,
)
from logtriage.beliefs.cases import Case, Floats
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.model import NONE
from logtriage.beliefs.stakes import UNIT
from logtriage.grading.criteria import promptness, severity_credit
from logtriage.grading.rubric import TRIAGE_3
from logtriage.grading.triage import WEIGHTS, remedy_credit
from logtriage.state import Play

#: A tick that never comes.
NEVER: Final = 1 << 20
_BENIGN: Final = {row.name: row.weight for row in TRIAGE_3.benign}
SEVERITY_CREDITS: Final = np.array(
    [[severity_credit(abs(said - true)) for true in range(3)] for said in range(3)]
)


class Lists(Case):
    """A case of sets of faults that grades lists of actions as they stand.

    ``count`` (H,) is the number of faults, ``share`` (H,) is 1 / ``count``; both are 0 where the
    incident is benign. ``severities`` (H, 3) are probabilities.
    """

    @cached_property
    def count(self) -> Longs:
        """How many faults there are (H,)."""
        count: Longs = self.real.sum(axis=1)
        return count

    @cached_property
    def share(self) -> Floats:
        """What one fault is of all (H,); 0 where the incident is benign."""
        return np.where(self.count > 0, 1.0 / np.maximum(self.count, 1), 0.0)

    @cached_property
    def severities(self) -> Floats:
        """The probabilities of P1, P2, P3 (H, 3)."""
        shown = self.shown.astype(np.float64)
        shares: Floats = shown / shown.sum(axis=1, keepdims=True)
        return shares

    @cached_property
    def past(self) -> tuple[Play, ...]:
        """What was said and done so far."""
        standing = self.standing
        plays: list[Play] = [(when, Escalate(team)) for when, team in standing.doings.pages]
        plays += [(when, IdentifyRootCause(service)) for when, service in standing.root_causes]
        plays += [(when, Remediate(*rest)) for when, *rest in standing.doings.remedies]
        if standing.severity is not None:
            plays.append((0, ClassifySeverity(standing.severity)))
        return tuple(plays)

    def value_of(self, grades: Floats) -> int:
        """The expected grade, in units of 2**-20, from the grades under each hypothesis (H,)."""
        return round(float((self.weights * grades).sum() / self.total) * UNIT)

    def grades(self, actions: Sequence[Action], wait: int = 0) -> Floats:
        """The grade (H,) of a list of actions that begins in ``wait`` ticks."""
        first = self.standing.tick + wait
        new: list[Play] = list(enumerate(actions[: max(0, self.standing.left - wait)], first))
        return self._graded([*self.past, *new], (first + len(new),))[0]

    def grades_now_and_later(self, actions: Sequence[Action]) -> Sequence[Floats]:
        """:meth:`grades`, and the same if the list begins a tick later.

        What was said and done stands in the same order either way, so that a list that
        fits in both times differs in when it ends alone.
        """
        if len(actions) >= self.standing.left:
            return self.grades(actions), self.grades(actions, 1)
        now = self.standing.tick
        end = now + len(actions)
        return self._graded([*self.past, *enumerate(actions, now)], (end, end + 1))

    def closed_grades(self, tick: int, last: Action) -> Floats:
        """The grades (H,) if the last of what was done closed the incident, ``tick`` ticks used."""
        close = [(tick - 1, last)] if isinstance(last, Resolve | Ignore | HandOver) else []
        return self._graded([*self.past, *close], (tick,))[0]

    def closed(self, tick: int, last: Action) -> float:
        """The expected grade if the last of what was done closed the incident."""
        return self.value_of(self.closed_grades(tick, last)) / UNIT

    def _graded(self, plays: list[Play], ends: Sequence[int]) -> list[Floats]:
        """The grades (H,) of what was done, for each number of ticks that it may have taken."""
        topology, stakes, shape = self.topology, self.stakes, self.services.shape
        said, paged, fixed = (np.full(shape, NEVER, np.int64) for _ in range(3))
        first_page = np.full(shape[0], NEVER, np.int64)
        alive = np.ones(shape[0])
        wrong, early = np.zeros(shape[0], np.int64), np.zeros(shape[0], np.int64)
        severity: int | None = None
        declared: list[int] = []
        applied, touched = 0, False
        close: Action | None = None
        for when, action in plays:
            match action:
                case ClassifySeverity(level):
                    severity = SEVERITIES.index(level) if severity is None else severity
                case Escalate(team):
                    touched = True
                    theirs = self.teams == topology.teams.index(team)
                    paged[theirs] = np.minimum(paged[theirs], when)
                    right = theirs.any(axis=1)
                    first_page[right] = np.minimum(first_page[right], when)
                    alive *= right
                case IdentifyRootCause(name, _):
                    service = topology.index(name)
                    if service not in declared:
                        declared.append(service)
                        counts = self.count >= len(declared)
                        said[(self.services == service) & counts[:, np.newaxis]] = when
                case Remediate(remedy, name):
                    applied += 1
                    part = self.part(str(remedy), name)
                    hit = np.flatnonzero(part != NONE)
                    fixed[hit, part[hit]] = np.minimum(fixed[hit, part[hit]], when)
                    missed = part == NONE
                    wrong += missed
                    early += missed & (first_page >= when)
                case Resolve() | Ignore() | HandOver():
                    close = action
        credit = np.zeros(shape[0])
        if severity is not None:
            credit = self.severities @ SEVERITY_CREDITS[severity]
        total = WEIGHTS["severity"] * credit
        total = total + WEIGHTS["root_cause"] * self._part_sum((said < NEVER) & (said <= fixed))
        total = total + WEIGHTS["escalation"] * self._part_sum(paged < NEVER)
        spent = np.array([remedy_credit(mistakes) for mistakes in range(applied + 1)])[wrong]
        total = total + WEIGHTS["remediation"] * self._part_sum(fixed < NEVER) * spent
        calm = _BENIGN["severity"] * credit
        if isinstance(close, Ignore):
            total = total * 0.0
            if not declared:
                calm = calm + _BENIGN["dismissal"]
        silent = self._part_sum(paged == NEVER)
        heard = silent * (stakes.silence / UNIT) + (1.0 - silent)
        hasty = (fixed < NEVER) & (fixed <= first_page[:, np.newaxis]) & self.real
        rash: Floats = stakes.remedy_left**early * (stakes.early_fix / UNIT) ** hasty.sum(axis=1)
        first = isinstance(close, HandOver) and not (applied or touched)
        done = ((fixed < NEVER) | ~self.real).all(axis=1)
        graded = []
        for used in ends:
            over = stakes.handed_over(used) if first else None
            if over is not None:
                graded.append(np.full(shape[0], over))
                continue
            real, benign = total, calm
            if isinstance(close, Resolve | HandOver):
                on_time = promptness(used, stakes.horizon, stakes.par)
                real = real + WEIGHTS["closure"] * done * on_time
            if isinstance(close, Ignore) and not declared:
                on_time = promptness(used, stakes.horizon, stakes.par_benign)
                benign = benign + _BENIGN["closure"] * on_time
            rows = np.where(self.count > 0, real * heard * rash, benign * rash)
            graded.append(rows * alive)
        return graded

    def _part_sum(self, of_parts: Any) -> Floats:
        """The share of the faults for which something holds (H,)."""
        sums: Floats = (of_parts * self.real).sum(axis=1) * self.share
        return sums
