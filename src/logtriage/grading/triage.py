"""The measures that depend on the order of actions: root cause and closure, and their wording.

Pure functions of a state. With several faults, a score is the share of them that were named,
paged for or fixed; with one fault it is all or nothing.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from logtriage._lib.printable import counted
from logtriage.grading import criteria
from logtriage.grading.criteria import Measured, promptness
from logtriage.incident import listed
from logtriage.state import Closing, State

#: What each criterion of a real fault weighs.
WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {"severity": 0.15, "root_cause": 0.25, "escalation": 0.25, "remediation": 0.25, "closure": 0.10}
)
#: The share of the remediation that each wrong remedy on a real fault costs.
WRONG_REMEDY_COST: Final = 0.4


def remedy_credit(wrong: int) -> float:
    """The share of the remediation that is left after wrong remedies: max(0, 1 - 0.4 each)."""
    return max(0.0, 1.0 - WRONG_REMEDY_COST * wrong)


def root_cause(state: State) -> Measured:
    """1 if the first service declared is accepted and was declared no later than the fix, else 0.

    With k faults, the share of them named in this way by the first k services declared.
    """
    if state.incident.truth.several:
        return _shared_root_cause(state)
    score, reason = criteria.root_cause(state)
    late = [response for response in state.facts.responses if not response.named]
    if not score or not late:  # a right service that is not named was declared after the fix
        return (score, reason)
    return (
        0.0,
        f"{reason}, but it was declared in tick {late[0].declared_at}, after the fix in tick "
        f"{late[0].fixed_at}: recovery is no diagnosis",
    )


def _shared_root_cause(state: State) -> Measured:
    truth, facts = state.incident.truth, state.facts
    count = len(truth.several)
    declared = [service for _, service in facts.root_causes[:count]]
    if not declared:
        return (0.0, "no root cause identified")
    missed, late = [], []
    for part, response in zip(truth.several, facts.responses, strict=True):
        if response.declared_at is None:
            missed.append(listed(part.root_causes))
        elif not response.named:
            late.append(listed(part.root_causes))
    wrong = [service for service in declared if service not in truth.root_causes]
    named = count - len(missed) - len(late)
    reasons = [f"{named} of {count} root causes named"]
    if wrong:
        reasons.append(f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} none")
    if missed:
        reasons.append(f"{', '.join(missed)} not among the first {count} declared")
    if late:
        reasons.append(f"{', '.join(late)} declared after the fix: recovery is no diagnosis")
    return (named / count, "; ".join(reasons))


def closure(state: State) -> Measured:
    """1 - (ticks used - par) / (horizon - par), clipped, if resolved after all was fixed; else 0.

    A hand-over after a page or a remedy counts as resolving.
    """
    if state.closing not in (Closing.RESOLVED, Closing.HANDED_OVER):
        return (0.0, not_closed(state, "resolved"))
    done = "resolved" if state.closing is Closing.RESOLVED else "handed over"
    if state.facts.fixed_at is None:
        still = "a" if state.incident.truth.several else "the"
        return (0.0, f"{done} while {still} fault was still there")
    return _promptly(state, done)


def benign_closure(state: State) -> Measured:
    """Benign only: the closure formula if dismissed with no service blamed, else 0."""
    if state.closing is not Closing.IGNORED or state.facts.root_cause is not None:
        return (0.0, "not dismissed")
    return _promptly(state, "dismissed")


def unpaged_share(state: State) -> float:
    """The share of the faults whose team has not been paged; the incident must have a fault."""
    rows = state.facts.responses
    return sum(response.paged_at is None for response in rows) / len(rows)


def unpaged_teams(state: State) -> str:
    """The teams that should have been paged and were not, in words; any team of a fault will do."""
    truth = state.incident.truth
    if not truth.several:
        return truth.teams_in_words
    rows = zip(truth.parts, state.facts.responses, strict=True)
    unpaged = [listed(part.teams) for part, response in rows if response.paged_at is None]
    return ", ".join(dict.fromkeys(unpaged))


def _promptly(state: State, done: str) -> Measured:
    """The promptness of a closing; ``done`` says how it was closed."""
    used = state.closed_at or 0
    par, horizon = state.incident.par, state.incident.horizon
    reason = f"{done} in {counted(used, 'tick')} (par is {par}, the horizon {horizon})"
    return (promptness(used, horizon, par), reason)


def not_closed(state: State, wanted: str) -> str:
    """Why closing earned nothing, in words."""
    match state.closing:
        case None:
            return f"not {wanted}"
        case Closing.MISROUTED:
            return f"closed by a mis-page, not {wanted}"
    return f"closed as {state.closing}, not {wanted}"


def remedies_in_words(count: int, kind: str = "") -> str:
    """How many remedies of a kind there were, in words."""
    return f"{count} {kind}remed{'y was' if count == 1 else 'ies were'}"
