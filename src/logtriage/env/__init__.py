"""Gymnasium environments: one incident at a time on the scalar core, or N on the batched one.

Importing this package registers an id for every drawn task: ``logtriage/Cascading-v4`` is the
benchmark, ``logtriage/Cascading-fog0-v4`` the same without fog. Gymnasium imports the package by
itself for an id with its name as a prefix:

>>> import gymnasium
>>> envs = gymnasium.make_vec("logtriage.env:logtriage/Cascading-v4", num_envs=1024)
>>> observations, infos = envs.reset(seed=0)

Needs the extra ``env`` (gymnasium); :class:`TriageVectorEnv` also needs ``fast`` (numba).
"""

from logtriage._lib.extras import imports_of

with imports_of("env", "logtriage.env", "gymnasium"):
    import gymnasium

from logtriage.env.batched import TriageVectorEnv
from logtriage.env.scalar import TriageEnv
from logtriage.tasks import BENCHMARK_FOG, DEFAULT_TASKS, VERSION

__all__ = ["ENV_IDS", "TriageEnv", "TriageVectorEnv"]

_NAMES = {
    "single_crash": "SingleCrash",
    "cascading_failure": "Cascading",
    "silent_degradation": "Silent",
    "fleet_outage": "Fleet",
    "compound_failure": "Compound",
    "compound_fleet": "CompoundFleet",
}


def _env_id(name: str, fog: int) -> str:
    fogged = "" if fog == BENCHMARK_FOG else f"-fog{fog}"
    return f"logtriage/{_NAMES[name]}{fogged}-v{VERSION}"  # Gymnasium wants the version last


#: The tasks by their ids in Gymnasium. Tasks that cannot be played in batches have no id; make
#: them by name: ``TriageEnv("cascading_failure-v4")``.
ENV_IDS: dict[str, str] = {_env_id(name, fog): task for task, (name, fog) in DEFAULT_TASKS.items()}

for _id, _task in ENV_IDS.items():
    gymnasium.register(
        _id,
        entry_point="logtriage.env:TriageEnv",
        vector_entry_point="logtriage.env:TriageVectorEnv",
        kwargs={"task": _task},
    )
