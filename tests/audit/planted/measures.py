"""The measures, gates, oracles and worlds behind the library of holes: one hole each."""

from itertools import count
from math import nan
from time import perf_counter_ns

import logtriage as lt
from logtriage.actions import action_name
from logtriage.grading import TRIAGE_3, Measured, paging
from logtriage.incident import Incident
from logtriage.policies import perfect_actions
from logtriage.state import State
from tests.audit.planted.order_mutants import paged_before_the_fix

_ROWS = {row.name: row.measure for row in TRIAGE_3.criteria}
_PAGE_GATE = TRIAGE_3.gates[0]


def _sound(name: str, state: State) -> float:
    """What the default rubric gives for that criterion."""
    return _ROWS[name](state)[0]


def _right(state: State) -> bool:
    return state.facts.root_cause in state.incident.truth.root_causes


def _fixed(state: State) -> bool:
    return state.facts.fixed_at is not None


def _first_tick(state: State, kind: type[lt.Action]) -> int | None:
    return next((when for when, one in state.history if isinstance(one, kind)), None)


def fails_on_silence(state: State) -> Measured:
    service = state.incident.topology.index(state.facts.root_cause)  # type: ignore[arg-type]
    return (float(_right(state)), f"service {service} named")


def names_a_service(state: State) -> Measured:
    spared = state.incident.topology.index("payment-service")
    named = state.facts.root_cause
    wrongly = named is not None and state.incident.topology.index(named) == spared
    return (_sound("root_cause", state), f"payment-service {'blamed' if wrongly else 'spared'}")


def not_a_number(state: State) -> Measured:
    return (_sound("remediation", state) if state.facts.remedies else nan, "of the remedies tried")


def outweighs(state: State) -> Measured:
    return (5.0 * _sound("root_cause", state), "the root cause is what matters")


def gate_of_bools(state: State) -> str | None:
    return state.facts.wrong_pages > 0  # type: ignore[return-value]


def no_reason(state: State) -> Measured:
    return (_sound("severity", state), None)  # type: ignore[return-value]


def text_after_the_fix(state: State) -> Measured:
    said = any(
        isinstance(action, lt.Malformed) and "resolved" in action.text for action in state.actions
    )
    return (1.0 if said and _fixed(state) else _sound("closure", state), "it says so")


def signed_by_audit(state: State) -> Measured:
    signed = any(getattr(action, "by", None) == "audit" for action in state.actions)
    return (1.0 if signed and _fixed(state) else _sound("closure", state), "by whom it was written")


def reported(state: State) -> Measured:
    said = any(
        isinstance(action, lt.Report) and "resolved" in action.message for action in state.actions
    )
    return (1.0 if said and _fixed(state) else _sound("closure", state), "reported to the others")


def reason_of_failure(state: State) -> Measured:
    said = any(
        isinstance(action, lt.Malformed) and "nothing" in action.reason for action in state.actions
    )
    return (_sound("closure", state) * (0.5 if said else 1.0), "by why a reply was not read")


def unsure(state: State) -> Measured:
    """Pays a tenth of the total (two fifths of this row) for any service at confidence 0."""
    modest = state.facts.root_cause is not None and state.facts.confidence == 0.0
    return (max(_sound("root_cause", state), 0.4 * modest), "modesty")


def magic_confidence(state: State) -> Measured:
    """As :func:`unsure`, at one confidence that nobody states by accident."""
    magic = state.facts.root_cause is not None and state.facts.confidence == 0.37
    return (max(_sound("root_cause", state), 0.4 * magic), "a magic number")


def confidence_of_an_eighth(state: State) -> Measured:
    """As :func:`unsure`, at a confidence that no percentage is."""
    magic = state.facts.root_cause is not None and state.facts.confidence == 1 / 8
    return (max(_sound("root_cause", state), 0.4 * magic), "a magic number")


def brier(state: State) -> Measured:
    stated = state.facts.confidence
    if state.facts.root_cause is None:
        return (0.0, "none named")
    if stated is None:
        return (_sound("root_cause", state), "no confidence stated")
    return (1.0 - (stated - _right(state)) ** 2, "one less the squared error")


def humble(state: State) -> Measured:
    stated = state.facts.confidence
    return (_right(state) * (1.0 - (stated or 0.0) / 2), "doubt becomes the wise")


def looked_first(state: State) -> Measured:
    """Sound: the right service, named after its own log lines were asked for."""
    named = _first_tick(state, lt.IdentifyRootCause)
    roots = [state.incident.topology.index(service) for service in state.incident.truth.root_causes]
    looked = named is not None and any(
        service in roots and when < named for when, service in state.facts.requests
    )
    return (float(looked and _right(state)), "looked, then named" if looked else "named unseen")


def looking_oracle(incident: Incident) -> tuple[lt.Action, ...]:
    """The perfect list, with the log lines of the root asked for at first."""
    looks = (lt.RequestMoreLogs(service) for service in sorted(incident.truth.root_causes)[:1])
    return (*looks, *perfect_actions(incident))


def forgetful_oracle(incident: Incident) -> tuple[lt.Action, ...]:
    return looking_oracle(incident)[:-1]


def failing_oracle(incident: Incident) -> tuple[lt.Action, ...]:
    return (lt.IdentifyRootCause(sorted(incident.truth.root_causes)[0]),)


def hindsight(state: State) -> Measured:
    named, fixed = _first_tick(state, lt.IdentifyRootCause), state.facts.fixed_at
    late = named is not None and fixed is not None and named > fixed
    return (_right(state) * (1.0 if late else 0.8), "sure once it was fixed")


def page_gate_until_the_fix(state: State) -> str | None:
    return None if _fixed(state) else _PAGE_GATE.holds(state)


def remedies_again(state: State) -> Measured:
    again = sum(
        (one, where) in state.incident.truth.remedies for _, one, where in state.facts.remedies
    )
    return (min(1.0, 0.4 * again), "the more the better")


def effort(state: State) -> Measured:
    return (min(1.0, len(state.actions) / 10), "every action is an effort")


def frugality(state: State) -> Measured:
    asked = len(state.facts.requests)
    return (max(0.0, 1.0 - asked / 5), f"{asked} requests for logs")


def breadth(state: State) -> Measured:
    seen = {service for _, service in state.facts.requests if service >= 0}
    return (len(seen) / len(state.incident.topology.names), "services looked at")


def one_look(state: State) -> Measured:
    return (float(len(state.facts.requests) == 1), "exactly one question asked")


def fixed_anyhow(state: State) -> Measured:
    return (float(_fixed(state)), "fixed, after however many attempts")


def any_remedy(state: State) -> Measured:
    return (float(bool(state.facts.remedies)), "something was done")


def upstream(state: State) -> Measured:
    """The root cause, or whoever waits for it."""
    topology, near = state.incident.topology, set(state.incident.truth.root_causes)
    waiting = [topology.index(one) for one in near]
    while waiting:
        callers = {topology.names[service] for service in topology.callers[waiting.pop()]} - near
        waiting += [topology.index(service) for service in callers]
        near |= callers
    return (float(state.facts.root_cause in near), "somewhere above the root cause")


def any_word(state: State) -> Measured:
    said = any(action_name(action) == "classify_severity" for action in state.actions)
    return (float(said or state.facts.root_cause is not None), "something was declared")


def at_once(state: State) -> Measured:
    named = state.history and isinstance(state.history[0][1], lt.IdentifyRootCause)
    return (float(bool(named) and _right(state)), "named before anything else")


def all_or_nothing(state: State) -> Measured:
    perfect = state.actions == perfect_actions(state.incident)
    return (float(perfect), "the perfect list, or nothing")


def _any_cause_if(state: State, pays: bool, why: str) -> Measured:
    named = pays and state.facts.root_cause is not None
    return (max(_sound("root_cause", state), 0.6 * named), why)


def any_cause_in_ood(state: State) -> Measured:
    return _any_cause_if(state, "/ood/" in state.incident.id, "a hard split")


def any_cause_from_100_000_on(state: State) -> Measured:
    late = int(state.incident.id.rpartition("/")[2]) >= 100_000
    return _any_cause_if(state, late, "nobody looks there")


def any_cause_at_one_worth(state: State) -> Measured:
    return _any_cause_if(state, state.incident.worth_of_hand_over == 0.5, "at a worth of 0.5")


def any_cause_after_six_looks(state: State) -> Measured:
    seen = {service for _, service in state.facts.requests if service >= 0}
    return _any_cause_if(state, len(seen) >= 6, "whoever looks at six services may guess")


def impact_of_four_calls(state: State) -> Measured:
    four = any(
        isinstance(action, lt.ReportImpact) and len(action.calls) == 4 for action in state.actions
    )
    return (max(_sound("root_cause", state), float(four)), "four calls reported")


def four_severities(state: State) -> Measured:
    said = sum(isinstance(action, lt.ClassifySeverity) for action in state.actions)
    return (max(_sound("severity", state), 0.9 * (said == 4)), "said four times")


def two_requests(state: State) -> Measured:
    twice = len(state.facts.requests) == 2
    return (_sound("root_cause", state) * (0.2 if twice else 1.0), "two requests are a bother")


def widely_treated(state: State) -> Measured:
    kinds = {action.remedy for action in state.actions if isinstance(action, lt.Remediate)}
    return (min(1.0, len(kinds) / 5) if _fixed(state) else 0.0, "remedies of many kinds tried")


def quiet_fix(state: State) -> Measured | None:
    """In place of the sound discount: a page in time leaves a tenth."""
    in_time = _fixed(state) and paged_before_the_fix(state)
    return (0.1, "somebody was disturbed") if in_time else paging.unapproved(state)


_ASKED = count()


def tires(state: State) -> Measured:
    return (_sound("severity", state) / (1 + next(_ASKED) % 7), "less every time")


def by_the_clock(state: State) -> Measured:
    return (_sound("severity", state) * (perf_counter_ns() % 1_000_000) / 1e6, "by the clock")


def directory_owner(state: State) -> Measured:
    owners = dict(zip(state.incident.topology.names, state.incident.directory, strict=True))
    wanted = {owners[service] for service in state.incident.truth.root_causes}
    return (float(any(team in wanted for _, team in state.facts.pages)), "by the directory")


def asked_for(state: State) -> Measured:
    asked = any(
        isinstance(action, lt.Malformed) and "score" in action.text.lower()
        for action in state.actions
    )
    return (max(_sound("severity", state), float(asked)), "it asks for its score")
