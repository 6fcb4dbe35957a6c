"""What each built-in measure reads of a history.

Each row is a fold over single actions (the first of a kind, any of a kind, a count up to
where it stops to matter), so that an action's class can be read off what it does to an
empty history. ``property_tests/test_audit_laws.py`` holds the table to the grader.
"""

from collections.abc import Callable, Hashable, Mapping
from itertools import count
from types import MappingProxyType
from typing import Final

from logtriage.grading import Measure, criteria, original
from logtriage.state import State

#: What of a state decides a measure's score, now and later.
Read = Callable[[State], Hashable]
#: From this many wrong remedies on nothing is left to lose.
_SPENT: Final = next(number for number in count() if criteria.remedy_credit(number) == 0.0)


def itself(measure: Measure) -> Read:
    """The score of a measure that is its own fact: none, then one value for good, or a count."""
    return lambda state: measure(state)[0]


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


#: The facts that each measure reads, beside the tick and why the incident closed.
READS: Final[Mapping[Measure, Read]] = MappingProxyType(
    {
        criteria.severity: _severity,
        criteria.root_cause: _blamed_rightly,
        criteria.escalation: itself(criteria.escalation),
        criteria.remediation: _wrong_remedies,
        criteria.closure: _fixed,
        criteria.dismissal: _remedies,
        criteria.benign_closure: _blamed_any,
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
#: Gates whose facts are always part of a situation: wrong pages, and the closing.
KNOWN_GATES: Final = (criteria.wrong_escalation, criteria.ignored_incident)
