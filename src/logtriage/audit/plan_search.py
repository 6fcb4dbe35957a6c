"""The best plan of all: pages, remedies and the root cause in any order, outcomes as evidence.

:mod:`logtriage.belief.plans` pages first or not at all. Here a plan may also try a remedy,
page on the outcome, name a root cause in between, or page after the fix. A plan is a tree:
a page that leaves the incident open, and a remedy that changes nothing, leave fewer
hypotheses. The search is exact, by branch and bound, for beliefs before any action but requests.
A plan has at most one page, and at most as many remedies as the planner tries.

Plans that cannot be better are left out. The severity is declared last: it counts at any time,
and by then most is known. The root cause is named right before a remedy or the end: before a page
it would rest on less evidence.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

import attrs
import numpy as np

from logtriage.belief import Belief
from logtriage.belief.cases import NEGLIGIBLE, Floats
from logtriage.belief.plans import REMEDIES_TRIED, Planner
from logtriage.belief.stakes import UNIT, units
from logtriage.errors import InvalidInput

#: Nodes that are looked at, at most, for one belief.
MOST_NODES: Final = 5_000


@attrs.frozen
class Searched:
    """The value of the best plan of all, and of the best that pages first or not at all.

    ``exact`` says whether the search ended before :data:`MOST_NODES`.
    """

    best: float
    page_first: float
    nodes: int
    exact: bool

    @property
    def gain(self) -> float:
        """The gain by mixing pages and remedies."""
        return self.best - self.page_first


@attrs.frozen(eq=False)
class Node:
    """A point of a plan before any fix: the share left of each hypothesis (H,), and the actions.

    ``early`` counts the remedies of ``tried`` that came before a page.
    """

    tick: int
    shares: Floats
    paged: bool = False
    root: int | None = None
    tried: tuple[int, ...] = ()
    early: int = 0


class PlanSearch:
    """The search for a belief; hypotheses below 1 in 1,000 are left out on both sides.

    Raises:
        InvalidInput: if more was done already than asking.
    """

    def __init__(self, belief: Belief) -> None:
        case = Planner(belief.posterior, belief.standing, NEGLIGIBLE)
        stakes = case.stakes
        done = belief.standing.doings
        if done.pages or done.remedies or case.severity is not None or case.declared is not None:
            raise InvalidInput("plans are searched where nothing was done yet but asking")
        self.page_first, self.nodes = case.worth, 0
        self.stakes, self.tick, self.teams = stakes, case.tick, len(belief.topology.teams)
        self.handed_over = units(case.handed_over(case.tick + 1) or 0.0) / UNIT
        #: The share of the total that so many wrong remedies before the page leave.
        self.left = tuple(stakes.rash(count) / UNIT for count in range(REMEDIES_TRIED + 1))
        # Hypotheses that no plan can tell apart are merged.
        columns = np.column_stack([case.team, case.root, case.severity_credit.T, case.hits])
        _, places, group = np.unique(columns, axis=0, return_index=True, return_inverse=True)
        self.shares: Floats = np.bincount(group.ravel(), case.weights) / case.total
        self.team, self.root, self.hits = case.team[places], case.root[places], case.hits[places]
        self.fault, self.remedies = self.root >= 0, case.remedies
        calm = np.array(
            [stakes.benign_severity * credit for credit in stakes.severity_credits[::-1]]
        )
        #: The worth of each severity that may be declared (3, H).
        self.severity: Floats = (
            np.where(self.fault, case.severity_credit[:, places], calm[:, np.newaxis]) / UNIT
        )
        self.most_severity: Floats = self.severity.max(axis=0)

    def search(self, *, unaided: bool = False) -> Searched:
        """Look at every plan that might be better than the best so far.

        The best so far starts as the planner's plan; ``unaided`` it starts as the hand-over, or
        none. Both starts must end at the same value.
        """
        start = Node(self.tick, self.shares)
        floor = self.handed_over if unaided else self.page_first
        value = max(self._value(start, floor), self.handed_over)
        exact = self.nodes < MOST_NODES
        best = value if unaided else max(value, self.page_first)
        return Searched(best, self.page_first, self.nodes, exact)

    def _value(self, node: Node, floor: float) -> float:
        """The best from a node on; exact if it is more than ``floor``."""
        self.nodes += 1
        best = self._closed(node)
        if self.nodes >= MOST_NODES or node.tick >= self.stakes.horizon:
            return best
        for child in () if node.paged else self._pages(node):
            if self._most(child) > max(best, floor):
                best = max(best, self._value(child, max(best, floor)))
        for named in self._named(node):
            best = max(best, self._treated(named, max(best, floor)))
        return best

    def _pages(self, node: Node) -> Iterator[Node]:
        """The node after each page that might be right; a wrong page ends the plan at 0."""
        masses = [float(node.shares[self.team == team].sum()) for team in range(self.teams)]
        for team in sorted(range(self.teams), key=lambda team: -masses[team]):
            if masses[team]:
                shares = node.shares * (self.team == team)
                yield attrs.evolve(node, tick=node.tick + 1, shares=shares, paged=True)

    def _named(self, node: Node) -> Iterator[Node]:
        """The node with each root cause named, the likeliest first; then with none."""
        if node.root is None and node.tick + 1 < self.stakes.horizon:
            masses = np.bincount(self.root[self.fault], node.shares[self.fault])
            for root in np.argsort(-masses, kind="stable").tolist():
                if masses[root]:
                    yield attrs.evolve(node, tick=node.tick + 1, root=root)
        yield node

    def _treated(self, node: Node, floor: float) -> float:
        """The best with a remedy next; exact if it is more than ``floor``."""
        best = 0.0
        if len(node.tried) >= REMEDIES_TRIED or self._most(node) <= floor:
            return best
        masses = node.shares @ self.hits
        for remedy in np.argsort(-masses, kind="stable").tolist():
            if remedy in node.tried or not masses[remedy]:
                continue
            struck = node.shares * self.hits[:, remedy]
            earned = self.fixed(node, struck)
            child = attrs.evolve(
                node,
                tick=node.tick + 1,
                shares=node.shares - struck,
                tried=(*node.tried, remedy),
                early=node.early + (not node.paged),
            )
            if earned + self._most(child) > max(best, floor):
                best = max(best, earned + self._value(child, max(best, floor) - earned))
        return best

    # -- what is earned --------------------------------------------------------------------

    def _factor(self, node: Node, *, paged: bool) -> float:
        return self.left[node.early] * (1.0 if paged else self.stakes.silence / UNIT)

    def _most(self, node: Node) -> float:
        """An upper bound from here on: each hypothesis gets the best for itself."""
        stakes, wrong = self.stakes, len(node.tried)
        named = self.fault if node.root is None else self.root == node.root
        fix = stakes.remedy(wrong) + stakes.closed(node.tick + 2)
        sick = self.most_severity + (stakes.escalation + fix + stakes.root_cause * named) / UNIT
        calm = self.most_severity
        if node.root is None:
            calm = calm + stakes.dismissed(node.tick + 1) / UNIT
        return float(node.shares @ np.where(self.fault, sick, calm)) * self.left[node.early]

    def _said(self, shares: Floats, factor: float, calm: float) -> float:
        """The points for the best severity declared now, with the factors of faults and benign."""
        weighed = shares * np.where(self.fault, factor, calm)
        return float((self.severity @ weighed).max())

    def _closed(self, node: Node) -> float:
        """The points for giving up: resolved unfixed, or dismissed."""
        stakes, left = self.stakes, self.stakes.horizon - node.tick
        factor, calm_left = self._factor(node, paged=node.paged), self.left[node.early]
        sick = node.shares * self.fault
        earned = float(sick.sum()) * stakes.escalation * node.paged
        if node.root is not None:
            earned += float(sick[self.root == node.root].sum()) * stakes.root_cause
        resolved = earned * factor / UNIT
        extra = [self._said(node.shares, factor, calm_left)] if left else []
        if node.root is None and sick.any():
            likeliest = float(np.bincount(self.root[self.fault], sick[self.fault]).max())
            extra.append(likeliest * stakes.root_cause * factor / UNIT)
        resolved += sum(sorted(extra)[-left:]) if left else 0.0
        if node.paged or not left:
            return resolved
        calm = float(node.shares[~self.fault].sum())
        dismissed = 0.0
        for said in (0, 1) if left > 1 else (0,):
            credit = said * stakes.benign_severity * stakes.severity_credits[0]
            if node.root is None:
                credit += stakes.dismissed(node.tick + said + 1)
            dismissed = max(dismissed, calm * calm_left * credit / UNIT)
        return max(resolved, dismissed)

    def fixed(self, node: Node, struck: Floats) -> float:
        """The points if the remedy works: page then or never, declare the severity, resolve."""
        stakes, used = self.stakes, node.tick + 1
        fix = stakes.remedy(len(node.tried))
        each = fix + stakes.root_cause * (self.root == node.root)
        best = 0.0
        pages = (None,) if node.paged else (None, *range(self.teams))
        for page, said in product(pages, (1, 0)):
            after = used + (page is not None) + said
            if after > stakes.horizon:
                continue
            shares = struck if page is None else struck * (self.team == page)
            paged = node.paged or page is not None
            factor = self._factor(node, paged=paged)
            factor *= 1.0 if node.paged else stakes.early_fix / UNIT
            closing = stakes.closed(after + 1) if after < stakes.horizon else 0
            sure = float(shares @ (each + closing + stakes.escalation * paged)) * factor / UNIT
            best = max(best, sure + (self._said(shares, factor, 1.0) if said else 0.0))
        return best
