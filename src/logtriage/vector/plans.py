"""The value of the best plan in each of R incidents, in NumPy: no Python loop over rows.

As :mod:`logtriage.belief.plans` has it for one belief, to the last bit: all sums are of
whole numbers below 2**53. Its words are not repeated here.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from logtriage.belief.plans import AMPLE, REMEDIES_TRIED
from logtriage.belief.stakes import UNIT
from logtriage.vector.cases import Bools, Cases, Floats, Ints

#: In place of a team: nobody is paged.
NOBODY: Final = -1


def best_values(cases: Cases) -> Floats:
    """The value of the best plan of each row (R,).

    Sums of weight times utility in units of 2**-20, as of
    :func:`logtriage.belief.plans.best_values`.
    """
    best = np.full(len(cases.tick), -1.0)
    for rows, values in _dismissals(cases):
        best[rows] = np.maximum(best[rows], values)
    left = cases.tables.stakes.horizon - cases.tick
    may_severity, may_root = cases.severity < 0, (cases.declared < 0) & ~cases.fixed
    for page, bound, allowed in _pages(cases):
        worthy = allowed & (bound > best)
        for severity in (True, False):
            for root in (True, False):
                spare = (may_severity & (not severity)) | (may_root & (not root))
                ticks = (page != NOBODY).astype(np.int64) + severity + root
                rows = np.flatnonzero(
                    worthy
                    & (may_severity | (not severity))
                    & (may_root | (not root))
                    & ~(spare & (left >= AMPLE))
                    & (ticks <= left)
                )
                if len(rows):
                    values = _Option(cases, rows, page[rows], severity=severity, root=root).value()
                    best[rows] = np.maximum(best[rows], values)
    return best


def _sums(values: Floats) -> Floats:
    found: Floats = values.sum(axis=1)
    return found


def _pages(cases: Cases) -> Iterator[tuple[Ints, Floats, Bools]]:
    """Whom to page in each row (R,), what that can be worth at most, and where it may be.

    The likeliest team first, so that most others need no closer look; then nobody.
    """
    tables, stakes = cases.tables, cases.tables.stakes
    real = cases.weights * tables.fault
    teams = int(cases.team.max(initial=0)) + 1
    of_team = np.stack([_sums(real * (cases.team == team)) for team in range(teams)], axis=1)
    order = np.argsort(-of_team, axis=1, kind="stable")
    for rank in range(teams):
        page = order[:, rank]
        bound = np.take_along_axis(of_team, page[:, None], axis=1)[:, 0] * UNIT
        yield page, bound, ~cases.paged
    unpaged = stakes.severity + stakes.root_cause + stakes.remedy(0, approved=False)
    silent = (unpaged + stakes.closed(0)) * cases.silence // UNIT + 1
    bound = _sums(real) * np.where(cases.paged, UNIT, silent) + cases.calm * stakes.benign_severity
    every = np.ones(len(bound), bool)
    yield np.full(len(bound), NOBODY), bound, every


def _dismissals(cases: Cases) -> Iterator[tuple[Ints, Floats]]:
    tables = cases.tables
    left = tables.stakes.horizon - cases.tick
    for said in (True, False):
        allowed = ~cases.paged & (left >= 1 + said)
        rows = np.flatnonzero(allowed & (cases.severity < 0) if said else allowed)
        known = cases.severity[rows]
        earned = np.where(known < 0, tables.calm[-1] if said else 0.0, tables.calm[known])
        dismissed = tables.dismissed[cases.tick[rows] + said + 1, cases.applied[rows]]
        yield rows, cases.calm[rows] * (earned + np.where(cases.declared[rows] < 0, dismissed, 0))


class _Option:
    """One way to begin a plan in rows (r,): whom to page, and what else to declare."""

    def __init__(self, cases: Cases, rows: Ints, page: Ints, *, severity: bool, root: bool) -> None:
        self.cases, self.tables, self.rows = cases, cases.tables, rows
        self.severity, self.root = severity, root
        pages = page != NOBODY
        self.approved = cases.paged[rows] | pages
        self.used = cases.tick[rows] + pages + severity + root
        member = np.where(
            pages[:, None], cases.team[rows] == page[:, None], self.tables.fault[None]
        )
        self.some = cases.weights[rows] * (member & self.tables.fault)

    def value(self) -> Floats:
        """The value of the best plan that begins so (r,)."""
        cases, stakes = self.cases, self.tables.stakes
        credit, value = self._severity()
        base = credit + self._root() * stakes.root_cause
        base += np.where(self.approved, stakes.escalation, 0)[:, None]
        early = cases.unapproved[self.rows]
        factors = self.tables.unapproved[early].astype(np.float64) / UNIT
        some = np.floor(np.where(early > 0, self.some * factors, self.some))
        fixed = cases.fixed[self.rows]
        resolve = np.where(self.used < stakes.horizon, self.tables.closed[self.used + 1], 0.0)
        earned = _sums(some * (base + cases.fix[self.rows] + resolve[:, None]))
        done = self._scaled(earned, 0)
        tried = self._remedies(some, base) if not fixed.all() else done
        return value + np.where(fixed, done, tried)

    def _severity(self) -> tuple[Floats, Floats]:
        """What the severity earns (r, H), and if the incident is benign (r,)."""
        cases, stakes = self.cases, self.tables.stakes
        worth = stakes.severity_credits
        quiet = np.where(self.approved, 0.0, cases.calm[self.rows])
        said = cases.severity[self.rows]
        if self.severity:
            votes = np.stack(
                [_sums(np.floor(self.some / 1024) * one[self.rows]) for one in cases.votes], axis=1
            )
            benign = np.array([1024 * worth[2 - one] for one in range(3)])
            said = (votes + np.floor(quiet / 1024)[:, None] * benign).argmax(axis=1)
        known = said >= 0
        credit = cases.severity_credit[np.maximum(said, 0), self.rows] * known[:, None]
        return credit, quiet * np.where(known, self.tables.calm[said], 0)

    def _root(self) -> Floats:
        """Where the root cause is right (r, H)."""
        cases, root = self.cases, self.tables.root[None]
        before = cases.declared[self.rows][:, None]
        right = (root == before) & (before >= 0) & cases.root_counts[self.rows]
        if self.root:
            mass = np.add.reduceat(
                self.some[:, self.tables.by_root], self.tables.root_begins, axis=1
            )
            said = self.tables.roots[mass.argmax(axis=1)]
            right = right | (root == said[:, None])
        found: Floats = right.astype(np.float64)
        return found

    def _scaled(self, values: Floats, wrong: int) -> Floats:
        """Values (r,) with the discounts of a plan after so many wrong remedies."""
        factor = self.cases.silence[self.rows] * int(self.tables.unapproved[wrong]) // UNIT
        return np.where(self.approved, values, np.floor(values / UNIT) * factor)

    def _remedies(self, some: Floats, base: Floats) -> Floats:
        """The value of trying remedies, likeliest first, as long as it pays (r,)."""
        tables, wrong = self.tables, self.cases.wrong[self.rows]
        time = tables.stakes.horizon - self.used
        left, earned = some.copy(), np.zeros(len(some))
        best = self._scaled(_sums(left * base), 0)
        for tried in range(REMEDIES_TRIED):
            going = tried < time
            if not going.any():
                break
            mass = np.add.reduceat(left[:, tables.hypothesis], tables.begins, axis=1)
            struck = left * tables.accepted[mass.argmax(axis=1)]
            closing = tables.closed[np.minimum(self.used + tried + 2, len(tables.closed) - 1)]
            credit = tables.remedy_credit[self.approved[:, None].astype(np.int64), wrong + tried]
            gained = _sums(struck * (base + credit + closing[:, None]))
            earned = earned + self._scaled(gained, tried)
            left = left - struck
            total = earned + self._scaled(_sums(left * base), tried + 1)
            best = np.where(going, np.maximum(best, total), best)
        return best
