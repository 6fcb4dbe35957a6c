"""verifiers: tasksets of incidents, the environments that play them, and their harness.

verifiers finds a taskset by the name of a top-level module: ``logtriage-verifiers`` (one agent) and
``logtriage-verifiers-team`` (three roles). Needs the extra ``verifiers``, with 0.3.1 or 0.4.
"""

from logtriage._lib.extras import imports_of
from logtriage.errors import MissingExtra

with imports_of("verifiers", "logtriage.adapters.verifiers", "verifiers"):
    import verifiers.v1
if not hasattr(verifiers.v1, "Interaction"):  # steps an incident on the host, from 0.3 on
    raise MissingExtra(
        "logtriage.adapters.verifiers (not verifiers "
        f"{verifiers.__version__}, which is older than 0.3.1)",
        "verifiers",
    )

from logtriage.adapters.verifiers.environments import SoloEnv, TeamEnv, TeamEnvConfig
from logtriage.adapters.verifiers.harness import TriageHarness
from logtriage.adapters.verifiers.rows import (
    TriageConfig,
    TriageTaskConfig,
    TriageTaskset,
    turn_rewards,
)

__all__ = [
    "SoloEnv",
    "TeamEnv",
    "TeamEnvConfig",
    "TriageConfig",
    "TriageHarness",
    "TriageTaskConfig",
    "TriageTaskset",
    "turn_rewards",
]
