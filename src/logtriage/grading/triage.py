"""The measures and discounts of ``logtriage/2``: the right page at the right confidence.

Pure functions of a state. Of several faults, scores are the shares of them that were named,
paged for and fixed; one fault is the case of all or nothing. Severity, escalation and both
gates are those of :mod:`logtriage.grading.criteria`. A measure returns a score in [0, 1] with
its reason, a discount the share that is left of the total with its reason, or None where it
does not apply.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from logtriage.errors import RubricError
from logtriage.grading import criteria
from logtriage.grading.criteria import Measured, promptness
from logtriage.grading.parts import Response, responses
from logtriage.incident import listed
from logtriage.state import Closing, State

#: What each criterion of a real fault weighs.
WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "severity": 0.15,
        "root_cause": 0.25,
        "escalation": 0.25,
        "remediation": 0.25,
        "closure": 0.10,
    }
)
#: Lost per wrong remedy on a real fault.
WRONG_REMEDY_COST: Final = 0.4
#: Lost per remedy on a benign incident.
BENIGN_REMEDY_COST: Final = 0.2
#: What is left of the remediation if no accepted team had been paged in an earlier tick.
UNAPPROVED_FIX: Final = 0.5
#: What each wrong remedy leaves of the total while no accepted team has been paged.
UNAPPROVED_REMEDY: Final = 0.7
#: The most that can be earned without a page: severity and root cause in full, no escalation,
#: the remediation halved because nobody had been paged before, closure in full
#: (0.15 + 0.25 + 0 + 0.5 * 0.25 + 0.10 = 0.625).
MOST_UNPAGED: Final = (
    WEIGHTS["severity"]
    + WEIGHTS["root_cause"]
    + UNAPPROVED_FIX * WEIGHTS["remediation"]
    + WEIGHTS["closure"]
)


def remedy_credit(wrong: int) -> float:
    """What that many wrong remedies leave of the remediation: max(0, 1 - 0.4 each)."""
    return max(0.0, 1.0 - WRONG_REMEDY_COST * wrong)


def dismissal_credit(remedies: int) -> float:
    """What that many remedies leave of a dismissal: max(0, 1 - 0.2 each)."""
    return max(0.0, 1.0 - BENIGN_REMEDY_COST * remedies)


def approved(state: State) -> bool:
    """Whether an accepted team had been paged in an earlier tick than the first fix.

    As long as nothing is fixed: whether an accepted team has been paged.
    """
    paged, fixed = state.facts.paged_at, state.facts.fixed_at
    return paged is not None and (fixed is None or paged < fixed)


# -- criteria ------------------------------------------------------------------------------


def root_cause(state: State) -> Measured:
    """1 if the first service declared is accepted, and was declared no later than the fix.

    Of k faults, the share that is so named by the first k services declared.
    """
    if state.incident.truth.several:
        return _shared_root_cause(state)
    score, reason = criteria.root_cause(state)
    said, fixed = state.facts.root_cause_at, state.facts.fixed_at
    if not score or said is None or fixed is None or said <= fixed:
        return (score, reason)
    return (
        0.0,
        f"{reason}, but it was declared in tick {said}, after the fix in tick {fixed}: "
        "recovery is no diagnosis",
    )


def _shared_root_cause(state: State) -> Measured:
    truth, facts = state.incident.truth, state.facts
    rows, count = responses(state), len(truth.several)
    score = sum(one.named for one in rows) / count
    counted = [service for _, service in facts.root_causes[:count]]
    if not counted:
        return (score, "no root cause identified")
    services = [listed(part.root_causes) for part in truth.several]
    pairs = list(zip(services, rows, strict=True))
    missed = [service for service, one in pairs if one.said_at is None]
    late = [service for service, one in pairs if one.said_at is not None and not one.named]
    wrong = [service for service in counted if service not in truth.root_causes]
    told = [f"{sum(one.named for one in rows)} of {count} root causes named"]
    if wrong:
        told.append(f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} none")
    if missed:
        told.append(f"{', '.join(missed)} not among the first {count} declared")
    if late:
        told.append(f"{', '.join(late)} declared after the fix: recovery is no diagnosis")
    return (score, "; ".join(told))


def remediation(state: State) -> Measured:
    """max(0, 1 - 0.4 per wrong remedy) once fixed; halved without the page in an earlier tick.

    Of several faults, the share that is fixed, each halved without its page, times the same.
    """
    facts, truth = state.facts, state.incident.truth
    if truth.several:
        return _shared_remediation(state)
    if facts.fixed_at is None:
        wanted = (f"{remedy}:{service}" for remedy, service in truth.remedies)
        return (0.0, f"no accepted remedy applied ({listed(wanted)})")
    score, told = remedy_credit(facts.wrong_remedies), f"fixed in tick {facts.fixed_at}"
    if facts.wrong_remedies:
        told += f", but {told_remedies(facts.wrong_remedies, 'wrong ')} applied"
    if not approved(state):
        score *= UNAPPROVED_FIX
        told += f"; halved, since {listed(truth.teams)} had not been paged before that tick"
    return (score, told)


def _shared_remediation(state: State) -> Measured:
    facts, parts = state.facts, state.incident.truth.several
    rows = list(zip(parts, responses(state), strict=True))
    earned = sum(fix_credit(one) for _, one in rows) / len(rows)
    score = earned * remedy_credit(facts.wrong_remedies)
    fixed = [(part, one) for part, one in rows if one.fixed_at is not None]
    told = [f"{len(fixed)} of {len(rows)} faults fixed"]
    unfixed = [part for part, one in rows if one.fixed_at is None]
    if unfixed:
        wanted = (listed(f"{remedy}:{at}" for remedy, at in part.remedies) for part in unfixed)
        told.append(f"not applied: {', '.join(wanted)}")
    if facts.wrong_remedies:
        told.append(f"{told_remedies(facts.wrong_remedies, 'wrong ')} applied")
    early = [listed(part.root_causes) for part, one in fixed if not one.approved]
    if early:
        told.append(f"halved at {', '.join(early)}, whose team had not been paged before")
    return (score, "; ".join(told))


def fix_credit(one: Response) -> float:
    """What the fix of one fault is worth: 1, or half if its team had not been paged before."""
    if one.fixed_at is None:
        return 0.0
    return 1.0 if one.approved else UNAPPROVED_FIX


def closure(state: State) -> Measured:
    """If resolved once all is fixed: 1 - (ticks used - par) / (horizon - par), clipped.

    To hand over after a page or a remedy is to resolve.
    """
    if state.closing not in (Closing.RESOLVED, Closing.HANDED_OVER):
        return (0.0, not_closed(state, "resolved"))
    done = "resolved" if state.closing is Closing.RESOLVED else "handed over"
    if state.facts.fixed_at is None:
        still = "a" if state.incident.truth.several else "the"
        return (0.0, f"{done} while {still} fault was still there")
    return _promptly(state, done)


def dismissal(state: State) -> Measured:
    """Benign only: 1 if closed by ``Ignore`` with no service blamed; x max(0, 1 - 0.2/remedy)."""
    if state.closing is not Closing.IGNORED:
        return (0.0, not_closed(state, "dismissed"))
    facts = state.facts
    if facts.root_cause is not None:
        return (0.0, f"dismissed, but {facts.root_cause} was blamed")
    applied = len(facts.remedies)
    if not applied:
        return (dismissal_credit(applied), "rightly dismissed")
    told = f"dismissed, but {told_remedies(applied)} applied where nothing was broken"
    return (dismissal_credit(applied), told)


def benign_closure(state: State) -> Measured:
    """Benign only: the closure formula, if dismissed with no one blamed."""
    if state.closing is not Closing.IGNORED or state.facts.root_cause is not None:
        return (0.0, "not dismissed")
    return _promptly(state, "dismissed")


# -- discounts -----------------------------------------------------------------------------


def unescalated(state: State) -> Measured | None:
    """While no accepted team has been paged: c / 0.625, with c the price of silence.

    Of several faults, that much of the share whose team has not been paged, and the rest.

    Raises:
        RubricError: for a real fault without a price of silence, or with one that is not in
            [0, 0.625]: no discount could bring a perfect response to it.
    """
    incident = state.incident
    if incident.truth.benign:
        return None
    price = incident.price_of_silence
    if price is None or not 0.0 <= price <= MOST_UNPAGED:
        raise RubricError(
            f"incident {incident.id!r}: price_of_silence must be a number from 0 to "
            f"{MOST_UNPAGED:g} under rubric 'logtriage/2', got {price!r}"
        )
    unpaged = unpaged_share(state)
    if not unpaged:
        return None
    if unpaged < 1.0:
        return (
            unpaged * (price / MOST_UNPAGED) + (1.0 - unpaged),
            f"{unpaged_teams(state)} never paged: that share of the faults counts "
            f"{price:g} / {MOST_UNPAGED:g}",
        )
    return (
        price / MOST_UNPAGED,
        f"{listed(incident.truth.teams)} never paged: a perfect response without the page would "
        f"be worth {price:g} instead of {MOST_UNPAGED:g}",
    )


def unpaged_share(state: State) -> float:
    """The share of the faults whose team has not been paged."""
    if not state.incident.truth.several:
        return float(state.facts.paged_at is None)
    rows = responses(state)
    return sum(one.paged_at is None for one in rows) / len(rows)


def unpaged_teams(state: State) -> str:
    """The teams of a fault that have not been paged, in words; any of those of one will do."""
    truth = state.incident.truth
    if not truth.several:
        return truth.told_teams
    rows = zip(truth.parts, responses(state), strict=True)
    return ", ".join(
        dict.fromkeys(listed(part.teams) for part, one in rows if one.paged_at is None)
    )


def unapproved(state: State) -> Measured | None:
    """0.7 for each wrong remedy applied while no accepted team was paged in an earlier tick."""
    count, truth = state.facts.unapproved_remedies, state.incident.truth
    if truth.benign or not count:
        return None
    return (
        UNAPPROVED_REMEDY**count,
        f"{told_remedies(count, 'wrong ')} applied before {listed(truth.teams)} had been paged: "
        f"each leaves {UNAPPROVED_REMEDY:g} of the rest",
    )


def _promptly(state: State, done: str) -> Measured:
    used, incident = state.closed_at or 0, state.incident
    score = promptness(used, incident.horizon, incident.par)
    return (
        score,
        f"{done} in {used} tick{'' if used == 1 else 's'} "
        f"(par is {incident.par}, the horizon {incident.horizon})",
    )


def not_closed(state: State, wanted: str) -> str:
    """Why closing earned nothing, in words."""
    match state.closing:
        case None:
            return f"not {wanted}"
        case Closing.MISROUTED:
            return f"closed by a mis-page, not {wanted}"
    return f"closed as {state.closing}, not {wanted}"


def told_remedies(count: int, kind: str = "") -> str:
    """How many remedies of a kind there were, in words."""
    return f"{count} {kind}remed{'y was' if count == 1 else 'ies were'}"
