"""The best plan of all for a few hypotheses, by exhausting plans and grading each outcome.

Plans are trees: what a page or a remedy brings about tells the hypotheses apart. Outcomes are
graded by the package's own ``score``, so that the search is one of the rubric and of no planner.
At most one page for each fault and two remedies; a root cause is named right before a remedy
or the end, and the severity, which all hypotheses share, at the end.
"""

from collections.abc import Iterator

import attrs

from logtriage import (
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Incident,
    Remediate,
    Resolve,
    Severity,
)
from logtriage.belief import belief
from logtriage.drawing.incidents import truth_of
from logtriage.grading import Rubric
from logtriage.grading.grade import score
from logtriage.state import initial_state
from logtriage.transition import play_parsed

#: A probability, and the incident if that hypothesis is true.
Chance = tuple[float, Incident]
Plan = tuple[Action, ...]


def likeliest(incident: Incident, count: int) -> list[Chance]:
    """The likeliest hypotheses of the first screen that ask for different responses."""
    assert incident.world is not None
    held = belief(initial_state(incident))
    ranked = sorted(zip(held.probabilities, held.hypotheses, strict=True), key=lambda row: -row[0])
    found: dict[object, Chance] = {}
    for probability, one in ranked[:50]:
        severity = Severity.P2 if one.faults else Severity.P3
        teams = held.teams_of(one)
        truth = truth_of(incident.world, incident.topology, teams, one, severity)
        key = truth.root_causes, truth.teams, truth.remedies
        before = found[key][0] if key in found else 0.0
        found[key] = before + probability, attrs.evolve(incident, truth=truth)
    best = sorted(found.values(), key=lambda row: -row[0])[:count]
    total = sum(probability for probability, _ in best)
    return [(probability / total, one) for probability, one in best]


@attrs.frozen
class Search:
    """The search under a rubric."""

    rubric: Rubric
    most_pages: int = 1

    def by_first_move(self, chances: list[Chance]) -> tuple[float, float]:
        """The best that starts with a remedy; and the best that does not."""
        touching = max(
            (self.value(plan, left) for plan, left in self._remedies((), chances)), default=0.0
        )
        paging = max((self._paged((), chances, team) for team in _teams(chances)), default=0.0)
        return touching, max(paging, self._closed((), chances))

    def value(self, plan: Plan, split: list[list[Chance]]) -> float:
        """The best from here on, after what tells hypotheses apart."""
        return sum(self._best(plan, chances) for chances in split if chances)

    def _best(self, plan: Plan, chances: list[Chance]) -> float:
        best = self._closed(plan, chances)
        pages = [one.team for one in plan if isinstance(one, Escalate)]
        if len(pages) < self.most_pages:
            for team in _teams(chances):
                if team not in pages:
                    best = max(best, self._paged(plan, chances, team))
        if sum(isinstance(one, Remediate) for one in plan) < 2:
            for longer, left in self._remedies(plan, chances):
                best = max(best, self.value(longer, left))
        return best

    def _paged(self, plan: Plan, chances: list[Chance], team: str) -> float:
        """A wrong page ends it with nothing."""
        right = [(weight, one) for weight, one in chances if team in one.truth.teams]
        return self.value((*plan, Escalate(team)), [right])

    def _remedies(
        self, plan: Plan, chances: list[Chance]
    ) -> Iterator[tuple[Plan, list[list[Chance]]]]:
        """Each remedy that may be right, with a root cause named before it or not."""
        pairs = sorted({pair for _, one in chances for pair in one.truth.remedies})
        for remedy, service in pairs:
            action = Remediate(remedy, service)
            if action in plan:
                continue
            hit = [row for row in chances if (remedy, service) in row[1].truth.remedies]
            missed = [row for row in chances if (remedy, service) not in row[1].truth.remedies]
            for said in _names(plan, chances):
                yield (*plan, *said, action), [hit, missed]

    def _closed(self, plan: Plan, chances: list[Chance]) -> float:
        """The best that can be had by closing now."""
        best = 0.0
        severity = ClassifySeverity(chances[0][1].truth.severity or Severity.P2)
        for said in _names(plan, chances):
            for close in (Resolve(), Ignore(), HandOver()):
                actions = (*plan, *said, severity, close)
                worth = sum(
                    weight * score(play_parsed(one, actions)[0], self.rubric)
                    for weight, one in chances
                )
                best = max(best, worth)
        return best


def _teams(chances: list[Chance]) -> list[str]:
    return sorted({team for _, one in chances for team in one.truth.teams})


def _names(plan: Plan, chances: list[Chance]) -> Iterator[Plan]:
    """Nothing, or a root cause that is possible, where none was named."""
    yield ()
    if not any(isinstance(one, IdentifyRootCause) for one in plan):
        for service in sorted({name for _, one in chances for name in one.truth.root_causes}):
            yield (IdentifyRootCause(service),)
