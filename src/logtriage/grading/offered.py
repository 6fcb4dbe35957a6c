"""Which kinds of action an incident has a use for: prompts, schemas and environments offer them."""

from typing import Final

from logtriage.actions import ACTION_TYPES, HAND_OVER_TYPES
from logtriage.grading import TRIAGE_3
from logtriage.incident import Incident
from logtriage.roles import Role
from logtriage.world.simulation import Simulation

#: Of a recording: the other kinds cost a tick and change nothing.
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
    """The kinds of action, by their wire names, of incidents that a rubric grades."""
    if simulated:
        return (*ACTION_TYPES, *(HAND_OVER_TYPES if rubric == TRIAGE_3.id else ()))
    return RECORDED_KINDS


def useful_actions(incident: Incident, role: Role | None = None) -> tuple[str, ...]:
    """The kinds of action that an agent or a role is offered: others cost a tick and do nothing."""
    useful = useful_kinds(incident.rubric, simulated=isinstance(incident.telemetry, Simulation))
    return useful if role is None else tuple(sorted(role.offered(useful)))
