"""Graders that are broken on purpose, one mistake each: what laws and audit must notice.

Every mutant is rubric ``logtriage/1`` with one thing wrong, and is sound as data: that
the weights are right and the names differ says nothing of what is measured. Use them to
see whether your own checks would find such a mistake.
"""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from logtriage.actions import (
    SEVERITIES,
    ClassifySeverity,
    IdentifyRootCause,
    Malformed,
    RequestMoreLogs,
    Severity,
)
from logtriage.grading import DEFAULT, Criterion, Gate, Measure, Measured, Rubric, criteria
from logtriage.state import Closing, State


@attrs.frozen
class Mutant:
    """A broken rubric, and what is wrong with it."""

    name: str
    wrong: str
    rubric: Rubric


def _replaced(rows: Sequence[Criterion], new: dict[str, Measure]) -> tuple[Criterion, ...]:
    return tuple(attrs.evolve(row, measure=new.get(row.name, row.measure)) for row in rows)


def _real(**measures: Measure) -> Rubric:
    """The rubric with other measures for real faults."""
    return attrs.evolve(DEFAULT, criteria=_replaced(DEFAULT.criteria, measures))


def _benign(**measures: Measure) -> Rubric:
    """The rubric with other measures for benign incidents."""
    return attrs.evolve(DEFAULT, benign=_replaced(DEFAULT.benign, measures))


def _gated(*gates: Gate) -> Rubric:
    return attrs.evolve(DEFAULT, gates=gates)


_PAGE_GATE, _IGNORE_GATE = DEFAULT.gates


# -- gates ------------------------------------------------------------------------------


def _first_page_only(state: State) -> str | None:
    pages = state.facts.pages
    wrong = pages and pages[0][1] not in state.incident.truth.teams
    return "the first page went to the wrong team" if wrong else None


def _wrongly_paged(state: State) -> Measured:
    return (float(state.facts.wrong_pages > 0), "a wrong team was paged")


def _spares_p3(state: State) -> str | None:
    return None if state.incident.truth.severity is Severity.P3 else _IGNORE_GATE.holds(state)


def _ignored_anything(state: State) -> str | None:
    return "ignored" if state.closing is Closing.IGNORED else None


# -- declarations --------------------------------------------------------------------------


def _off(declared: Severity, state: State) -> int:
    truth = state.incident.truth.severity
    return 2 if truth is None else abs(SEVERITIES.index(declared) - SEVERITIES.index(truth))


def _last_severity(state: State) -> Measured:
    said = [one.severity for one in state.actions if isinstance(one, ClassifySeverity)]
    return (criteria.severity_credit(_off(said[-1], state)) if said else 0.0, "by the last answer")


def _silence_is_p3(state: State) -> Measured:
    declared = state.facts.severity or Severity.P3
    return (criteria.severity_credit(_off(declared, state)), "who says nothing means P3")


def _generous_severity(state: State) -> Measured:
    declared = state.facts.severity
    credit = 0.0 if declared is None else (1.0, 0.5, 0.0)[_off(declared, state)]
    return (credit, "half for one class off")


def _any_severity(state: State) -> Measured:
    declared = state.facts.severity
    credit = 0.0 if declared is None else (1.0, 0.25, 0.25)[_off(declared, state)]
    return (credit, "something for any answer")


def _inverted_distance(state: State) -> Measured:
    declared = state.facts.severity
    credit = 0.0 if declared is None else (1.0, 0.0, 0.25)[_off(declared, state)]
    return (credit, "two classes off is better than one")


def _causes(state: State) -> list[str]:
    return [one.service for one in state.actions if isinstance(one, IdentifyRootCause)]


def _last_root_cause(state: State) -> Measured:
    said = _causes(state)
    return (float(bool(said) and said[-1] in _roots(state)), "the last answer")


def _any_root_cause(state: State) -> Measured:
    return (float(any(one in _roots(state) for one in _causes(state))), "any answer")


def _roots(state: State) -> frozenset[str]:
    return state.incident.truth.root_causes


def _symptoms_too(state: State) -> Measured:
    declared, topology = state.facts.root_cause, state.incident.topology
    if declared in _roots(state):
        return (1.0, "the root cause")
    near = {
        topology.names[caller]
        for root in _roots(state)
        for caller in topology.callers[topology.index(root)]
    }
    return (0.3 if declared in near else 0.0, "a caller of the root cause is half right")


def _by_prefix(state: State) -> Measured:
    declared = state.facts.root_cause or "?"
    family = declared.partition("-")[0]
    right = any(root.partition("-")[0] == family for root in _roots(state))
    return (float(right), "a name that begins alike")


def _confident(state: State) -> Measured:
    sure = (state.facts.confidence or 0.0) >= 0.9
    return (max(criteria.root_cause(state)[0], 0.2 * sure), "confidence is rewarded")


def _salted(state: State) -> Measured:
    score = criteria.root_cause(state)[0]
    return (score * (1.0 if hash(state.facts.root_cause) % 2 else 0.5), "by Python's string hash")


def _by_id(state: State) -> Measured:
    return (
        criteria.root_cause(state)[0] * (0.9 if "/1" in state.incident.id else 1.0),
        "by the id",
    )


# -- acts --------------------------------------------------------------------------------


def _any_page(state: State) -> Measured:
    return (float(bool(state.facts.pages)), "somebody was paged")


def _wrong_remedies_free(state: State) -> Measured:
    return (float(state.facts.fixed_at is not None), "fixed in the end")


def _only_before_the_fix(state: State) -> Measured:
    fixed, truth = state.facts.fixed_at, state.incident.truth
    if fixed is None:
        return (0.0, "never fixed")
    wrong = sum(
        when < fixed and (remedy, service) not in truth.remedies
        for when, remedy, service in state.facts.remedies
    )
    return (criteria.remedy_credit(wrong), "wrong remedies after the fix are free")


def _any_remedy_there(state: State) -> Measured:
    there = any(service in _roots(state) for _, _, service in state.facts.remedies)
    return (float(there), "something was done to the right service")


def _right_remedy_anywhere(state: State) -> Measured:
    right = {remedy for remedy, _ in state.incident.truth.remedies}
    return (float(any(one in right for _, one, _ in state.facts.remedies)), "the right remedy")


# -- closing -------------------------------------------------------------------------------


def _closed_with(free: int, closing: Closing, when: Callable[[State], bool]) -> Measure:
    def measure(state: State) -> Measured:
        if state.closing is not closing or not when(state):
            return (0.0, "not closed")
        used = state.closed_at or 0
        return (criteria.promptness(used, state.incident.horizon, free), f"{free} ticks are free")

    return measure


def _fixed(state: State) -> bool:
    return state.facts.fixed_at is not None


def _always(_: State) -> bool:
    return True


def _unhurried(state: State) -> Measured:
    return (float(state.closing is Closing.RESOLVED and _fixed(state)), "whenever it was")


def _slow_is_good(state: State) -> Measured:
    score = criteria.closure(state)[0]
    return (min(1.0, score + 0.1 * (state.closed_at or 0)) if score else 0.0, "care takes time")


def _out_of_time_too(state: State) -> Measured:
    timely = state.closing is Closing.OUT_OF_TIME and _fixed(state)
    return (1.0, "fixed in time") if timely else criteria.closure(state)


def _claims(state: State) -> Measured:
    said = any(isinstance(one, Malformed) and "resolved" in one.text for one in state.actions)
    return (1.0, "it says that it is resolved") if said else criteria.closure(state)


def _diligence(state: State) -> Measured:
    asked = sum(isinstance(one, RequestMoreLogs) for one in state.actions)
    return (min(1.0, max(asked / 5, criteria.closure(state)[0])), "looking is rewarded")


def _dismissed_anyhow(state: State) -> Measured:
    dismissed = state.closing is Closing.IGNORED
    credit = criteria.remedy_credit(len(state.facts.remedies)) if dismissed else 0.0
    return (credit, "dismissed, whoever was blamed")


def _dismissed_after_remedies(state: State) -> Measured:
    return (float(criteria.dismissal(state)[0] > 0.0), "remedies on healthy services are free")


_SWAP: Final = {"root_cause": 0.25, "remediation": 0.30}
_RESOLVED, _IGNORED = Closing.RESOLVED, Closing.IGNORED
#: Name, what is wrong, and the rubric with it.
_TABLE: Final = (
    ("page-gate-dropped", "a wrong page costs nothing but time", _gated(_IGNORE_GATE)),
    ("ignore-gate-dropped", "a real fault may be ignored", _gated(_PAGE_GATE)),
    (
        "page-gate-first-only",
        "only the first page is looked at",
        _gated(Gate("wrong_escalation", _first_page_only), _IGNORE_GATE),
    ),
    (
        "page-gate-half",
        "a wrong page costs 0.5 instead of everything",
        attrs.evolve(
            _gated(_IGNORE_GATE), penalties=(Criterion("wrong_page", 0.5, _wrongly_paged),)
        ),
    ),
    (
        "ignore-gate-spares-p3",
        "a real P3 may be ignored",
        _gated(_PAGE_GATE, Gate("ignored_incident", _spares_p3)),
    ),
    (
        "ignore-gate-on-benign",
        "a benign incident may not be ignored either",
        _gated(_PAGE_GATE, Gate("ignored_incident", _ignored_anything)),
    ),
    (
        "weights-swapped",
        "root cause and remediation have each other's weight",
        attrs.evolve(
            DEFAULT,
            criteria=tuple(
                attrs.evolve(row, weight=_SWAP.get(row.name, row.weight))
                for row in DEFAULT.criteria
            ),
        ),
    ),
    ("severity-last", "the last severity counts, not the first", _real(severity=_last_severity)),
    ("severity-silence", "saying nothing counts as P3", _real(severity=_silence_is_p3)),
    ("severity-generous", "one class off earns 0.5", _real(severity=_generous_severity)),
    ("severity-any", "two classes off earns as much as one", _real(severity=_any_severity)),
    ("severity-inverted", "two classes off beats one", _real(severity=_inverted_distance)),
    ("root-cause-last", "the last root cause counts", _real(root_cause=_last_root_cause)),
    ("root-cause-any", "any of the root causes counts", _real(root_cause=_any_root_cause)),
    ("root-cause-symptom", "a symptom earns partial credit", _real(root_cause=_symptoms_too)),
    ("root-cause-prefix", "a similar name counts", _real(root_cause=_by_prefix)),
    ("root-cause-confident", "a stated confidence earns", _real(root_cause=_confident)),
    ("root-cause-salted", "the score hangs on the process", _real(root_cause=_salted)),
    ("root-cause-by-id", "the score hangs on the incident's id", _real(root_cause=_by_id)),
    ("escalation-any", "any page fulfils the criterion", _real(escalation=_any_page)),
    ("remediation-free", "wrong remedies are free", _real(remediation=_wrong_remedies_free)),
    (
        "remediation-after",
        "wrong remedies after the fix are free",
        _real(remediation=_only_before_the_fix),
    ),
    ("remediation-there", "any remedy on the root counts", _real(remediation=_any_remedy_there)),
    (
        "remediation-anywhere",
        "the right remedy on any service counts",
        _real(remediation=_right_remedy_anywhere),
    ),
    (
        "closure-early",
        "off by one: 4 ticks are free",
        _real(closure=_closed_with(4, _RESOLVED, _fixed)),
    ),
    (
        "closure-late",
        "off by one: 6 ticks are free",
        _real(closure=_closed_with(6, _RESOLVED, _fixed)),
    ),
    (
        "closure-unfixed",
        "resolving pays without a fix",
        _real(closure=_closed_with(5, _RESOLVED, _always)),
    ),
    ("closure-unhurried", "time does not count", _real(closure=_unhurried)),
    ("closure-slow", "taking longer pays", _real(closure=_slow_is_good)),
    ("closure-timeout", "running out of time counts as resolved", _real(closure=_out_of_time_too)),
    ("closure-claimed", "a claim in the text counts", _real(closure=_claims)),
    ("closure-diligence", "asking for logs pays by itself", _real(closure=_diligence)),
    ("benign-as-real", "benign incidents are graded as faults", attrs.evolve(DEFAULT, benign=())),
    (
        "benign-blamed",
        "blaming somebody does not spoil a dismissal",
        _benign(dismissal=_dismissed_anyhow),
    ),
    (
        "benign-remedies",
        "remedies on a benign incident are free",
        _benign(dismissal=_dismissed_after_remedies),
    ),
    (
        "benign-closure",
        "5 ticks are free on benign incidents",
        _benign(closure=_closed_with(5, _IGNORED, _always)),
    ),
)
MUTANTS: Final = tuple(
    Mutant(name, wrong, attrs.evolve(rubric, id=f"mutant/{name}")) for name, wrong, rubric in _TABLE
)
