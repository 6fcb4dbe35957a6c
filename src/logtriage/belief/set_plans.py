"""A plan for several faults: whom to page, what to name, what to apply, and when to close.

Plans are lists that are played as they stand, so that the expected grade of a plan is
exact. Among them the search is greedy: by the likeliest page, then by what names and
remedies add. An agent that plans anew after each step sees what a remedy has done and does
no worse on the whole; the value is a lower bound of that.
"""

from typing import Final

import attrs
import numpy as np

from logtriage.actions import (
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Remedy,
    Resolve,
)
from logtriage.belief.beliefs import Belief
from logtriage.belief.set_case import NONE, SEVERITY_CREDITS, Floats, SetCase
from logtriage.belief.sets import Bools
from logtriage.belief.stakes import UNIT
from logtriage.errors import InvalidInput

#: Planning leaves out hypotheses below this share of the belief (1 in so many).
NEGLIGIBLE: Final = 20_000
#: A name or a remedy is weighed if the expected share that it adds is no less than this.
LEAST_SHARE: Final = 0.03
#: Remedies that a plan tries at most.
TRIED: Final = 6
#: Of so many hypotheses the answers are weighed as plans, too.
LIKELIEST: Final = 40


@attrs.frozen
class SetPlan:
    """The best plan found if nothing more is asked, and its expected grade.

    ``pages``, ``severity`` and ``root_causes`` are what is still to be said, ``remedies`` what
    is applied in order; ``dismiss`` closes the incident as nothing to act on.
    """

    value: float
    pages: tuple[str, ...] = ()
    severity: str | None = None
    root_causes: tuple[str, ...] = ()
    remedies: tuple[tuple[str, str], ...] = ()
    dismiss: bool = False

    @property
    def page(self) -> str | None:
        """The first team to page; None for nobody."""
        return self.pages[0] if self.pages else None

    @property
    def root_cause(self) -> str | None:
        """The first service to name; None for none."""
        return self.root_causes[0] if self.root_causes else None

    @property
    def actions(self) -> tuple[Action, ...]:
        """The plan as a list, with the close."""
        listed: list[Action] = [Escalate(team) for team in self.pages]
        if self.severity is not None:
            listed.append(ClassifySeverity(self.severity))
        listed.extend(map(IdentifyRootCause, self.root_causes))
        listed.extend(Remediate(Remedy(remedy), service) for remedy, service in self.remedies)
        listed.append(Ignore() if self.dismiss else Resolve())
        return tuple(listed)


def best_set_plan(belief: Belief, *, negligible: int | None = NEGLIGIBLE) -> SetPlan:
    """The best plan found for a belief over sets of faults.

    Hypotheses below 1 in 20,000 are left out, unless ``negligible`` is None.

    Raises:
        InvalidInput: for a closed incident: nothing can be planned any more.
    """
    if belief.standing.closing is not None:
        raise InvalidInput("the incident is closed: there is nothing left to plan")
    case = SetCase.of(belief, negligible=negligible)
    best: tuple[int, SetPlan] | None = None
    for plan in dict.fromkeys(_modest(case, one) for one in portfolio(case)):
        value = case.value(plan.actions)
        if best is None or value > best[0]:
            best = value, plan
    assert best is not None  # dismissal or silence is always possible
    return attrs.evolve(best[1], value=best[0] / UNIT)


def _modest(case: SetCase, plan: SetPlan) -> SetPlan:
    """The plan without naming services that are no likelier root causes than not.

    One name always counts, so the first may be in more doubt; what a further name that is
    rather wrong could earn is little, and a set of causes should be meant as one.
    """
    weights = case.weights * _right(case, plan.pages)
    half = float(weights.sum()) / 2
    topology, declared = case.belief.topology, case.belief.standing.root_causes
    named = tuple(
        name
        for place, name in enumerate(plan.root_causes)
        if (not place and not declared)
        or float(weights[(case.service == topology.index(name)).any(axis=1)].sum()) > half
    )
    return attrs.evolve(plan, root_causes=named)


def plan_values(belief: Belief) -> tuple[float, dict[str, float]]:
    """Expected grades of the best plans found: without a page, and by the team paged first."""
    case = SetCase.of(belief, negligible=NEGLIGIBLE)
    done = {team for _, team in belief.standing.doings.pages}
    silent, paging = 0, dict[str, int]()
    for plan in portfolio(case):
        if plan.pages:
            team, value = plan.pages[0], case.value(plan.actions)
            paging[team] = max(paging.get(team, 0), value)
        else:
            silent = max(silent, case.value(plan.actions))
    for team in belief.topology.teams:
        if team not in paging and team not in done:
            paging[team] = case.value(best_of(case, (team,)).actions)
    return silent / UNIT, {team: value / UNIT for team, value in paging.items()}


def best_of(case: SetCase, pages: tuple[str, ...]) -> SetPlan:
    """The best plan found that pages these teams, and nobody else."""
    return max(_plans_with(case, pages), key=lambda plan: case.value(plan.actions))


def portfolio(case: SetCase) -> "tuple[SetPlan, ...]":
    """The plans that are weighed: what the search finds, and the answers to what is likeliest."""
    ranked = np.argsort(-case.weights, kind="stable")[:LIKELIEST]
    answers = (_answer(case, int(row)) for row in ranked)
    return tuple(dict.fromkeys((*_plans(case), *answers)))


def _answer(case: SetCase, row: int) -> SetPlan:
    """What is left to do if a hypothesis is true."""
    held = case.belief
    standing, topology = held.standing, held.topology
    severity = None
    if standing.severity is None:
        severity = str(SEVERITIES[int(np.argmax(SEVERITY_CREDITS @ case.severities[row]))])
    if not case.count[row]:
        return SetPlan(0.0, (), severity, dismiss=True)
    declared = {service for _, service in standing.root_causes}
    paged = {team for _, team in standing.doings.pages}
    unfixed = case.real[row] & ~_fixed_parts(case)[row]
    services = [topology.names[one] for one in case.service[row][unfixed]]
    teams = dict.fromkeys(topology.teams[one] for one in case.team[row][case.real[row]])
    remedies = []
    for part in np.flatnonzero(unfixed):
        column = int(np.flatnonzero(case.fixes[row] == part)[0])
        remedies.append(case.names[column])
    return SetPlan(
        0.0,
        tuple(team for team in teams if team not in paged),
        severity,
        tuple(service for service in services if service not in declared),
        tuple(remedies),
    )


def _plans(case: SetCase) -> "list[SetPlan]":
    standing = case.belief.standing
    left = standing.stakes.horizon - standing.tick
    found = [plan for pages in _page_lists(case) for plan in _plans_with(case, pages)]
    if not standing.doings.pages:
        calm = None if standing.severity is not None or left < 2 else str(SEVERITIES[2])
        found.append(SetPlan(0.0, (), calm, dismiss=True))
    return found


def _plans_with(case: SetCase, pages: tuple[str, ...]) -> "list[SetPlan]":
    """The plans that page these teams and try more remedies or fewer."""
    standing = case.belief.standing
    left = standing.stakes.horizon - standing.tick
    weights = case.weights * _right(case, pages)
    severity = None
    if standing.severity is None and left > len(pages) + 1:
        severity = _severity(case, weights)
    room = left - len(pages) - (severity is not None) - 1
    roots = _roots(case, weights, min(room, 3))
    remedies = _remedies(case, weights, min(room - len(roots), TRIED))
    found = [
        SetPlan(0.0, pages, severity, roots, remedies[:tried]) for tried in range(len(remedies) + 1)
    ]
    return [*found, SetPlan(0.0, pages, severity, (), remedies)] if roots else found


def _right(case: SetCase, pages: tuple[str, ...]) -> Floats:
    """1 under the hypotheses for which every page is right (H,)."""
    teams = case.belief.topology.teams
    found = np.ones(len(case.weights))
    for page in pages:
        found *= (case.team == teams.index(page)).any(axis=1)
    return found


def _page_lists(case: SetCase) -> list[tuple[str, ...]]:
    """Nobody, then the likeliest team, then the likeliest after that one was right."""
    topology, done = case.belief.topology, case.belief.standing.doings.pages
    left = case.belief.standing.stakes.horizon - case.belief.standing.tick
    found: list[tuple[str, ...]] = [()]
    while len(found) <= min(case.team.shape[1], left - 1):
        weights = case.weights * _right(case, found[-1])
        masses = {
            team: float(weights[(case.team == number).any(axis=1)].sum())
            for number, team in enumerate(topology.teams)
            if team not in found[-1] and all(team != one for _, one in done)
        }
        if not masses or not max(masses.values()):
            break
        found.append((*found[-1], max(masses, key=lambda team: masses[team])))
    return found


def _severity(case: SetCase, weights: Floats) -> str:
    votes = np.floor(weights[:, np.newaxis] * (case.severities @ SEVERITY_CREDITS.T)).sum(axis=0)
    return str(SEVERITIES[int(votes.argmax())])


def _roots(case: SetCase, weights: Floats, room: int) -> tuple[str, ...]:
    """The services to name, each for what it adds where it still counts."""
    names, standing = case.belief.topology.names, case.belief.standing
    declared = [service for _, service in standing.root_causes]
    fixed = _fixed_parts(case)
    whole = max(float(weights.sum()), 1.0)
    found: list[str] = []
    while len(found) < room:
        counts = case.count > len(declared) + len(found)
        worth = weights * case.share * counts
        masses = [
            0.0
            if name in declared or name in found
            else float((worth * ((case.service == at) & ~fixed).any(axis=1)).sum())
            for at, name in enumerate(names)
        ]
        best = int(np.argmax(np.floor(masses)))
        if masses[best] < LEAST_SHARE * whole:
            break
        found.append(names[best])
    return tuple(found)


def _fixed_parts(case: SetCase) -> Bools:
    """Which faults are fixed by now (H, K)."""
    fixed = np.zeros(case.service.shape, np.bool_)
    for _, remedy, service in case.belief.standing.doings.remedies:
        if (remedy, service) in case.names:
            part = case.fixes[:, case.names.index((remedy, service))]
            hit = np.flatnonzero(part != NONE)
            fixed[hit, part[hit]] = True
    return fixed


def _remedies(case: SetCase, weights: Floats, room: int) -> tuple[tuple[str, str], ...]:
    """The remedies to try, each for what it is likely to fix after those before it."""
    fixed = _fixed_parts(case)
    whole = max(float(weights.sum()), 1.0)
    worth = weights * case.share
    found: list[tuple[str, str]] = []
    every = np.arange(len(worth))[:, np.newaxis]
    while len(found) < room and case.names:
        left = (case.fixes != NONE) & ~fixed[every, case.fixes]
        masses = np.floor(worth @ left)
        best = int(masses.argmax())
        if masses[best] < LEAST_SHARE * whole:
            break
        found.append(case.names[best])
        hit = np.flatnonzero(left[:, best])
        fixed[hit, case.fixes[hit, best]] = True
    return tuple(found)
