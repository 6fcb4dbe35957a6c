"""The teams as a BenchMARL task, for any of its algorithms that take discrete actions."""

from collections.abc import Callable
from typing import Any

from benchmarl.environments.common import TaskClass
from torchrl.data import Composite
from torchrl.envs import EnvBase

from training.benchmarl.environment import GROUP, TeamEnv
from training.common.splits import role_split_of
from training.common.tasks import sheet_of


class TriageTeam(TaskClass):
    """A task by its id or ``module:name``, with ``split`` in its configuration.

    Collection and evaluation play different incidents of split ``train``, each once.
    """

    def __init__(self, name: str, config: dict[str, Any]) -> None:
        super().__init__(name, config)
        self._made = 0

    def get_env_fun(
        self,
        num_envs: int,
        continuous_actions: bool,  # noqa: ARG002, as BenchMARL calls it
        seed: int | None,
        device: Any,
    ) -> Callable[[], EnvBase]:
        """What makes an environment of so many rows; each has incidents of its own."""
        self._made += 1
        own = (seed or 0) * 1_000 + self._made
        roles = role_split_of(self.config["split"])
        return lambda: TeamEnv(sheet_of(self.name), roles, num_envs, seed=own).to(device)

    def supports_continuous_actions(self) -> bool:
        """There are none."""
        return False

    def supports_discrete_actions(self) -> bool:
        """All are."""
        return True

    def max_steps(self, env: EnvBase) -> int:
        """The horizon of the task."""
        horizon: int = env.base_env.horizon if hasattr(env, "base_env") else env.horizon
        return horizon

    def has_render(self, env: EnvBase) -> bool:  # noqa: ARG002
        """Nothing is drawn."""
        return False

    def group_map(self, env: EnvBase) -> dict[str, list[str]]:  # noqa: ARG002
        """One group of all roles."""
        return {GROUP: [f"{name}_0" for name in role_split_of(self.config["split"]).names]}

    def observation_spec(self, env: EnvBase) -> Composite:
        """What the roles are given."""
        return _only(env, "observation")

    def action_mask_spec(self, env: EnvBase) -> Composite:
        """Which actions they may take."""
        return _only(env, "action_mask")

    def state_spec(self, env: EnvBase) -> Composite:
        """What all roles are given, side by side."""
        return Composite({"state": env.full_observation_spec_unbatched["state"].clone()})

    def info_spec(self, env: EnvBase) -> None:
        """There is none."""

    def action_spec(self, env: EnvBase) -> Composite:
        """What they can do."""
        return env.full_action_spec_unbatched

    @staticmethod
    def env_name() -> str:
        """The name of the family."""
        return "logtriage"


def _only(env: EnvBase, name: str) -> Composite:
    found = env.full_observation_spec_unbatched.clone()
    del found["state"]
    for other in list(found[GROUP].keys()):
        if other != name:
            del found[GROUP][other]
    return found
