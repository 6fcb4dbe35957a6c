"""Actor and critic: two multilayer perceptrons, and a categorical that knows the mask."""

import attrs
import torch
from torch import Tensor, nn
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator

from training.common.networks import POLICY, VALUE, masked_actor, perceptrons
from training.ppo.settings import Settings


@attrs.frozen(eq=False)
class Agent:
    """The networks of a run; ``logits`` and ``value`` are bare modules inside of the others."""

    logits: nn.Module
    value: nn.Module
    actor: ProbabilisticActor
    critic: ValueOperator

    def distribution(self, observation: Tensor, mask: Tensor) -> MaskedCategorical:
        """The policy (N,) at observations (N, D) under masks (N, A) of booleans."""
        return MaskedCategorical(logits=self.logits(observation), mask=mask)

    @torch.no_grad()
    def act(self, observation: Tensor, mask: Tensor, *, sampled: bool = False) -> Tensor:
        """An action (N,): the likeliest, or one drawn."""
        policy = self.distribution(observation, mask)
        action: Tensor = policy.sample() if sampled else policy.mode
        return action

    def state(self) -> dict[str, Tensor]:
        """All weights by name."""
        modules = {"logits": self.logits, "value": self.value}
        return {
            f"{name}.{key}": tensor.detach().clone()
            for name, module in modules.items()
            for key, tensor in module.state_dict().items()
        }

    def load(self, state: dict[str, Tensor]) -> None:
        """Take over the weights of :meth:`state`."""
        for name, module in (("logits", self.logits), ("value", self.value)):
            prefix = f"{name}."
            module.load_state_dict(
                {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
            )


def make_agent(columns: int, actions: int, settings: Settings) -> Agent:
    """Fresh networks, drawn from torch's generator; the first policy is all but uniform."""
    logits, value = perceptrons([(columns, actions, POLICY), (columns, 1, VALUE)], settings)
    return Agent(logits, value, masked_actor(logits), ValueOperator(value, in_keys=["observation"]))
