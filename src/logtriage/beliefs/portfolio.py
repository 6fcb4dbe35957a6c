"""Plans where several faults are possible: whom to page, what to name, what to apply.

A plan is valued as a fixed list of actions, so its expected grade is exact. The search for plans
is greedy: by the likeliest page, then by what root causes and remedies add. An agent that plans
again after each step sees the effect of its remedies and does no worse on average, so the value
is a lower bound.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

import attrs
import numpy as np

from logtriage.actions import SEVERITIES, Action, Escalate, IdentifyRootCause, action_id
from logtriage.beliefs.cases import Case, Floats, Plan, alike
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.ledgers import UNIT
from logtriage.beliefs.model import NONE, Bools, single_team
from logtriage.beliefs.plans import MILDEST

#: Planning leaves out hypotheses below this share of the belief (1 in this many).
OF_SETS: Final = 20_000
#: While questions are weighed, at least this many of the likeliest hypotheses stay.
LEAST: Final = 250
#: The search adds a root cause or a remedy that adds at least this expected share of the faults.
LEAST_SHARE: Final = 0.03
#: The search puts at most this many remedies into a plan.
TRIED: Final = 6
#: The right responses to this many of the likeliest hypotheses are weighed as plans, too.
LIKELIEST: Final = 40


class Portfolio(Case):
    """Plans for a belief in sets of faults. *Weighed* values sum weight times grade (2**-20)."""

    @cached_property
    def share(self) -> Floats:
        """1 / (number of faults) of each hypothesis (H,); 0 if it is benign."""
        return np.where(self.count > 0, 1.0 / np.maximum(self.count, 1), 0.0)

    def grades(self, lists: Sequence[tuple[Action, ...]], *waits: int) -> Floats:
        """Grades (W, P, H) of P lists after each of W ``waits`` (ticks), in units of 2**-20.

        If all lists fit after the longest wait, each is played once: waits only move its end.
        """
        room = max(0, self.standing.left - max(waits))
        if len(waits) > 1 and any(len(actions) > room for actions in lists):
            return np.concatenate([self.grades(lists, wait) for wait in waits])
        steps = _Steps.of(
            self, [actions[: max(0, self.standing.left - waits[0])] for actions in lists]
        )
        # A pair (list, hypothesis) with a wrong page has grade 0; of a group, the first is graded.
        open_, first, groups = self._alike(steps)
        played, rows = np.divmod(open_[first], len(self.rows))
        ledger = self.past.take(rows)
        for step, actions in enumerate(steps.actions[played].T):
            accepted, faults = steps.accepted[actions, rows], self.count[rows]
            tick, anew = self.standing.tick + step, steps.anew[played, step]
            numbers = steps.numbers[actions]
            ledger = self.books.entered(ledger, numbers, tick, accepted, faults, anew=anew)
        ends = self.standing.tick + np.add.outer(waits, steps.lengths[played])
        grades = np.zeros((len(waits), len(lists) * len(self.rows)))
        grades[:, open_] = self.graded(rows, ledger, ends)[:, groups]
        return grades.reshape(len(waits), len(lists), -1)

    def _alike(self, steps: "_Steps") -> tuple[Longs, Longs, Longs]:
        """(pairs of a list and a hypothesis without a wrong page, first of each group, groups).

        A pair is ``list * H + hypothesis``. The pairs of a group have the same grade.
        """
        bits = steps.accepted @ (1 << np.arange(steps.accepted.shape[2]))
        wrong = (steps.pages[:, np.newaxis] & (bits == 0))[steps.actions].any(axis=1)
        open_ = np.flatnonzero(~wrong)
        played, rows = np.divmod(open_, len(self.rows))
        columns = [played, self.pasts[1][rows]]
        columns += [bits[actions[played], rows] for actions in steps.actions.T]
        return open_, *alike(columns)

    def _with_values(self, plans: Iterable[Plan]) -> list[Plan]:
        """Plans with their expected grades, multiples of 2**-20."""
        listed = list(plans)
        sums = self.grades([plan.actions for plan in listed], 0)[0] @ self.weights
        return [
            attrs.evolve(plan, value=round(value / self.total) / UNIT)
            for plan, value in zip(listed, sums.tolist(), strict=True)
        ]

    def best(self) -> Plan:
        """The best plan found; the first of equals."""
        plans = dict.fromkeys(map(self._without_doubtful, self.plans))
        return max(self._with_values(plans), key=lambda plan: plan.value)

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """The plans to weigh, with value 0: of the search, and responses to likely hypotheses."""
        ranked = np.argsort(-self.weights, kind="stable")[:LIKELIEST]
        return tuple(dict.fromkeys((*self._search(), *self._answers(ranked))))

    def by_page(self) -> Iterator[tuple[str | None, float]]:
        """(first page or None, expected grade) of each plan that is weighed."""
        known = {team for _, team in self.standing.doings.pages}
        known.update(plan.page for plan in self.plans if plan.page is not None)
        others = [(team,) for team in self.topology.teams if team not in known]
        for plan in self._with_values(chain(self.plans, *map(self._with_pages, others))):
            yield plan.page, plan.value

    def likelihood_of_team(self, team: int) -> float:
        """The probability that a team is right to page, by all hypotheses of the posterior."""
        held = self.posterior
        paged = single_team(held.model, held.directory)[held.listed.members[held.rows]] == team
        return int(held.weights[paged.any(axis=1)].sum()) / held.total

    @cached_property
    def _grades(self) -> Floats:
        """The grades (2, P, H) of each plan, if it begins now or a tick later."""
        return self.grades([plan.actions for plan in self.plans], 0, 1)

    def later(self, joint: Floats, ticks: int = 1, *, hand_over: bool = True) -> Floats:
        """Weighed values (O,) of the best plans now or a tick later, for rows of weights (O, H).

        Without ``hand_over``, no plan hands over.
        """
        allowed = [hand_over or not plan.hand_over for plan in self.plans]
        values: Floats = (joint @ self._grades[ticks][allowed].T).max(axis=1)
        return values

    @property
    def worth(self) -> float:
        """The expected grade of the best plan found."""
        return self.best().value

    @cached_property
    def answers(self) -> Longs:
        """Numbers (H,), equal for hypotheses with the same response from now on."""
        return self.response_numbers(gone=self.fixed)

    # --- the search --------------------------------------------------------------------

    def _without_doubtful(self, plan: Plan) -> Plan:
        """The plan without root causes that are at most 50 % likely if its pages are right.

        The first declaration of an incident stays, however unlikely: one name always counts. A
        further name that is rather wrong earns little, and a set of causes is meant as a whole.
        """
        weights = self.weights * self._right(plan.pages)
        half = float(weights.sum()) / 2
        first = not self.standing.root_causes
        named: list[str] = []
        for name in plan.root_causes:
            there = (self.services == self.topology.index(name)).any(axis=1)
            if (first and not named) or float(weights[there].sum()) > half:
                named.append(name)
        return attrs.evolve(plan, root_causes=tuple(named))

    def _answers(self, rows: Longs) -> Iterator[Plan]:
        """For each of these hypotheses, the plan that does what is left to do if it is true."""
        standing, topology = self.standing, self.topology
        declared = {service for _, service in standing.root_causes}
        paged = {team for _, team in standing.doings.pages}
        parts = np.arange(self.real.shape[1])[:, np.newaxis]
        fixes = self.fixes[rows][:, np.newaxis] == parts
        fix = fixes.argmax(axis=2) if self.remedies else np.zeros_like(self.members[rows])
        ranks = self.severity_credits[:, rows].argmax(axis=0)
        columns = self.count[rows], self.services[rows], self.teams[rows], fix, self.fixed[rows]
        of_each = zip(ranks.tolist(), *(part.tolist() for part in columns), strict=True)
        for rank, count, services, teams, remedies, fixed in of_each:
            severity = None if standing.severity is not None else str(SEVERITIES[rank])
            if not count:
                yield Plan(0.0, (), severity, dismiss=True)
                continue
            whom = dict.fromkeys(topology.teams[team] for team in teams[:count])
            left = [part for part in range(count) if not fixed[part]]
            names = [topology.names[services[part]] for part in left]
            yield Plan(
                value=0.0,
                pages=tuple(team for team in whom if team not in paged),
                severity=severity,
                root_causes=tuple(name for name in names if name not in declared),
                remedies=tuple(self.remedies[remedies[part]] for part in left),
            )

    def _search(self) -> Iterator[Plan]:
        standing = self.standing
        for pages in self._page_lists():
            yield from self._with_pages(pages)
        if not standing.doings.pages:
            may_say = standing.severity is None and standing.left >= 2
            yield Plan(0.0, severity=str(SEVERITIES[MILDEST]) if may_say else None, dismiss=True)
        if standing.may_hand_over:
            yield Plan(0.0, hand_over=True)

    def _with_pages(self, pages: tuple[str, ...]) -> Iterator[Plan]:
        """Plans that page these teams: with 0, 1, … remedies, and one without root causes."""
        left = self.standing.left
        weights = self.weights * self._right(pages)
        severity = None
        if self.severity is None and left > len(pages) + 1:
            severity = str(SEVERITIES[int((self.severity_credits @ weights).argmax())])
        room = left - len(pages) - (severity is not None) - 1
        roots = self._roots(weights, room)
        remedies = self._remedies(weights, min(room - len(roots), TRIED))
        for tried in range(len(remedies) + 1):
            yield Plan(0.0, pages, severity, roots, remedies[:tried])
        if roots:
            yield Plan(0.0, pages, severity, (), remedies)

    @cached_property
    def _unfixed_at(self) -> Floats:
        """1 where a service has an unfixed fault under a hypothesis (n, H)."""
        return _holds(np.where(self.fixed, NONE, self.services), len(self.topology))

    @cached_property
    def _of_team(self) -> Floats:
        """1 where a team is right to page under a hypothesis (T, H)."""
        return _holds(self.teams, len(self.topology.teams))

    def _right(self, pages: tuple[str, ...]) -> Floats:
        """1 under the hypotheses for which every page is right (H,)."""
        numbers = [self.topology.teams.index(page) for page in pages]
        chances: Floats = self._of_team[numbers].prod(axis=0)
        return chances

    def _page_lists(self) -> list[tuple[str, ...]]:
        """Lists of teams to page: each adds the likeliest team if those before it are right."""
        done = {team for _, team in self.standing.doings.pages}
        lists: list[tuple[str, ...]] = [()]
        while len(lists) <= min(self.teams.shape[1], self.standing.left - 1):
            rows = (self._of_team @ (self.weights * self._right(lists[-1]))).tolist()
            masses = {
                team: mass
                for team, mass in zip(self.topology.teams, rows, strict=True)
                if team not in lists[-1] and team not in done
            }
            if not masses or not max(masses.values()):
                break
            lists.append((*lists[-1], max(masses, key=lambda team: masses[team])))
        return lists

    def _roots(self, weights: Floats, room: int) -> tuple[str, ...]:
        """The root causes to declare, each chosen for the share of the faults that it adds."""
        names = self.topology.names
        known = [names.index(service) for _, service in self.standing.root_causes]
        declared, whole = len(known), max(float(weights.sum()), 1.0)
        while len(known) - declared < room:
            per_fault = weights * self.share * (self.count > len(known))
            masses = (per_fault * self._unfixed_at).sum(axis=1)
            masses[known] = 0.0
            best = int(np.floor(masses).argmax())
            if masses[best] < LEAST_SHARE * whole:
                break
            known.append(best)
        return tuple(names[service] for service in known[declared:])

    def _remedies(self, weights: Floats, room: int) -> tuple[tuple[str, str], ...]:
        """The remedies to try: each fixes the largest expected share of faults not fixed yet."""
        fixed, per_fault = self.fixed.copy(), weights * self.share
        whole = max(float(weights.sum()), 1.0)
        chosen: list[tuple[str, str]] = []
        rows = np.arange(len(per_fault))[:, np.newaxis]
        while len(chosen) < room and self.remedies:
            would_fix = (self.fixes != NONE) & ~fixed[rows, self.fixes]
            masses = np.floor(per_fault @ would_fix)
            best = int(masses.argmax())
            if masses[best] < LEAST_SHARE * whole:
                break
            chosen.append(self.remedies[best])
            hit = np.flatnonzero(would_fix[:, best])
            fixed[hit, self.fixes[hit, best]] = True
        return tuple(chosen)


def _holds(numbers: Longs, count: int) -> Floats:
    """Whether a row of ``numbers`` (H, K) holds each number below ``count``: 1 or 0 (count, H)."""
    there: Floats = (numbers == np.arange(count)[:, np.newaxis, np.newaxis]).any(axis=2) * 1.0
    return there


@attrs.frozen(eq=False)
class _Steps:
    """P lists of up to T steps; A actions occur in them, the last of which stands for none.

    ``actions`` (P, T) are indices of actions, ``anew`` (P, T) is whether a step declares a service
    for the first time. ``numbers`` (A,) are the actions' canonical integers, ``pages`` (A,) is
    whether an action pages, ``accepted`` (A, H, K) whether each fault accepts it.
    """

    lengths: Longs
    actions: Longs
    anew: Bools
    numbers: Longs
    pages: Bools
    accepted: Bools

    @classmethod
    def of(cls, case: Portfolio, lists: Sequence[tuple[Action, ...]]) -> "_Steps":
        """The steps of some lists, played from the standing of ``case``."""
        lengths = np.array([*map(len, lists)])
        number: dict[Action, int] = {}
        rows = [[number.setdefault(action, len(number)) for action in actions] for actions in lists]
        played = np.full((len(lists), int(lengths.max(initial=0))), len(number))
        anew = np.ones(played.shape, np.bool_)
        named = [
            action.service if isinstance(action, IdentifyRootCause) else None for action in number
        ]
        declared = {service for _, service in case.standing.root_causes}
        for row, numbers in enumerate(rows):
            played[row, : len(numbers)] = numbers
            known = declared.copy()
            for step, service in enumerate([named[at] for at in numbers]):
                if service is not None:
                    anew[row, step] = service not in known
                    known.add(service)
        canonical = [action_id(action, case.topology, hand_over=True) for action in number]
        return cls(
            lengths=lengths,
            actions=played,
            anew=anew,
            numbers=np.array([*canonical, case.books.letters.none]),
            pages=np.array([*(isinstance(action, Escalate) for action in number), False]),
            accepted=np.stack([*map(case.accepted_faults, number), np.zeros_like(case.real)]),
        )
