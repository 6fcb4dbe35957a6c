"""The networks of an agent: two perceptrons in plain torch, so that it plays without Ray."""

from itertools import pairwise

import attrs
import torch
from torch import Tensor, nn

from logtriage.vector import BatchedTriage
from training.common.initial import POLICY, VALUE, orthogonal
from training.ppo.inputs import Inputs, inputs_of
from training.rllib.settings import Settings

#: What agents are given (:mod:`training.ppo.inputs`).
INPUTS = "belief"


class Networks(nn.Module):
    """``logits`` of the actions and the ``value`` of an incident, from one observation."""

    def __init__(self, columns: int, actions: int, width: int, depth: int) -> None:
        super().__init__()
        self.logits = _perceptron(columns, actions, width, depth)
        self.value = _perceptron(columns, 1, width, depth)
        orthogonal(self.logits, POLICY)
        orthogonal(self.value, VALUE)

    def masked(self, observation: Tensor, mask: Tensor) -> Tensor:
        """Logits (N, A) at observations (N, D); least where the mask (N, A) forbids."""
        logits: Tensor = self.logits(observation)
        return logits.masked_fill(mask == 0, torch.finfo(logits.dtype).min)


def _perceptron(columns: int, outputs: int, width: int, depth: int) -> nn.Sequential:
    sizes = [columns, *[width] * depth]
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))


@attrs.frozen(eq=False)
class Agent:
    """Networks that play: what :class:`training.ppo.acting.Acts` asks for."""

    networks: Networks

    def reader(self, batch: BatchedTriage) -> Inputs:
        """What makes its observations of a batch's screens."""
        return inputs_of(INPUTS, batch)

    @torch.no_grad()
    def act(self, observation: Tensor, mask: Tensor, *, sampled: bool = False) -> Tensor:
        """An action (N,): the likeliest, or one drawn."""
        logits = self.networks.masked(observation, mask)
        drawn: Tensor = (
            torch.distributions.Categorical(logits=logits).sample()
            if sampled
            else logits.argmax(dim=1)
        )
        return drawn


def make_agent(settings: Settings) -> Agent:
    """Fresh networks of the size that a task needs, drawn from torch's generator."""
    batch = BatchedTriage(settings.sheet)
    columns = inputs_of(INPUTS, batch).size
    return Agent(Networks(columns, batch.action_count, settings.width, settings.depth))
