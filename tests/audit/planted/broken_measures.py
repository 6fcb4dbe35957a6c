"""The measures and gates behind :mod:`tests.audit.planted.mutants`: one mistake each."""

from collections.abc import Callable
from typing import Final

from logtriage.actions import (
    SEVERITIES,
    ClassifySeverity,
    IdentifyRootCause,
    Malformed,
    RequestMoreLogs,
    Severity,
)
from logtriage.grading import Measure, Measured, criteria, paging, triage
from logtriage.state import Closing, State
from tests.builders import named


def first_page_only(state: State) -> str | None:
    pages = state.facts.pages
    wrong = pages and pages[0][1] not in state.incident.truth.teams
    return "the first page went to the wrong team" if wrong else None


def wrongly_paged(state: State) -> Measured:
    return (float(state.facts.wrong_pages > 0), "a wrong team was paged")


def spares_p3(state: State) -> str | None:
    return (
        None if state.incident.truth.severity is Severity.P3 else criteria.ignored_incident(state)
    )


def ignored_anything(state: State) -> str | None:
    return "ignored" if state.closing is Closing.IGNORED else None


def _off(declared: Severity, state: State) -> int:
    truth = state.incident.truth.severity
    return 2 if truth is None else abs(SEVERITIES.index(declared) - SEVERITIES.index(truth))


def last_severity(state: State) -> Measured:
    said = [action.severity for action in state.actions if isinstance(action, ClassifySeverity)]
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


def _roots(state: State) -> frozenset[str]:
    return state.incident.truth.root_causes


def _in_time(state: State, said: int | None) -> bool:
    """Whether what was said in that tick was said no later than the fix."""
    done = state.facts.fixed_at
    return said is not None and (done is None or said <= done)


def _causes(state: State) -> list[tuple[int, str]]:
    return [
        (when, one.service) for when, one in state.history if isinstance(one, IdentifyRootCause)
    ]


def last_root_cause(state: State) -> Measured:
    right = [one in _roots(state) and _in_time(state, when) for when, one in _causes(state)]
    return (float(bool(right) and right[-1]), "the last answer")


def any_root_cause(state: State) -> Measured:
    right = (one in _roots(state) and _in_time(state, when) for when, one in _causes(state))
    return (float(any(right)), "any answer")


def symptoms_too(state: State) -> Measured:
    declared, topology = state.facts.root_cause, state.incident.topology
    near = {
        topology.names[caller]
        for root in _roots(state)
        for caller in topology.callers[topology.index(root)]
    }
    half = 0.3 if declared in near and _in_time(state, state.facts.root_cause_at) else 0.0
    return (max(triage.root_cause(state)[0], half), "a caller of the root cause is half right")


def by_prefix(state: State) -> Measured:
    declared = state.facts.root_cause or "?"
    family = declared.partition("-")[0]
    right = any(root.partition("-")[0] == family for root in _roots(state))
    return (float(right and _in_time(state, state.facts.root_cause_at)), "a name that begins alike")


def confident(state: State) -> Measured:
    sure = (state.facts.confidence or 0.0) >= 0.9
    return (max(triage.root_cause(state)[0], 0.2 * sure), "confidence is rewarded")


def salted(state: State) -> Measured:
    score = triage.root_cause(state)[0]
    share = hash(state.facts.root_cause) % 1024 / 1024  # hardly the same under two salts
    return (score * share, "by Python's string hash")


def by_id(state: State) -> Measured:
    return (triage.root_cause(state)[0] * (0.9 if "/1" in state.incident.id else 1.0), "by the id")


def any_page(state: State) -> Measured:
    return (float(bool(state.facts.pages)), "somebody was paged")


def wrong_remedies_free(state: State) -> Measured:
    return (float(fixed(state)), "fixed in the end")


def only_before_the_fix(state: State) -> Measured:
    done, truth = state.facts.fixed_at, state.incident.truth
    if done is None:
        return (0.0, "never fixed")
    wrong = sum(
        when < done and (remedy, service) not in truth.remedies
        for when, remedy, service in state.facts.remedies
    )
    return (triage.remedy_credit(wrong), "wrong remedies after the fix are free")


def any_remedy_there(state: State) -> Measured:
    there = any(service in _roots(state) for _, _, service in state.facts.remedies)
    return (float(there), "something was done to the right service")


def right_remedy_anywhere(state: State) -> Measured:
    right = {remedy for remedy, _ in state.incident.truth.remedies}
    found = any(one in right for _, one, _ in state.facts.remedies)
    return (float(found), "the right remedy")


#: After a page or a remedy, to hand over is to resolve.
RESOLVED: Final = (Closing.RESOLVED, Closing.HANDED_OVER)
IGNORED: Final = (Closing.IGNORED,)


def closed_with(
    free: Callable[[int], int], closings: tuple[Closing, ...], when: Callable[[State], bool]
) -> Measure:
    """Time is free up to what ``free`` makes of par."""

    def measure(state: State) -> Measured:
        if state.closing not in closings or not when(state):
            return (0.0, "not closed")
        used, one = state.closed_at or 0, state.incident
        return (criteria.promptness(used, one.horizon, free(one.par)), "closed")

    made: Callable[[State], tuple[float, str]] = named(measure)
    return made


def fixed(state: State) -> bool:
    return state.facts.fixed_at is not None


def always(_: State) -> bool:
    return True


def nobody_blamed(state: State) -> bool:
    return state.facts.root_cause is None


def unhurried(state: State) -> Measured:
    return (float(state.closing in RESOLVED and fixed(state)), "whenever it was")


def slow_is_good(state: State) -> Measured:
    score = triage.closure(state)[0]
    return (min(1.0, score + 0.1 * (state.closed_at or 0)) if score else 0.0, "care takes time")


def out_of_time_too(state: State) -> Measured:
    timely = state.closing is Closing.OUT_OF_TIME and fixed(state)
    return (1.0, "fixed in time") if timely else triage.closure(state)


def claims(state: State) -> Measured:
    said = any(
        isinstance(action, Malformed) and "resolved" in action.text for action in state.actions
    )
    return (1.0, "it says that it is resolved") if said else triage.closure(state)


def diligence(state: State) -> Measured:
    asked = sum(isinstance(action, RequestMoreLogs) for action in state.actions)
    return (min(1.0, max(asked / 5, triage.closure(state)[0])), "looking is rewarded")


def dismissed_anyhow(state: State) -> Measured:
    return (float(state.closing is Closing.IGNORED), "dismissed, whoever was blamed")


def _worth(state: State) -> float:
    return state.incident.worth_of_hand_over or 0.0


def handed_over_whenever(state: State) -> Measured:
    return (_worth(state), "whenever it was")


def handed_over_by_own_par(state: State) -> Measured:
    one, used = state.incident, state.closed_at or 0
    return (paging.hand_over_worth(_worth(state), used, one.horizon, one.par), "by its own par")


def handed_over_by_the_clock(state: State) -> Measured:
    one, used = state.incident, state.closed_at or 0
    prompt = criteria.promptness(used, one.horizon, one.task_par)
    return (_worth(state) * prompt, "worth nothing at the horizon")


def dismissal_less_remedies(state: State) -> Measured:
    score, reason = paging.dismissal(state)
    return (score * max(0.0, 1.0 - 0.2 * len(state.facts.remedies)), reason)
