"""Checks on random histories: one change is made, whose effect on a sound score is known.

A search for the highest score misses undeserved credit below the oracle's. So histories are drawn
at random, with bursts of actions of one sort, on incidents of every split and range of numbers.
The score must not fall if a wrong answer or talk is taken back (an action that does nothing
replaces it), if an answer gets better, or if a tick is saved.

Two effects of order are sound. A fix may void a root cause that is declared after it. And if the
rubric wants the page before production is touched, a fix before it may cost a share of the total.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import cycle, islice
from typing import Final

import attrs
import numpy as np

from logtriage.actions import (
    SEVERITIES,
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
from logtriage.audit.findings import Outcome, Verdict, judged
from logtriage.audit.subject import NUMBERS, Subject, Work
from logtriage.audit.vocabulary import CONFIDENCES, IDLE, vocabulary, words
from logtriage.drawing.incidents import WORTHS_OF_HAND_OVER
from logtriage.dynamics import play, play_parsed
from logtriage.grading import paging
from logtriage.incident import Incident
from logtriage.rng import hash_name
from logtriage.state import Closing, State

_Plan = tuple[Action, ...]
#: (law, worse, better, slack): a sound score of ``better`` is at least that of ``worse`` - slack.
_Change = tuple[str, _Plan, _Plan, float]
#: How often a burst is of each sort; actions that would often end a history at 0 are rare.
_SORTS: Final[dict[type[Action], float]] = {
    IdentifyRootCause: 5, RequestMoreLogs: 4, ClassifySeverity: 3, RequestMetrics: 2,
    RequestTraces: 2, Remediate: 2, ReportImpact: 2, ClassifyFault: 1, Malformed: 1, Report: 1,
    Wait: 1, Escalate: 0.5, Ignore: 0.5, Resolve: 0.5,
}  # fmt: skip
_LOOKS: Final = (RequestMoreLogs, RequestMetrics, RequestTraces)
#: Actions that answer nothing; no sound rubric pays for them.
_BESIDE: Final = (Malformed, Report, ReportImpact, Wait)
#: This many incidents are drawn from each of NUMBERS on, to get benign incidents and real faults.
_DRAWN: Final = 24
#: Worths of a hand-over that incidents get in turn: their own, those of the tasks, and another.
_WORTHS: Final = (None, *WORTHS_OF_HAND_OVER, 0.45)
#: A wrong first root cause is tried with this many confidences, different each time.
_STATED: Final = 4
#: Confidences that a stated confidence is compared with.
_COMPARED: Final = (0.0, 0.5, 1.0)


@attrs.define
class _Law:
    """How often a law was tried, its worst breach, and a history that shows it."""

    tried: int = 0
    worst: float = 0.0
    witness: str = ""


def _law(name: str, broken: str) -> Callable[[Work], Outcome]:
    """The check of a law; ``broken`` is the sentence on a breach."""
    return lambda work: work.shared(_Fuzzed).outcome(name, broken)


undeserved = _law(
    "undeserved", "a wrong answer, a second answer or talk earns {by:.4f} more than nothing"
)
looks = _law("looks", "a look changes the score by {by:.4f}, beside its tick")
monotonicity = _law("monotonicity", "a better answer or a saved tick costs {by:.4f}")


class _Fuzzed:
    """All histories of a subject, played once for all laws."""

    def __init__(self, work: Work) -> None:
        self.subject = work.subject
        self.sizes = work.sizes
        self.tolerance = work.limits.tolerance
        self._confidences = cycle(CONFIDENCES)
        discounts = work.subject.rubric.discounts
        ordered = any(row.factor is paging.unapproved_fix for row in discounts)
        #: The share of the total that a right remedy may cost before the right page.
        self._hasty = 1.0 - paging.UNAPPROVED_FIX if ordered else 0.0

    def outcome(self, name: str, broken: str) -> Outcome:
        """The outcome for a law; ``broken`` is the sentence on a breach."""
        law = self._laws[name]
        if not law.tried:
            return Outcome(Verdict.UNTESTED, "no history has such an action")
        failed = law.worst > self.tolerance
        numbers = ", ".join(f"{number:,}" for number in NUMBERS)
        return judged(
            not failed,
            f"{broken.format(by=law.worst)}: {law.witness}"
            if failed
            else f"{law.tried:,} histories of {len(self.incidents)} incidents are worth what they "
            f"should be after one change ({', '.join(self.subject.splits)}; numbers from "
            f"{numbers} on)",
            tried=law.tried,
            incidents=len(self.incidents),
            worst=law.worst,
            witness=law.witness if failed else None,
        )

    @cached_property
    def incidents(self) -> list[Incident]:
        """Real and benign incidents of each split and range of numbers, at many worths."""
        chosen: list[Incident] = []
        for split in self.subject.splits:
            for start in NUMBERS:
                drawn = [self.subject.incident(split, start + number) for number in range(_DRAWN)]
                benign = [incident for incident in drawn if incident.truth.benign]
                real = [incident for incident in drawn if not incident.truth.benign]
                chosen += (*benign[: self.sizes.fuzzed], *real[: 2 * self.sizes.fuzzed])
        return [
            attrs.evolve(incident, worth_of_hand_over=worth)
            if worth is not None and incident.takes_hand_over
            else incident
            for incident, worth in zip(chosen, cycle(_WORTHS), strict=False)
        ]

    @cached_property
    def _laws(self) -> dict[str, _Law]:
        laws = defaultdict[str, _Law](_Law)
        for incident in self.incidents:
            for drawn in drawn_histories(self.subject, incident, self.sizes.histories):
                state, _ = play(incident, drawn)
                history = _History(self.subject, state)
                for name, worse, better, slack in self._changes(history):
                    law = laws[name]
                    law.tried += 1
                    breach = history.worth(worse) - history.worth(better) - slack
                    if breach > max(law.worst, self.tolerance):
                        law.worst = breach
                        law.witness = f"{incident.id}: {words(worse)}; against {words(better)}"
        return laws

    def _changes(self, history: "_History") -> Iterator[_Change]:
        plan, incident = history.plan, history.incident
        for place, action in enumerate(plan):
            silent = _put(plan, place, IDLE)
            if isinstance(action, _LOOKS):
                yield "looks", silent, plan, 0.0
                if not self.subject.has_own_oracle:  # where your own oracle looks, a look may pay
                    yield "looks", plan, silent, 0.0
            elif action != IDLE and _is_undeserved(plan, place, incident):
                yield "undeserved", plan, silent, 0.0
                if isinstance(action, IdentifyRootCause) and not _is_second(plan, place):
                    for confidence in islice(self._confidences, _STATED):
                        stated = attrs.evolve(action, confidence=confidence)
                        yield "undeserved", _put(plan, place, stated), silent, 0.0
            for worse, better in _improvements(history, place, silent):
                yield "monotonicity", worse, better, 0.0
            if isinstance(action, Remediate) and _is_right(action, incident):
                yield "monotonicity", silent, plan, self._cost_of_order(history, place, silent)

    def _cost_of_order(self, history: "_History", place: int, silent: _Plan) -> float:
        """What a right remedy may cost: a cause declared after it, and a page not made before."""
        truth, earned = history.incident.truth, history.worth(silent)
        undeclared = tuple(
            IDLE if at > place and isinstance(action, IdentifyRootCause) else action
            for at, action in enumerate(silent)
        )
        voided = max(0.0, earned - history.worth(undeclared))
        paged = not truth.several and any(
            isinstance(action, Escalate) and action.team in truth.teams for action in silent[:place]
        )
        return voided + (0.0 if paged else self._hasty * earned)


class _History:
    """A played history, with the scores of its variations."""

    def __init__(self, subject: Subject, state: State) -> None:
        self.incident = state.incident
        self.plan: _Plan = state.actions
        self.closing = state.closing
        self._rubric = subject.rubric
        self._scores = {self.plan: score(state, self._rubric)}

    def worth(self, plan: _Plan) -> float:
        """The score of a list of actions on this incident."""
        if plan not in self._scores:
            self._scores[plan] = score(play_parsed(self.incident, plan)[0], self._rubric)
        return self._scores[plan]


def drawn_histories(subject: Subject, incident: Incident, count: int) -> Iterator[_Plan]:
    """Lists made from the oracle's by leaving out actions and adding bursts; always the same.

    A burst repeats one action or takes different actions of a sort. Half of the time the oracle's
    own actions of that sort are left out, since a right answer would hide what a wrong one earns.
    """
    perfect = subject.perfect(incident)
    by_sort: dict[type[Action], list[Action]] = defaultdict(list)
    for action in vocabulary(incident.topology):
        by_sort[type(action)].append(action)
    sorts, often = list(_SORTS), np.array([*_SORTS.values()])
    shares = often / often.sum()
    draws = np.random.default_rng(
        hash_name(f"audit histories {incident.id} {incident.worth_of_hand_over}")
    )
    for _ in range(count):
        plan = [action for action in perfect if draws.random() < 0.85]
        for _ in range(int(draws.integers(1, 4))):
            sort = sorts[int(draws.choice(len(sorts), p=shares))]
            choices, own = by_sort[sort], [action for action in perfect if isinstance(action, sort)]
            most = incident.horizon if draws.random() < 0.5 else 3
            length = int(draws.integers(1, max(2, most)))
            if draws.random() < 0.5:
                plan = [action for action in plan if not isinstance(action, sort)]
            burst = [choices[number] for number in draws.permutation(len(choices))[:length]]
            repeats = draws.random()
            if repeats < 0.4:
                repeated = own if own and repeats < 0.2 else burst
                burst = repeated[:1] * length
            place = int(draws.integers(len(plan) + 1))
            plan[place:place] = burst
        yield tuple(plan[: incident.horizon])


def _improvements(history: _History, place: int, silent: _Plan) -> Iterator[tuple[_Plan, _Plan]]:
    """(worse, better) by a change of one action; ``silent`` is the plan without it."""
    plan, truth = history.plan, history.incident.truth
    match plan[place]:
        case ClassifySeverity(severity) if truth.severity is not None:
            right = SEVERITIES.index(truth.severity)
            off = abs(SEVERITIES.index(severity) - right)
            for rank, nearer in enumerate(SEVERITIES):
                if abs(rank - right) < off:
                    yield plan, _put(plan, place, ClassifySeverity(nearer))
            if not off:
                yield silent, plan
        case IdentifyRootCause(service, stated) as named:
            is_root = service in truth.root_causes
            blamed = [action.service for action in plan if isinstance(action, IdentifyRootCause)]
            if is_root and (not truth.several or blamed.count(service) == 1):
                yield silent, plan
            for confidence in _COMPARED:
                # More confidence is better in a right answer, less in a wrong one.
                if stated not in (None, confidence) and (confidence > stated) is is_root:
                    yield plan, _put(plan, place, attrs.evolve(named, confidence=confidence))
        case Escalate(team) if team in truth.teams:
            yield silent, plan
        case Resolve() if not truth.benign:
            yield silent, plan
        case Ignore() if truth.benign:
            yield silent, plan
        case Ignore():
            yield plan, silent
            yield plan, _put(plan, place, Resolve())
        case Malformed() | Report() | Wait() if history.closing is not Closing.OUT_OF_TIME:
            yield plan, (*plan[:place], *plan[place + 1 :])


def _is_right(fix: Remediate, incident: Incident) -> bool:
    return (fix.remedy, fix.service) in incident.truth.remedies


def _put(plan: _Plan, place: int, action: Action) -> _Plan:
    return (*plan[:place], action, *plan[place + 1 :])


def _is_second(plan: _Plan, place: int) -> bool:
    return any(type(earlier) is type(plan[place]) for earlier in plan[:place])


def _is_undeserved(plan: _Plan, place: int, incident: Incident) -> bool:
    """Whether a sound rubric pays nothing for an action: a wrong or second answer, or talk."""
    action, truth = plan[place], incident.truth
    again = _is_second(plan, place)
    second = again and not truth.several
    match action:
        case ClassifySeverity():
            return again
        case IdentifyRootCause():
            return second or action.service not in truth.root_causes
        case ClassifyFault():
            return action.fault_category is not truth.fault_category
        case Escalate():
            return pages_known(incident) and (second or action.team not in truth.teams)
        case Remediate():
            known = truth.benign or bool(truth.remedies)
            return (known and not _is_right(action, incident)) or action in plan[:place]
        case _:
            return isinstance(action, _BESIDE)
