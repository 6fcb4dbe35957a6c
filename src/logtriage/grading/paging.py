"""The other rules of ``logtriage/3``: the worth of a hand-over, and a page before any remedy.

Pure functions of a state. A measure returns a score in [0, 1] with its reason, a discount the
share that is left of the total with its reason, or None if it does not apply. Before the first
page, a fix leaves 0.7 and a wrong remedy 0.3. These add up to 1, so that trying remedies to find
out whom to page gains nothing: whatever remedies are tried, the shares left by their outcomes add
up to 1, and the page for the best outcome could have been made at once. If nobody is paged after
them, handing over is worth more.
"""

from typing import Final

from logtriage._lib.printable import counted
from logtriage.errors import RubricError
from logtriage.facts import is_approved
from logtriage.grading.criteria import Measured, promptness
from logtriage.grading.triage import (
    not_closed,
    remedies_in_words,
    remedy_credit,
    unpaged_share,
    unpaged_teams,
)
from logtriage.incident import Incident, Part, listed
from logtriage.state import Closing, State

#: The share of the worth of a hand-over that depends on its promptness.
HAND_OVER_PROMPT: Final = 0.1
#: What is left of the total if no accepted team is paged: 0.17 for an otherwise perfect response.
UNESCALATED: Final = 0.32
#: What each wrong remedy leaves of the total while no accepted team has been paged.
UNAPPROVED_REMEDY: Final = 0.3
#: What each fix leaves of the total while no accepted team has been paged; both add up to 1.
UNAPPROVED_FIX: Final = 0.7


def hand_over_worth(worth: float, used: int, horizon: int, par: int) -> float:
    """The worth of a hand-over after ``used`` ticks, if no page or remedy came before."""
    return worth * (1.0 - HAND_OVER_PROMPT + HAND_OVER_PROMPT * promptness(used, horizon, par))


def checked_worth(incident: Incident) -> float:
    """The worth of a hand-over; RubricError if it is missing or outside [0, 1]."""
    worth = incident.worth_of_hand_over
    if worth is None or not 0.0 <= worth <= 1.0:
        raise RubricError(
            f"incident {incident.id!r}: a hand-over needs a worth_of_hand_over from 0 to 1, got "
            f"{worth!r}"
        )
    return worth


def hand_over(state: State) -> Measured:
    """The worth times (0.9 + 0.1 x promptness), by the task's par, whether benign or not."""
    incident, used = state.incident, state.closed_at or 0
    worth, par, horizon = checked_worth(incident), incident.task_par, incident.horizon
    return (
        hand_over_worth(worth, used, horizon, par),
        f"handed over in {counted(used, 'tick')}, worth {worth:g} "
        f"(par is {par}, the horizon {horizon})",
    )


def remediation(state: State) -> Measured:
    """The share of the faults that are fixed, times max(0, 1 - 0.4 per wrong remedy)."""
    facts, truth = state.facts, state.incident.truth
    if not truth.parts:
        return (0.0, "nothing was broken")
    rows = zip(truth.parts, facts.responses, strict=True)
    unfixed = [part for part, response in rows if response.fixed_at is None]
    missing = ", ".join(map(_accepted_remedies, unfixed))
    faults = len(truth.parts)
    fixed = faults - len(unfixed)
    if truth.several:
        reasons = [f"{fixed} of {faults} faults fixed"]
        if unfixed:
            reasons.append(f"not applied: {missing}")
    elif unfixed:
        return (0.0, f"no accepted remedy applied ({missing})")
    else:
        reasons = [f"fixed in tick {facts.fixed_at}"]
    if facts.wrong_remedies:
        reasons.append(f"{remedies_in_words(facts.wrong_remedies, 'wrong ')} applied")
    return (fixed / faults * remedy_credit(facts.wrong_remedies), "; ".join(reasons))


def _accepted_remedies(part: Part) -> str:
    """The remedies of which any fixes a fault, in words."""
    return listed(f"{remedy}:{service}" for remedy, service in part.remedies)


def dismissal(state: State) -> Measured:
    """Benign only: 1 if closed by ``Ignore`` with no service blamed."""
    if state.closing is not Closing.IGNORED:
        return (0.0, not_closed(state, "dismissed"))
    if state.facts.root_cause is not None:
        return (0.0, f"dismissed, but {state.facts.root_cause} was blamed")
    return (1.0, "rightly dismissed")


def unescalated(state: State) -> Measured | None:
    """A factor of 0.32 while no accepted team has been paged.

    With several faults, 0.32 of the share without a page, plus the rest.
    """
    unpaged = 0.0 if state.incident.truth.benign else unpaged_share(state)
    if not unpaged:
        return None
    share = " of that share" if unpaged < 1.0 else ""
    reason = f"nobody paged {unpaged_teams(state)}, so only {UNESCALATED:.0%}{share} counts"
    return (left_unescalated(unpaged), reason)


def left_unescalated(unpaged: float) -> float:
    """What :func:`unescalated` leaves if nobody paged for this share of the faults."""
    return unpaged * UNESCALATED + (1.0 - unpaged)


def unapproved(state: State) -> Measured | None:
    """A factor of 0.3 for each wrong remedy while no accepted team was paged in an earlier tick.

    On a benign incident every remedy is wrong, and nobody can be paged.
    """
    count, truth = state.facts.unapproved_remedies, state.incident.truth
    if not count:
        return None
    wrongly = "where nothing was broken"
    if not truth.benign:
        wrongly = f"before {listed(truth.teams)} had been paged"
    applied = f"{remedies_in_words(count, 'wrong ')} applied {wrongly}"
    return (UNAPPROVED_REMEDY**count, f"{applied}: each leaves {UNAPPROVED_REMEDY:g} of the rest")


def unapproved_fix(state: State) -> Measured | None:
    """A factor of 0.7 for each fault fixed with no accepted team paged in an earlier tick."""
    facts, truth = state.facts, state.incident.truth
    ticks = [row.fixed_at for row in facts.responses if row.fixed_at is not None]
    count = sum(not is_approved(facts.paged_at, tick) for tick in ticks)
    if not count:
        return None
    early = f"before {listed(truth.teams)} had been paged"
    if not truth.several:
        return (UNAPPROVED_FIX, f"fixed {early}")
    fixed = f"{count} of {len(truth.parts)} faults fixed {early}"
    return (UNAPPROVED_FIX**count, f"{fixed}: each leaves {UNAPPROVED_FIX:g} of the rest")
