"""A belief compiled for planning: arrays over its H likeliest hypotheses, of K faults each."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

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
    Severity,
    action_id,
)
from logtriage.beliefs.fixedpoint import Longs
from logtriage.beliefs.ledgers import (
    EMPTY,
    NEVER,
    UNIT,
    WHOLE,
    Bookkeeper,
    Ledger,
    Stakes,
    mean_over_severities,
    severity_shares,
)
from logtriage.beliefs.model import NONE, Bools, responses, single_team
from logtriage.beliefs.posterior import Posterior
from logtriage.errors import NothingFits
from logtriage.facts import Facts, Play
from logtriage.grading.criteria import severity_credit
from logtriage.state import Closing
from logtriage.world.schedule import Doings

Floats = NDArray[np.float64]
#: Weights of a belief are scaled to this sum for planning.
SCALE: Final = 1 << 30
#: :func:`alike` numbers its groups anew before their numbers exceed this.
_WIDEST: Final = 1 << 62
#: While questions are weighed, hypotheses below a share of 1 in this number are left out.
NEGLIGIBLE: Final = 1000
#: The credit (3, 3) for declaring a severity (row) when another is true (column).
SEVERITY_CREDITS: Final = np.array(
    [[severity_credit(abs(declared - true)) for true in range(3)] for declared in range(3)]
)


@attrs.frozen(eq=False)
class Standing:
    """What everybody knows of an episode at a tick: nothing in it depends on the truth.

    Plans depend on it. ``root_causes`` are the declared ones: (tick, service).
    """

    tick: int
    stakes: Stakes
    doings: Doings
    severity: Severity | None
    root_causes: tuple[tuple[int, str], ...]
    closing: Closing | None

    @classmethod
    def of(cls, tick: int, stakes: Stakes, facts: Facts, closing: Closing | None) -> "Standing":
        """The standing at a tick, from what everybody knows of the facts of a state."""
        return cls(tick, stakes, facts.doings, facts.severity, facts.root_causes, closing)

    @property
    def left(self) -> int:
        """How many ticks are left."""
        return self.stakes.horizon - self.tick

    @property
    def may_hand_over(self) -> bool:
        """Whether a hand-over is offered and no page or remedy has been made."""
        touched = self.doings.pages or self.doings.remedies
        return self.stakes.worth_of_hand_over is not None and not touched


@attrs.frozen
class Plan:
    """The actions to take if no more questions are asked, and their expected grade ``value``.

    First come ``pages``, then ``severity`` (None: not declared), ``root_causes`` and ``remedies``
    (remedy, service), in this order; what was declared before is not repeated. If only one fault
    is possible, remedies are tried until the symptoms ease; else all of them are applied. Then the
    incident is resolved or, with ``dismiss``, closed as nothing to act on. A plan with
    ``hand_over`` hands the incident over and does nothing else.
    """

    value: float
    pages: tuple[str, ...] = ()
    severity: str | None = None
    root_causes: tuple[str, ...] = ()
    remedies: tuple[tuple[str, str], ...] = ()
    dismiss: bool = False
    hand_over: bool = False

    @property
    def page(self) -> str | None:
        """The first team to page; None if nobody is paged."""
        return self.pages[0] if self.pages else None

    @property
    def root_cause(self) -> str | None:
        """The first service to name; None if no service is named."""
        return self.root_causes[0] if self.root_causes else None

    @property
    def actions(self) -> tuple[Action, ...]:
        """The plan as a list: every action in order, as if no remedy worked, then the close."""
        if self.hand_over:
            return (HandOver(),)
        listed: list[Action] = [Escalate(team) for team in self.pages]
        if self.severity is not None:
            listed.append(ClassifySeverity(self.severity))
        listed.extend(map(IdentifyRootCause, self.root_causes))
        listed.extend(Remediate(remedy, service) for remedy, service in self.remedies)
        listed.append(Ignore() if self.dismiss else Resolve())
        return tuple(listed)


@attrs.frozen
class PageValues:
    """Expected grades of the best plans: ``silent`` without a page, ``paging`` by first team.

    A plan without a page may dismiss the incident or hand it over. ``paging`` is empty once
    the right team is known to be paged, since nothing is left to decide.
    """

    silent: float
    paging: Mapping[str, float]


def alike(rows: Sequence[Longs]) -> tuple[Longs, Longs]:
    """Group equal columns of R rows (H,): (first column of each group, group of each column)."""
    code, width = np.zeros(len(rows[0]), np.int64), 1
    for row in rows:
        low = int(row.min())
        span = int(row.max()) - low + 1
        if span == 1:
            continue
        if width * span > _WIDEST:
            code = np.unique(code, return_inverse=True)[1]
            width = int(code.max()) + 1
        code, width = code * span + (row - low), width * span
    _, first, groups = np.unique(code, return_index=True, return_inverse=True)
    return first, groups


class Case(ABC):
    """The H likeliest hypotheses of a belief, each with at most K faults.

    ``rows`` (H,) are their places in the posterior; ``weights`` (H,) whole numbers, ``total``
    their sum, about 2**30; ``members`` (H, K) single faults of the model; ``services`` and
    ``teams`` (H, K) indices, ``NONE`` for none; ``real`` (H, K) is whether there is a fault;
    ``fixes`` (H, M) is which of the K faults each of the M ``remedies`` fixes, ``NONE`` for none;
    ``shown`` (H, 3) are the weights of P1, P2, P3. ``severity`` is the declared rank (0 for P1).
    """

    def __init__(
        self, posterior: Posterior, standing: Standing, negligible: int | None = None, keep: int = 0
    ) -> None:
        """Compile a belief without hypotheses below a share of 1 in ``negligible`` (None: all).

        The ``keep`` likeliest hypotheses stay, whatever their share, unless they are ruled out.

        Raises:
            NothingFits: if the evidence rules out every hypothesis.
        """
        model, weights = posterior.model, posterior.weights
        floor = 1 if negligible is None else max(1, posterior.total // negligible)
        if keep:
            least_kept = int(np.sort(weights)[-keep:][0])
            floor = min(floor, max(1, least_kept))
        self.rows: Longs = np.flatnonzero(weights >= floor)
        if not len(self.rows):
            raise NothingFits
        self.posterior, self.standing, self.stakes = posterior, standing, standing.stakes
        self.topology = model.topology
        kept = weights[self.rows]
        self.weights: Floats = (kept * SCALE // kept.sum()).astype(np.float64)
        self.total = float(self.weights.sum())
        self.members = posterior.listed.members[posterior.rows[self.rows]]
        self.services = model.single_service[self.members]
        self.teams = single_team(model, posterior.directory)[self.members]
        self.real: Bools = self.members != NONE
        columns = np.flatnonzero(model.accepted[np.unique(self.members)].any(axis=0))
        accepted = model.accepted[:, columns][self.members]  # (H, K, M)
        self.remedies = tuple(model.remedies[column] for column in columns.tolist())
        self.fixes: Longs = np.where(accepted.any(axis=1), accepted.argmax(axis=1), NONE)
        self.shown = posterior.severities[self.rows]
        declared = standing.severity
        self.severity = None if declared is None else SEVERITIES.index(declared)
        self._accepting: dict[Action, Bools] = {}

    @cached_property
    def count(self) -> Longs:
        """The number of faults (H,); 0 for a benign hypothesis."""
        count: Longs = self.real.sum(axis=1)
        return count

    @cached_property
    def shares(self) -> Longs:
        """The shares of P1, P2, P3 (H, 3), in units of 2**-30."""
        return severity_shares(self.shown)

    @cached_property
    def severity_credits(self) -> Floats:
        """The expected credit for declaring each severity (3, H), in units of 2**-20."""
        expected = SEVERITY_CREDITS @ self.shares.T // (WHOLE // UNIT)
        return expected.astype(np.float64)

    @cached_property
    def books(self) -> Bookkeeper:
        """The bookkeeper that enters actions into ledgers and grades them by the rubric."""
        return Bookkeeper.of(self.stakes, self.topology, self.members.shape[1])

    @cached_property
    def past(self) -> Ledger:
        """The ledger of all actions so far."""
        standing = self.standing
        plays: list[Play] = [(when, Escalate(team)) for when, team in standing.doings.pages]
        plays += [(when, IdentifyRootCause(service)) for when, service in standing.root_causes]
        plays += [(when, Remediate(*rest)) for when, *rest in standing.doings.remedies]
        if standing.severity is not None:
            plays.append((0, ClassifySeverity(standing.severity)))  # no grade reads its tick
        ledger = EMPTY
        for when, action in sorted(plays, key=lambda play: play[0]):
            ledger = self._ledger_after(ledger, when, action)
        return ledger

    def _ledger_after(self, ledger: Ledger, tick: int, action: Action) -> Ledger:
        """The ledger after an action that repeats no declared service."""
        number = action_id(action, self.topology, hand_over=True)
        return self.books.entered(ledger, number, tick, self.accepted_faults(action), self.count)

    @cached_property
    def pasts(self) -> tuple[Longs, Longs]:
        """:func:`alike` for hypotheses: by ledger, number of faults and shares of severities."""
        columns: list[Any] = [*self.past.facts]
        for times in self.past.response:
            columns += [times[..., fault] for fault in range(times.shape[-1])]
        # What is a single number is the same under all hypotheses.
        ledger = [np.broadcast_to(each, self.count.shape) for each in columns if np.ndim(each)]
        return alike([self.count, *ledger, *self.shares.T])

    def accepted_faults(self, action: Action) -> Bools:
        """Which faults (H, K) accept the team, service or remedy that an action names."""
        if action not in self._accepting:
            self._accepting[action] = self._accepted_faults(action)
        return self._accepting[action]

    def _accepted_faults(self, action: Action) -> Bools:
        match action:
            case Escalate(team):
                theirs: Bools = self.teams == self.topology.teams.index(team)
                return theirs
            case IdentifyRootCause(service, _):
                there: Bools = self.services == self.topology.index(service)
                return there
            case Remediate(remedy, service):
                if (named := (str(remedy), service)) in self.remedies:
                    part = self.fixes[:, self.remedies.index(named)][:, np.newaxis]
                    meant: Bools = part == np.arange(self.members.shape[1])
                    return meant
        return np.zeros_like(self.real)

    def graded(self, rows: Longs, ledger: Ledger, used: Longs) -> Floats:
        """The expected grades (U, B) of B ledgers, in units of 2**-20, by ticks ``used`` (U, B).

        ``rows`` (B,) is the hypothesis of each ledger. After a mis-page the grade is 0.
        """
        grades, is_benign = np.zeros((len(used), len(rows))), self.count[rows] == 0
        for benign in (False, True):
            some = np.flatnonzero(is_benign == benign)
            if len(some):
                part, faults = ledger.take(some), self.count[rows[some]]
                utilities = self.books.utilities(part, used[:, some], faults, benign=benign)
                grades[:, some] = mean_over_severities(utilities, self.shares[rows[some]])
        return grades

    def closed(self, tick: int, last: Action) -> float:
        """The expected grade if action ``last`` closed the incident with ``tick`` ticks used."""
        ledger, rows = self.past, np.arange(len(self.rows))
        if isinstance(last, Resolve | Ignore | HandOver):  # all else stands in ``past``
            ledger = self._ledger_after(ledger, tick - 1, last)
        grades = self.graded(rows, ledger, np.full((1, len(rows)), tick))
        return float((self.weights * grades[0]).sum()) / self.total / UNIT

    @abstractmethod
    def by_page(self) -> Iterable[tuple[str | None, float]]:
        """(first page or None, expected grade) of each plan that is weighed."""

    def page_values(self) -> PageValues:
        """The expected grades of the best plans, with and without a page."""
        values: dict[str | None, float] = {None: 0.0}
        for page, value in self.by_page():
            values[page] = max(values.get(page, 0.0), value)
        silent = values.pop(None)
        return PageValues(silent, {str(page): value for page, value in values.items()})

    @cached_property
    def fixed(self) -> Bools:
        """Which faults are fixed by now (H, K)."""
        fixed = self.past.response.fixed < NEVER
        return np.broadcast_to(fixed, self.real.shape)

    def response_numbers(self, gone: Bools) -> Longs:
        """Numbers (H,), equal for hypotheses with the same responses to their faults.

        ``gone`` (H, K) are faults that need no response any more; see :func:`responses`.
        """
        kinds = responses(self.posterior.model, self.posterior.directory)
        needed = np.sort(np.where(gone | ~self.real, NONE, kinds[self.members]), axis=1)
        # A benign incident needs another close than one whose faults are all gone.
        return alike([(self.count > 0).astype(np.int64), *needed.T])[1]
