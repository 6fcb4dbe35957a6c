"""What an experiment of BenchMARL has learnt, played greedily by the batched engine."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModuleBase
from torch import Tensor
from torchrl.envs.utils import ExplorationType, set_exploration_type

from training.benchmarl.environment import GROUP, stacked


class Greedy:
    """The policies of an experiment, as :func:`training.marl.evaluate.play_held_out` asks them."""

    def __init__(self, policy: TensorDictModuleBase) -> None:
        self._policy = policy

    @torch.no_grad()
    def act(self, seen: list[Tensor], masks: list[Tensor]) -> list[Tensor]:
        """The likeliest action, or that of the highest value, of each role: (N,) each."""
        given = TensorDict({GROUP: stacked(seen, masks)}, batch_size=(len(seen[0]),))
        with set_exploration_type(ExplorationType.DETERMINISTIC):
            chosen = self._policy(given)[GROUP, "action"]
        return list(chosen.unbind(-1))
