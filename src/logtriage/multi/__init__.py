"""PettingZoo environments: the roles of a split triage one incident together.

>>> from logtriage.multi import triage_team_v1
>>> env = triage_team_v1.parallel_env("cascading_failure-v4", render_mode="ansi")
>>> observations, infos = env.reset(seed=0)
>>> sorted(observations)
['escalation_0', 'remediation_0', 'triage_0']

``ScriptedTeam`` plays all agents of an environment, or some beside agents of your own.

Importing this package loads nothing; the versioned module needs the extra ``multi``
(pettingzoo, gymnasium).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from logtriage._lib.extras import imports_of

if TYPE_CHECKING:
    from logtriage.multi import triage_team_v1
    from logtriage.multi.scripted import ScriptedTeam

__all__ = ["ScriptedTeam", "triage_team_v1"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with imports_of("multi", "logtriage.multi", "pettingzoo", "gymnasium"):
        if name == "ScriptedTeam":
            return import_module(f"{__name__}.scripted").ScriptedTeam
        return import_module(f"{__name__}.{name}")
