"""What the oracle, the search for better lists, and the scripts reach; each measured once."""

from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import Any

import attrs

from logtriage.actions import Action, Escalate
from logtriage.audit.exact import Searched, Situations
from logtriage.audit.failing import score
from logtriage.audit.limits import Sizes
from logtriage.audit.players import SCRIPTED, played
from logtriage.audit.scoring import Scorer, kind_of
from logtriage.audit.search import best_blind_policy
from logtriage.audit.subject import Subject
from logtriage.incident import Incident
from logtriage.state import State
from logtriage.transition import play

Plan = tuple[Action, ...]


@attrs.frozen
class Found:
    """A list of actions that earned ``score`` on ``incident``, and who found it."""

    score: float
    incident: Incident
    plan: Plan
    by: str


class Bounds:
    """The bounds of one subject; nothing is computed before it is asked for."""

    def __init__(self, subject: Subject, sizes: Sizes) -> None:
        self.subject = subject
        self.sizes = sizes
        self.rubric = subject.rubric
        self.top = subject.rubric.bounds[1]
        self.incidents = subject.incidents("test", sizes.oracle)

    @cached_property
    def oracle(self) -> dict[Incident, float]:
        """What the oracle earns on each incident."""
        return {one: self._score(one, self.subject.perfect(one)) for one in self.incidents}

    def _score(self, incident: Incident, plan: Plan) -> float:
        return score(play(incident, plan)[0], self.rubric)

    @cached_property
    def scripted(self) -> list[tuple[str, State, float]]:
        """Who played, how it ended, and what it earned: lower bounds, exact search or not."""
        incidents = self.incidents[: self.sizes.panel]
        states = [(name, played(self.subject, name, one)) for name in SCRIPTED for one in incidents]
        return [(name, state, score(state, self.rubric)) for name, state in states]

    @cached_property
    def searched(self) -> list[tuple[Situations, Searched]]:
        """One search for each kind of incident, or of some incidents one by one."""
        return [(one, one.search(self.sizes.beam)) for one in self._kinds[0]]

    @cached_property
    def _kinds(self) -> tuple[list[Situations], int]:
        """Incidents that are searched alike; one of each stands for the rest, if that is exact."""
        found: dict[Hashable, Situations] = {}
        kinds: dict[Hashable, Hashable] = {}
        covered = one_by_one = 0
        for incident in _varied_first(self.incidents):
            key: Hashable = kind_of(incident)
            if key not in kinds:
                situations = Situations(incident, self.rubric, self.subject.reads)
                one_by_one += not situations.exact
                if one_by_one > self.sizes.kinds and not situations.exact:
                    continue
                kinds[key] = situations.kind if situations.exact else key
                found.setdefault(kinds[key], situations)
            covered += 1
        return list(found.values()), covered

    @cached_property
    def how(self) -> dict[str, Any]:
        """Whether the search was exact, and what it covered."""
        situations, covered = self._kinds
        unknown = sorted({name for one in situations for name in one.unknown})
        return {
            "exact": not unknown,
            "unknown": unknown,
            "kinds": len(situations),
            "covered": covered,
            "incidents": len(self.incidents),
            "situations": sum(result.nodes for _, result in self.searched),
        }

    @property
    def told(self) -> str:
        """The same in words."""
        how = self.how
        if how["exact"]:
            return (
                f"exact, {how['situations']:,} situations in {how['kinds']} kinds that cover "
                f"{how['covered']:,} of {how['incidents']:,} incidents"
            )
        return (
            "a lower bound, since nobody says what is read by "
            f"{', '.join(how['unknown'])}; {how['situations']:,} situations of {how['kinds']} "
            f"incidents, changes of the oracle's list, and {len(self.scripted):,} scripted episodes"
        )

    @cached_property
    def best(self) -> Found:
        """What beats the oracle by most, or comes nearest to it."""
        found = [Found(got, one.incident, one.actions, who) for who, one, got in self.scripted]
        for one, result in self.searched:
            incident = one.incident
            found.append(Found(result.best, incident, result.plan, "the search"))
            if not one.exact:
                starts = [self.subject.perfect(incident), result.plan]
                climbed = best_blind_policy(Scorer([incident], self.rubric), starts)
                found.append(Found(climbed.mean, incident, climbed.actions, "changes of a list"))
        return max(found, key=self.gain)

    def gain(self, found: Found) -> float:
        """How much more than the oracle that is."""
        incident = found.incident
        if incident not in self.oracle:
            return found.score - self._score(incident, self.subject.perfect(incident))
        return found.score - self.oracle[incident]

    @cached_property
    def misrouted(self) -> Found | None:
        """The best with a mis-page; None where no mis-page was ever played."""
        found = [
            Found(result.misrouted, one.incident, result.misrouted_plan, "the search")
            for one, result in self.searched
            if result.misrouted is not None
        ]
        ends = [(state, got, who) for who, state, got in self.scripted]
        if not self.how["exact"]:
            states = [state for one, _ in self.searched for state in self._with_wrong_page(one)]
            ends += [(state, score(state, self.rubric), "a mis-page put in") for state in states]
        found += [
            Found(got, state.incident, state.actions, who)
            for state, got, who in ends
            if state.facts.wrong_pages
        ]
        found = [one for one in found if pages_known(one.incident)]
        return max(found, key=lambda one: one.score, default=None)

    def _with_wrong_page(self, one: Situations) -> Iterator[State]:
        """The oracle's list with a mis-page put in at each place."""
        plan = self.subject.perfect(one.incident)
        for action in one.classes.values():
            if isinstance(action, Escalate) and action.team not in one.incident.truth.teams:
                for place in range(len(plan) + 1):
                    yield play(one.incident, (*plan[:place], action, *plan[place:]))[0]


def _varied_first(incidents: list[Incident]) -> list[Incident]:
    """The incidents with one of each severity and number of answers in front."""
    sorts: dict[Hashable, int] = {}
    for place, one in enumerate(incidents):
        truth = one.truth
        sorts.setdefault((truth.severity, truth.benign, len(truth.remedies)), place)
    front = set(sorts.values())
    return [
        *(incidents[place] for place in sorts.values()),
        *(one for place, one in enumerate(incidents) if place not in front),
    ]


def pages_known(incident: Incident) -> bool:
    """Whether it is known whom to page; of recorded incidents it is not."""
    return incident.truth.benign or bool(incident.truth.teams)
