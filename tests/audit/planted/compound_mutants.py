"""Rubric ``logtriage/2`` with one mistake each in what it makes of several faults."""

from collections.abc import Callable
from typing import Final

import attrs

from logtriage.grading import TRIAGE_2, Gate, Measure, Measured, Rubric, criteria, triage
from logtriage.grading.criteria import promptness
from logtriage.grading.parts import Response, responses
from logtriage.state import Closing, State


def _real(**measures: Measure) -> Rubric:
    return attrs.evolve(
        TRIAGE_2,
        criteria=[
            attrs.evolve(row, measure=measures.get(row.name, row.measure))
            for row in TRIAGE_2.criteria
        ],
    )


def _discounted(name: str, factor: Callable[[State], Measured | None]) -> Rubric:
    return attrs.evolve(
        TRIAGE_2,
        discounts=[
            attrs.evolve(one, factor=factor) if one.name == name else one
            for one in TRIAGE_2.discounts
        ],
    )


def _count(state: State) -> int:
    return max(1, len(state.incident.truth.parts))


# -- root causes ---------------------------------------------------------------------------


def first_only(state: State) -> Measured:
    return criteria.root_cause(state)


def all_or_nothing(state: State) -> Measured:
    score, reason = triage.root_cause(state)
    return (float(score == 1.0), reason)


def any_number(state: State) -> Measured:
    """Whatever was declared counts, however much it was."""
    truth, facts = state.incident.truth, state.facts
    said = {service for _, service in facts.root_causes}
    right = sum(not part.root_causes.isdisjoint(said) for part in truth.parts)
    return (right / _count(state), "named at some time")


def recovery_is_diagnosis(state: State) -> Measured:
    rows = responses(state)
    return (sum(one.said_at is not None for one in rows) / _count(state), "named")


def until_the_last_fix(state: State) -> Measured:
    """A root cause may be declared until everything is fixed."""
    end = state.facts.fixed_at
    named = [
        one
        for one in responses(state)
        if one.said_at is not None and (end is None or one.said_at <= end)
    ]
    return (len(named) / _count(state), "named while something was left")


# -- pages ---------------------------------------------------------------------------------


def any_page(state: State) -> Measured:
    return (float(state.facts.paged_at is not None), "somebody right was paged")


def by_teams(state: State) -> Measured:
    """The share of the teams, not of the faults."""
    teams = state.incident.truth.teams
    paged = {team for _, team in state.facts.pages}
    return (len(paged & teams) / max(1, len(teams)), "teams paged")


def one_page_a_fault(state: State) -> Measured:
    """A page serves one fault, even where two are the same team's."""
    pages = sum(team in state.incident.truth.teams for _, team in state.facts.pages)
    score, reason = criteria.escalation(state)
    return (min(score, pages / _count(state)), reason)


def silence_ended_by_any(state: State) -> Measured | None:
    return None if state.facts.paged_at is not None else triage.unescalated(state)


def silence_until_all(state: State) -> Measured | None:
    found = triage.unescalated(state)
    price = state.incident.price_of_silence or 0.0
    return None if found is None else (price / triage.MOST_UNPAGED, "all or nothing")


def a_page_wrong_for_one(state: State) -> str | None:
    """A page that is right for one fault and wrong for another closes the gate."""
    parts = state.incident.truth.parts
    if all(team in part.teams for _, team in state.facts.pages for part in parts):
        return None
    return "some fault was another team's"


# -- remedies and closure ------------------------------------------------------------------


def _fixed(credit: Callable[[Response], float]) -> Measure:
    def measure(state: State) -> Measured:
        earned = sum(credit(one) for one in responses(state)) / _count(state)
        return (earned * triage.remedy_credit(state.facts.wrong_remedies), "fixed")

    return measure


def _unordered(one: Response) -> float:
    return float(one.fixed_at is not None)


def any_fix(state: State) -> Measured:
    rows = responses(state)
    return (
        max([triage.fix_credit(one) for one in rows], default=0.0)
        * triage.remedy_credit(state.facts.wrong_remedies),
        "something was fixed",
    )


def approved_by_any(state: State) -> Measured:
    """The first right page approves the fix of every fault."""
    paged = state.facts.paged_at
    earned = 0.0
    for one in responses(state):
        if one.fixed_at is not None:
            earned += 1.0 if paged is not None and paged < one.fixed_at else triage.UNAPPROVED_FIX
    share = earned / _count(state)
    return (share * triage.remedy_credit(state.facts.wrong_remedies), "approved by the first")


def closed_after_any(state: State) -> Measured:
    if state.closing is not Closing.RESOLVED:
        return (0.0, triage.not_closed(state, "resolved"))
    if all(one.fixed_at is None for one in responses(state)):
        return (0.0, "nothing fixed")
    incident = state.incident
    return (promptness(state.closed_at or 0, incident.horizon, incident.par), "resolved")


#: Name, what is wrong, and the rubric with it.
TABLE: Final = (
    ("roots-first-only", "only the first service declared counts", _real(root_cause=first_only)),
    ("roots-all-or-nothing", "some of the roots are none", _real(root_cause=all_or_nothing)),
    ("roots-unlimited", "more than k services declared count", _real(root_cause=any_number)),
    (
        "roots-after-the-fix",
        "a root may be declared after its fix",
        _real(root_cause=recovery_is_diagnosis),
    ),
    (
        "roots-until-the-last-fix",
        "a root may be declared until all is fixed",
        _real(root_cause=until_the_last_fix),
    ),
    ("pages-any", "one right page is enough for all faults", _real(escalation=any_page)),
    ("pages-by-team", "the share is of teams, not of faults", _real(escalation=by_teams)),
    (
        "pages-one-a-fault",
        "one page does not serve two faults",
        _real(escalation=one_page_a_fault),
    ),
    (
        "silence-ended-by-any",
        "one right page ends the silence for all faults",
        _discounted("unescalated", silence_ended_by_any),
    ),
    (
        "silence-until-all",
        "one unpaged fault is silence about all",
        _discounted("unescalated", silence_until_all),
    ),
    (
        "gate-wrong-for-one",
        "a page must be right for every fault",
        attrs.evolve(
            TRIAGE_2,
            gates=(Gate("wrong_escalation", a_page_wrong_for_one), TRIAGE_2.gates[1]),
        ),
    ),
    ("fixes-any", "one fault fixed is all fixed", _real(remediation=any_fix)),
    (
        "fixes-unordered",
        "a fix before its team was paged counts in full",
        _real(remediation=_fixed(_unordered)),
    ),
    (
        "fixes-approved-by-any",
        "the first right page approves every fix",
        _real(remediation=approved_by_any),
    ),
    ("closure-after-any", "resolving after the first fix counts", _real(closure=closed_after_any)),
)
