"""logtriage: the gym and the judge for incident triage by agents.

A pure-functional core. An incident is drawn from a versioned task by its id; a
state is an incident and what was done to it; everything else is a function:

>>> import logtriage as lt
>>> incident = lt.make_incident("cascading_failure-v3/test/42")
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

from logtriage._lib.seal import Seal
from logtriage.actions import (
    Action,
    ClassifyFault,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Malformed,
    Remediate,
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
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.errors import InvalidInput, LogTriageError, TranscriptError, UnknownName
from logtriage.grading import Grade, grade, reward
from logtriage.incident import Incident
from logtriage.observation import Observation, observe
from logtriage.parsing import parse_action, render_action
from logtriage.rendering import render_observation, system_prompt
from logtriage.replay import replay
from logtriage.state import State, initial_state
from logtriage.tasks import TaskSpec, get_task
from logtriage.topology import Topology
from logtriage.transcript import Transcript, transcript_of
from logtriage.transition import apply, tick, transition, transition_jointly
from logtriage.world.topologies import random_topology

if TYPE_CHECKING:
    from logtriage.evaluation.playing import play
    from logtriage.tasks import TASKS

__version__ = _version("logtriage")

__all__ = [
    "TASKS",
    "Action",
    "ClassifyFault",
    "ClassifySeverity",
    "Escalate",
    "Grade",
    "HandOver",
    "IdentifyRootCause",
    "Ignore",
    "Incident",
    "InvalidInput",
    "LogTriageError",
    "Malformed",
    "Observation",
    "Remediate",
    "Report",
    "RequestMetrics",
    "RequestMoreLogs",
    "RequestTraces",
    "Resolve",
    "Seal",
    "Severity",
    "State",
    "TaskSpec",
    "Topology",
    "Transcript",
    "TranscriptError",
    "UnknownName",
    "Wait",
    "action_id",
    "all_actions",
    "apply",
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
    """Load a name on first use.

    :func:`play` imports the policies; ``TASKS`` reads the default world.
    """
    if name == "TASKS":
        from logtriage.tasks import TASKS

        return TASKS
    if name == "play":
        from logtriage.evaluation.playing import play

        return play
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is public, for tab completion and help; the packages beside it are in the docs."""
    return sorted((*__all__, "__version__"))
