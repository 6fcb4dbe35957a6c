"""Which kinds of action an incident has a use for: what every shell offers, and no other.

Prompts, schemas of tools and environments all take them from here, so that an action that is
graded cannot be missing in one of them.
"""

from typing import Final

from logtriage.actions import ACTION_TYPES, PRICED_ACTION_TYPES
from logtriage.errors import InvalidInput
from logtriage.grading import RECORDED_2, RECORDED_3, TRIAGE_3
from logtriage.incident import Incident
from logtriage.roles import RoleSplit
from logtriage.world.simulation import Simulation

#: Of a recording with a dashboard: the other kinds cost a tick and change nothing.
RECORDED_KINDS: Final = (
    "identify_root_cause",
    "request_more_logs",
    "request_metrics",
    "request_traces",
    "resolve",
)
#: Of a recording that shows figures on request.
ON_REQUEST_KINDS: Final = (
    "identify_root_cause",
    "classify_fault",
    "request_more_logs",
    "request_metrics",
    "request_traces",
    "resolve",
    "ignore",
)


def useful_kinds(rubric: str, *, simulated: bool) -> tuple[str, ...]:
    """The kinds of action, by their wire names, of incidents that a rubric grades."""
    if simulated:
        return (*ACTION_TYPES, *(PRICED_ACTION_TYPES if rubric == TRIAGE_3.id else ()))
    if rubric == RECORDED_3.id:
        return (*ON_REQUEST_KINDS, *PRICED_ACTION_TYPES)
    return ON_REQUEST_KINDS if rubric == RECORDED_2.id else RECORDED_KINDS


def useful_actions(incident: Incident) -> tuple[str, ...]:
    """The kinds of action, by their wire names, that a single agent is offered.

    They can change the grade, show evidence or close the incident. Others are understood
    and cost a tick.
    """
    return useful_kinds(incident.rubric, simulated=isinstance(incident.telemetry, Simulation))


def check_joint(incident: Incident, split: RoleSplit) -> None:
    """Refuse joint play of an incident that asks for what no role may do.

    Raises:
        InvalidInput: naming the incident and the kinds of action.
    """
    nobody = [
        kind
        for kind in useful_actions(incident)
        if not any(kind in role.kinds for role in split.roles)
    ]
    if nobody:
        raise InvalidInput(
            f"{incident.id}: {incident.rubric} asks for {', '.join(nobody)}, which no role of "
            f"{split.name!r} may do; let a single agent play it"
        )
