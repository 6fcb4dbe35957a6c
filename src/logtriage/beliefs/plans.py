"""The best that can be done if nothing more is asked, for one belief or for many at once.

A plan pages (or does not), declares the likeliest severity and root cause, tries up to
three remedies in the order of what is then likeliest, and resolves once one has worked;
or it dismisses the incident, or hands it over. That a page did not close the incident, and
that a remedy did not work, is evidence: what follows is chosen among the hypotheses that
are left.

Arrays are float64 and hold whole numbers below 2**53, so that every sum is exact and
the same on every machine, whatever the order of summation.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np

from logtriage.actions import SEVERITIES, Action
from logtriage.beliefs.cases import Floats, Plan
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.portfolio import Portfolio
from logtriage.beliefs.single import Single
from logtriage.beliefs.stakes import UNIT, penalty, units

#: Remedies that a plan tries at most.
REMEDIES_TRIED: Final = 3
#: With this many ticks left, a plan has time for every declaration.
AMPLE: Final = 7


def best_values(case: Single, weights: Floats, tick: int) -> Floats:
    """The value of the best plan for each row of weights (O, H).

    Sums of weight times utility in units of 2**-20; the weights of a row sum to at most
    2**31.
    """
    best = np.full(len(weights), -1.0)
    for bound, option in _bounded(case, weights, tick):
        rows = np.flatnonzero(bound > best)
        if len(rows):
            values = _value(case, weights[rows], tick, option)[0]
            best[rows] = np.maximum(best[rows], values)
    over = case.handed_over(tick + 1)
    if over is not None:
        best = np.maximum(best, weights.sum(axis=1) * units(over))
    return best


def _bounded(case: Single, weights: Floats, tick: int) -> Iterator[tuple[Floats, "_Option"]]:
    """Every option and what it can be worth at most in each row (O,), the greatest first.

    A page earns nothing where it is wrong, so that most pages need no closer look.
    """
    stakes = case.stakes
    unpaged = stakes.severity + stakes.root_cause + stakes.remedy(0)
    silent = (unpaged + stakes.closed(0)) * stakes.silence // UNIT + 1
    calm = weights[:, ~case.fault].sum(axis=1)
    real = weights[:, case.fault].sum(axis=1)
    of_team = weights @ (case.team[:, np.newaxis] == np.arange(len(case.topology.teams)))
    options = []
    for option in _options(case, tick):
        if option.dismiss:
            bound = calm * UNIT
        elif option.page is not None:
            bound = of_team[:, option.page] * UNIT
        else:
            bound = real * (UNIT if case.paged else silent) + calm * stakes.benign_severity
        options.append((bound, option))
    return iter(sorted(options, key=lambda row: -float(row[0].sum())))


@attrs.frozen
class _Option:
    dismiss: bool
    page: int | None
    severity: bool
    root: bool


#: Declarations and remedies of a plan for the first row of weights: severity, root cause, remedies.
_Detail = tuple[int | None, int | None, tuple[int, ...]]


def _options(case: Single, tick: int) -> Iterator[_Option]:
    left = case.stakes.horizon - tick
    may_severity = case.severity is None
    may_root = case.declared is None and not case.all_fixed
    pages: list[int | None] = [None] if case.paged else [None, *range(len(case.topology.teams))]
    for page in pages:
        for severity in (True, False) if may_severity else (False,):
            for root in (True, False) if may_root else (False,):
                spare = (may_severity and not severity) or (may_root and not root)
                if spare and left >= AMPLE:
                    continue
                if (page is not None) + severity + root <= left:
                    yield _Option(False, page, severity, root)
    if not case.paged:
        if may_severity and left >= 2:
            yield _Option(True, None, True, False)
        if left >= 1:
            yield _Option(True, None, False, False)


def _value(case: Single, weights: Floats, tick: int, option: _Option) -> tuple[Floats, _Detail]:
    stakes, fault = case.stakes, case.fault
    if option.dismiss:
        said = 2 if option.severity else None
        worth = _dismissed(case, said or case.severity, tick + option.severity + 1)
        return _rashly(case, weights, ~fault).sum(axis=1) * worth, (said, None, ())
    approved = case.paged or option.page is not None
    used = tick + (option.page is not None) + option.severity + option.root
    rows = np.flatnonzero(fault if option.page is None else case.team == option.page)
    some = weights[:, rows]
    calm = _rashly(case, weights, ~fault) if not approved else weights[:, :0]
    severity, credit, calm_credit = _severity(case, some, calm, rows, option)
    root, rightly = _root(case, some, rows, option)
    # What stands whatever becomes of the remedies (O, R), in units of 2**-20.
    base = credit + rightly * stakes.root_cause + (stakes.escalation if approved else 0)
    some = np.floor(some * case.rash[rows])
    if case.all_fixed:
        resolve = stakes.closed(used + 1) if used < stakes.horizon else 0
        earned = some * (base + case.fix[rows] + resolve)
        value = _scaled(earned.sum(axis=1), penalty(stakes, approved=approved, wrong=0))
        return calm_credit + value, (severity, root, ())
    value, order = _remedies(case, some, base, calm_credit, rows, used, approved=approved)
    return value, (severity, root, order)


def _rashly(case: Single, weights: Floats, rows: Any) -> Floats:
    """The weights of some hypotheses, less what remedies before the page have cost."""
    left: Floats = np.floor(weights[:, rows] * case.rash[rows])
    return left


def _scaled(values: Any, factor: int) -> Any:
    """Values times a factor in units of 2**-20, rounded down."""
    if factor == UNIT:
        return values
    return np.floor(values / UNIT) * factor


def _severity(
    case: Single, some: Floats, calm: Floats, rows: Longs, option: _Option
) -> tuple[int | None, Floats, Floats]:
    """The severity to declare in the first row, and what it earns.

    (O, R), and if the incident is benign (O,).
    """
    quiet = calm.sum(axis=1)
    if option.severity:
        worth = np.array(case.stakes.severity_credits[::-1])
        votes = np.floor(some / 1024) @ case.severity_votes[:, rows].T  # (O, 3)
        votes = votes + np.floor(quiet / 1024)[:, np.newaxis] * (1024 * worth)
        said = votes.argmax(axis=1)
    elif case.severity is not None:
        said = np.full(len(some), case.severity)
    else:
        return None, np.zeros((len(some), len(rows))), np.zeros(len(some))
    chosen = int(said[0]) if option.severity else None
    return chosen, case.severity_credit[:, rows][said], quiet * case.calm_credit[said]


def _root(case: Single, some: Floats, rows: Longs, option: _Option) -> tuple[int | None, Floats]:
    """The root cause to declare in the first row, and where it is right (O, R)."""
    roots = case.root[rows]
    if case.declared is not None:
        right = (roots == case.declared) & case.root_counts[rows]
        return None, np.broadcast_to(right.astype(np.float64), some.shape)
    if not option.root:
        return None, np.zeros(some.shape)
    said = (some @ case.root_onehot[rows]).argmax(axis=1)
    return int(said[0]), (roots[np.newaxis, :] == said[:, np.newaxis]).astype(np.float64)


def _remedies(
    case: Single,
    some: Floats,
    base: Floats,
    calm: Floats,
    rows: Longs,
    used: int,
    *,
    approved: bool,
) -> tuple[Floats, tuple[int, ...]]:
    """The value of trying remedies, likeliest first, as long as it pays.

    And the order for the first row. ``calm`` (O,) is what is earned if nothing is broken, which
    every remedy may cost a share of.
    """
    stakes = case.stakes
    hits = case.hits[rows]
    names = np.flatnonzero(hits.any(axis=0))  # only those that could be right
    hits = hits[:, names]
    left = some.copy()
    best = calm + _scaled((left * base).sum(axis=1), penalty(stakes, approved=approved, wrong=0))
    earned = np.zeros(len(some))
    order: list[int] = []
    kept = 0
    first_best = best[0] if len(best) else 0.0
    for tried in range(min(REMEDIES_TRIED, stakes.horizon - used)):
        if not len(names):
            break
        mass = left @ hits
        pick = mass.argmax(axis=1)
        struck = left * hits.T[pick]
        closed_at = used + tried + 2
        closing = stakes.closed(closed_at) if closed_at <= stakes.horizon else 0
        credit = case.remedy_credit(tried)[rows]
        now = penalty(stakes, approved=approved, wrong=tried, fixed=True)
        earned = earned + _scaled((struck * (base + credit + closing)).sum(axis=1), now)
        left = left - struck
        later = penalty(stakes, approved=approved, wrong=tried + 1)
        total = earned + _scaled((left * base).sum(axis=1), later)
        total = total + _scaled(calm, stakes.rash(tried + 1))
        order.append(int(names[pick[0]]))
        if total[0] > first_best:
            first_best, kept = total[0], tried + 1
        best = np.maximum(best, total)
    return best, tuple(order[:kept])


def _dismissed(case: Single, severity: int | None, used: int) -> float:
    """The grade of a dismissal if the incident is benign, given the declared severity."""
    earned = 0.0 if severity is None else float(case.calm_credit[severity])
    return earned + (case.stakes.dismissed(used) if case.declared is None else 0)


class Planner(Single):
    """Plans for a belief in single faults.

    Weighed values are sums of weight times utility in units of 2**-20.
    """

    def _weighed(self) -> Iterator[tuple[_Option, int, _Detail]]:
        for option in _options(self, self.tick):
            values, detail = _value(self, self.weights[np.newaxis], self.tick, option)
            yield option, int(values[0]), detail

    def best(self) -> Plan:
        """The plan of the highest expected grade; the first of equals, a hand-over last."""
        option, value, detail = max(self._weighed(), key=lambda row: row[1])
        over = self.handed_over(self.tick + 1)
        if over is not None and self.total * units(over) > value:
            return Plan(over, hand_over=True)
        severity, root, remedies = detail
        return Plan(
            value=value / UNIT / self.total,
            pages=() if option.page is None else (self.topology.teams[option.page],),
            severity=None if severity is None else str(SEVERITIES[severity]),
            root_causes=() if root is None else (self.topology.names[root],),
            remedies=tuple(self.remedies[remedy] for remedy in remedies),
            dismiss=option.dismiss,
        )

    def by_page(self) -> Iterator[tuple[str | None, float]]:
        """The first page, or None, of each plan that is weighed, and its expected grade."""
        teams, whole = self.topology.teams, UNIT * self.total
        for option, value, _ in self._weighed():
            yield None if option.page is None else teams[option.page], value / whole
        over = self.handed_over(self.tick + 1)
        if over is not None:
            yield None, over

    def right(self, team: int) -> float:
        """The probability that a team is right to page."""
        return float(self.weights[self.team == team].sum()) / self.total

    @cached_property
    def value(self) -> float:
        """The weighed value of the best plan."""
        return float(best_values(self, self.weights[np.newaxis], self.tick)[0])

    @property
    def worth(self) -> float:
        """The expected grade of the best plan."""
        return self.value / UNIT / self.total

    def later(self, joint: Floats, ticks: int = 1) -> Floats:
        """The weighed value of the best plan some ticks later, for each row of weights (O, H)."""
        return best_values(self, joint, self.tick + ticks)

    @cached_property
    def answers(self) -> Longs:
        """Numbers (H,), equal where hypotheses ask for the same response, made already or not."""
        return self.asked(np.zeros_like(self.real))

    def closed(self, tick: int, last: Action) -> float:
        """The expected grade if the last of what was done closed the incident."""
        return Portfolio(self.posterior, self.standing).closed(tick, last)
