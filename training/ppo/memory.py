"""A GRU that carries what earlier screens showed.

An agent with a memory is given a screen beside what it carries after reading it: columns
(D + H). Rows whose incident has just begun carry nothing.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from logtriage.vector import Step
from training.ppo.inputs import Inputs


class Memory(nn.Module):
    """A GRU of ``size`` units that reads screens of ``columns`` columns."""

    def __init__(self, columns: int, size: int) -> None:
        super().__init__()
        self.columns, self.size = columns, size
        self.cell = nn.GRUCell(columns, size)
        for name, weight in self.cell.named_parameters():
            if name.startswith("weight"):
                for gate in weight.chunk(3):
                    nn.init.orthogonal_(gate)
            else:
                nn.init.zeros_(weight)

    def forward(self, seen: Tensor, begun: Tensor, carried: Tensor) -> tuple[Tensor, Tensor]:
        """Read one screen.

        Args:
            seen: The screens (N, D).
            begun: Where the incident has begun with this screen (N,), booleans.
            carried: What is carried from the screen before (N, H).

        Returns:
            Screens beside what is now carried (N, D + H), and that alone (N, H).
        """
        carried = self.cell(seen, carried.masked_fill(begun[:, None], 0.0))
        return torch.cat([seen, carried], dim=1), carried

    def recalled(self, observation: Tensor, begun: Tensor, carried: Tensor) -> Tensor:
        """Observations (T, N, D + H) as the present weights would have made them.

        ``begun`` (T, N) is as above, ``carried`` (N, H) from the screen before the first.
        """
        steps = []
        for screen, new in zip(observation[..., : self.columns], begun, strict=True):
            now, carried = self(screen, new, carried)
            steps.append(now)
        return torch.stack(steps)


class Remembering:
    """Reads screens as ``inputs`` does, and adds what a memory carries."""

    def __init__(self, inputs: Inputs, memory: Memory) -> None:
        self._inputs, self._memory = inputs, memory
        self.size, self.owners = inputs.size + memory.size, inputs.owners

    def begin(self, screen: Step) -> Tensor:
        """As :meth:`training.ppo.inputs.Inputs.begin`."""
        seen = self._inputs.begin(screen)
        self._carried = torch.zeros((len(seen), self._memory.size))
        return self._now(seen, np.arange(len(seen)))

    def read(self, screen: Step, actions: NDArray[np.int64], fresh: NDArray[np.int64]) -> Tensor:
        """As :meth:`training.ppo.inputs.Inputs.read`."""
        return self._now(self._inputs.read(screen, actions, fresh), fresh)

    @torch.no_grad()
    def _now(self, seen: Tensor, fresh: NDArray[np.int64]) -> Tensor:
        begun = torch.zeros(len(seen), dtype=torch.bool)
        begun[fresh] = True
        now: Tensor
        now, self._carried = self._memory(seen, begun, self._carried)
        return now
