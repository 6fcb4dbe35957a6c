"""Random histories, each with one action taken back: no credit is undeserved.

A search for the highest score misses undeserved credit that stays below the oracle's. So histories
are drawn at random, with bursts of actions of one sort, on incidents of every split, range of
numbers and price of a hand-over. Each is changed in a way with a known effect on a sound score,
and the two scores are compared. An action that does nothing replaces the action taken back, so that
everything else happens in the same tick as before.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from logtriage.actions import (
    Action,
    ClassifyFault,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Malformed,
    Remediate,
    Report,
    ReportImpact,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    Wait,
)
from logtriage.audit.ceiling import pages_known
from logtriage.audit.failing import score
from logtriage.audit.findings import Outcome, judged, skipped, untested
from logtriage.audit.subject import NUMBERS, Subject, Work
from logtriage.audit.vocabulary import IDLE, vocabulary, words
from logtriage.drawing.incidents import PRICES_OF_HAND_OVER
from logtriage.incident import Incident
from logtriage.rng import hash_name
from logtriage.state import Closing
from logtriage.transition import play

_Plan = tuple[Action, ...]
#: How often a burst is of each sort; actions that often end a history with nothing are rare.
_SORTS: Final[dict[type[Action], float]] = {
    IdentifyRootCause: 5,
    RequestMoreLogs: 4,
    ClassifySeverity: 3,
    RequestMetrics: 2,
    RequestTraces: 2,
    Remediate: 2,
    ReportImpact: 2,
    ClassifyFault: 1,
    Malformed: 1,
    Report: 1,
    Wait: 1,
    Escalate: 0.5,
    Ignore: 0.5,
    Resolve: 0.5,
}
_LOOKS: Final = (RequestMoreLogs, RequestMetrics, RequestTraces)
#: Actions that answer nothing; no sound rubric pays for them.
_BESIDE: Final = (Malformed, Report, ReportImpact, Wait)
#: Other actions that may spoil a dismissal, and so hide that blame does not.
_SPOILS: Final = (ClassifyFault, Remediate)
#: So many incidents are drawn from each number on, to get benign incidents and real faults.
_DRAWN: Final = 24
#: Prices that incidents get in turn: their own, those of the tasks, and another price.
_PRICES: Final = (None, *PRICES_OF_HAND_OVER, 0.45)


@attrs.define
class _Law:
    """How often a law was tried, its worst breach, and a history that shows it."""

    tried: int = 0
    worst: float = 0.0
    witness: str = ""


def undeserved(work: Work) -> Outcome:
    """No wrong answer, second severity or talk earns more than an action that does nothing."""
    broken = "a wrong answer, or a word that is none, earns {by:.4f} more than nothing"
    return work.shared(_Fuzzed).outcome("undeserved", broken)


def looks(work: Work) -> Outcome:
    """A look changes no score, beside its tick."""
    return work.shared(_Fuzzed).outcome(
        "looks", "a look changes the score by {by:.4f}, beside its tick"
    )


def blame(work: Work) -> Outcome:
    """A dismissal earns less if a root cause was named before."""
    fuzzed = work.shared(_Fuzzed)
    if not any(incident.truth.benign for incident in fuzzed.incidents):
        return skipped("none of these incidents is benign")
    return fuzzed.outcome(
        "blame", "naming a root cause costs a dismissal nothing of the {by:.4f} that it earns"
    )


class _Fuzzed:
    """All histories of a subject, played once for all laws."""

    def __init__(self, work: Work) -> None:
        self.subject = work.subject
        self.sizes = work.sizes
        self.tolerance = work.limits.tolerance

    def outcome(self, name: str, broken: str) -> Outcome:
        """The verdict on a law; ``broken`` says what breaks it."""
        law = self._laws[name]
        if not law.tried:
            return untested("no history has such an action")
        failed = law.worst > self.tolerance
        return judged(
            not failed,
            f"{broken.format(by=law.worst)}: {law.witness}"
            if failed
            else f"{law.tried:,} histories of {len(self.incidents)} incidents are worth what they "
            f"should be after one change ({', '.join(self.subject.splits)}; numbers from "
            f"{', '.join(f'{number:,}' for number in NUMBERS)} on)",
            tried=law.tried,
            incidents=len(self.incidents),
            worst=law.worst,
            witness=law.witness if failed else None,
        )

    @cached_property
    def incidents(self) -> list[Incident]:
        """Real faults and benign incidents of each split and range of numbers, at many prices."""
        chosen: list[Incident] = []
        for split in self.subject.splits:
            for start in NUMBERS:
                drawn = [self.subject.incident(split, start + number) for number in range(_DRAWN)]
                benign = [incident for incident in drawn if incident.truth.benign]
                real = [incident for incident in drawn if not incident.truth.benign]
                chosen += (*benign[: self.sizes.fuzzed], *real[: 2 * self.sizes.fuzzed])
        return [
            attrs.evolve(incident, price_of_hand_over=price)
            if (price := _PRICES[place % len(_PRICES)]) and incident.takes_hand_over
            else incident
            for place, incident in enumerate(chosen)
        ]

    @cached_property
    def _laws(self) -> dict[str, _Law]:
        laws = defaultdict[str, _Law](_Law)
        for incident in self.incidents:
            for plan in drawn_histories(self.subject, incident, self.sizes.histories):
                for name, breach, changed in self._breaches(incident, plan):
                    law = laws[name]
                    law.tried += 1
                    if breach > max(law.worst, self.tolerance):
                        law.worst = breach
                        law.witness = f"{incident.id}: {words(plan)}; against {words(changed)}"
        return laws

    def _breaches(self, incident: Incident, plan: _Plan) -> Iterator[tuple[str, float, _Plan]]:
        """(law, breach, changed history) for each law that applies to a history."""
        state, _ = play(incident, plan)
        plan, worth = state.actions, score(state, self.subject.rubric)
        for place, action in enumerate(plan):
            looks = isinstance(action, _LOOKS)
            if action == IDLE or not (looks or _is_undeserved(plan, place, incident)):
                continue
            changed = (*plan[:place], IDLE, *plan[place + 1 :])
            gain = worth - score(play(incident, changed)[0], self.subject.rubric)
            if not looks:
                yield "undeserved", gain, changed
            elif self.subject.has_own_oracle:  # your own oracle may look, so a look may pay
                yield "looks", -gain, changed
            else:
                yield "looks", abs(gain), changed
        if incident.truth.benign and state.closing is Closing.IGNORED:
            yield from self._blamed(incident, plan)

    def _blamed(self, incident: Incident, plan: _Plan) -> Iterator[tuple[str, float, _Plan]]:
        """A dismissal is worth less after naming a root cause."""
        named = tuple(IDLE if isinstance(action, _SPOILS) else action for action in plan)
        silent = tuple(
            IDLE if isinstance(action, IdentifyRootCause) else action for action in named
        )
        if named != silent:
            worth, more = (
                score(play(incident, actions)[0], self.subject.rubric)
                for actions in (named, silent)
            )
            kept = more - self.subject.rubric.bounds[0]
            yield "blame", kept if worth > more - self.tolerance else 0.0, named


def drawn_histories(subject: Subject, incident: Incident, count: int) -> Iterator[_Plan]:
    """Lists made from the oracle's by leaving out actions and adding bursts; always the same.

    A burst repeats an action or takes different actions of a sort. Half of the time the oracle's
    own actions of that sort are left out, since a first right answer would hide what a wrong
    answer earns.
    """
    perfect = subject.perfect(incident)
    by_sort: dict[type[Action], list[Action]] = defaultdict(list)
    for action in vocabulary(incident.topology):
        by_sort[type(action)].append(action)
    shares = np.array([_SORTS[sort] for sort in _SORTS])
    sorts, shares = list(_SORTS), shares / shares.sum()
    draws = np.random.default_rng(
        hash_name(f"audit histories {incident.id} {incident.price_of_hand_over}")
    )
    for _ in range(count):
        plan = [action for action in perfect if draws.random() < 0.85]
        for _ in range(int(draws.integers(1, 4))):
            sort = sorts[int(draws.choice(len(sorts), p=shares))]
            choices = by_sort[sort]
            most = incident.horizon if draws.random() < 0.5 else 3
            length = int(draws.integers(1, max(2, most)))
            if draws.random() < 0.5:
                plan = [action for action in plan if not isinstance(action, sort)]
            order = draws.permutation(len(choices))[:length].tolist()
            if draws.random() < 0.3:
                order = order[:1] * length
            place = int(draws.integers(len(plan) + 1))
            plan[place:place] = [choices[number] for number in order]
        yield tuple(plan[: incident.horizon])


def _is_undeserved(plan: _Plan, place: int, incident: Incident) -> bool:
    """Whether no sound rubric pays for an action: a wrong answer, a second severity, talk.

    A first severity that is wrong may be nearly right, and so be worth something.
    """
    action, truth = plan[place], incident.truth
    match action:
        case ClassifySeverity():
            return any(isinstance(earlier, ClassifySeverity) for earlier in plan[:place])
        case IdentifyRootCause():
            return action.service not in truth.root_causes
        case ClassifyFault():
            return action.fault_category is not truth.fault_category
        case Escalate():
            return pages_known(incident) and action.team not in truth.teams
        case Remediate():
            known = truth.benign or bool(truth.remedies)
            return known and (action.remedy, action.service) not in truth.remedies
        case _:
            return isinstance(action, _BESIDE)
