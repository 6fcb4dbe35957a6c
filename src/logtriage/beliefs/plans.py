"""The best plans if no more questions are asked, for one belief or for many at once.

A plan pages (or does not), declares the likeliest severity and root cause, tries up to
three remedies, each the likeliest by then, and resolves once one has worked;
or it dismisses the incident, or hands it over. A page that left the incident open and a
remedy that did not work are evidence: they rule out hypotheses for the rest of the plan. The
*utility* of a plan under a hypothesis is its grade: its actions are entered into a ledger
(:mod:`logtriage.beliefs.ledgers`), which is graded.

Arrays are float64 and hold whole numbers below 2**53, so that every sum is exact and
the same on every machine, whatever the order of summation.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import attrs
import numpy as np

from logtriage.actions import SEVERITIES
from logtriage.beliefs.cases import Case, Floats, Plan, Standing
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.ledgers import NEVER, UNIT, Bookkeeper, Ledger, Stakes, mean_over_severities
from logtriage.beliefs.model import NONE
from logtriage.beliefs.posterior import Posterior
from logtriage.errors import InvalidInput
from logtriage.grading.steps import Facts, Letters, Response

#: Remedies that a plan tries at most.
REMEDIES_TRIED: Final = 3
#: With this many ticks left, a plan has time for every declaration.
AMPLE: Final = 7
#: Stands for a severity that is not declared.
SILENT: Final = len(SEVERITIES)
#: Whether a plan declares a root cause, and whether that is right.
UNSAID, WRONG, RIGHT = range(3)
#: The *ends* of a plan, after its page and its declarations: 0, 1, … wrong remedies and no more; a
#: remedy that works after 0, 1, … wrong ones, then the close; a resolve or a dismissal at once.
MISSED: Final = tuple(range(REMEDIES_TRIED + 1))
FIXED: Final = tuple(range(len(MISSED), len(MISSED) + REMEDIES_TRIED))
RESOLVED: Final = len(MISSED) + len(FIXED)
DISMISSED: Final = RESOLVED + 1
ENDS: Final = DISMISSED + 1
#: The severity of a benign incident, and so that of a plan that dismisses.
MILDEST: Final = SILENT - 1
#: Integers for the actions of a plan: after the severities (0 to 2), all root causes share one (3),
#: and so do all pages (4) and all remedies (5); then come resolve, ignore and hand over.
_TO: Final = Letters(SILENT, *(3, 4), *(4, 5), *(5, 6), *(6, 7, 8), NEVER)


@lru_cache(maxsize=1)
def _ends() -> tuple[Longs, Longs]:
    """The actions of each end, tick by tick (REMEDIES_TRIED + 1, ENDS); whether each is right."""
    wrong, fix, resolve = (_TO.remedy, 0), (_TO.remedy, 1), (_TO.resolve, 0)
    # In the order of MISSED, FIXED, RESOLVED and DISMISSED.
    ends = [[wrong] * tried for tried in range(REMEDIES_TRIED + 1)]
    ends += [[*[wrong] * tried, fix, resolve] for tried in range(REMEDIES_TRIED)]
    ends += [[resolve], [(_TO.ignore, 0)]]
    table = np.zeros((2, REMEDIES_TRIED + 1, ENDS), np.int64)
    table[0] = NEVER
    for place, end in enumerate(ends):
        for tick, step in enumerate(end):
            table[:, tick, place] = step
    return table[0], table[1]


@lru_cache(maxsize=1 << 14)
def utilities_of(stakes: Stakes, past: tuple[int, ...], fault: int, tick: int) -> Longs:
    """Utilities of plans that begin at ``tick``; ``past`` holds the facts and the response so far.

    Axes (3, ENDS, 2, 4, 3): true severity; end of the plan; whether it pages a right team; severity
    declared (last: none); root cause (none, wrong, right). ``fault`` is 1, or 0 if benign.
    """
    ledger, used = _entered(stakes.horizon, past, fault, tick)
    return Bookkeeper(stakes, _TO, most=1).utilities(ledger, used, fault, benign=not fault)


@lru_cache(maxsize=1 << 12)
def _entered(horizon: int, past: tuple[int, ...], fault: int, tick: int) -> tuple[Ledger, Longs]:
    """The ledger of the plans of :func:`utilities_of`, and the ticks used; both ignore the pars."""
    books = Bookkeeper(Stakes(horizon, horizon, horizon), _TO, most=1)
    count = len(Facts._fields)
    pages = np.array([NEVER, _TO.page]).reshape(2, 1, 1)
    severities = np.array([*range(SILENT), NEVER]).reshape(SILENT + 1, 1)
    root_actions, root_right = np.array([NEVER, _TO.root, _TO.root]), np.array([0, 0, 1])
    ends = [part.reshape(-1, ENDS, 1, 1, 1) for part in _ends()]
    ledger = Ledger(Facts(*past[:count]), Response(*np.array(past[count:])[:, np.newaxis]))
    now: Any = tick
    steps = ((pages, 1), (severities, 0), (root_actions, root_right), *zip(*ends, strict=True))
    for action, right in steps:
        accepted = np.asarray(right * fault)[..., np.newaxis]
        ledger = books.entered(ledger, action, now, accepted, fault)
        now = now + (action != NEVER)
    return ledger, now


@attrs.frozen
class Option:
    """Which parts a plan has: a page (index of the team), a severity, a root cause.

    Or it dismisses the incident, with or without a severity, or hands it over.
    """

    page: int | None = None
    severity: bool = False
    root: bool = False
    dismiss: bool = False
    hand_over: bool = False

    @property
    def closes(self) -> bool:
        """Whether it closes the incident without a remedy."""
        return self.dismiss or self.hand_over


#: Indices of (severity, root cause, remedies) in a plan for the first row of weights.
_Detail = tuple[int | None, int | None, tuple[int, ...]]


class Planner(Case):
    """Plans for a belief in at most one fault.

    For H hypotheses ``team`` and ``root`` (H,) are indices, ``NONE`` if benign; ``hits`` (H, M) is
    1 where a hypothesis accepts a remedy. *Weighed* values sum weight times utility (2**-20).
    """

    def __init__(
        self, posterior: Posterior, standing: Standing, negligible: int | None = None
    ) -> None:
        if posterior.model.setting.several:
            raise InvalidInput("several faults are planned for by logtriage.beliefs.portfolio")
        super().__init__(posterior, standing, negligible)
        self.tick, self.paged = standing.tick, bool(standing.doings.pages)
        self.team, self.root, self.fault = self.teams[:, 0], self.services[:, 0], self.real[:, 0]
        self.hits: Floats = (self.fixes != NONE).astype(np.float64)
        # The first root cause stands.
        service = standing.root_causes[0][1] if standing.root_causes else None
        self.declared = None if service is None else self.topology.index(service)
        self.all_fixed = bool(self.fixed[self.fault].all() and self.fault.any())
        self._tables: dict[int, Floats] = {}

    @cached_property
    def root_onehot(self) -> Floats:
        """1 where a hypothesis has its root at a service (H, n)."""
        places = self.root[:, np.newaxis] == np.arange(len(self.topology))
        onehot: Floats = places.astype(np.float64)
        return onehot

    def utilities(self, tick: int) -> Floats:
        """Mean utilities (ENDS, 2, 4, 3, H) over severities; axes as in :func:`utilities_of`."""
        if tick not in self._tables:
            # Few hypotheses differ in what was done: those of a group share their utilities.
            first, groups = self.pasts
            # No utility depends on the worth of a hand-over.
            stakes = attrs.evolve(self.stakes, worth_of_hand_over=None)
            of_each = [utilities_of(stakes, past, fault, tick) for past, fault in self._past_rows]
            whole = mean_over_severities(np.stack(of_each, axis=-1), self.shares[first])
            self._tables[tick] = whole.astype(np.float64)[..., groups]
        return self._tables[tick]

    @cached_property
    def _past_rows(self) -> list[tuple[tuple[int, ...], int]]:
        """(facts and response so far, number of faults) of each group of :attr:`pasts`."""
        facts, response = self.past.facts, self.past.response
        columns = (*facts, *(times[..., 0] for times in response), self.count)
        first = self.pasts[0]
        rows = [np.broadcast_to(value, self.count.shape)[first].tolist() for value in columns]
        return [((*past,), fault) for *past, fault in zip(*rows, strict=True)]

    # --- one option --------------------------------------------------------------------

    def options(self, tick: int, *, hand_over: bool = True) -> Iterator[Option]:
        """The options to weigh at a tick."""
        left = self.stakes.horizon - tick
        may_severity = self.severity is None
        may_root = self.declared is None and not self.all_fixed
        teams = () if self.paged else range(len(self.topology.teams))
        for page in (None, *teams):
            for severity in (True, False) if may_severity else (False,):
                for root in (True, False) if may_root else (False,):
                    spare = (may_severity and not severity) or (may_root and not root)
                    if spare and left >= AMPLE:
                        continue
                    if (page is not None) + severity + root <= left:
                        yield Option(page, severity, root)
        if not self.paged:
            if may_severity and left >= 2:
                yield Option(severity=True, dismiss=True)
            if left >= 1:
                yield Option(dismiss=True)
        if hand_over and self._handed_over(tick):
            yield Option(hand_over=True)

    def bounds(self, weights: Floats, tick: int, options: Sequence[Option]) -> Floats:
        """Upper bounds (O, options) of the weighed values of options, for rows of weights (O, H).

        A page earns nothing where it is wrong, so that most pages need no closer look.
        """
        table = self.utilities(tick)
        most = table[: RESOLVED + 1].max(axis=(0, 2, 3))  # by whether it pages
        dismissed = table[DISMISSED, 0].max(axis=(0, 1))
        rows = []
        for option in options:
            if option.hand_over:
                rows.append(np.full(len(dismissed), self._handed_over(tick)))
            elif option.dismiss:
                rows.append(dismissed)
            else:
                meant = 1 if option.page is None else self.team == option.page
                rows.append(most[int(option.page is not None)] * meant)
        most_of: Floats = weights @ np.stack(rows, axis=1)
        return most_of

    def _handed_over(self, tick: int) -> float:
        """What handing over at a tick is worth, in units of 2**-20; 0 if that is impossible."""
        worth = self.stakes.handed_over(tick + 1) if self.standing.may_hand_over else None
        return float(round((worth or 0.0) * UNIT))

    def value_of(self, weights: Floats, tick: int, option: Option) -> tuple[Floats, _Detail]:
        """The weighed values (O,) of an option for rows of weights; the detail of the first row."""
        table = self.utilities(tick)[:, int(option.page is not None)]
        if option.hand_over:
            return weights.sum(axis=1) * self._handed_over(tick), (None, None, ())
        if option.dismiss:
            value = weights @ table[DISMISSED, MILDEST if option.severity else SILENT, UNSAID]
            return value, (MILDEST if option.severity else None, None, ())
        if option.page is not None:
            rows = np.flatnonzero(self.team == option.page)
            weights, table = weights[:, rows], table[..., rows]
        else:
            rows = np.arange(len(self.team))
        severities, roots = np.full(len(weights), SILENT), np.full(len(weights), NONE)
        if option.severity:
            severities = (weights @ self.severity_credits[:, rows].T).argmax(axis=1)
        if option.root:
            roots = (weights @ self.root_onehot[rows]).argmax(axis=1)
        lists = _Lists.of(table, severities, roots, self.root[rows])
        order: tuple[int, ...] = ()
        if self.all_fixed:
            value = lists.sums(RESOLVED, weights)
        else:
            value, order = self._remedies(lists, weights, self.hits[rows])
        severity = int(severities[0]) if option.severity else None
        return value, (severity, int(roots[0]) if option.root else None, order)

    def _remedies(
        self, lists: "_Lists", weights: Floats, hits: Floats
    ) -> tuple[Floats, tuple[int, ...]]:
        """Weighed values (O,) of trying remedies, likeliest first, as long as it pays.

        The second value is the order of remedies for the first row.
        """
        columns = np.flatnonzero(hits.any(axis=0))  # only those that could be right
        hits, left = hits[:, columns], weights
        best = lists.sums(MISSED[0], left)
        earned, order = np.zeros(len(best)), list[int]()
        first_best, kept = best[0], 0  # of the first row
        for tried in range(REMEDIES_TRIED if len(columns) else 0):
            pick = (left @ hits).argmax(axis=1)
            struck = left * hits.T[pick]
            earned = earned + lists.sums(FIXED[tried], struck)
            left = left - struck
            total = earned + lists.sums(MISSED[tried + 1], left)
            order.append(int(columns[pick[0]]))
            if total[0] > first_best:
                first_best, kept = total[0], tried + 1
            best = np.maximum(best, total)
        return best, tuple(order[:kept])

    # --- the best of them --------------------------------------------------------------

    def best(self) -> Plan:
        """The best plan; the first of equals."""
        rows = [(self._plan(option, *detail), value) for option, value, detail in self._weigh()]
        plan, value = max(rows, key=lambda row: row[1])
        return attrs.evolve(plan, value=value / UNIT / self.total)

    def _weigh(self) -> Iterator[tuple[Option, float, _Detail]]:
        """(option, its weighed value, its detail) of each option now."""
        for option in self.options(self.tick):
            value, detail = self.value_of(self.weights[np.newaxis], self.tick, option)
            yield option, float(value[0]), detail

    def _plan(
        self, option: Option, severity: int | None, root: int | None, remedies: tuple[int, ...]
    ) -> Plan:
        return Plan(
            0.0,
            pages=() if option.page is None else (self.topology.teams[option.page],),
            severity=None if severity is None else str(SEVERITIES[severity]),
            root_causes=() if root is None else (self.topology.names[root],),
            remedies=tuple(self.remedies[remedy] for remedy in remedies),
            dismiss=option.dismiss,
            hand_over=option.hand_over,
        )

    def by_page(self) -> Iterator[tuple[str | None, float]]:
        """(first page or None, expected grade) of each plan that is weighed."""
        teams, whole = self.topology.teams, UNIT * self.total
        for option, value, _ in self._weigh():
            yield None if option.page is None else teams[option.page], value / whole

    def likelihood_of_team(self, team: int) -> float:
        """The probability that a team is right to page."""
        return float(self.weights[self.team == team].sum()) / self.total

    @cached_property
    def value(self) -> float:
        """The weighed value of the best plan."""
        return float(self.later(self.weights[np.newaxis], ticks=0)[0])

    @property
    def worth(self) -> float:
        """The expected grade of the best plan."""
        return self.value / UNIT / self.total

    def later(self, joint: Floats, ticks: int = 1, *, hand_over: bool = True) -> Floats:
        """The weighed values (O,) of the best plans some ticks later, for rows of weights (O, H).

        The weights of a row sum to at most 2**31. Without ``hand_over``, no plan hands over.
        """
        tick, best = self.tick + ticks, np.full(len(joint), -1.0)
        options = list(self.options(tick, hand_over=hand_over))
        bounds = self.bounds(joint, tick, options)
        # Options that close the incident come first: they are quick to value.
        ranked = np.lexsort((-bounds.sum(axis=0), [not option.closes for option in options]))
        for place in ranked.tolist():
            rows = np.flatnonzero(bounds[:, place] > best)
            if len(rows):
                values, _ = self.value_of(joint[rows], tick, options[place])
                best[rows] = np.maximum(best[rows], values)
        return best

    @cached_property
    def answers(self) -> Longs:
        """Numbers (H,), equal for hypotheses with the same response, made already or not."""
        return self.response_numbers(gone=np.zeros_like(self.real))


@attrs.frozen(eq=False)
class _Lists:
    """Utilities (ENDS, D, H) of plans for D declarations; which of these each row makes (O,)."""

    table: Floats
    which: Longs

    @classmethod
    def of(cls, table: Floats, severities: Longs, roots: Longs, true: Longs) -> "_Lists":
        """Group O rows by the declared ``severities`` (O,) and ``roots`` (O,), ``NONE`` for none.

        ``table`` (ENDS, 4, 3, H) are utilities, ``true`` (H,) the roots of the hypotheses.
        """
        codes = (roots - NONE) * (SILENT + 1) + severities  # ``NONE``, -1, becomes 0
        known = np.flatnonzero(np.bincount(codes))
        which = np.searchsorted(known, codes)
        root, severity = np.divmod(known[:, np.newaxis], SILENT + 1)
        root += NONE
        declared = np.where(root == NONE, UNSAID, np.where(true == root, RIGHT, WRONG))
        return cls(table[:, severity, declared, np.arange(len(true))], which)

    def sums(self, end: int, weights: Floats) -> Floats:
        """Weighed utilities (O,) of rows of weights (O, H) if all their plans end with ``end``."""
        rows = self.table[end]
        sums: Floats = (
            weights @ rows[0]
            if len(rows) == 1
            else np.einsum("oh,oh->o", weights, rows[self.which])
        )
        return sums
