"""What a response is worth under every set of faults at once: ``logtriage/2`` by arrays.

Shares, discounts and gates are those of :mod:`logtriage.grading.triage`; a law holds the
two to each other.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    REMEDIES,
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Resolve,
)
from logtriage.belief.beliefs import Belief
from logtriage.belief.stakes import UNIT
from logtriage.errors import InvalidInput
from logtriage.grading.criteria import promptness, severity_credit
from logtriage.grading.rubric import TRIAGE_2
from logtriage.grading.triage import (
    UNAPPROVED_FIX,
    UNAPPROVED_REMEDY,
    WEIGHTS,
    dismissal_credit,
    remedy_credit,
)
from logtriage.state import Play
from logtriage.world.conditions import Hypothesis, accepted_remedies, team_of

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
#: A tick that never comes, and what stands for no service, team or fault.
NEVER: Final = 1 << 20
NONE: Final = -1
#: Weights of a belief are scaled to this sum.
SCALE: Final = 1 << 30

_BENIGN: Final = {row.name: row.weight for row in TRIAGE_2.benign}
SEVERITY_CREDITS: Final = np.array(
    [[severity_credit(abs(said - true)) for true in range(3)] for said in range(3)]
)


@attrs.frozen(eq=False)
class SetCase:
    """The hypotheses of a belief over sets as arrays, H of at most K faults.

    ``service`` and ``team`` (H, K) are indices, ``NONE`` for none; ``fixes`` (H, M) is the
    fault that each of the remedies ``names`` fixes; ``weights`` (H,) are whole numbers,
    ``rows`` the places of the hypotheses in the belief.
    """

    belief: Belief
    rows: tuple[int, ...]
    weights: Floats
    service: Longs
    team: Longs
    severities: Floats
    names: tuple[tuple[str, str], ...]
    fixes: Longs

    @classmethod
    def of(cls, belief: Belief, *, negligible: int | None = None, least: int = 0) -> "SetCase":
        """A belief compiled; hypotheses below 1 in ``negligible`` are left out.

        The ``least`` so many likeliest stay whatever they weigh.

        Raises:
            InvalidInput: if nothing is possible any more.
        """
        floor = 1 if negligible is None else max(1, belief.total // negligible)
        if least:
            heaviest = sorted(belief.weights, reverse=True)[:least]
            floor = min(floor, max(1, heaviest[-1]))
        rows = [row for row, one in enumerate(belief.weights) if one >= floor]
        if not rows:
            raise InvalidInput("no hypothesis fits the evidence: is it from another incident?")
        topology, faults = belief.topology, [belief.model.hypothesis(row).faults for row in rows]
        raw = [belief.weights[row] for row in rows]
        most = max(1, *(len(one) for one in faults))
        teams = {team: number for number, team in enumerate(topology.teams)}
        single = {fault for one in faults for fault in one}
        accepted = {one: accepted_remedies(topology, Hypothesis((one,))) for one in single}
        paged = {one: teams[team_of(topology, belief.directory, *one)] for one in single}
        order = {remedy: number for number, remedy in enumerate(map(str, REMEDIES))}
        names = sorted(
            set().union(*accepted.values()) if accepted else set(),
            key=lambda one: (order[one[0]], topology.index(one[1])),
        )
        column = {name: number for number, name in enumerate(names)}
        service = np.full((len(rows), most), NONE, np.int64)
        team = np.full((len(rows), most), NONE, np.int64)
        fixes = np.full((len(rows), len(names)), NONE, np.int64)
        for row, one in enumerate(faults):
            for place, fault in enumerate(one):
                service[row, place], team[row, place] = fault[1], paged[fault]
                for name in accepted[fault]:
                    fixes[row, column[name]] = place
        severities = np.array([belief.posterior.severities[row] for row in rows], np.float64)
        return cls(
            belief,
            tuple(rows),
            np.array([one * SCALE // sum(raw) for one in raw], np.float64),
            service,
            team,
            severities / severities.sum(axis=1, keepdims=True),
            tuple(names),
            fixes,
        )

    @cached_property
    def real(self) -> NDArray[np.bool_]:
        """Where there is a fault (H, K)."""
        found: NDArray[np.bool_] = self.service != NONE
        return found

    @cached_property
    def count(self) -> Longs:
        """How many faults there are (H,)."""
        found: Longs = self.real.sum(axis=1)
        return found

    @cached_property
    def share(self) -> Floats:
        """What one fault is of all (H,); 0 where the incident is benign."""
        return np.where(self.count > 0, 1.0 / np.maximum(self.count, 1), 0.0)

    @cached_property
    def past(self) -> tuple[Play, ...]:
        """What was said and done so far."""
        standing = self.belief.standing
        doings = standing.doings
        plays: list[Play] = [(when, Escalate(team)) for when, team in doings.pages]
        plays += [(when, IdentifyRootCause(service)) for when, service in standing.root_causes]
        plays += [(when, Remediate(*rest)) for when, *rest in doings.remedies]
        if standing.severity is not None:
            plays.append((0, ClassifySeverity(standing.severity)))
        return tuple(plays)

    def value(self, actions: Sequence[Action]) -> int:
        """The expected grade of a list of actions, in units of 2**-20, played as it stands."""
        grades = self.grades(actions)
        return round(float((self.weights * grades).sum() / self.weights.sum()) * UNIT)

    def grades(self, actions: Sequence[Action]) -> Floats:
        """The grade that a list of actions comes to under each hypothesis (H,)."""
        return self._from(actions, self.belief.standing.tick)

    def grades_now_and_later(self, actions: Sequence[Action]) -> tuple[Floats, Floats]:
        """:meth:`grades`, and the same if the list begins a tick later.

        What was said and done stands in the same order either way, so that a list that
        fits in both times differs in when it ends alone.
        """
        standing = self.belief.standing
        now = standing.tick
        end = now + len(actions)
        if end >= standing.stakes.horizon:
            return self._from(actions, now), self._from(actions, now + 1)
        plays = [*self.past, *enumerate(actions, now)]
        first, second = self._graded(plays, (end, end + 1))
        return first, second

    def _from(self, actions: Sequence[Action], first: int) -> Floats:
        left = max(0, self.belief.standing.stakes.horizon - first)
        new: list[Play] = list(enumerate(actions[:left], first))
        return self._graded([*self.past, *new], (first + len(new),))[0]

    def _graded(self, plays: list[Play], ends: Sequence[int]) -> list[Floats]:
        """The grades (H,) of what was done, for each number of ticks that it may have taken."""
        topology, stakes = self.belief.topology, self.belief.standing.stakes
        shape = self.service.shape
        said, paged, fixed = (np.full(shape, NEVER, np.int64) for _ in range(3))
        first_page = np.full(shape[0], NEVER, np.int64)
        alive = np.ones(shape[0])
        wrong, early = np.zeros(shape[0], np.int64), np.zeros(shape[0], np.int64)
        severity: int | None = None
        declared: list[int] = []
        applied = 0
        close: Action | None = None
        for when, action in plays:
            match action:
                case ClassifySeverity(one):
                    severity = SEVERITIES.index(one) if severity is None else severity
                case Escalate(team):
                    theirs = self.team == topology.teams.index(team)
                    paged[theirs] = np.minimum(paged[theirs], when)
                    right = theirs.any(axis=1)
                    first_page[right] = np.minimum(first_page[right], when)
                    alive *= right
                case IdentifyRootCause(name, _):
                    service = topology.index(name)
                    if service not in declared:
                        declared.append(service)
                        counts = self.count >= len(declared)
                        said[(self.service == service) & counts[:, np.newaxis]] = when
                case Remediate(remedy, name):
                    applied += 1
                    part = self._part(str(remedy), name)
                    hit = np.flatnonzero(part != NONE)
                    fixed[hit, part[hit]] = np.minimum(fixed[hit, part[hit]], when)
                    missed = part == NONE
                    wrong += missed
                    early += missed & (first_page >= when)
                case Resolve() | Ignore():
                    close = action
        credit = np.zeros(shape[0])
        if severity is not None:
            credit = self.severities @ SEVERITY_CREDITS[severity]
        total = WEIGHTS["severity"] * credit
        total = total + WEIGHTS["root_cause"] * self._part_sum((said < NEVER) & (said <= fixed))
        total = total + WEIGHTS["escalation"] * self._part_sum(paged < NEVER)
        worth = np.where(paged < fixed, 1.0, UNAPPROVED_FIX) * (fixed < NEVER)
        spent = np.array([remedy_credit(one) for one in range(applied + 1)])[wrong]
        total = total + WEIGHTS["remediation"] * self._part_sum(worth) * spent
        calm = _BENIGN["severity"] * credit
        if isinstance(close, Ignore):
            total = total * 0.0
            if not declared:
                calm = calm + _BENIGN["dismissal"] * dismissal_credit(applied)
        silent = self._part_sum(paged == NEVER)
        heard = silent * (stakes.silence / UNIT) + (1.0 - silent)
        rash = UNAPPROVED_REMEDY**early
        done = ((fixed < NEVER) | ~self.real).all(axis=1)
        found = []
        for used in ends:
            real, benign = total, calm
            if isinstance(close, Resolve):
                on_time = promptness(used, stakes.horizon, stakes.par)
                real = real + WEIGHTS["closure"] * done * on_time
            if isinstance(close, Ignore) and not declared:
                on_time = promptness(used, stakes.horizon, stakes.par_benign)
                benign = benign + _BENIGN["closure"] * on_time
            found.append(np.where(self.count > 0, real * heard * rash, benign) * alive)
        return found

    def _part(self, remedy: str, service: str) -> Longs:
        """The fault that a remedy fixes under each hypothesis (H,)."""
        if (remedy, service) not in self.names:
            return np.full(len(self.service), NONE, np.int64)
        found: Longs = self.fixes[:, self.names.index((remedy, service))]
        return found

    def _part_sum(self, of_parts: Any) -> Floats:
        """The share of the faults for which something holds (H,)."""
        found: Floats = (of_parts * self.real).sum(axis=1) * self.share
        return found
