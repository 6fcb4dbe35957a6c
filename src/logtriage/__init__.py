"""logtriage: the gym and the judge for incident triage by agents.

A pure-functional core. An incident is drawn from a versioned task by its id; a
state is an incident and what was done to it; everything else is a function:

>>> import logtriage as lt
>>> incident = lt.make_incident("cascading_failure-v4/test/1464")
>>> state = lt.initial_state(incident)
>>> screen = lt.observe(state)
>>> after = lt.transition(state, lt.RequestMoreLogs(screen.alerts[0].service))
>>> lt.reward(state, after)
0.0

Importing this package loads none of it; each name loads what it needs when it is first used.
The command line, reports and other frameworks come as extras.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
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
        ReportImpact,
        RequestMetrics,
        RequestMoreLogs,
        RequestTraces,
        Resolve,
        Severity,
        Wait,
        all_actions,
    )
    from logtriage.beliefs import belief
    from logtriage.drawing.generator import make_incident
    from logtriage.drawing.ids import incident_ids
    from logtriage.dynamics import transition
    from logtriage.errors import InvalidInput, LogTriageError
    from logtriage.grading import Grade, Rubric, grade, grade_actions, grade_jsonl, reward
    from logtriage.incident import Incident
    from logtriage.observation import Observation, observe
    from logtriage.parsing import parse_action
    from logtriage.playing import play
    from logtriage.policies import Policy
    from logtriage.rendering import render_observation, system_prompt
    from logtriage.replaying import replay
    from logtriage.state import State, initial_state
    from logtriage.tasks import get_task
    from logtriage.topology import Topology
    from logtriage.transcript import Transcript, transcript_of

    __version__: str

__all__ = [
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
    "Policy",
    "Remediate",
    "Report",
    "ReportImpact",
    "RequestMetrics",
    "RequestMoreLogs",
    "RequestTraces",
    "Resolve",
    "Rubric",
    "Severity",
    "State",
    "Topology",
    "Transcript",
    "Wait",
    "all_actions",
    "belief",
    "get_task",
    "grade",
    "grade_actions",
    "grade_jsonl",
    "incident_ids",
    "initial_state",
    "make_incident",
    "observe",
    "parse_action",
    "play",
    "render_observation",
    "replay",
    "reward",
    "system_prompt",
    "transcript_of",
    "transition",
]

#: The public names by the module that has them. Each module is loaded when a name is first used.
_NAMES = {
    "actions": (
        "Action ClassifyFault ClassifySeverity Escalate HandOver IdentifyRootCause Ignore "
        "Malformed Remediate Report ReportImpact RequestMetrics RequestMoreLogs RequestTraces "
        "Resolve Severity Wait all_actions"
    ),
    "beliefs": "belief",
    "drawing.generator": "make_incident",
    "drawing.ids": "incident_ids",
    "dynamics": "transition",
    "errors": "InvalidInput LogTriageError",
    "grading": "Grade Rubric grade grade_actions grade_jsonl reward",
    "incident": "Incident",
    "observation": "Observation observe",
    "parsing": "parse_action",
    "playing": "play",
    "policies": "Policy",
    "rendering": "render_observation system_prompt",
    "replaying": "replay",
    "state": "State initial_state",
    "tasks": "get_task",
    "topology": "Topology",
    "transcript": "Transcript transcript_of",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> _Any:
    """Load a public name on first use."""
    value: _Any
    if name == "__version__":
        value = _import_module("importlib.metadata").version(__name__)
    elif name in _HOMES:
        value = getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """What is public, for tab completion and help; the packages beside it are in the docs."""
    return sorted((*__all__, "__version__"))
