"""Plans where several faults are possible: whom to page, what to name, what to apply.

Plans are lists that are played as they stand, so that the expected grade of a plan is
exact. Among them the search is greedy: by the likeliest page, then by what names and
remedies add. An agent that plans again after each step sees the effect of its remedies and does no
worse on average, so the value is a lower bound.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

import attrs
import numpy as np

from logtriage.actions import SEVERITIES, Action, IdentifyRootCause
from logtriage.beliefs.cases import Branch, Case, Floats, Plan
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.model import NONE
from logtriage.beliefs.stakes import UNIT

#: Planning leaves out hypotheses below this share of the belief (1 in so many).
OF_SETS: Final = 20_000
#: While questions are weighed, at least this many of the likeliest hypotheses stay.
LEAST: Final = 250
#: A name or a remedy is weighed if the expected share that it adds is no less than this.
LEAST_SHARE: Final = 0.03
#: At most this many remedies are in a plan.
TRIED: Final = 6
#: The answers to this many of the likeliest hypotheses are weighed as plans, too.
LIKELIEST: Final = 40


class Portfolio(Case):
    """Plans for a belief in sets of faults.

    ``share`` (H,) is what one fault is of all, 0 where the incident is benign. Weighed values are
    sums of weight times utility in units of 2**-20.
    """

    @cached_property
    def share(self) -> Floats:
        """What one fault is of all (H,); 0 where the incident is benign."""
        return np.where(self.count > 0, 1.0 / np.maximum(self.count, 1), 0.0)

    @cached_property
    def _begun(self) -> dict[tuple[Action, ...], Branch]:
        """The branches of lists that begin now, by what is on them."""
        return {(): self.past}

    def _branch(self, actions: tuple[Action, ...]) -> Branch:
        """What was done if a list begins now. Plans share how they begin."""
        known = self._begun
        if actions not in known:
            *before, last = actions
            named = {service for _, service in self.standing.root_causes}
            named |= {one.service for one in before if isinstance(one, IdentifyRootCause)}
            anew = not isinstance(last, IdentifyRootCause) or last.service not in named
            tick = self.standing.tick + len(before)
            known[actions] = self.entered(self._branch((*before,)), tick, last, anew=anew)
        return known[actions]

    def grades(self, actions: Sequence[Action], wait: int = 0) -> Floats:
        """The grade (H,) of a list that begins in ``wait`` ticks, in units of 2**-20.

        As long as it fits in, a list is the same whenever it begins: only its end is later.
        """
        listed = tuple(actions)[: max(0, self.standing.left - wait)]
        end = self.standing.tick + wait + len(listed)
        grades: Floats = self.graded(self._branch(listed), end)[0]
        return grades

    def grades_now_and_later(self, actions: tuple[Action, ...]) -> Floats:
        """The grades (2, H) of a list that begins now, and in a tick."""
        end = self.standing.tick + len(actions)
        if end < self.stakes.horizon:
            return self.graded(self._branch(actions), end, end + 1)
        return np.stack([self.grades(actions), self.grades(actions, 1)])

    def _value(self, plan: Plan) -> float:
        """The expected grade of a plan, a multiple of 2**-20."""
        sums = float((self.weights * self.grades(plan.actions)).sum())
        return round(sums / self.total) / UNIT

    def best(self) -> Plan:
        """The best plan found; the first of equals."""
        plans = dict.fromkeys(map(self._modest, self.plans))
        return max(
            (attrs.evolve(plan, value=self._value(plan)) for plan in plans),
            key=lambda plan: plan.value,
        )

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """The plans that are weighed: what the search finds, and the answers to the likeliest."""
        ranked = np.argsort(-self.weights, kind="stable")[:LIKELIEST].tolist()
        return tuple(dict.fromkeys((*self._searched(), *map(self._answer, ranked))))

    def by_page(self) -> Iterator[tuple[str | None, float]]:
        """The first page, or None, of each plan that is weighed, and its expected grade."""
        known = {team for _, team in self.standing.doings.pages}
        known.update(plan.page for plan in self.plans if plan.page is not None)
        others = [(team,) for team in self.topology.teams if team not in known]
        for plan in chain(self.plans, *map(self._that_page, others)):
            yield plan.page, self._value(plan)

    def right(self, team: int) -> float:
        """The probability that a team is right to page, by all hypotheses."""
        held = self.posterior
        paged = held.model.single_team(held.directory)[held.listed.members[held.rows]] == team
        return int(np.array(held.weights)[paged.any(axis=1)].sum()) / held.total

    @cached_property
    def _grades(self) -> Floats:
        """The grades (2, P, H) of each plan, begun now or a tick later."""
        return np.stack([self.grades_now_and_later(plan.actions) for plan in self.plans], axis=1)

    @cached_property
    def value(self) -> float:
        """The weighed value of the best plan."""
        return float((self._grades[0] @ self.weights).max())

    def later(self, joint: Floats) -> Floats:
        """The weighed value of the best plan a tick later, for each row of weights (O, H)."""
        values: Floats = (joint @ self._grades[1].T).max(axis=1)
        return values

    @property
    def worth(self) -> float:
        """The expected grade of the best plan found."""
        return self.best().value

    @cached_property
    def answers(self) -> Longs:
        """Numbers (H,), equal where hypotheses ask for the same response from now on."""
        return self.asked(self.fixed)

    # --- the search --------------------------------------------------------------------

    def _modest(self, plan: Plan) -> Plan:
        """The plan without naming services that are no likelier root causes than not.

        One name always counts, so the first may be in more doubt; what a further name that is
        rather wrong could earn is little, and a set of causes should be meant as a whole.
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

    def _answer(self, row: int) -> Plan:
        """What is left to do if a hypothesis is true."""
        standing, topology = self.standing, self.topology
        severity = None
        if standing.severity is None:
            severity = str(SEVERITIES[int(self.severity_credits[:, row].argmax())])
        if not self.count[row]:
            return Plan(0.0, (), severity, dismiss=True)
        declared = {service for _, service in standing.root_causes}
        paged = {team for _, team in standing.doings.pages}
        unfixed = np.flatnonzero(self.real[row] & ~self.fixed[row])
        services = [topology.names[service] for service in self.services[row][unfixed]]
        teams = dict.fromkeys(topology.teams[team] for team in self.teams[row][self.real[row]])
        return Plan(
            0.0,
            tuple(team for team in teams if team not in paged),
            severity,
            tuple(service for service in services if service not in declared),
            tuple(
                self.remedies[int(np.flatnonzero(self.fixes[row] == part)[0])] for part in unfixed
            ),
        )

    def _searched(self) -> Iterator[Plan]:
        standing = self.standing
        for pages in self._page_lists():
            yield from self._that_page(pages)
        if not standing.doings.pages:
            calm = None if standing.severity is not None or standing.left < 2 else SEVERITIES[2]
            yield Plan(0.0, (), calm and str(calm), dismiss=True)
            if self.stakes.worth_of_hand_over is not None and not standing.doings.remedies:
                yield Plan(0.0, hand_over=True)

    def _that_page(self, pages: tuple[str, ...]) -> Iterator[Plan]:
        """The plans that page these teams and try more remedies or fewer."""
        left = self.standing.left
        weights = self.weights * self._right(pages)
        severity = None
        if self.severity is None and left > len(pages) + 1:
            severity = str(SEVERITIES[int((self.severity_credits @ weights).argmax())])
        room = left - len(pages) - (severity is not None) - 1
        roots = self._roots(weights, min(room, 3))
        remedies = self._remedies(weights, min(room - len(roots), TRIED))
        for tried in range(len(remedies) + 1):
            yield Plan(0.0, pages, severity, roots, remedies[:tried])
        if roots:
            yield Plan(0.0, pages, severity, (), remedies)

    def _right(self, pages: tuple[str, ...]) -> Floats:
        """1 under the hypotheses for which every page is right (H,)."""
        chances = np.ones(len(self.weights))
        for page in pages:
            chances *= (self.teams == self.topology.teams.index(page)).any(axis=1)
        return chances

    def _page_lists(self) -> list[tuple[str, ...]]:
        """Nobody, then the likeliest team, then the likeliest if that team was right."""
        done = {team for _, team in self.standing.doings.pages}
        lists: list[tuple[str, ...]] = [()]
        while len(lists) <= min(self.teams.shape[1], self.standing.left - 1):
            weights = self.weights * self._right(lists[-1])
            masses = {
                team: float(weights[(self.teams == number).any(axis=1)].sum())
                for number, team in enumerate(self.topology.teams)
                if team not in lists[-1] and team not in done
            }
            if not masses or not max(masses.values()):
                break
            lists.append((*lists[-1], max(masses, key=lambda team: masses[team])))
        return lists

    def _roots(self, weights: Floats, room: int) -> tuple[str, ...]:
        """The services to name, each for what it adds where it still counts."""
        names = self.topology.names
        declared = [service for _, service in self.standing.root_causes]
        whole = max(float(weights.sum()), 1.0)
        chosen: list[str] = []
        while len(chosen) < room:
            worth = weights * self.share * (self.count > len(declared) + len(chosen))
            masses = [
                0.0
                if name in declared or name in chosen
                else float((worth * ((self.services == at) & ~self.fixed).any(axis=1)).sum())
                for at, name in enumerate(names)
            ]
            best = int(np.argmax(np.floor(masses)))
            if masses[best] < LEAST_SHARE * whole:
                break
            chosen.append(names[best])
        return tuple(chosen)

    def _remedies(self, weights: Floats, room: int) -> tuple[tuple[str, str], ...]:
        """The remedies to try, each for what it is likely to fix after those before it."""
        fixed, worth = self.fixed.copy(), weights * self.share
        whole = max(float(weights.sum()), 1.0)
        chosen: list[tuple[str, str]] = []
        every = np.arange(len(worth))[:, np.newaxis]
        while len(chosen) < room and self.remedies:
            left = (self.fixes != NONE) & ~fixed[every, self.fixes]
            masses = np.floor(worth @ left)
            best = int(masses.argmax())
            if masses[best] < LEAST_SHARE * whole:
                break
            chosen.append(self.remedies[best])
            hit = np.flatnonzero(left[:, best])
            fixed[hit, self.fixes[hit, best]] = True
        return tuple(chosen)
