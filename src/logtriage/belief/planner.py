"""A belief compiled for planning: the hypotheses that matter, as arrays."""

from functools import cached_property
from typing import Final

import numpy as np

from logtriage.actions import (
    SEVERITIES,
    Remedy,
)
from logtriage.belief.beliefs import Belief
from logtriage.belief.plans import Case, Floats, best_values
from logtriage.belief.stakes import UNIT
from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.world.conditions import accepted_remedies, teams_of

#: Weights of a belief are scaled to this sum for planning.
SCALE: Final = 1 << 30


class Planner:
    """A belief compiled for planning: hypotheses that matter, as arrays."""

    def __init__(self, belief: Belief, *, negligible: int | None = None) -> None:
        self.belief = belief
        if belief.model.setting.several:
            raise InvalidInput(
                "plans of several faults are those of logtriage.belief.set_plans: this search "
                "knows single faults alone"
            )
        floor = 1 if negligible is None else belief.total // negligible
        places = [place for place, one in enumerate(belief.weights) if one and one >= floor]
        if not places:
            raise InvalidInput("no hypothesis fits the evidence: is it from another incident?")
        self.places = np.array(places)
        self.case = _case(belief, places)
        raw = [belief.weights[place] for place in places]
        whole = sum(raw)
        self.weights: Floats = np.array([one * SCALE // whole for one in raw], np.float64)
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
    topology, standing = belief.topology, belief.standing
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
    stakes, doings = standing.stakes, standing.doings
    paged_at = doings.pages[0][0] if doings.pages else None
    wrong, unapproved, fixes, counts, seen = [], [], [], [], []
    for one, wanted in zip(hypotheses, accepted, strict=True):
        bad = [when for when, *pair in doings.remedies if tuple(pair) not in wanted]
        fixed = next((when for when, *pair in doings.remedies if tuple(pair) in wanted), None)
        early = [when for when in bad if paged_at is None or when <= paged_at]
        wrong.append(len(bad))
        unapproved.append(len(early) if one.faults else 0)
        approved = fixed is not None and paged_at is not None and paged_at < fixed
        fixes.append(0 if fixed is None else stakes.remedy(len(bad), approved=approved))
        seen.append(fixed is not None)
        declared_at = standing.root_cause_at
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
        severity=None if standing.severity is None else SEVERITIES.index(standing.severity),
        declared=None if standing.root_cause is None else topology.index(standing.root_cause),
        remedies=tuple(names),
    )


def _remedy_order(remedy: tuple[str, str], topology: Topology) -> tuple[int, int]:
    """Canonical order: remedy first, then service."""
    return list(Remedy).index(Remedy(remedy[0])), topology.index(remedy[1])
