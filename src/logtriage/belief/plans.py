"""The best that can be done if nothing more is asked, for one belief or for many at once.

A plan pages (or does not), declares the likeliest severity and root cause, tries up to
three remedies in the order of what is then likeliest, and resolves once one has worked;
or it dismisses the incident. That a page did not close the incident, and that a remedy
did not work, is evidence: what follows is chosen among the hypotheses that are left.

Arrays are float64 and hold whole numbers below 2**53, so that every sum is exact and
the same on every machine, whatever the order of summation.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.belief.stakes import UNIT, Stakes, penalty, unapproved

Floats = NDArray[np.float64]
#: Remedies that a plan tries at most.
REMEDIES_TRIED: Final = 3
#: With this many ticks left, a plan has time for every declaration.
AMPLE: Final = 7


@attrs.frozen(eq=False)
class Case:
    """What is known of H hypotheses, as far as plans depend on it.

    ``team``, ``root`` (H,) are indices, -1 for benign hypotheses; ``hits`` (H, M) is 1
    where a remedy is accepted; ``severities`` (H, 3) are the probabilities of P1, P2, P3
    in units of 2**-20; ``wrong`` and ``unapproved`` (H,) count the wrong remedies so far,
    ``fix`` (H,) is what the fix has earned where there was one (``fix_seen``), in units
    of 2**-20; ``root_counts`` is whether a root cause declared by now counts.
    """

    stakes: Stakes
    team: NDArray[np.int64]
    root: NDArray[np.int64]
    hits: Floats
    severities: Floats
    wrong: NDArray[np.int64]
    unapproved: NDArray[np.int64]
    root_counts: NDArray[np.bool_]
    fix: Floats
    fix_seen: NDArray[np.bool_]
    teams: int
    services: int
    applied: int
    fixed: bool
    paged: bool
    severity: int | None
    declared: int | None
    remedies: tuple[tuple[str, str], ...] = ()

    @cached_property
    def fault(self) -> NDArray[np.bool_]:
        """Where there is a fault (H,)."""
        return self.root >= 0

    @cached_property
    def _expected(self) -> Floats:
        """The expected credit of each severity that may be said (3, H), in units of 2**-20."""
        worth = self.stakes.severity_credits
        rows = [
            sum(self.severities[:, true] * worth[abs(said - true)] for true in range(3))
            for said in range(3)
        ]
        return np.stack([np.asarray(row) for row in rows])

    @cached_property
    def severity_votes(self) -> Floats:
        """The same in units of 2**-10, by which a severity is chosen (3, H)."""
        votes: Floats = np.floor(self._expected / 1024)
        return votes

    @cached_property
    def severity_credit(self) -> Floats:
        """What each severity that may be said earns (3, H), in units of 2**-20."""
        earned: Floats = np.floor(self._expected * (self.stakes.severity / UNIT))
        return earned

    @cached_property
    def root_onehot(self) -> Floats:
        """1 where a hypothesis has its root at a service (H, n)."""
        places: Floats = (self.root[:, np.newaxis] == np.arange(self.services)).astype(np.float64)
        return places

    def remedy_credit(self, tried: int, *, approved: bool) -> Floats:
        """What a fix earns after that many more wrong remedies (H,), in units of 2**-20."""
        highest = int(self.wrong.max(initial=0)) + tried
        table = [self.stakes.remedy(wrong, approved=approved) for wrong in range(highest + 1)]
        return np.array(table, np.float64)[self.wrong + tried]


@attrs.frozen
class Choice:
    """A plan by indices. ``value`` is the sum over hypotheses of weight times utility."""

    value: int
    dismiss: bool = False
    page: int | None = None
    severity: int | None = None
    root: int | None = None
    remedies: tuple[int, ...] = ()


def best_values(case: Case, weights: Floats, tick: int) -> Floats:
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
    return best


def _bounded(case: Case, weights: Floats, tick: int) -> Iterator[tuple[Floats, "_Option"]]:
    """Every option and what it can be worth at most in each row (O,), the greatest first.

    A page earns nothing where it is wrong, so that most pages need no closer look.
    """
    stakes = case.stakes
    unpaged = stakes.severity + stakes.root_cause + stakes.remedy(0, approved=False)
    silent = (unpaged + stakes.closed(0)) * stakes.silence // UNIT + 1
    calm = weights[:, ~case.fault].sum(axis=1)
    real = weights[:, case.fault].sum(axis=1)
    of_team = weights @ (case.team[:, np.newaxis] == np.arange(case.teams)).astype(np.float64)
    found = []
    for option in _options(case, tick):
        if option.dismiss:
            bound = calm * UNIT
        elif option.page is not None:
            bound = of_team[:, option.page] * UNIT
        else:
            bound = real * (UNIT if case.paged else silent) + calm * stakes.benign_severity
        found.append((bound, option))
    return iter(sorted(found, key=lambda one: -float(one[0].sum())))


def best_choice(case: Case, weights: Floats, tick: int) -> Choice:
    """The best plan for one row of weights (1, H); the first of equals."""
    return max(choices(case, weights, tick), key=lambda one: one.value)


def choices(case: Case, weights: Floats, tick: int) -> Iterator[Choice]:
    """Every plan that is considered for one row of weights (1, H)."""
    for option in _options(case, tick):
        value, detail = _value(case, weights, tick, option)
        yield attrs.evolve(detail, value=int(value[0]))


@attrs.frozen
class _Option:
    dismiss: bool
    page: int | None
    severity: bool
    root: bool


def _options(case: Case, tick: int) -> Iterator[_Option]:
    left = case.stakes.horizon - tick
    may_severity = case.severity is None
    may_root = case.declared is None and not case.fixed
    pages: list[int | None] = [None] if case.paged else [None, *range(case.teams)]
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


def _value(case: Case, weights: Floats, tick: int, option: _Option) -> tuple[Floats, Choice]:
    if option.dismiss:
        return _dismissal(case, weights, tick, option)
    stakes, fault = case.stakes, case.fault
    approved = case.paged or option.page is not None
    used = tick + (option.page is not None) + option.severity + option.root
    if option.page is not None:
        rows = np.flatnonzero(case.team == option.page)
    else:
        rows = np.flatnonzero(fault)
    some = weights[:, rows]
    calm = weights[:, ~fault] if not approved else weights[:, :0]
    severity, credit, calm_credit = _severity(case, some, calm, rows, option)
    root, rightly = _root(case, some, rows, option)
    # What stands whatever becomes of the remedies (O, R), in units of 2**-20.
    base = credit + rightly * stakes.root_cause + (stakes.escalation if approved else 0)
    earlier = _earlier(case, rows)
    some = some * earlier if earlier is not None else some
    some = np.floor(some)
    value = calm_credit
    if case.fixed:
        resolve = stakes.closed(used + 1) if used < stakes.horizon else 0
        earned = some * (base + case.fix[rows] + resolve)
        value = value + _scaled(earned.sum(axis=1), penalty(stakes, approved=approved, wrong=0))
        return value, Choice(0, False, option.page, severity, root)
    best, order = _remedies(case, some, base, rows, used, approved=approved)
    return value + best, Choice(0, False, option.page, severity, root, order)


def _earlier(case: Case, rows: NDArray[np.int64]) -> Floats | None:
    """The factors of wrong remedies before the page that lie in the past; None if none do."""
    counts = case.unapproved[rows]
    if not counts.any():
        return None
    steps = [unapproved(int(count)) for count in counts]
    return np.array(steps, np.float64) / UNIT


def _scaled(values: Any, factor: int) -> Any:
    """Values times a factor in units of 2**-20, rounded down."""
    if factor == UNIT:
        return values
    return np.floor(values / UNIT) * factor


def _severity(
    case: Case, some: Floats, calm: Floats, rows: NDArray[np.int64], option: _Option
) -> tuple[int | None, Floats, Floats]:
    """The severity to declare in the first row, and what it earns.

    (O, R), and if the incident is benign (O,).
    """
    worth = case.stakes.severity_credits
    quiet = calm.sum(axis=1)
    if option.severity:
        votes = np.floor(some / 1024) @ case.severity_votes[:, rows].T  # (O, 3)
        votes = votes + np.floor(quiet / 1024)[:, np.newaxis] * [
            1024 * worth[2 - s] for s in range(3)
        ]
        said = votes.argmax(axis=1)
    elif case.severity is not None:
        said = np.full(len(some), case.severity)
    else:
        return None, np.zeros((len(some), len(rows))), np.zeros(len(some))
    credit = case.severity_credit[:, rows][said]
    calm_units = np.array(
        [int(case.stakes.benign_severity * worth[2 - s]) for s in range(3)], np.float64
    )
    chosen = int(said[0]) if option.severity else None
    return chosen, credit, quiet * calm_units[said]


def _root(
    case: Case, some: Floats, rows: NDArray[np.int64], option: _Option
) -> tuple[int | None, Floats]:
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
    case: Case, some: Floats, base: Floats, rows: NDArray[np.int64], used: int, *, approved: bool
) -> tuple[Floats, tuple[int, ...]]:
    """The value of trying remedies, likeliest first, as long as it pays.

    And the order for the first row.
    """
    stakes = case.stakes
    hits = case.hits[rows]
    names = np.flatnonzero(hits.any(axis=0))  # only those that could be right
    hits = hits[:, names]
    left = some.copy()
    best = _scaled((left * base).sum(axis=1), penalty(stakes, approved=approved, wrong=0))
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
        credit = case.remedy_credit(tried, approved=approved)[rows]
        now = penalty(stakes, approved=approved, wrong=tried)
        earned = earned + _scaled((struck * (base + credit + closing)).sum(axis=1), now)
        left = left - struck
        later = penalty(stakes, approved=approved, wrong=tried + 1)
        total = earned + _scaled((left * base).sum(axis=1), later)
        order.append(int(names[pick[0]]))
        if total[0] > first_best:
            first_best, kept = total[0], tried + 1
        best = np.maximum(best, total)
    return best, tuple(order[:kept])


def _dismissal(case: Case, weights: Floats, tick: int, option: _Option) -> tuple[Floats, Choice]:
    stakes = case.stakes
    calm = weights[:, ~case.fault].sum(axis=1)
    severity = 2 if option.severity else case.severity
    earned = 0
    if severity is not None:
        earned += int(stakes.benign_severity * stakes.severity_credits[2 - severity])
    if case.declared is None:
        earned += stakes.dismissed(tick + option.severity + 1, case.applied)
    return calm * float(earned), Choice(0, True, None, 2 if option.severity else None)


def closed_values(case: Case, tick: int, *, resolved: bool, ignored: bool) -> Floats:
    """What each hypothesis earns (H,) if the incident closes now, in units of 2**-20.

    ``tick`` are the ticks used. Neither resolved nor ignored, it ran out of time.
    """
    stakes, fault = case.stakes, case.fault
    severity = (
        np.zeros(len(fault)) if case.severity is None else case.severity_credit[case.severity]
    )
    calm = 0
    if case.severity is not None:
        calm = int(stakes.benign_severity * stakes.severity_credits[2 - case.severity])
    if ignored:
        if case.declared is None:
            calm += stakes.dismissed(tick, case.applied)
        return np.where(fault, 0.0, float(calm))
    right = (case.root == case.declared) & case.root_counts if case.declared is not None else False
    earned = severity + np.where(right, float(stakes.root_cause), 0.0) + case.fix
    earned = earned + (stakes.escalation if case.paged else 0)
    if resolved:
        earned = earned + np.where(case.fix_seen, float(stakes.closed(tick)), 0.0)
    factor = penalty(stakes, approved=case.paged, wrong=0)
    steps = np.array([unapproved(int(count)) for count in case.unapproved], np.float64)
    earned = np.floor(np.floor(earned * factor / UNIT) * steps / UNIT)
    return np.where(fault, earned, float(calm))
