"""The measures and gates behind :mod:`logtriage.audit.mutants`: one mistake each."""
# ruff: noqa: D103 - what is wrong with each stands once, in the catalogue of mutants

from collections.abc import Callable

from logtriage.actions import (
    SEVERITIES,
    ClassifySeverity,
    IdentifyRootCause,
    Malformed,
    RequestMoreLogs,
    Severity,
)
from logtriage.grading import TRIAGE_1, Measure, Measured, criteria
from logtriage.state import Closing, State

PAGE_GATE, IGNORE_GATE = TRIAGE_1.gates


# -- gates ------------------------------------------------------------------------------


def first_page_only(state: State) -> str | None:
    pages = state.facts.pages
    wrong = pages and pages[0][1] not in state.incident.truth.teams
    return "the first page went to the wrong team" if wrong else None


def wrongly_paged(state: State) -> Measured:
    return (float(state.facts.wrong_pages > 0), "a wrong team was paged")


def spares_p3(state: State) -> str | None:
    return None if state.incident.truth.severity is Severity.P3 else IGNORE_GATE.holds(state)


def ignored_anything(state: State) -> str | None:
    return "ignored" if state.closing is Closing.IGNORED else None


# -- declarations --------------------------------------------------------------------------


def _off(declared: Severity, state: State) -> int:
    truth = state.incident.truth.severity
    return 2 if truth is None else abs(SEVERITIES.index(declared) - SEVERITIES.index(truth))


def last_severity(state: State) -> Measured:
    said = [one.severity for one in state.actions if isinstance(one, ClassifySeverity)]
    return (criteria.severity_credit(_off(said[-1], state)) if said else 0.0, "by the last answer")


def silence_is_p3(state: State) -> Measured:
    declared = state.facts.severity or Severity.P3
    return (criteria.severity_credit(_off(declared, state)), "who says nothing means P3")


def generous_severity(state: State) -> Measured:
    declared = state.facts.severity
    credit = 0.0 if declared is None else (1.0, 0.5, 0.0)[_off(declared, state)]
    return (credit, "half for one class off")


def any_severity(state: State) -> Measured:
    declared = state.facts.severity
    credit = 0.0 if declared is None else (1.0, 0.25, 0.25)[_off(declared, state)]
    return (credit, "something for any answer")


def inverted_distance(state: State) -> Measured:
    declared = state.facts.severity
    credit = 0.0 if declared is None else (1.0, 0.0, 0.25)[_off(declared, state)]
    return (credit, "two classes off is better than one")


def _causes(state: State) -> list[str]:
    return [one.service for one in state.actions if isinstance(one, IdentifyRootCause)]


def last_root_cause(state: State) -> Measured:
    said = _causes(state)
    return (float(bool(said) and said[-1] in _roots(state)), "the last answer")


def any_root_cause(state: State) -> Measured:
    return (float(any(one in _roots(state) for one in _causes(state))), "any answer")


def _roots(state: State) -> frozenset[str]:
    return state.incident.truth.root_causes


def symptoms_too(state: State) -> Measured:
    declared, topology = state.facts.root_cause, state.incident.topology
    if declared in _roots(state):
        return (1.0, "the root cause")
    near = {
        topology.names[caller]
        for root in _roots(state)
        for caller in topology.callers[topology.index(root)]
    }
    return (0.3 if declared in near else 0.0, "a caller of the root cause is half right")


def by_prefix(state: State) -> Measured:
    declared = state.facts.root_cause or "?"
    family = declared.partition("-")[0]
    right = any(root.partition("-")[0] == family for root in _roots(state))
    return (float(right), "a name that begins alike")


def confident(state: State) -> Measured:
    sure = (state.facts.confidence or 0.0) >= 0.9
    return (max(criteria.root_cause(state)[0], 0.2 * sure), "confidence is rewarded")


def salted(state: State) -> Measured:
    score = criteria.root_cause(state)[0]
    return (score * (1.0 if hash(state.facts.root_cause) % 2 else 0.5), "by Python's string hash")


def by_id(state: State) -> Measured:
    return (
        criteria.root_cause(state)[0] * (0.9 if "/1" in state.incident.id else 1.0),
        "by the id",
    )


# -- acts --------------------------------------------------------------------------------


def any_page(state: State) -> Measured:
    return (float(bool(state.facts.pages)), "somebody was paged")


def wrong_remedies_free(state: State) -> Measured:
    return (float(state.facts.fixed_at is not None), "fixed in the end")


def only_before_the_fix(state: State) -> Measured:
    fixed, truth = state.facts.fixed_at, state.incident.truth
    if fixed is None:
        return (0.0, "never fixed")
    wrong = sum(
        when < fixed and (remedy, service) not in truth.remedies
        for when, remedy, service in state.facts.remedies
    )
    return (criteria.remedy_credit(wrong), "wrong remedies after the fix are free")


def any_remedy_there(state: State) -> Measured:
    there = any(service in _roots(state) for _, _, service in state.facts.remedies)
    return (float(there), "something was done to the right service")


def right_remedy_anywhere(state: State) -> Measured:
    right = {remedy for remedy, _ in state.incident.truth.remedies}
    return (float(any(one in right for _, one, _ in state.facts.remedies)), "the right remedy")


# -- closing -------------------------------------------------------------------------------


def closed_with(free: int, closing: Closing, when: Callable[[State], bool]) -> Measure:
    def measure(state: State) -> Measured:
        if state.closing is not closing or not when(state):
            return (0.0, "not closed")
        used = state.closed_at or 0
        return (criteria.promptness(used, state.incident.horizon, free), f"{free} ticks are free")

    return measure


def fixed(state: State) -> bool:
    return state.facts.fixed_at is not None


def always(_: State) -> bool:
    return True


def unhurried(state: State) -> Measured:
    return (float(state.closing is Closing.RESOLVED and fixed(state)), "whenever it was")


def slow_is_good(state: State) -> Measured:
    score = criteria.closure(state)[0]
    return (min(1.0, score + 0.1 * (state.closed_at or 0)) if score else 0.0, "care takes time")


def out_of_time_too(state: State) -> Measured:
    timely = state.closing is Closing.OUT_OF_TIME and fixed(state)
    return (1.0, "fixed in time") if timely else criteria.closure(state)


def claims(state: State) -> Measured:
    said = any(isinstance(one, Malformed) and "resolved" in one.text for one in state.actions)
    return (1.0, "it says that it is resolved") if said else criteria.closure(state)


def diligence(state: State) -> Measured:
    asked = sum(isinstance(one, RequestMoreLogs) for one in state.actions)
    return (min(1.0, max(asked / 5, criteria.closure(state)[0])), "looking is rewarded")


def dismissed_anyhow(state: State) -> Measured:
    dismissed = state.closing is Closing.IGNORED
    credit = criteria.remedy_credit(len(state.facts.remedies)) if dismissed else 0.0
    return (credit, "dismissed, whoever was blamed")


def dismissed_after_remedies(state: State) -> Measured:
    return (float(criteria.dismissal(state)[0] > 0.0), "remedies on healthy services are free")
