"""The initial weights of perceptrons."""

from typing import Final

from torch import nn

#: The scale of the last layer's weights: a first policy is all but uniform.
POLICY: Final = 0.01
VALUE: Final = 1.0


def orthogonal(network: nn.Module, last: float) -> None:
    """Draw orthogonal weights, those of the last layer at the scale ``last``; biases are 0."""
    layers = [module for module in network.modules() if isinstance(module, nn.Linear)]
    for layer in layers:
        nn.init.orthogonal_(layer.weight, last if layer is layers[-1] else 2**0.5)
        nn.init.zeros_(layer.bias)
