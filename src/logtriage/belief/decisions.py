"""From a belief to a plan, and to the probability from which a page pays."""

from collections.abc import Mapping

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
from logtriage.belief.planner import Planner
from logtriage.belief.plans import Choice, best_choice, choices
from logtriage.belief.stakes import UNIT
from logtriage.errors import InvalidInput


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
    if belief.model.setting.several:
        from logtriage.belief.set_plans import plan_values

        silent, paging = plan_values(belief)
        return PageValues(silent, paging)
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
    if belief.model.setting.several:
        found = page_values(belief)
        paging, right = found.paging.get(team, 0.0), belief.teams.get(team, 0.0)
    else:
        planner = Planner(belief)
        wanted = belief.topology.teams.index(team)
        found = _page_values(planner)
        paging = found.paging.get(team, 0.0)
        right = float(planner.weights[planner.case.team == wanted].sum()) / planner.total
    if not paging or not right:
        return 1.0
    return min(1.0, found.silent / (paging / right))
