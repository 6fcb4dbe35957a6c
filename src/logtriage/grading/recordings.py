"""The measures of ``recorded/2``: the root cause and the class of a recorded fault."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from logtriage.grading.criteria import Measured
from logtriage.grading.triage import not_closed
from logtriage.state import Closing, State

#: What each criterion of a real fault weighs.
WEIGHTS: Final[Mapping[str, float]] = MappingProxyType({"root_cause": 0.7, "fault_class": 0.3})


def fault_class(state: State) -> Measured:
    """1 if the first class of fault declared is the right one, else 0."""
    declared, truth = state.facts.fault_category, state.incident.truth.fault_category
    if declared is None:
        return (0.0, "no class of fault declared")
    if truth is None:
        return (0.0, f"{declared} given, but the true class is not known")
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
