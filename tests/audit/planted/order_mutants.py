"""Mutants of what comes first: silence and its price, the page before the fix, the diagnosis."""

from collections.abc import Callable
from typing import Final

from logtriage.grading import Measure, Measured, criteria, triage
from logtriage.state import State
from tests.audit.planted.changed_rubrics import with_discounts, with_measures, without

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
    return criteria.root_cause(state)


def _remediation(credit: Callable[[int], float], approved: Callable[[State], bool]) -> Measure:
    def measure(state: State) -> Measured:
        if state.facts.fixed_at is None:
            return (0.0, "not fixed")
        share = 1.0 if approved(state) else triage.UNAPPROVED_FIX
        return (share * credit(state.facts.wrong_remedies), "fixed")

    return measure


def cheap(wrong: int) -> float:
    return max(0.0, 1.0 - 0.2 * wrong)


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


#: Name, what is wrong, and the rubric with it.
TABLE: Final = (
    ("silence-free", "a response without a page counts in full", without("unescalated")),
    ("silence-one-price", "silence is worth 0.4 everywhere", with_discounts(unescalated=one_price)),
    ("silence-undivided", "the factor is c, not c / 0.625", with_discounts(unescalated=undivided)),
    (
        "silence-on-benign",
        "silence costs where nobody is to be paged",
        with_discounts(unescalated=silent_on_benign),
    ),
    (
        "silence-until-the-fix",
        "a page after the fix does not end the silence",
        with_discounts(unescalated=paged_in_time),
    ),
    ("probing-free", "wrong remedies before the page cost no share", without("unapproved")),
    (
        "probing-once",
        "wrong remedies before the page cost one share",
        with_discounts(unapproved=once),
    ),
    (
        "probing-after-the-page",
        "wrong remedies after the page cost a share, too",
        with_discounts(unapproved=every_wrong_remedy),
    ),
    (
        "probing-until-the-fix",
        "wrong remedies after an unapproved fix cost no share",
        with_discounts(unapproved=until_the_fix),
    ),
    (
        "probing-same-tick",
        "a page in the tick of a wrong remedy approves it",
        with_discounts(unapproved=page_in_the_same_tick),
    ),
    (
        "probing-on-benign",
        "remedies on a benign incident cost a share",
        with_discounts(unapproved=unapproved_on_benign),
    ),
    (
        "diagnosis-after-the-fix",
        "a root cause may be declared after the fix",
        with_measures(root_cause=criteria.root_cause),
    ),
    (
        "diagnosis-strictly-before",
        "a root cause in the tick of the fix is too late",
        with_measures(root_cause=declared_before),
    ),
    (
        "fix-cheap",
        "a wrong remedy costs 0.2",
        with_measures(remediation=_remediation(cheap, triage.approved)),
    ),
    (
        "fix-unordered",
        "a fix without a page counts in full",
        with_measures(remediation=_remediation(triage.remedy_credit, _always)),
    ),
    (
        "fix-paged-whenever",
        "a page after the fix approves it",
        with_measures(remediation=_remediation(triage.remedy_credit, _ever_paged)),
    ),
    (
        "fix-same-tick",
        "a page in the tick of the fix approves it",
        with_measures(remediation=_remediation(triage.remedy_credit, _paged_by_then)),
    ),
    (
        "fix-repeated",
        "repeating the fix after the page restores what was lost",
        with_measures(remediation=_remediation(triage.remedy_credit, _before_the_last_fix)),
    ),
)
