"""The measures of ``recorded/3``: root cause and class of a recorded fault."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from logtriage.grading.criteria import Measured, root_cause
from logtriage.grading.paging import checked_worth
from logtriage.grading.triage import not_closed
from logtriage.state import Closing, State

#: What each criterion of a real fault weighs.
WEIGHTS: Final[Mapping[str, float]] = MappingProxyType({"root_cause": 0.7, "fault_class": 0.3})


def fault_class(state: State) -> Measured:
    """1 if the first class of fault declared is right, else 0.

    Where nobody recorded the class of the fault, the root cause counts in its place.
    """
    declared, truth = state.facts.fault_category, state.incident.truth.fault_category
    if truth is None:
        points, reason = root_cause(state)
        return (points, f"the class of the fault is not known, so {reason}")
    if declared is None:
        return (0.0, "no class of fault declared")
    if declared is truth:
        return (1.0, f"{declared} is right")
    return (0.0, f"{declared} given, {truth} was right")


def dismissal(state: State) -> Measured:
    """Benign only: 1 if closed by ``Ignore`` with neither a service nor a class blamed."""
    if state.closing is not Closing.IGNORED:
        return (0.0, not_closed(state, "dismissed"))
    blamed = state.facts.root_cause or state.facts.fault_category
    if blamed is not None:
        return (0.0, f"dismissed, but {blamed} was blamed")
    return (1.0, "rightly dismissed")


def wrong_root_cause(state: State) -> str | None:
    """Gate: the first service declared is not at fault, so the wrong people lose their night."""
    points, reason = root_cause(state)
    return reason if state.facts.root_cause is not None and not points else None


def hand_over(state: State) -> Measured:
    """The worth of the hand-over, however late it comes and whatever was done before."""
    worth = checked_worth(state.incident)
    return (worth, f"handed over, worth {worth:g}")
