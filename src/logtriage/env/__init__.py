"""Gymnasium environments: one incident at a time on the scalar core, or N on the batched one.

Importing this registers ``logtriage/SingleCrash-v1``, ``logtriage/Cascading-v1`` and
``logtriage/Silent-v1``. Gymnasium imports it by itself where an id is prefixed:

>>> import gymnasium
>>> envs = gymnasium.make_vec("logtriage.env:logtriage/Cascading-v1", num_envs=1024)
>>> observations, infos = envs.reset(seed=0)

Needs the extra ``env`` (gymnasium).
"""

from logtriage.errors import MissingExtra

try:
    import gymnasium
except ModuleNotFoundError as error:
    if error.name != "gymnasium":
        raise
    raise MissingExtra("logtriage.env", "env") from None

from logtriage.env.batched import TriageVectorEnv
from logtriage.env.scalar import TriageEnv
from logtriage.tasks import FIRST_WORLD, get_task

__all__ = ["ENV_IDS", "TriageEnv", "TriageVectorEnv"]

_NAMES = {
    "single_crash": "SingleCrash",
    "cascading_failure": "Cascading",
    "silent_degradation": "Silent",
}
#: What is registered with Gymnasium: the id, and the task that it stands for.
ENV_IDS: dict[str, str] = {
    f"logtriage/{_NAMES[task.name]}-v{task.version}": task.id for task in map(get_task, FIRST_WORLD)
}

for _id, _task in ENV_IDS.items():
    gymnasium.register(
        _id,
        entry_point="logtriage.env:TriageEnv",
        vector_entry_point="logtriage.env:TriageVectorEnv",
        kwargs={"task": _task},
    )
