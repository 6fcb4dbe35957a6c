"""The ceiling: the oracle reaches it, no list of actions beats it, and no mis-page pays."""

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

from logtriage.actions import Action, Escalate
from logtriage.audit.action_lists import Scorer, best_blind_policy, kind_of
from logtriage.audit.failing import score
from logtriage.audit.findings import Outcome, Verdict, judged
from logtriage.audit.situations import Scored, Searched, Situations
from logtriage.audit.subject import Work
from logtriage.audit.vocabulary import words
from logtriage.dynamics import play
from logtriage.incident import Incident


class Bounds:
    """What the oracle earns, and the best lists that a search finds; each measured once."""

    def __init__(self, work: Work) -> None:
        self.subject = work.subject
        self.sizes = work.sizes
        self.rubric = work.subject.rubric
        self.least, self.top = self.rubric.bounds
        self.incidents = self.subject.incidents("test", self.sizes.oracle)

    @cached_property
    def oracle(self) -> dict[Incident, float]:
        """The oracle's score on each incident."""
        return {
            incident: score(play(incident, self.subject.perfect(incident))[0], self.rubric)
            for incident in self.incidents
        }

    @cached_property
    def _kinds(self) -> tuple[list[Situations], int]:
        """The situations to search, one of each kind, and the number of incidents they cover."""
        chosen: dict[Hashable, Situations] = {}
        known: set[Hashable] = set()  # kinds of incident that the chosen situations cover
        covered = inexact = 0
        for incident in _varied_first(self.incidents):
            key: Hashable = kind_of(incident)
            if key not in known:
                situations = Situations(incident, self.rubric)
                inexact += bool(situations.unknown)
                if inexact > self.sizes.kinds and situations.unknown:
                    continue  # changes of enough lists are tried
                kind = key if situations.unknown else situations.kind
                if kind not in chosen and len(chosen) >= self.sizes.searches:
                    continue  # enough kinds are searched
                known.add(key)
                chosen.setdefault(kind, situations)
            covered += 1
        return list(chosen.values()), covered

    @cached_property
    def searched(self) -> list[Searched]:
        """The result of an exact search for each kind of incident whose rules are all known."""
        return [kind.search() for kind in self._kinds[0] if not kind.unknown]

    @property
    def _unsearched(self) -> list[Incident]:
        return [kind.incident for kind in self._kinds[0] if kind.unknown]

    @cached_property
    def how(self) -> dict[str, Any]:
        """Whether the search is exact and what it covers, as JSON data."""
        situations, covered = self._kinds
        unknown = sorted({name for kind in situations for name in kind.unknown})
        return {
            "exact": not unknown,
            "unknown": unknown,
            "kinds": len(situations),
            "covered": covered,
            "incidents": len(self.incidents),
            "situations": sum(result.situations for result in self.searched),
        }

    @property
    def in_words(self) -> str:
        """:attr:`how` in words."""
        how = self.how
        if how["exact"]:
            return (
                f"exact, {how['situations']:,} situations in {how['kinds']} kinds that cover "
                f"{how['covered']:,} of {how['incidents']:,} incidents"
            )
        return (
            "a lower bound, since nobody says what is read by "
            f"{', '.join(how['unknown'])}: changes of the oracle's list on {how['kinds']} incidents"
        )

    @cached_property
    def best(self) -> Scored:
        """The history that beats the oracle by most, or comes nearest to it."""
        rivals = [result.best for result in self.searched]
        for incident in self._unsearched:
            scorer, plan = Scorer([incident], self.rubric), self.subject.perfect(incident)
            start = scorer.best([plan, *_with_a_move(plan)])
            climbed = best_blind_policy(scorer, [start.actions])
            rivals.append(Scored(climbed.mean, play(incident, climbed.actions)[0]))
        return max(rivals, key=self.gain)

    def gain(self, scored: Scored) -> float:
        """How much more than the oracle a history earns."""
        return scored.score - self.oracle[scored.state.incident]

    @property
    def beaten(self) -> str:
        """A sentence on how the best history beats the oracle."""
        best, incident = self.best, self.best.state.incident
        by = "changes of the oracle's list" if incident in self._unsearched else "the search"
        return (
            f"a list beats the oracle by {self.gain(best):.4f} on {incident.id}, found by {by}: "
            f"{words(best.state.actions)}"
        )

    @cached_property
    def misrouted(self) -> Scored | None:
        """The best history with a mis-page; None if no mis-page was ever played."""
        misrouted = [row.misrouted for row in self.searched if row.misrouted is not None]
        for incident in self._unsearched:
            plan = self.subject.perfect(incident)
            for team in incident.topology.teams:
                for place in range(len(plan) + 1):
                    state, _ = play(incident, (*plan[:place], Escalate(team), *plan[place:]))
                    if state.facts.wrong_pages:
                        misrouted.append(Scored(score(state, self.rubric), state))
        known = [row for row in misrouted if pages_known(row.state.incident)]
        return max(known, key=lambda row: row.score, default=None)


def _varied_first(incidents: Sequence[Incident]) -> list[Incident]:
    """One incident of each severity, benign or not, and number of remedies; then the others."""
    first: dict[Hashable, int] = {}
    for place, incident in enumerate(incidents):
        truth = incident.truth
        first.setdefault((truth.severity, truth.benign, len(truth.remedies)), place)
    places = dict.fromkeys((*first.values(), *range(len(incidents))))
    return [incidents[place] for place in places]


def _with_a_move(plan: tuple[Action, ...]) -> Iterator[tuple[Action, ...]]:
    """The plan with one of its actions at another place."""
    for place, action in enumerate(plan):
        others = (*plan[:place], *plan[place + 1 :])
        for to in range(len(plan)):
            yield (*others[:to], action, *others[to:])


def pages_known(incident: Incident) -> bool:
    """Whether the right page is known; for recorded incidents it is not."""
    return incident.truth.benign or bool(incident.truth.teams)


def oracle_reaches(work: Work) -> Outcome:
    """The built-in oracle must reach the upper bound; a user's own oracle must be unbeaten."""
    bounds = work.shared(Bounds)
    earned, own = bounds.oracle, work.subject.has_own_oracle
    short = [incident.id for incident, got in earned.items() if got != bounds.top]
    lowest, count = min(earned.values()), len(earned)
    lead = f"the oracle earns {bounds.top:g} on {count - len(short):,} of {count:,} incidents"
    if short:
        lead += f"; not on {short[0]}"
    passed = not short
    if short and own:
        beaten = bounds.gain(bounds.best) > work.limits.tolerance
        passed = not beaten and lowest >= work.limits.oracle
        lead += (
            f"; never less than {lowest:.4f}, at least {work.limits.oracle:g} wanted of your own; "
            + (bounds.beaten if beaten else "nothing that was tried earns more")
        )
    return judged(passed, lead, incidents=count, short=len(short), lowest=lowest)


def exact_maximum(work: Work) -> Outcome:
    """No list of actions beats the oracle."""
    bounds = work.shared(Bounds)
    # The oracle plays first: if it fails, no result of the search could be judged.
    unbeatable = all(got == bounds.top for got in bounds.oracle.values())
    gain = bounds.gain(bounds.best)
    beaten = gain > work.limits.tolerance
    settled = True if bounds.how["exact"] or unbeatable else None  # None: not exact
    lead = "no list of actions beats the oracle" if settled else "nothing found beats the oracle"
    why = "; the oracle earns the most that the rubric gives" if unbeatable else ""
    return judged(
        False if beaten else settled,
        f"{bounds.beaten if beaten else lead + why} ({bounds.in_words})",
        **bounds.how,
        gap=gain,
        witness=words(bounds.best.state.actions) if beaten else None,
    )


def mis_page(work: Work) -> Outcome:
    """No list with a mis-page earns more than the lower bound."""
    bounds = work.shared(Bounds)
    best = bounds.misrouted
    if best is None:
        if any(map(pages_known, bounds.incidents)):
            return Outcome(Verdict.UNTESTED, "no mis-page was ever played")
        return Outcome(Verdict.SKIPPED, "of none of these incidents a mis-page is known")
    paid = best.score > bounds.least
    exact = True if bounds.how["exact"] else None
    plan = words(best.state.actions)
    lead = (
        f"{best.score:.4f} with a mis-page on {best.state.incident.id}: {plan}"
        if paid
        else f"no list of actions {'' if exact else 'found '}with a mis-page earns anything"
    )
    return judged(
        False if paid else exact,
        f"{lead} ({bounds.in_words})",
        **bounds.how,
        most=best.score,
        witness=plan if paid else None,
    )
