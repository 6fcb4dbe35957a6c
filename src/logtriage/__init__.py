"""logtriage: the gym and the judge for incident triage by agents.

A pure-functional core. An incident is drawn from a versioned task by its id; a
state is an incident and what was done to it; everything else is a function:

>>> import logtriage as lt
>>> incident = lt.make_incident("cascading_failure-v2/test/42")
>>> state = lt.initial_state(incident)
>>> screen = lt.observe(state)
>>> after = lt.transition(state, lt.RequestMoreLogs(screen.alerts[0].service))
>>> lt.reward(state, after)
0.0

Importing this package loads attrs and little else; the command line, reports and
other frameworks come as extras.
"""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING
from typing import Any as _Any

from logtriage.actions import (
    Action,
    ClassifyFault,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Malformed,
    Remediate,
    Remedy,
    Report,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Resolve,
    Severity,
    Wait,
    action_id,
    all_actions,
)
from logtriage.errors import (
    BundleError,
    EpisodeOver,
    InvalidInput,
    LogTriageError,
    MissingExtra,
    RubricError,
    SealError,
    TopologyError,
    TranscriptError,
    UnknownName,
)
from logtriage.generator import make_incident
from logtriage.grading import DEFAULT, Grade, Rubric, grade, reward
from logtriage.incident import Incident, Truth
from logtriage.observation import Observation, observe
from logtriage.parsing import parse_action, render_action
from logtriage.rendering import render_observation, system_prompt
from logtriage.replay import replay
from logtriage.role_splits import get_role_split
from logtriage.roles import Role, RoleSplit
from logtriage.seal import Seal
from logtriage.state import Closing, State, initial_state
from logtriage.tasks import TASKS, TaskSpec, get_task, incident_ids
from logtriage.topologies import random_topology
from logtriage.topology import FIVE_TEAMS, SEVEN_SERVICES, Service, Topology
from logtriage.transcript import Transcript, transcript_of
from logtriage.transition import apply, tick, transition, transition_jointly

if TYPE_CHECKING:
    from logtriage.evaluation.playing import play

__version__ = _version("logtriage")

__all__ = [
    "DEFAULT",
    "FIVE_TEAMS",
    "SEVEN_SERVICES",
    "TASKS",
    "Action",
    "BundleError",
    "ClassifyFault",
    "ClassifySeverity",
    "Closing",
    "EpisodeOver",
    "Escalate",
    "Grade",
    "IdentifyRootCause",
    "Ignore",
    "Incident",
    "InvalidInput",
    "LogTriageError",
    "Malformed",
    "MissingExtra",
    "Observation",
    "Remediate",
    "Remedy",
    "Report",
    "RequestMetrics",
    "RequestMoreLogs",
    "RequestTraces",
    "Resolve",
    "Role",
    "RoleSplit",
    "Rubric",
    "RubricError",
    "Seal",
    "SealError",
    "Service",
    "Severity",
    "State",
    "TaskSpec",
    "Topology",
    "TopologyError",
    "Transcript",
    "TranscriptError",
    "Truth",
    "UnknownName",
    "Wait",
    "action_id",
    "all_actions",
    "apply",
    "get_role_split",
    "get_task",
    "grade",
    "incident_ids",
    "initial_state",
    "make_incident",
    "observe",
    "parse_action",
    "play",
    "random_topology",
    "render_action",
    "render_observation",
    "replay",
    "reward",
    "system_prompt",
    "tick",
    "transcript_of",
    "transition",
    "transition_jointly",
]


def __getattr__(name: str) -> _Any:
    """Load :func:`play` when it is first asked for: it brings all policies, and numpy."""
    if name == "play":
        from logtriage.evaluation.playing import play

        return play
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is public, for tab completion and help; the packages beside it are in the docs."""
    return sorted((*__all__, "__version__"))
