"""Multilayer perceptrons, and a TorchRL actor whose categorical knows the mask."""

from collections.abc import Sequence
from typing import Final

from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor

from training.common.initial import orthogonal
from training.common.settings import PPOSettings

ACTIVATIONS: Final = {"tanh": nn.Tanh, "relu": nn.ReLU}


def perceptrons(
    shapes: Sequence[tuple[int, int, float]], settings: PPOSettings
) -> tuple[nn.Module, ...]:
    """Fresh networks by (columns, outputs, scale of the last layer), from torch's draws."""
    cells = [settings.width] * settings.depth
    networks = [
        MLP(columns, outputs, num_cells=cells, activation_class=ACTIVATIONS[settings.activation])
        for columns, outputs, _ in shapes
    ]
    for network, (_, _, last) in zip(networks, shapes, strict=True):
        orthogonal(network, last)
    return tuple(networks)


def masked_actor(logits: nn.Module) -> ProbabilisticActor:
    """The policy of these logits, from ``observation`` and ``mask`` to ``action``."""
    return ProbabilisticActor(
        TensorDictModule(logits, in_keys=["observation"], out_keys=["logits"]),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
