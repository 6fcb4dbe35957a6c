"""What it takes to be tried: an agent that acts on numbers, whoever trained it."""

from typing import Protocol

import torch
from torch import Tensor

from logtriage.vector import BatchedTriage, Step
from training.ppo.inputs import Inputs


class Acts(Protocol):
    """A trained agent."""

    def reader(self, batch: BatchedTriage) -> Inputs:
        """What makes its observations of a batch's screens."""

    def act(self, observation: Tensor, mask: Tensor, *, sampled: bool = False) -> Tensor:
        """An action (N,) at observations (N, D) under masks (N, A): the likeliest, or drawn."""


def mask_of(screen: Step) -> Tensor:
    """The mask (N, A), as booleans."""
    return torch.from_numpy(screen.mask).bool()
