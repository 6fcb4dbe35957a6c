"""The criteria and gates of ``logtriage/1``: one pure function each.

A measure reads a state and returns a score with its reason in words. Open states
are measured on what has been earned so far.
"""

from collections.abc import Callable, Iterable
from typing import Final

from logtriage.actions import SEVERITIES
from logtriage.state import Closing, State

#: A score, in [0, 1] for the measures of this module, and its reason in words.
Measured = tuple[float, str]
Measure = Callable[[State], Measured]

#: Credit for a severity one class off.
ADJACENT_SEVERITY: Final = 0.25
#: Lost per wrong remedy.
WRONG_REMEDY_COST: Final = 0.2
#: Ticks that a perfect response needs: severity, root cause, page, remedy, resolve ...
FREE_TICKS: Final = 5
#: ... and for a benign incident: severity, ignore.
FREE_TICKS_BENIGN: Final = 2

_RANK: Final = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def severity_credit(off: int) -> float:
    """The score of a severity that many classes off."""
    return 1.0 if off == 0 else ADJACENT_SEVERITY if off == 1 else 0.0


def remedy_credit(wrong: int) -> float:
    """What that many wrong remedies leave of the score: max(0, 1 - 0.2 each)."""
    return max(0.0, 1.0 - WRONG_REMEDY_COST * wrong)


def promptness(used: int, horizon: int, free: int) -> float:
    """1 - (ticks used - free) / (horizon - free), clipped to [0, 1]."""
    return min(1.0, max(0.0, 1.0 - (used - free) / (horizon - free))) if horizon > free else 1.0


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
    if off == 1:
        return (severity_credit(off), f"{declared} given, {truth} was right: one class off")
    return (severity_credit(off), f"{declared} given, {truth} was right")


def root_cause(state: State) -> Measured:
    """1 if the first service declared is an accepted root cause, else 0."""
    declared, accepted = state.facts.root_cause, state.incident.truth.root_causes
    if declared is None:
        return (0.0, "no root cause identified")
    if declared in accepted:
        return (1.0, f"{declared} is the root cause")
    return (0.0, f"{declared} is not the root cause; it was {listed(accepted)}")


def escalation(state: State) -> Measured:
    """1 if an accepted team was paged; of several faults, the share whose team was."""
    accepted = state.incident.truth.teams
    if state.incident.truth.several:
        return _shared_escalation(state)
    for _, team in state.facts.pages:
        if team in accepted:
            return (1.0, f"{team} was the team to page")
    return (0.0, f"{listed(accepted)} never paged")


def _shared_escalation(state: State) -> Measured:
    parts = state.incident.truth.several
    pages = dict.fromkeys(team for _, team in state.facts.pages)
    unpaged = [part for part in parts if part.teams.isdisjoint(pages)]
    share = (len(parts) - len(unpaged)) / len(parts)
    if not unpaged:
        return (share, f"every team to page was: {', '.join(pages)}")
    missing = dict.fromkeys(listed(part.teams) for part in unpaged)
    told = f"{', '.join(missing)} never paged"
    if len(unpaged) == len(parts):
        return (share, told)
    return (share, f"the team of {len(parts) - len(unpaged)} of {len(parts)} faults paged; {told}")


def remediation(state: State) -> Measured:
    """max(0, 1 - 0.2 per wrong remedy) if an accepted remedy was applied, else 0."""
    facts = state.facts
    if facts.fixed_at is None:
        wanted = (f"{remedy}:{service}" for remedy, service in state.incident.truth.remedies)
        return (0.0, f"no accepted remedy applied ({listed(wanted)})")
    wrong = facts.wrong_remedies
    score = remedy_credit(wrong)
    if not wrong:
        return (score, f"fixed in tick {facts.fixed_at + 1}")
    return (score, f"fixed in tick {facts.fixed_at + 1}, but {_wrong_remedies(wrong)}")


def closure(state: State) -> Measured:
    """If resolved after the fix: 1 - (ticks used - 5) / (horizon - 5), clipped to [0, 1]."""
    if state.closing is not Closing.RESOLVED:
        return (0.0, not_closed(state, "resolved"))
    if state.facts.fixed_at is None:
        return (0.0, "resolved while the fault was still there")
    return _promptness(state, FREE_TICKS, "resolved")


def dismissal(state: State) -> Measured:
    """Benign only: 1 if closed by ``Ignore`` with no service blamed; x max(0, 1 - 0.2/remedy)."""
    if state.closing is not Closing.IGNORED:
        return (0.0, not_closed(state, "dismissed"))
    facts = state.facts
    if facts.root_cause is not None:
        return (0.0, f"dismissed, but {facts.root_cause} was blamed")
    applied = len(facts.remedies)
    score = remedy_credit(applied)
    if not applied:
        return (score, "rightly dismissed")
    return (score, f"dismissed, but {_wrong_remedies(applied)}")


def benign_closure(state: State) -> Measured:
    """Benign only: the closure formula with 2 for 5 ticks, if dismissed with no one blamed."""
    if state.closing is not Closing.IGNORED or state.facts.root_cause is not None:
        return (0.0, "not dismissed")
    return _promptness(state, FREE_TICKS_BENIGN, "dismissed")


def wrong_escalation(state: State) -> str | None:
    """Gate: any page to a team that is not accepted (on a benign incident, any page)."""
    if not state.facts.wrong_pages:
        return None
    accepted = state.incident.truth.teams
    wrong = next(team for _, team in state.facts.pages if team not in accepted)
    return f"{wrong} was paged; " + (
        f"{listed(accepted)} was right" if accepted else "nobody needed"
    )


def ignored_incident(state: State) -> str | None:
    """Gate: ``Ignore`` on a real fault."""
    if state.closing is Closing.IGNORED and not state.incident.truth.benign:
        return "a real fault was ignored"
    return None


def _promptness(state: State, free: int, done: str) -> Measured:
    used, horizon = state.closed_at or 0, state.incident.horizon
    score = promptness(used, horizon, free)
    return (score, f"{done} in {used} ticks ({free} are free, the horizon is {horizon})")


def not_closed(state: State, wanted: str) -> str:
    """Why closing earned nothing, in words."""
    return f"not {wanted}" if state.closing is None else f"closed as {state.closing}, not {wanted}"


def _wrong_remedies(count: int) -> str:
    return f"{count} wrong remed{'y' if count == 1 else 'ies'} applied"


def listed(names: Iterable[str]) -> str:
    """Accepted names in words, any of which will do."""
    return " or ".join(sorted(names)) or "nobody"
