"""What each measure and discount reads of a history: the facts behind the exact search.

Each is a fold over single actions (the first of a kind, any of a kind, a count up to where
it stops to matter), so that an action's class can be read off what it does to an empty
history. What depends on the order of actions is a fact as well: that the root was declared too
late, that nobody had been paged before the fix. Of several faults it counts which were named,
paged for and fixed. ``property_tests/test_audit_laws.py`` holds
the tables to the grader.
"""

from collections.abc import Callable, Hashable, Mapping
from itertools import count
from types import MappingProxyType
from typing import Final

from logtriage.grading import Measured, criteria, original, priced, recordings, triage
from logtriage.grading.parts import responses
from logtriage.state import State

#: What of a state decides what a measure or discount says, now and later.
Read = Callable[[State], Hashable]
#: A measure, or the factor of a discount, which is None where it does not apply.
Rule = Callable[[State], Measured | None]
#: From this many wrong remedies on nothing is left to lose.
_SPENT: Final = next(number for number in count() if triage.remedy_credit(number) == 0.0)


def itself(rule: Rule) -> Read:
    """The score of a rule that is its own fact: none, then one value for good, or a count."""

    def read(state: State) -> Hashable:
        found = rule(state)
        return None if found is None else found[0]

    return read


def _severity(state: State) -> Hashable:
    return state.facts.severity


def _blamed(state: State) -> Hashable:
    return state.facts.root_cause


def _blamed_rightly(state: State) -> Hashable:
    declared = state.facts.root_cause
    return None if declared is None else declared in state.incident.truth.root_causes


def _fault_category(state: State) -> Hashable:
    return state.facts.fault_category


def _declared_any(state: State) -> Hashable:
    return state.facts.root_cause is None and state.facts.fault_category is None


def _fixed(state: State) -> Hashable:
    return state.facts.fixed_at is not None


def _blamed_any(state: State) -> Hashable:
    return state.facts.root_cause is None


def _nothing(_: State) -> Hashable:
    return None


def _counted(state: State) -> Hashable:
    """Of several faults, the services that count, and which faults they name."""
    several = state.incident.truth.several
    first = state.facts.root_causes[: len(several)]
    return frozenset(service for _, service in first), tuple(
        (one.said_at is not None, one.named) for one in responses(state)
    )


def _paged_parts(state: State) -> Hashable:
    return tuple(one.paged_at is not None for one in responses(state))


def _fixed_parts(state: State) -> Hashable:
    return tuple(one.fixed_at is not None for one in responses(state))


def _escalation(state: State) -> Hashable:
    if state.incident.truth.several:
        return _paged_parts(state)
    return criteria.escalation(state)[0]


def _all_fixed(state: State) -> Hashable:
    return _fixed_parts(state) if state.incident.truth.several else _fixed(state)


def _blamed_in_time(state: State) -> Hashable:
    if state.incident.truth.several:
        return _counted(state), _fixed_parts(state)
    return _blamed_rightly(state), _fixed(state), triage.root_cause(state)[0]


def _paged(state: State) -> Hashable:
    if state.incident.truth.several:
        return _paged_parts(state)
    return state.facts.paged_at is not None


def _remedied(state: State) -> Hashable:
    return _all_fixed(state), min(_SPENT, state.facts.wrong_remedies)


def _early_remedies(state: State) -> Hashable:
    return state.facts.paged_at is not None, state.facts.unapproved_remedies


def _early_fixes(state: State) -> Hashable:
    left = priced.unapproved_fix(state)
    return state.facts.paged_at is not None, _all_fixed(state), left and left[0]


def _touched(state: State) -> Hashable:
    return bool(state.facts.pages or state.facts.remedies)


#: The facts that each measure and discount reads, beside the tick and why the incident closed.
READS: Final[Mapping[Rule, Read]] = MappingProxyType(
    {
        criteria.severity: _severity,
        criteria.root_cause: _blamed_rightly,
        criteria.escalation: _escalation,
        triage.root_cause: _blamed_in_time,
        triage.closure: _all_fixed,
        triage.benign_closure: _blamed_any,
        priced.hand_over: _touched,
        priced.remediation: _remedied,
        priced.dismissal: _blamed_any,
        priced.unescalated: _paged,
        priced.unapproved: _early_remedies,
        priced.unapproved_fix: _early_fixes,
        recordings.fault_class: _fault_category,
        recordings.dismissal: _declared_any,
        original.crash_severity: _severity,
        original.crash_root_cause: _blamed,
        original.crash_remediation: itself(original.crash_remediation),
        original.crash_speed: _nothing,
        original.crash_ignored: itself(original.crash_ignored),
        original.cascade_severity: _severity,
        original.cascade_root_cause: _blamed,
        original.cascade_remediation: itself(original.cascade_remediation),
        original.cascade_ordering: itself(original.cascade_ordering),
        original.cascade_speed: _nothing,
        original.silent_severity: _severity,
        original.silent_root_cause: _blamed,
        original.silent_remediation: itself(original.silent_remediation),
        original.silent_restraint: itself(original.silent_restraint),
        original.silent_speed: itself(original.silent_remediation),
    }
)
#: Gates whose facts are always part of a situation: mis-pages, and the closing.
KNOWN_GATES: Final = (criteria.wrong_escalation, criteria.ignored_incident)
