"""The criteria and gates that do not depend on the order of actions: one pure function each.

A measure reads a state and returns a score with its reason in words. Open states are measured on
what has been earned so far. Digests of rubrics name measures by this module, so they stay here.
"""

from collections.abc import Callable
from typing import Final

from logtriage.actions import SEVERITIES
from logtriage.incident import listed
from logtriage.state import Closing, State

#: A score, in [0, 1] for the measures of this module, and its reason in words.
Measured = tuple[float, str]
#: A function that scores a criterion on a state.
Measure = Callable[[State], Measured]

#: Credit for a severity one class off.
ADJACENT_SEVERITY: Final = 0.25

_RANK: Final = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def severity_credit(off: int) -> float:
    """The score of a severity that is ``off`` classes from the true one."""
    return 1.0 if off == 0 else ADJACENT_SEVERITY if off == 1 else 0.0


def promptness(used: int, horizon: int, free: int) -> float:
    """1 - (used - free) / (horizon - free), clipped to [0, 1]; ``free`` ticks cost nothing."""
    if horizon <= free:
        return 1.0
    return min(1.0, max(0.0, 1.0 - (used - free) / (horizon - free)))


def severity(state: State) -> Measured:
    """1 if exact, 0.25 if one class off, else 0. The first declaration counts."""
    declared, truth = state.facts.severity, state.incident.truth.severity
    if declared is None:
        return (0.0, "never classified")
    if truth is None:
        return (0.0, f"{declared} given, but the true severity is not known")
    off = abs(_RANK[declared] - _RANK[truth])
    if off == 0:
        return (severity_credit(off), f"{declared} is right")
    near = ": one class off" if off == 1 else ""
    return (severity_credit(off), f"{declared} given, {truth} was right{near}")


def root_cause(state: State) -> Measured:
    """1 if the first service declared is an accepted root cause, else 0."""
    declared, accepted = state.facts.root_cause, state.incident.truth.root_causes
    if declared is None:
        return (0.0, "no root cause identified")
    if declared in accepted:
        return (1.0, f"{declared} is the root cause")
    return (0.0, f"{declared} is not the root cause; it was {listed(accepted)}")


def escalation(state: State) -> Measured:
    """1 if an accepted team was paged, else 0; with several faults, the share whose team was."""
    truth = state.incident.truth
    if truth.several:
        return _shared_escalation(state)
    for _, team in state.facts.pages:
        if team in truth.teams:
            return (1.0, f"{team} was the team to page")
    return (0.0, f"{truth.teams_in_words} never paged")


def _shared_escalation(state: State) -> Measured:
    truth, facts = state.incident.truth, state.facts
    faults, rows = len(truth.several), zip(truth.several, facts.responses, strict=True)
    unpaged = [part for part, response in rows if response.paged_at is None]
    if not unpaged:
        right = dict.fromkeys(team for _, team in facts.pages if team in truth.teams)
        return (1.0, f"every team to page was: {', '.join(right)}")
    paged = faults - len(unpaged)
    missing = dict.fromkeys(listed(part.teams) for part in unpaged)
    reason = f"{', '.join(missing)} never paged"
    if paged:
        reason = f"the team of {paged} of {faults} faults paged; {reason}"
    return (paged / faults, reason)


def wrong_escalation(state: State) -> str | None:
    """Gate: any page to a team that is not accepted (on a benign incident, any page)."""
    accepted = state.incident.truth.teams
    wrong = [team for _, team in state.facts.pages if team not in accepted]
    if not wrong:
        return None
    right = f"{listed(accepted)} was right" if accepted else "nobody needed"
    return f"{wrong[0]} was paged; {right}"


def ignored_incident(state: State) -> str | None:
    """Gate: ``Ignore`` on a real fault."""
    if state.closing is Closing.IGNORED and not state.incident.truth.benign:
        return "a real fault was ignored"
    return None
