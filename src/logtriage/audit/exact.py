"""The largest grade over *all* lists of actions, by dynamic programming.

A rubric does not read a history but a few facts of it. Two histories with the same
facts (a *situation*) at the same tick have the same score now and after any common
continuation, so it is enough to keep one of them. Actions fall into classes as well:
whatever service a wrong remedy struck, it was a wrong remedy.

For every built-in measure the table :data:`READS` names its facts. Each is a fold over
single actions (the first of a kind, any of a kind, a count up to where it stops to
matter), so that an action's class can be read off what it does to an empty history.
What hangs on the order of actions is a fact as well: that the root was declared too late,
that nobody had been paged before the fix. With these measures the search is exact;
``property_tests/test_audit_laws.py`` holds the table to the grader. With a measure of one's
own, a situation is what the table gives plus what that measure says now: the search is then
a lower bound, and says so.
"""

from collections.abc import Callable, Hashable, Mapping
from itertools import count
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import Action, Malformed, all_actions
from logtriage.grading import Discount, Measure, Measured, Rubric, criteria, original, score, triage
from logtriage.incident import Incident
from logtriage.state import State, initial_state
from logtriage.transition import apply, transition

Read = Callable[[State], Hashable]
#: From this many wrong remedies on nothing is left to lose.
_SPENT: Final = next(number for number in count() if criteria.remedy_credit(number) == 0.0)
_SPENT_2: Final = next(number for number in count() if triage.remedy_credit(number) == 0.0)
_SPENT_BENIGN: Final = next(number for number in count() if triage.dismissal_credit(number) == 0.0)
#: The most situations of one tick that are kept where measures are unknown.
_WIDEST: Final = 800
_IDLE: Final = Malformed("", "stands for every action that does nothing")


def _itself(measure: Measure) -> Read:
    """The score of a measure that is its own fact: none, then one value for good, or a count."""
    return lambda state: measure(state)[0]


def _factor_itself(discount: Discount) -> Read:
    def read(state: State) -> Hashable:
        found = discount.factor(state)
        return None if found is None else found[0]

    return read


def _severity(state: State) -> Hashable:
    return state.facts.severity


def _blamed(state: State) -> Hashable:
    return state.facts.root_cause


def _blamed_rightly(state: State) -> Hashable:
    declared = state.facts.root_cause
    return None if declared is None else declared in state.incident.truth.root_causes


def _wrong_remedies(state: State) -> Hashable:
    return state.facts.fixed_at is not None, min(_SPENT, state.facts.wrong_remedies)


def _fixed(state: State) -> Hashable:
    return state.facts.fixed_at is not None


def _remedies(state: State) -> Hashable:
    return state.facts.root_cause is None, min(_SPENT, len(state.facts.remedies))


def _blamed_any(state: State) -> Hashable:
    return state.facts.root_cause is None


def _nothing(_: State) -> Hashable:
    return None


def _blamed_in_time(state: State) -> Hashable:
    return _blamed_rightly(state), _fixed(state), triage.root_cause(state)[0]


def _approved_remedies(state: State) -> Hashable:
    return _fixed(state), triage.approved(state), min(_SPENT_2, state.facts.wrong_remedies)


def _benign_remedies(state: State) -> Hashable:
    return _blamed_any(state), min(_SPENT_BENIGN, len(state.facts.remedies))


def _paged(state: State) -> Hashable:
    return state.facts.paged_at is not None


def _unapproved_remedies(state: State) -> Hashable:
    benign = state.incident.truth.benign
    return _paged(state), 0 if benign else state.facts.unapproved_remedies


#: The facts that each measure reads, beside the tick and why the incident closed.
READS: Final[Mapping[Measure, Read]] = MappingProxyType(
    {
        criteria.severity: _severity,
        criteria.root_cause: _blamed_rightly,
        criteria.escalation: _itself(criteria.escalation),
        criteria.remediation: _wrong_remedies,
        criteria.closure: _fixed,
        criteria.dismissal: _remedies,
        criteria.benign_closure: _blamed_any,
        triage.root_cause: _blamed_in_time,
        triage.remediation: _approved_remedies,
        triage.closure: _fixed,
        triage.dismissal: _benign_remedies,
        triage.benign_closure: _blamed_any,
        original.crash_severity: _severity,
        original.crash_root_cause: _blamed,
        original.crash_remediation: _itself(original.crash_remediation),
        original.crash_speed: _nothing,
        original.crash_ignored: _itself(original.crash_ignored),
        original.cascade_severity: _severity,
        original.cascade_root_cause: _blamed,
        original.cascade_remediation: _itself(original.cascade_remediation),
        original.cascade_ordering: _itself(original.cascade_ordering),
        original.cascade_speed: _nothing,
        original.silent_severity: _severity,
        original.silent_root_cause: _blamed,
        original.silent_remediation: _itself(original.silent_remediation),
        original.silent_restraint: _itself(original.silent_restraint),
        original.silent_speed: _itself(original.silent_remediation),
    }
)
#: The facts that each discount reads; those of ``logtriage/2`` spare benign incidents.
DISCOUNT_READS: Final[Mapping[Callable[[State], Measured | None], Read]] = MappingProxyType(
    {triage.unescalated: _paged, triage.unapproved: _unapproved_remedies}
)
#: Gates whose facts are always part of a situation: wrong pages, and the closing.
_KNOWN_GATES: Final = (criteria.wrong_escalation, criteria.ignored_incident)


@attrs.frozen
class Searched:
    """What the search of one incident found.

    ``best`` is the largest score, of ``plan``; ``misrouted`` the largest with a wrong
    page somewhere, of ``misrouted_plan`` (None where no page is wrong). ``risen`` is the
    largest rise of the score by an action that changed no fact, with the plan that ends in
    it: facts only pile up, so every cycle consists of such actions. ``nodes`` situations
    were graded.
    """

    best: float
    plan: tuple[Action, ...]
    misrouted: float | None
    misrouted_plan: tuple[Action, ...]
    risen: tuple[float, tuple[Action, ...]]
    nodes: int


class Situations:
    """The situations of one incident under one rubric.

    ``exact`` says whether all measures, gates and discounts are known; ``unknown`` names
    those that are not.
    """

    def __init__(self, incident: Incident, rubric: Rubric) -> None:
        self.incident = incident
        self.rubric = rubric
        benign = rubric.benign and incident.truth.benign
        rows = (*(rubric.benign if benign else rubric.criteria), *rubric.penalties)
        measures = tuple(dict.fromkeys(row.measure for row in rows))
        discounts = tuple(
            DISCOUNT_READS.get(one.factor, _factor_itself(one)) for one in rubric.discounts
        )
        self._reads = tuple(
            dict.fromkeys(
                (*(READS.get(measure, _itself(measure)) for measure in measures), *discounts)
            )
        )
        self.unknown = (
            *(row.name for row in rows if row.measure not in READS),
            *(gate.name for gate in rubric.gates if gate.holds not in _KNOWN_GATES),
            *(one.name for one in rubric.discounts if one.factor not in DISCOUNT_READS),
        )
        self._gates = tuple(gate.holds for gate in rubric.gates if gate.holds not in _KNOWN_GATES)
        self.exact = not self.unknown
        self.classes = self._classes()

    def of(self, state: State) -> Hashable:
        """What the rubric can tell of a state, but the tick."""
        return (
            state.closing,
            state.facts.wrong_pages > 0,
            *(read(state) for read in self._reads),
            *(holds(state) is not None for holds in self._gates),
        )

    def class_of(self, action: Action) -> Hashable:
        """What the rubric can tell of one action, by what it does to an empty history.

        Where a measure is unknown, actions of two types are never the same.
        """
        told = self.of(apply(initial_state(self.incident), action))
        return told if self.exact else (type(action), told)

    def _classes(self) -> Mapping[Hashable, Action]:
        found: dict[Hashable, Action] = {}
        for action in (_IDLE, *all_actions(self.incident.topology)):
            found.setdefault(self.class_of(action), action)
        return found

    @property
    def kind(self) -> Hashable:
        """Equal for incidents whose searches are alike, step by step (if ``exact``)."""
        incident = self.incident
        return (
            incident.horizon,
            incident.par,
            incident.price_of_silence,
            incident.closing,
            incident.truth.severity,
            incident.truth.benign,
            frozenset((type(action), told) for told, action in self.classes.items()),
        )

    def facts(self, state: State) -> Hashable:
        """What was declared and done, whether or not it matters to the rubric."""
        if self.exact:
            return self.of(state)
        facts = state.facts
        pages = sorted(team for _, team in facts.pages)
        remedies = sorted((str(remedy), service) for _, remedy, service in facts.remedies)
        return (
            state.closing,
            facts.severity,
            facts.root_cause,
            tuple(pages),
            tuple(remedies),
        )

    def search(self) -> Searched:
        """Follow every class of action from every situation, tick by tick."""
        start = initial_state(self.incident)
        layer = [(start, score(start, self.rubric))]
        best = layer[0]
        misrouted: tuple[State, float] | None = None
        risen: tuple[float, tuple[Action, ...]] = (0.0, ())
        nodes = 1
        while layer:
            following: dict[Hashable, tuple[State, float]] = {}
            for state, before in layer:
                same = self.facts(state)
                for action in self.classes.values():
                    after = transition(state, action)
                    situation = self.of(after)
                    found = following.get(situation)
                    if found is None:
                        found = following[situation] = (after, score(after, self.rubric))
                    if found[1] > before + risen[0] and self.facts(after) == same:
                        risen = (found[1] - before, after.actions)
            nodes += len(following)
            for state, value in following.values():
                if value > best[1]:
                    best = state, value
                if state.facts.wrong_pages and (misrouted is None or value > misrouted[1]):
                    misrouted = state, value
            layer = [one for one in following.values() if not one[0].is_closed]
            if not self.exact:
                layer = layer[:_WIDEST]
        return Searched(
            best[1],
            best[0].actions,
            None if misrouted is None else misrouted[1],
            () if misrouted is None else misrouted[0].actions,
            risen,
            nodes,
        )
