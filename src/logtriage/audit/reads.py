"""The facts of a history that each measure and discount reads, for the exact search.

Each read is a fold over single actions (the first of a kind, any of a kind, a count up to where
it stops to matter), so that the effect of an action on an empty history gives its class. The
order of actions is a fact as well where it matters: that the root was declared too late, that
nobody had been paged before the fix. Among several faults it counts which were named, paged for
and fixed. ``property_tests/test_audit_laws.py`` holds the tables to the grader.
"""

from collections.abc import Callable, Hashable, Mapping
from itertools import count
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from logtriage.grading import Measured, criteria, paging, recordings, triage
from logtriage.state import State

#: The facts of a state that decide a measure or discount, now and later.
Read = Callable[[State], Hashable]
#: A measure, a gate, or the factor of a discount, which is None where it does not apply.
Rule = Callable[[State], Measured | str | None]
#: After this many wrong remedies, no credit remains.
_SPENT: Final = next(number for number in count() if triage.remedy_credit(number) == 0.0)


_SEVERITY: Final = attrgetter("facts.severity")


def _blamed_any(state: State) -> Hashable:
    return state.facts.root_cause is None


def _blamed_rightly(state: State) -> Hashable:
    blamed = state.facts.root_cause
    return None if blamed is None else blamed in state.incident.truth.root_causes


def _classed(state: State) -> Hashable:
    """The class declared, or where the true class is not known what counts in its place."""
    if state.incident.truth.fault_category is None:
        return _blamed_rightly(state)
    return state.facts.fault_category


def _declared_any(state: State) -> Hashable:
    return state.facts.root_cause is None and state.facts.fault_category is None


def _counted(state: State) -> Hashable:
    """The services that count among several faults, and which faults they name."""
    several = state.incident.truth.several
    first = state.facts.root_causes[: len(several)]
    return frozenset(service for _, service in first), tuple(
        (part.said_at is not None, part.named) for part in state.facts.responses
    )


def _paged(state: State) -> Hashable:
    """Whether an accepted team was paged, for each of several faults."""
    if state.incident.truth.several:
        return tuple(part.paged_at is not None for part in state.facts.responses)
    return state.facts.paged_at is not None


def _fixed(state: State) -> Hashable:
    """Whether it was fixed, for each of several faults."""
    if state.incident.truth.several:
        return tuple(part.fixed_at is not None for part in state.facts.responses)
    return state.facts.fixed_at is not None


def _escalation(state: State) -> Hashable:
    several = state.incident.truth.several
    return _paged(state) if several else criteria.escalation(state)[0]


def _blamed_in_time(state: State) -> Hashable:
    if state.incident.truth.several:
        return _counted(state), _fixed(state)
    return _blamed_rightly(state), _fixed(state), triage.root_cause(state)[0]


def _remedied(state: State) -> Hashable:
    return _fixed(state), min(_SPENT, state.facts.wrong_remedies)


def _early_remedies(state: State) -> Hashable:
    return state.facts.paged_at is not None, state.facts.unapproved_remedies


def _early_fixes(state: State) -> Hashable:
    left = paging.unapproved_fix(state)
    return state.facts.paged_at is not None, _fixed(state), left and left[0]


def _touched(state: State) -> Hashable:
    return bool(state.facts.pages or state.facts.remedies)


#: The facts that each rule reads, beside the tick and why the incident closed.
READS: Final[Mapping[Rule, Read]] = MappingProxyType(
    {
        criteria.severity: _SEVERITY,
        criteria.root_cause: _blamed_rightly,
        criteria.escalation: _escalation,
        triage.root_cause: _blamed_in_time,
        triage.closure: _fixed,
        triage.benign_closure: _blamed_any,
        paging.hand_over: _touched,
        paging.remediation: _remedied,
        paging.dismissal: _blamed_any,
        paging.unescalated: _paged,
        paging.unapproved: _early_remedies,
        paging.unapproved_fix: _early_fixes,
        recordings.fault_class: _classed,
        recordings.dismissal: _declared_any,
        recordings.hand_over: lambda _: None,
        recordings.wrong_root_cause: _blamed_rightly,
    }
)
#: Gates whose facts are always part of a situation: mis-pages, and the closing.
KNOWN_GATES: Final = (criteria.wrong_escalation, criteria.ignored_incident)
