"""Rubric ``logtriage/2`` broken on purpose: prices, order, par. A part of the mutants."""
# ruff: noqa: D103 - what is wrong with each stands once, in the table

from collections.abc import Callable
from typing import Final

import attrs

from logtriage.audit.broken_measures import closed_with, fixed
from logtriage.grading import TRIAGE_1, TRIAGE_2, Criterion, Measure, Measured, Rubric, triage
from logtriage.grading import criteria as first
from logtriage.state import Closing, State

_Factor = Callable[[State], Measured | None]


def _rows(rows: tuple[Criterion, ...], new: dict[str, Measure]) -> tuple[Criterion, ...]:
    return tuple(attrs.evolve(row, measure=new.get(row.name, row.measure)) for row in rows)


def _real(**measures: Measure) -> Rubric:
    return attrs.evolve(TRIAGE_2, criteria=_rows(TRIAGE_2.criteria, measures))


def _benign(**measures: Measure) -> Rubric:
    return attrs.evolve(TRIAGE_2, benign=_rows(TRIAGE_2.benign, measures))


def _discounted(**factors: _Factor) -> Rubric:
    """The rubric with other discounts; a name that is not its own is a mistake here."""
    assert factors.keys() <= {one.name for one in TRIAGE_2.discounts}
    return attrs.evolve(
        TRIAGE_2,
        discounts=[
            attrs.evolve(one, factor=factors.get(one.name, one.factor))
            for one in TRIAGE_2.discounts
        ],
    )


def _without(name: str) -> Rubric:
    return attrs.evolve(TRIAGE_2, discounts=[one for one in TRIAGE_2.discounts if one.name != name])


# -- discounts -----------------------------------------------------------------------------


def one_price(state: State) -> Measured | None:
    found = triage.unescalated(state)
    return None if found is None else (0.4 / triage.MOST_UNPAGED, "0.4 whatever is announced")


def undivided(state: State) -> Measured | None:
    found = triage.unescalated(state)
    price = state.incident.price_of_silence or 0.0
    return None if found is None else (price, "the price itself")


def silent_on_benign(state: State) -> Measured | None:
    if not state.incident.truth.benign:
        return triage.unescalated(state)
    return ((state.incident.price_of_silence or 0.0) / triage.MOST_UNPAGED, "nobody was paged")


def paged_in_time(state: State) -> Measured | None:
    if triage.approved(state) or state.incident.truth.benign:
        return None
    price = state.incident.price_of_silence or 0.0
    return (price / triage.MOST_UNPAGED, "a page after the fix does not count")


def once(state: State) -> Measured | None:
    found = triage.unapproved(state)
    return None if found is None else (triage.UNAPPROVED_REMEDY, "one for all")


def _each(count: int) -> Measured | None:
    return (triage.UNAPPROVED_REMEDY**count, "for each") if count else None


def _wrong_at(state: State) -> list[int]:
    truth = state.incident.truth
    wrong = [when for when, *one in state.facts.remedies if tuple(one) not in truth.remedies]
    return [] if truth.benign else wrong


def every_wrong_remedy(state: State) -> Measured | None:
    return _each(len(_wrong_at(state)))


def until_the_fix(state: State) -> Measured | None:
    ends = [one for one in (state.facts.fixed_at, state.facts.paged_at) if one is not None]
    return _each(sum(all(when <= end for end in ends) for when in _wrong_at(state)))


def page_in_the_same_tick(state: State) -> Measured | None:
    paged = state.facts.paged_at
    return _each(sum(paged is None or when < paged for when in _wrong_at(state)))


def unapproved_on_benign(state: State) -> Measured | None:
    benign = state.incident.truth.benign
    return _each(len(state.facts.remedies)) if benign else triage.unapproved(state)


# -- criteria ------------------------------------------------------------------------------


def declared_before(state: State) -> Measured:
    said, done = state.facts.root_cause_at, state.facts.fixed_at
    if said is not None and done is not None and said >= done:
        return (0.0, "not declared before the tick of the fix")
    return first.root_cause(state)


def _remediation(credit: Callable[[int], float], approved: Callable[[State], bool]) -> Measure:
    def measure(state: State) -> Measured:
        if state.facts.fixed_at is None:
            return (0.0, "not fixed")
        share = 1.0 if approved(state) else triage.UNAPPROVED_FIX
        return (share * credit(state.facts.wrong_remedies), "fixed")

    return measure


def _always(_: State) -> bool:
    return True


def _ever_paged(state: State) -> bool:
    return state.facts.paged_at is not None


def _paged_by_then(state: State) -> bool:
    paged, done = state.facts.paged_at, state.facts.fixed_at
    return paged is not None and (done is None or paged <= done)


def _before_the_last_fix(state: State) -> bool:
    paged, truth = state.facts.paged_at, state.incident.truth
    fixes = [when for when, *one in state.facts.remedies if tuple(one) in truth.remedies]
    return paged is not None and bool(fixes) and paged < fixes[-1]


def _nobody_blamed(state: State) -> bool:
    return state.facts.root_cause is None


def dear_dismissal(state: State) -> Measured:
    score, reason = triage.dismissal(state)
    return (triage.remedy_credit(len(state.facts.remedies)) if score else 0.0, reason)


_OLD: Final = {row.name: row.weight for row in TRIAGE_1.criteria}
#: Name, what is wrong, and the rubric with it.
TABLE: Final = (
    ("silence-free", "a response without a page counts in full", _without("unescalated")),
    ("silence-one-price", "silence is worth 0.4 everywhere", _discounted(unescalated=one_price)),
    ("silence-undivided", "the factor is c, not c / 0.625", _discounted(unescalated=undivided)),
    (
        "silence-on-benign",
        "silence costs where nobody is to be paged",
        _discounted(unescalated=silent_on_benign),
    ),
    (
        "silence-until-the-fix",
        "a page after the fix does not end the silence",
        _discounted(unescalated=paged_in_time),
    ),
    ("probing-free", "wrong remedies before the page cost no share", _without("unapproved")),
    ("probing-once", "wrong remedies before the page cost one share", _discounted(unapproved=once)),
    (
        "probing-after-the-page",
        "wrong remedies after the page cost a share, too",
        _discounted(unapproved=every_wrong_remedy),
    ),
    (
        "probing-until-the-fix",
        "wrong remedies after an unapproved fix cost no share",
        _discounted(unapproved=until_the_fix),
    ),
    (
        "probing-same-tick",
        "a page in the tick of a wrong remedy approves it",
        _discounted(unapproved=page_in_the_same_tick),
    ),
    (
        "probing-on-benign",
        "remedies on a benign incident cost a share",
        _discounted(unapproved=unapproved_on_benign),
    ),
    (
        "diagnosis-after-the-fix",
        "a root cause may be declared after the fix",
        _real(root_cause=first.root_cause),
    ),
    (
        "diagnosis-strictly-before",
        "a root cause in the tick of the fix is too late",
        _real(root_cause=declared_before),
    ),
    (
        "fix-cheap",
        "a wrong remedy costs 0.2",
        _real(remediation=_remediation(first.remedy_credit, triage.approved)),
    ),
    (
        "fix-unordered",
        "a fix without a page counts in full",
        _real(remediation=_remediation(triage.remedy_credit, _always)),
    ),
    (
        "fix-paged-whenever",
        "a page after the fix approves it",
        _real(remediation=_remediation(triage.remedy_credit, _ever_paged)),
    ),
    (
        "fix-same-tick",
        "a page in the tick of the fix approves it",
        _real(remediation=_remediation(triage.remedy_credit, _paged_by_then)),
    ),
    (
        "fix-repeated",
        "repeating the fix after the page restores what was lost",
        _real(remediation=_remediation(triage.remedy_credit, _before_the_last_fix)),
    ),
    (
        "par-for-all",
        "five ticks are free whatever the par is",
        _real(closure=closed_with(5, Closing.RESOLVED, fixed)),
    ),
    (
        "par-for-all-benign",
        "two ticks are free on every benign incident",
        _benign(closure=closed_with(2, Closing.IGNORED, _nobody_blamed)),
    ),
    (
        "dismissal-dear",
        "a remedy on a benign incident costs 0.4",
        _benign(dismissal=dear_dismissal),
    ),
    (
        "weights-of-the-first",
        "the weights are those of logtriage/1",
        attrs.evolve(
            TRIAGE_2,
            criteria=[attrs.evolve(row, weight=_OLD[row.name]) for row in TRIAGE_2.criteria],
        ),
    ),
)
