"""Mutants of what comes first: silence and its worth, the page before the fix, the diagnosis."""

from typing import Final

from logtriage.grading import Measured, criteria, paging
from logtriage.state import State
from tests.audit.planted.changed_rubrics import with_discounts, with_measures, without


def silence_at_the_worth(state: State) -> Measured | None:
    measured = paging.unescalated(state)
    worth = state.incident.worth_of_hand_over or 0.0
    return None if measured is None else (worth, "the worth of a hand-over")


def half_silence(state: State) -> Measured | None:
    measured = paging.unescalated(state)
    return None if measured is None else (0.5, "silence leaves a half")


def silent_on_benign(state: State) -> Measured | None:
    if not state.incident.truth.benign:
        return paging.unescalated(state)
    return (paging.UNESCALATED, "nobody was paged")


def paged_before_the_fix(state: State) -> bool:
    """Whether an accepted team was paged, and in an earlier tick than the fix, if there is any."""
    paged, fixed = state.facts.paged_at, state.facts.fixed_at
    return paged is not None and (fixed is None or paged < fixed)


def paged_in_time(state: State) -> Measured | None:
    if paged_before_the_fix(state) or state.incident.truth.benign:
        return None
    return (paging.UNESCALATED, "a page after the fix does not count")


def once(state: State) -> Measured | None:
    measured = paging.unapproved(state)
    return None if measured is None else (paging.UNAPPROVED_REMEDY, "one for all")


def _each(count: int) -> Measured | None:
    return (paging.UNAPPROVED_REMEDY**count, "for each") if count else None


def _wrong_at(state: State) -> list[int]:
    truth = state.incident.truth
    return [when for when, *one in state.facts.remedies if tuple(one) not in truth.remedies]


def every_wrong_remedy(state: State) -> Measured | None:
    return _each(len(_wrong_at(state)))


def until_the_fix(state: State) -> Measured | None:
    ends = [one for one in (state.facts.fixed_at, state.facts.paged_at) if one is not None]
    return _each(sum(all(when <= end for end in ends) for when in _wrong_at(state)))


def page_in_the_same_tick(state: State) -> Measured | None:
    paged = state.facts.paged_at
    return _each(sum(paged is None or when < paged for when in _wrong_at(state)))


def only_on_faults(state: State) -> Measured | None:
    return None if state.incident.truth.benign else paging.unapproved(state)


def _early(early: bool) -> Measured | None:
    return (paging.UNAPPROVED_FIX, "fixed before the page") if early else None


def never_paged(state: State) -> Measured | None:
    return _early(state.facts.fixed_at is not None and state.facts.paged_at is None)


def paged_after_the_fix(state: State) -> Measured | None:
    paged, done = state.facts.paged_at, state.facts.fixed_at
    return _early(done is not None and (paged is None or paged > done))


def paged_after_the_last_fix(state: State) -> Measured | None:
    paged, truth = state.facts.paged_at, state.incident.truth
    fixes = [when for when, *one in state.facts.remedies if tuple(one) in truth.remedies]
    return _early(bool(fixes) and (paged is None or paged >= fixes[-1]))


def declared_before(state: State) -> Measured:
    said, done = state.facts.root_cause_at, state.facts.fixed_at
    if said is not None and done is not None and said >= done:
        return (0.0, "not declared before the tick of the fix")
    return criteria.root_cause(state)


def cheap(state: State) -> Measured:
    if state.facts.fixed_at is None:
        return (0.0, "not fixed")
    return (max(0.0, 1.0 - 0.2 * state.facts.wrong_remedies), "a wrong remedy costs 0.2")


#: Name, what is wrong, and the rubric with it.
TABLE: Final = (
    ("silence-free", "a response without a page counts in full", without("unescalated")),
    ("silence-at-the-worth", "silence leaves the worth of a hand-over",
     with_discounts(unescalated=silence_at_the_worth)),
    ("silence-half", "silence leaves 0.5", with_discounts(unescalated=half_silence)),
    ("silence-on-benign", "silence costs where nobody is to be paged",
     with_discounts(unescalated=silent_on_benign)),
    ("silence-until-the-fix", "a page after the fix does not end the silence",
     with_discounts(unescalated=paged_in_time)),
    ("probing-free", "wrong remedies before the page cost no share", without("unapproved")),
    ("probing-once", "wrong remedies before the page cost one share",
     with_discounts(unapproved=once)),
    ("probing-after-the-page", "wrong remedies after the page cost a share, too",
     with_discounts(unapproved=every_wrong_remedy)),
    ("probing-until-the-fix", "wrong remedies after an unapproved fix cost no share",
     with_discounts(unapproved=until_the_fix)),
    ("probing-same-tick", "a page in the tick of a wrong remedy approves it",
     with_discounts(unapproved=page_in_the_same_tick)),
    ("probing-on-benign", "remedies on a benign incident cost nothing",
     with_discounts(unapproved=only_on_faults)),
    ("diagnosis-after-the-fix", "a root cause may be declared after the fix",
     with_measures(root_cause=criteria.root_cause)),
    ("diagnosis-strictly-before", "a root cause in the tick of the fix is too late",
     with_measures(root_cause=declared_before)),
    ("fix-cheap", "a wrong remedy costs 0.2", with_measures(remediation=cheap)),
    ("fix-unordered", "a fix without a page counts in full", without("unapproved_fix")),
    ("fix-paged-whenever", "a page after the fix approves it",
     with_discounts(unapproved_fix=never_paged)),
    ("fix-same-tick", "a page in the tick of the fix approves it",
     with_discounts(unapproved_fix=paged_after_the_fix)),
    ("fix-repeated", "repeating the fix after the page restores what was lost",
     with_discounts(unapproved_fix=paged_after_the_last_fix)),
)  # fmt: skip
