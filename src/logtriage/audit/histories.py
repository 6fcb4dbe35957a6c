"""Nothing is paid that was not earned: random histories, each with one action taken back.

A search for the largest score is blind to credit that is undeserved and stays below the
oracle's. So histories are drawn at random, in bursts of actions of one sort, on incidents of
every split, number and price of silence, and each is compared with itself after a change whose
effect on a sound score is known. What is taken back is replaced by an action that does nothing,
so that everything else happens in the same tick as before.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, partial
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
from logtriage.audit.bounds import pages_known
from logtriage.audit.failing import score
from logtriage.audit.findings import Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import NUMBERS, Subject
from logtriage.audit.vocabulary import IDLE, vocabulary, word
from logtriage.drawing.incidents import PRICES_OF_SILENCE
from logtriage.incident import Incident
from logtriage.rng import hash_name
from logtriage.state import Closing
from logtriage.transition import play

_Plan = tuple[Action, ...]
#: How often a burst is of each sort; what ends most histories with nothing is rare.
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
#: What is said beside the answers; no rubric pays for it.
_BESIDE: Final = (Malformed, Report, ReportImpact, Wait)
#: What else may spoil a dismissal, and so hide that a blame does not.
_SPOILS: Final = (ClassifyFault, Remediate)
#: So many incidents are drawn from each number on to find benign ones and real faults.
_DRAWN: Final = 24
#: Prices that incidents get in turn, beside their own: those of the tasks, and an odd one.
_PRICES: Final = (None, *PRICES_OF_SILENCE, 0.5)


def histories(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:
    """The checks ``undeserved``, ``looks`` and ``blame``."""
    fuzzed = _Fuzzed(subject, sizes, limits.tolerance)
    for name, law in (
        ("undeserved", "a wrong answer, or a word that is none, earns {by:.4f} more than nothing"),
        ("looks", "a look changes the score by {by:.4f}, beside its tick"),
        ("blame", "naming a root cause costs a dismissal nothing of the {by:.4f} that it earns"),
    ):
        yield Check(name, partial(fuzzed.finding, name, law))


@attrs.define
class _Broken:
    """How often a law was tried, and its worst breach with a history that shows it."""

    tried: int = 0
    worst: float = 0.0
    witness: str = ""


class _Fuzzed:
    """All histories of a subject, played once for all laws."""

    def __init__(self, subject: Subject, sizes: Sizes, tolerance: float) -> None:
        self.subject = subject
        self.sizes = sizes
        self.tolerance = tolerance

    def finding(self, name: str, law: str) -> Finding:
        """What came of one law."""
        found, incidents = self._laws[name], self._incidents
        if not found.tried:
            if not any(one.truth.benign for one in incidents) and name == "blame":
                return Finding.skipped(name, "none of these incidents is benign")
            return Finding.untested(name, "no history came by it")
        failed = found.worst > self.tolerance
        return Finding.judged(
            name,
            not failed,
            f"{law.format(by=found.worst)}: {found.witness}"
            if failed
            else f"{found.tried:,} histories of {len(incidents)} incidents are worth what they "
            f"should be after one change ({', '.join(self.subject.splits)}; numbers from "
            f"{', '.join(f'{one:,}' for one in NUMBERS)} on)",
            tried=found.tried,
            incidents=len(incidents),
            worst=found.worst,
            witness=found.witness if failed else None,
        )

    @cached_property
    def _incidents(self) -> list[Incident]:
        """Of each split, from each number on: real faults and benign ones, at many prices."""
        chosen: list[Incident] = []
        for split in self.subject.splits:
            for start in NUMBERS:
                drawn = [self.subject.incident(split, start + one) for one in range(_DRAWN)]
                benign = [one for one in drawn if one.truth.benign][: self.sizes.fuzzed]
                real = [one for one in drawn if not one.truth.benign][: 2 * self.sizes.fuzzed]
                chosen += (*benign, *real)
        return [
            attrs.evolve(one, price_of_silence=price)
            if (price := _PRICES[place % len(_PRICES)]) and one.price_of_silence is not None
            else one
            for place, one in enumerate(chosen)
        ]

    @cached_property
    def _laws(self) -> dict[str, _Broken]:
        laws = defaultdict[str, _Broken](_Broken)
        for incident in self._incidents:
            for plan in drawn_histories(self.subject, incident, self.sizes.histories):
                for name, breach, changed in self._breaches(incident, plan):
                    law = laws[name]
                    law.tried += 1
                    if breach > max(law.worst, self.tolerance):
                        law.worst = breach
                        law.witness = f"{incident.id}: {_told(plan)}; against {_told(changed)}"
        return laws

    def _breaches(self, incident: Incident, plan: _Plan) -> Iterator[tuple[str, float, _Plan]]:
        """Each law that applies to a history: by how much it is broken, and by which change."""
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
            elif self.subject.has_own_oracle:  # it looks, so a look may pay
                yield "looks", -gain, changed
            else:
                yield "looks", abs(gain), changed
        if incident.truth.benign and state.closing is Closing.IGNORED:
            yield from self._blamed(incident, plan)

    def _blamed(self, incident: Incident, plan: _Plan) -> Iterator[tuple[str, float, _Plan]]:
        """A dismissal after naming a root cause is worth less than one after naming none."""
        named = tuple(IDLE if isinstance(one, _SPOILS) else one for one in plan)
        silent = tuple(IDLE if isinstance(one, IdentifyRootCause) else one for one in named)
        if named != silent:
            worth, more = (
                score(play(incident, one)[0], self.subject.rubric) for one in (named, silent)
            )
            kept = more - self.subject.rubric.bounds[0]
            yield "blame", kept if worth > more - self.tolerance else 0.0, named


def drawn_histories(subject: Subject, incident: Incident, count: int) -> Iterator[_Plan]:
    """What is left of the oracle's list with bursts of one sort put in; the same each time.

    A burst repeats one action, or takes different ones; what the oracle does of its sort goes
    every other time, since a first right answer would hide what a wrong one earns.
    """
    perfect = subject.perfect(incident)
    words: dict[type[Action], list[Action]] = defaultdict(list)
    for one in vocabulary(incident.topology):
        words[type(one)].append(one)
    shares = np.array([_SORTS[one] for one in _SORTS])
    sorts, shares = list(_SORTS), shares / shares.sum()
    draws = np.random.default_rng(
        hash_name(f"audit histories {incident.id} {incident.price_of_silence}")
    )
    for _ in range(count):
        plan = [one for one in perfect if draws.random() < 0.85]
        for _ in range(int(draws.integers(1, 4))):
            sort = sorts[int(draws.choice(len(sorts), p=shares))]
            choices = words[sort]
            most = incident.horizon if draws.random() < 0.5 else 3
            length = int(draws.integers(1, max(2, most)))
            if draws.random() < 0.5:
                plan = [one for one in plan if not isinstance(one, sort)]
            order = draws.permutation(len(choices))[:length].tolist()
            if draws.random() < 0.3:
                order = order[:1] * length
            place = int(draws.integers(len(plan) + 1))
            plan[place:place] = [choices[one] for one in order]
        yield tuple(plan[: incident.horizon])


def _is_undeserved(plan: _Plan, place: int, incident: Incident) -> bool:
    """Whether no sound rubric pays for an action: a wrong answer, a second severity, talk.

    A first severity that is wrong may be nearly right, and so be worth something.
    """
    action, truth = plan[place], incident.truth
    match action:
        case ClassifySeverity():
            return any(isinstance(one, ClassifySeverity) for one in plan[:place])
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


def _told(plan: _Plan) -> str:
    return ", ".join(map(word, plan))
