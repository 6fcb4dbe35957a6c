"""The networks as RLlib takes them."""

from typing import Any

from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from training.rllib.environment import MASK, SEEN
from training.rllib.networks import Networks


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """Actor and critic on the observations of :class:`training.rllib.environment.MaskedBeliefs`.

    ``model_config`` holds ``width`` and ``depth``.
    """

    def setup(self) -> None:
        """Make the networks."""
        columns = self.observation_space[SEEN].shape[0]
        width, depth = self.model_config["width"], self.model_config["depth"]
        self.networks = Networks(columns, int(self.action_space.n), width, depth)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        screen = batch[Columns.OBS]
        return {Columns.ACTION_DIST_INPUTS: self.networks.masked(screen[SEEN], screen[MASK])}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:  # noqa: ARG002
        """The values (N,)."""
        found: Tensor = self.networks.value(batch[Columns.OBS][SEEN])
        return found.squeeze(-1)
