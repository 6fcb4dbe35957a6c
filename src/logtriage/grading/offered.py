"""The kinds of action that are useful in an incident, and so are offered to agents."""

from typing import Final

from logtriage.actions import ACTION_TYPES, HAND_OVER_TYPES
from logtriage.grading import TRIAGE_3
from logtriage.incident import Incident
from logtriage.roles import Role
from logtriage.world.simulation import Simulation

#: The useful kinds in a recorded incident: other kinds cost a tick and change nothing.
RECORDED_KINDS: Final = (
    "identify_root_cause",
    "classify_fault",
    "request_more_logs",
    "request_metrics",
    "request_traces",
    "resolve",
    "ignore",
    *HAND_OVER_TYPES,
)


def useful_kinds(rubric: str, *, simulated: bool) -> tuple[str, ...]:
    """The useful kinds of action, by their wire names, in incidents of a rubric (its id)."""
    if not simulated:
        return RECORDED_KINDS
    if rubric != TRIAGE_3.id:  # a hand-over has no worth
        return tuple(ACTION_TYPES)
    return (*ACTION_TYPES, *HAND_OVER_TYPES)


def useful_actions(incident: Incident, role: Role | None = None) -> tuple[str, ...]:
    """The kinds of action to offer an agent, or a role: other kinds cost a tick and do nothing."""
    useful = useful_kinds(incident.rubric, simulated=isinstance(incident.telemetry, Simulation))
    return useful if role is None else tuple(sorted(role.offered(useful)))
