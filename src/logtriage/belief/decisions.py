"""From a belief to a plan, and to what a question is worth."""

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import (
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Remedy,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
)
from logtriage.belief.beliefs import Belief
from logtriage.belief.plans import Case, Choice, Floats, best_choice, best_values, choices
from logtriage.belief.stakes import UNIT
from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.world.channels import GAUGES, SERIES, SPANS, Channel
from logtriage.world.conditions import Condition, accepted_remedies, teams_of, unaffected
from logtriage.world.schedule import epoch_starts
from logtriage.world.setting import Setting
from logtriage.world.tables import Place, weights

#: Planning leaves out hypotheses below this share of the belief (1 in so many).
NEGLIGIBLE: Final = 1000
#: Weights of a belief are scaled to this sum for planning.
_SCALE: Final = 1 << 30


@attrs.frozen
class Plan:
    """The best that can be done if nothing more is asked, and what it is worth.

    ``page``, ``severity``, ``root_cause`` are what is still to be said; ``remedies`` are
    tried in order until the symptoms ease, then the incident is resolved. ``dismiss``
    closes it as nothing to act on. ``value`` is the expected grade.
    """

    value: float
    page: str | None = None
    severity: str | None = None
    root_cause: str | None = None
    remedies: tuple[tuple[str, str], ...] = ()
    dismiss: bool = False

    @property
    def actions(self) -> tuple[Action, ...]:
        """The plan as a list: what is done as long as no remedy has worked, then the close."""
        listed: list[Action] = []
        if self.page is not None:
            listed.append(Escalate(self.page))
        if self.severity is not None:
            listed.append(ClassifySeverity(self.severity))
        if self.root_cause is not None:
            listed.append(IdentifyRootCause(self.root_cause))
        listed.extend(Remediate(Remedy(remedy), service) for remedy, service in self.remedies)
        listed.append(Ignore() if self.dismiss else Resolve())
        return tuple(listed)


class Planner:
    """A belief compiled for planning: hypotheses that matter, as arrays."""

    def __init__(self, belief: Belief, *, negligible: int | None = None) -> None:
        self.belief = belief
        floor = 1 if negligible is None else belief.total // negligible
        places = [place for place, one in enumerate(belief.weights) if one and one >= floor]
        if not places:
            raise InvalidInput("nothing is possible any more: evidence of another incident?")
        self.places = np.array(places)
        self.case = _case(belief, places)
        raw = [belief.weights[place] for place in places]
        whole = sum(raw)
        self.weights: Floats = np.array([one * _SCALE // whole for one in raw], np.float64)
        self.total = float(self.weights.sum())
        self.tick = belief.standing.tick

    @cached_property
    def value(self) -> float:
        """The numerator of the best plan's value, now."""
        return float(best_values(self.case, self.weights[np.newaxis], self.tick)[0])

    def later(self, ticks: int = 1) -> float:
        """The same after so many ticks in which nothing was learnt."""
        return float(best_values(self.case, self.weights[np.newaxis], self.tick + ticks)[0])


def _case(belief: Belief, places: list[int]) -> Case:
    topology, facts = belief.topology, belief.standing.facts
    hypotheses = [belief.hypotheses[place] for place in places]
    team_index = {team: number for number, team in enumerate(topology.teams)}
    accepted = [accepted_remedies(topology, one) for one in hypotheses]
    names = sorted(set().union(*accepted), key=lambda one: _remedy_order(one, topology))
    column = {one: number for number, one in enumerate(names)}
    hits = np.zeros((len(places), len(names)))
    for row, wanted in enumerate(accepted):
        for remedy in wanted:
            hits[row, column[remedy]] = 1.0
    severities = np.array(
        [
            [share * UNIT // sum(belief.posterior.severities[place]) for share in row]
            for place in places
            for row in [belief.posterior.severities[place]]
        ],
        np.float64,
    )
    doings = facts.doings
    paged_at = doings.pages[0][0] if doings.pages else None
    wrong, unapproved, fixes, counts, seen = [], [], [], [], []
    stakes = belief.standing.stakes
    for one, wanted in zip(hypotheses, accepted, strict=True):
        bad = [when for when, *pair in doings.remedies if tuple(pair) not in wanted]
        fixed = next((when for when, *pair in doings.remedies if tuple(pair) in wanted), None)
        early = [when for when in bad if paged_at is None or when <= paged_at]
        wrong.append(len(bad))
        unapproved.append(len(early) if one.faults else 0)
        approved = fixed is not None and paged_at is not None and paged_at < fixed
        fixes.append(0 if fixed is None else stakes.remedy(len(bad), approved=approved))
        seen.append(fixed is not None)
        declared_at = facts.root_cause_at
        counts.append(fixed is None or (declared_at is not None and declared_at <= fixed))
    return Case(
        stakes=stakes,
        team=np.array(
            [
                team_index[teams_of(topology, belief.directory, one)[0]] if one.faults else -1
                for one in hypotheses
            ]
        ),
        root=np.array([one.faults[0][1] if one.faults else -1 for one in hypotheses]),
        hits=hits,
        severities=severities,
        wrong=np.array(wrong),
        unapproved=np.array(unapproved),
        root_counts=np.array(counts, np.bool_),
        fix=np.array(fixes, np.float64),
        fix_seen=np.array(seen, np.bool_),
        teams=len(topology.teams),
        services=len(topology),
        applied=len(doings.remedies),
        fixed=all(seen),
        paged=paged_at is not None,
        severity=None if facts.severity is None else SEVERITIES.index(facts.severity),
        declared=None if facts.root_cause is None else topology.index(facts.root_cause),
        remedies=tuple(names),
    )


def _remedy_order(remedy: tuple[str, str], topology: Topology) -> tuple[int, int]:
    """Canonical order: remedy first, then service."""
    return list(Remedy).index(Remedy(remedy[0])), topology.index(remedy[1])


def best_plan(belief: Belief) -> Plan:
    """The plan of the highest expected grade if nothing more is asked.

    Raises:
        InvalidInput: for a closed incident: nothing can be planned any more.
    """
    if belief.standing.closing is not None:
        raise InvalidInput("the incident is closed: there is nothing left to plan")
    planner = Planner(belief)
    choice = best_choice(planner.case, planner.weights[np.newaxis], planner.tick)
    return _plan(planner, choice)


def _plan(planner: Planner, choice: Choice) -> Plan:
    topology, case = planner.belief.topology, planner.case
    return Plan(
        value=choice.value / UNIT / planner.total,
        page=None if choice.page is None else topology.teams[choice.page],
        severity=None if choice.severity is None else str(SEVERITIES[choice.severity]),
        root_cause=None if choice.root is None else topology.names[choice.root],
        remedies=tuple(case.remedies[one] for one in choice.remedies),
        dismiss=choice.dismiss,
    )


@attrs.frozen
class PageValues:
    """Expected grades of the best plans: without a page, and by the team paged first.

    A plan without a page may dismiss the incident. ``paging`` is empty once the right
    team is known to be paged, since nothing is left to decide.
    """

    silent: float
    paging: Mapping[str, float]


def page_values(belief: Belief) -> PageValues:
    """What the best plans are worth now, with and without a page."""
    return _page_values(Planner(belief))


def _page_values(planner: Planner) -> PageValues:
    silent, paging = 0, dict[str, float]()
    teams, whole = planner.belief.topology.teams, UNIT * planner.total
    for one in choices(planner.case, planner.weights[np.newaxis], planner.tick):
        if one.page is None:
            silent = max(silent, one.value)
        else:
            team = teams[one.page]
            paging[team] = max(paging.get(team, 0.0), one.value / whole)
    return PageValues(silent / whole, paging)


def bar(belief: Belief, team: str) -> float:
    """The probability from which it pays to page a team, by this belief.

    The best that can be expected without a page, over what could be expected if this
    team were right.
    """
    planner = Planner(belief)
    wanted = belief.topology.teams.index(team)
    found = _page_values(planner)
    paging = found.paging.get(team, 0.0)
    right = float(planner.weights[planner.case.team == wanted].sum()) / planner.total
    if not paging or not right:
        return 1.0
    return min(1.0, found.silent / (paging / right))


# --- what a question is worth --------------------------------------------------------


Request = RequestMoreLogs | RequestMetrics | RequestTraces


@attrs.frozen
class Worth:
    """What asking is worth: the rise of the expected grade, and information in bits.

    ``grade`` is a multiple of 2**-20, so that comparisons are the same everywhere.
    """

    request: Request
    grade: float
    bits: float


def worths(belief: Belief, requests: "tuple[Request, ...]") -> tuple[Worth, ...]:
    """What each request is worth.

    A request for logs is valued by one line, one for metrics or traces by their newest
    reading; hypotheses below 1 in 1,000 are left out while planning. Asking takes a
    tick, which may cost.

    Raises:
        InvalidInput: for a look at all services, whose outcomes are too many.
    """
    planner = Planner(belief, negligible=NEGLIGIBLE)
    now, next_tick = planner.value, planner.tick + 1
    late = next_tick >= belief.standing.stakes.horizon
    tables = [None if late else _outcomes(planner, request) for request in requests]
    idle = planner.later() - now
    told = [table for table in tables if table is not None]
    rises: Iterator[float] = iter(())
    bits: Iterator[float] = iter(())
    if told:
        joint = np.floor(np.concatenate(told) * planner.weights / 65_536)
        first = np.cumsum([0, *(len(table) for table in told[:-1])])
        values = best_values(planner.case, joint, next_tick)
        rises = iter(np.add.reduceat(values, first) - now)
        bits = iter(_bits(planner, joint, first))
    return tuple(
        Worth(request, round(idle / planner.total) / UNIT, 0.0)
        if table is None
        else Worth(request, round(float(next(rises)) / planner.total) / UNIT, next(bits))
        for request, table in zip(requests, tables, strict=True)
    )


def worth(belief: Belief, request: Request) -> Worth:
    """What one request is worth; see :func:`worths`."""
    return worths(belief, (request,))[0]


def _bits(planner: Planner, joint: Floats, first: NDArray[np.int64]) -> list[float]:
    """Information of each question about (root, team, remedies), in bits.

    ``first`` are the rows at which the outcomes of a question begin. Rounded to 2**-16,
    so that ties are the same on every machine.
    """
    case = planner.case
    answers = np.column_stack(
        [case.root, case.team, case.hits @ np.arange(1, case.hits.shape[1] + 1)]
    )
    keys = np.unique(answers, axis=0, return_inverse=True)[1].ravel()
    table = joint @ (keys[:, np.newaxis] == np.arange(keys.max() + 1)).astype(np.float64)
    before = np.add.reduceat(table, first, axis=0)  # (questions, answers)
    whole = before.sum(axis=1)

    def weighed(values: Floats) -> Floats:
        """Values times their logarithm, 0 at 0."""
        return values * np.log2(np.maximum(values, 1.0))

    outcomes = np.add.reduceat(weighed(table.sum(axis=1)), first)
    cells = np.add.reduceat(weighed(table).sum(axis=1), first)
    gain = np.log2(whole) + (cells - weighed(before).sum(axis=1) - outcomes) / whole
    return [round(float(one) * 65_536) / 65_536 for one in gain]


def _outcomes(planner: Planner, request: Request) -> Floats | None:
    """The likelihood (O, H) of each outcome, in units of 2**-16; None if nothing is new."""
    belief = planner.belief
    model, doings = belief.model, belief.standing.facts.doings
    if request.service is None:
        raise InvalidInput("a look at all services has too many outcomes to be valued")
    service = belief.topology.index(request.service)
    start = planner.tick + 1
    if isinstance(request, RequestMoreLogs):
        sorts: tuple[str, ...] = ("log",)
    else:
        channel = Channel.METRICS if isinstance(request, RequestMetrics) else Channel.TRACES
        sorts = GAUGES if channel is Channel.METRICS else SPANS
        shown = {
            cell[3] for cell in belief.posterior.seen if cell[0] is channel and cell[1] == service
        }
        fresh = [one for one in epoch_starts(start, doings)[-SERIES:] if one not in shown]
        if not fresh:
            return None
        start = fresh[-1]
    rows = _likelihoods(
        model.setting, model.places[service], model.conditions[service], sorts, start
    )
    aloof = np.floor(_standing_shares(planner, service) @ rows / 65_536)
    found = np.repeat(aloof[:, np.newaxis], len(planner.places), axis=1)
    for row, number in enumerate(planner.places):
        for one, condition in model.reach[number]:
            if one == service:
                fixed = belief.posterior.fixed[number]
                found[:, row] = rows[0 if fixed else condition]
    return found


@lru_cache(maxsize=4096)
def _likelihoods(
    setting: Setting,
    place: Place,
    conditions: tuple[Condition, ...],
    sorts: tuple[str, ...],
    start: int,
) -> Floats:
    """The likelihood (C, O) of every combination of tokens, in units of 2**-16."""
    rows = np.full((len(conditions), 1), 65_536.0)
    for sort in sorts:
        table = np.array(
            [weights(setting, sort, place, one, start) for one in conditions], np.float64
        )
        product = rows[:, :, np.newaxis] * table[:, np.newaxis, :]
        rows = np.floor(product.reshape(len(conditions), -1) / 65_536)
    return rows


def _standing_shares(planner: Planner, service: int) -> Floats:
    """What an unaffected service is, given what it has shown: shares of 65,536 (C,)."""
    posterior, model = planner.belief.posterior, planner.belief.model
    own = posterior.own[service]
    shares = np.zeros(len(model.conditions[service]))
    whole = sum(own)
    count = len(unaffected(planner.belief.topology.services[service].tier))
    shares[:count] = [one * 65_536 // whole for one in own]
    return shares
