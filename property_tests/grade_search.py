"""The best plan of all for a few hypotheses, by exhausting plans and grading each outcome.

Plans are trees: what a page or a remedy brings about tells the hypotheses apart. Outcomes are
graded by the package's own ``score``, so that the search is one of the rubric and of no planner.
What is left out costs nothing: the service of a remedy is named right before it or at the end,
all others at the end, and so is the severity, which all hypotheses share.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations

import attrs

import logtriage as lt
from logtriage.drawing.incidents import truth_of
from logtriage.grading.grade import score

#: A probability, and the incident if that hypothesis is true.
Chance = tuple[float, lt.Incident]
#: What is possible at one point of a plan, each with its probability.
Rows = list[tuple[float, lt.State]]


def likeliest(incident: lt.Incident, count: int) -> list[Chance]:
    """The likeliest hypotheses of the first screen that ask for different responses."""
    assert incident.world is not None
    held = lt.belief(lt.initial_state(incident))
    ranked = sorted(zip(held.probabilities, held.hypotheses, strict=True), key=lambda row: -row[0])
    found: dict[object, Chance] = {}
    for probability, one in ranked[:50]:
        severity = lt.Severity.P2 if one.faults else lt.Severity.P3
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
    """The search under a rubric, of plans with so many pages and remedies at most."""

    rubric: lt.Rubric
    most_pages: int = 2
    most_remedies: int = 2

    def by_first_move(self, chances: Sequence[Chance]) -> tuple[float, float]:
        """The best that starts with a remedy; and the best that does not."""
        rows = [(weight, lt.initial_state(one)) for weight, one in chances]
        return self._remedied(rows), max(self._paged(rows), self._closed(rows))

    def _best(self, rows: Rows) -> float:
        if not rows:
            return 0.0
        return max(self._closed(rows), self._paged(rows), self._remedied(rows))

    def _paged(self, rows: Rows) -> float:
        """The best with a page next. A mis-page ends it with nothing."""
        done = [one for one in rows[0][1].actions if isinstance(one, lt.Escalate)]
        if len(done) >= self.most_pages:
            return 0.0
        teams = {team for _, state in rows for team in state.incident.truth.teams}
        pages = [page for page in map(lt.Escalate, sorted(teams)) if page not in done]
        return max((self._best(_open(_taken(rows, page))) for page in pages), default=0.0)

    def _remedied(self, rows: Rows) -> float:
        """The best with a remedy next: it fixes something that was not, or it shows nothing."""
        done = [one for one in rows[0][1].actions if isinstance(one, lt.Remediate)]
        if len(done) >= self.most_remedies:
            return 0.0
        best = 0.0
        for pair in sorted({pair for _, state in rows for pair in state.incident.truth.remedies}):
            remedy = lt.Remediate(*pair)
            if remedy in done:
                continue
            for named in (rows, _taken(rows, lt.IdentifyRootCause(remedy.service))):
                after = _taken(named, remedy)
                fixed = [_fixed(state) for _, state in named]
                split = list(zip(fixed, after, strict=True))
                hit = [row for before, row in split if _fixed(row[1]) > before]
                missed = [row for before, row in split if _fixed(row[1]) == before]
                if hit:
                    best = max(best, self._best(hit) + self._best(missed))
        return best

    def _closed(self, rows: Rows) -> float:
        """The best that can be had by closing now."""
        first = rows[0][1]
        rows = _taken(rows, lt.ClassifySeverity(first.incident.truth.severity or lt.Severity.P2))
        touched = any(isinstance(one, lt.Escalate | lt.Remediate) for one in first.actions)
        paged = any(isinstance(one, lt.Escalate) for one in first.actions)
        best = self._mean(rows, lt.Resolve())
        for names in _names(rows):
            said = rows
            for name in names:
                said = _taken(said, lt.IdentifyRootCause(name))
            best = max(best, self._mean(said, lt.Resolve()))
        best = best if paged else max(best, self._mean(rows, lt.Ignore()))
        return best if touched else max(best, self._mean(rows, lt.HandOver()))

    def _mean(self, rows: Rows, close: lt.Action) -> float:
        return sum(weight * score(state, self.rubric) for weight, state in _taken(rows, close))


def _taken(rows: Rows, action: lt.Action) -> Rows:
    return [(weight, lt.transition(state, action)) for weight, state in rows]


def _open(rows: Rows) -> Rows:
    return [row for row in rows if not row[1].is_closed]


def _fixed(state: lt.State) -> int:
    return sum(one.fixed_at is not None for one in state.facts.responses)


def _names(rows: Rows) -> Iterator[tuple[str, ...]]:
    """Services to name at the end, in any order, of those that are possible."""
    said = {service for _, service in rows[0][1].facts.root_causes}
    possible = {name for _, state in rows for name in state.incident.truth.root_causes}
    most = max(len(state.incident.truth.parts) for _, state in rows)
    for count in range(1, most - len(said) + 1):
        yield from permutations(sorted(possible - said), count)
