"""The largest grade over *all* lists of actions, by dynamic programming.

Histories with the same facts (a *situation*) have the same score after any common continuation, but
for the ticks that they took. No tick pays, so the search keeps the earliest history of each
situation. Actions fall into classes as well: wrong remedies are alike, whatever service they name.

:data:`READS` has the facts that each built-in measure and discount reads. Facts add up action by
action, so the effect of an action on an empty history gives its class; if order matters, it is a
fact. ``property_tests/test_audit_laws.py`` compares the table with the grader. Under a rubric with
any other measure nothing is searched.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from itertools import count, product
from operator import attrgetter
from types import MappingProxyType
from typing import Final, NamedTuple

from logtriage.actions import Action
from logtriage.audit.failing import rules_of, score
from logtriage.audit.vocabulary import IDLE, vocabulary
from logtriage.dynamics import apply, transition
from logtriage.grading import Measured, Rubric, criteria, paging, recordings, triage
from logtriage.incident import Incident
from logtriage.state import State, initial_state

#: The facts of a state that decide a measure or discount, now and later.
Read = Callable[[State], Hashable]
#: A measure, a gate, or the factor of a discount, which is None if it does not apply.
Rule = Callable[[State], Measured | str | None]
#: After this many wrong remedies, no credit remains.
_SPENT: Final = next(number for number in count() if triage.remedy_credit(number) == 0.0)


def _blamed_nobody(state: State) -> Hashable:
    return state.facts.root_cause is None


def _blamed_rightly(state: State) -> Hashable:
    blamed = state.facts.root_cause
    return None if blamed is None else blamed in state.incident.truth.root_causes


def _blamed_in_time(state: State) -> Hashable:
    several = state.incident.truth.several
    if not several:
        return _blamed_rightly(state), _fixes(state), triage.root_cause(state)[0]
    first = frozenset(service for _, service in state.facts.root_causes[: len(several)])
    named = tuple((part.declared_at is not None, part.named) for part in state.facts.responses)
    return first, named, _fixes(state)


def _declared_class(state: State) -> Hashable:
    """The declared class or, if the true class is not known, the facts that count instead."""
    if state.incident.truth.fault_category is None:
        return _blamed_rightly(state)
    return state.facts.fault_category


def _right_pages(state: State) -> Hashable:
    if state.incident.truth.several:
        return tuple(part.paged_at is not None for part in state.facts.responses)
    return state.facts.paged_at is not None


def _fixes(state: State) -> Hashable:
    if state.incident.truth.several:
        return tuple(part.fixed_at is not None for part in state.facts.responses)
    return state.facts.fixed_at is not None


def _escalation(state: State) -> Hashable:
    several = state.incident.truth.several
    return _right_pages(state) if several else criteria.escalation(state)[0]


def _early_fixes(state: State) -> Hashable:
    discount = paging.unapproved_fix(state)
    factor = None if discount is None else discount[0]
    return state.facts.paged_at is not None, _fixes(state), factor


#: The facts that each rule reads, beside the tick and why the incident closed. Those of the gates
#: are always part of a situation.
READS: Final[Mapping[Rule, Read]] = MappingProxyType(
    {
        criteria.wrong_escalation: lambda _: None,
        criteria.ignored_incident: lambda _: None,
        criteria.severity: lambda state: state.facts.severity,
        criteria.root_cause: _blamed_rightly,
        criteria.escalation: _escalation,
        triage.root_cause: _blamed_in_time,
        triage.closure: _fixes,
        triage.benign_closure: _blamed_nobody,
        paging.hand_over: lambda state: bool(state.facts.pages or state.facts.remedies),
        paging.remediation: lambda state: (_fixes(state), min(_SPENT, state.facts.wrong_remedies)),
        paging.dismissal: _blamed_nobody,
        paging.unescalated: _right_pages,
        paging.unapproved: lambda state: (
            state.facts.paged_at is not None,
            state.facts.unapproved_remedies,
        ),
        paging.unapproved_fix: _early_fixes,
        recordings.fault_class: _declared_class,
        recordings.dismissal: lambda state: (
            state.facts.root_cause is None and state.facts.fault_category is None
        ),
        recordings.hand_over: lambda _: None,
        recordings.wrong_root_cause: _blamed_rightly,
    }
)


class Scored(NamedTuple):
    """A state and its score."""

    score: float
    state: State


class Searched(NamedTuple):
    """The best state of a search, the best with a wrong page (if any), and how many were met."""

    best: Scored
    misrouted: Scored | None
    situations: int


class Situations:
    """The situations of an incident under a rubric; ``unknown`` names rules without READS."""

    def __init__(self, incident: Incident, rubric: Rubric) -> None:
        self.incident = incident
        self.rubric = rubric
        rules = {(kind, name): rule for kind, name, rule in rules_of(rubric, incident)}
        self.unknown = tuple(name for (_, name), rule in rules.items() if rule not in READS)
        self._reads = tuple(dict.fromkeys(READS[rule] for rule in rules.values() if rule in READS))

    def of(self, state: State) -> Hashable:
        """The situation of a state: all facts that the rubric reads, except the tick."""
        wrong = state.facts.wrong_pages > 0
        return state.closing, wrong, *(read(state) for read in self._reads)

    def class_of(self, action: Action) -> Hashable:
        """The class of an action: the situation after it as the only action."""
        return self.of(apply(initial_state(self.incident), action))

    @cached_property
    def classes(self) -> Mapping[Hashable, Action]:
        """One action for each class; an action without effect comes first."""
        actions: dict[Hashable, Action] = {}
        for action in (IDLE, *vocabulary(self.incident.topology)):
            actions.setdefault(self.class_of(action), action)
        return actions

    @property
    def kind(self) -> Hashable:
        """A key: incidents with equal keys have searches that are alike, step by step."""
        incident = self.incident
        return (
            incident.horizon,
            incident.par,
            incident.task_par,
            incident.worth_of_hand_over,
            incident.wrong_page_closes,
            incident.truth.severity,
            incident.truth.benign,
            frozenset((type(action), effect) for effect, action in self.classes.items()),
        )

    def search(self) -> Searched:
        """Follow every class of action from every situation, each from its earliest state."""
        # Each action costs a tick, so layer after layer finds the earliest state of a situation.
        start = initial_state(self.incident)
        states, layer, situations = [start], [start], {self.of(start)}
        while layer:
            following = []
            for state, action in product(layer, self.classes.values()):
                after = transition(state, action)
                there = self.of(after)
                if there not in situations:
                    situations.add(there)
                    following.append(after)
            states += following
            layer = [state for state in following if not state.is_closed]
        scored = [Scored(score(state, self.rubric), state) for state in states]
        misrouted = (row for row in scored if row.state.facts.wrong_pages)
        worth = attrgetter("score")
        best = max(scored, key=worth)
        return Searched(best, max(misrouted, key=worth, default=None), len(states))
