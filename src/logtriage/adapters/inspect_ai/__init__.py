"""Inspect AI: tasks, an agent, a scorer, and the scripted policies as models.

``inspect eval logtriage/triage --model …`` finds all of this through the package's
entry point. Needs the extra ``inspect``.
"""

from logtriage._lib.extras import imports_of

with imports_of("inspect", "logtriage.adapters.inspect_ai", "inspect_ai"):
    import inspect_ai  # noqa: F401

from logtriage.adapters.inspect_ai.agent import (
    TriageStore,
    tools_for,
    triage_agent,
    triage_setup,
    triage_tools,
    until_closed,
)
from logtriage.adapters.inspect_ai.models import ScriptedModel
from logtriage.adapters.inspect_ai.scoring import by_task, triage_scorer
from logtriage.adapters.inspect_ai.tasks import triage, triage_sample

__all__ = [
    "ScriptedModel",
    "TriageStore",
    "by_task",
    "tools_for",
    "triage",
    "triage_agent",
    "triage_sample",
    "triage_scorer",
    "triage_setup",
    "triage_tools",
    "until_closed",
]
