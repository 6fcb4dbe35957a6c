"""A numeric observation: which columns stand for what."""

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.topology import Topology

Floats = NDArray[np.float32]


@attrs.frozen(eq=False)
class Layout:
    """Where each block of the observation of a topology begins and how wide it is."""

    topology: Topology
    blocks: dict[str, slice]
    size: int

    def __getitem__(self, name: str) -> slice:
        return self.blocks[name]

    def describe(self) -> list[tuple[str, int, int]]:
        """Name, first column and width of every block."""
        return [(name, at.start, at.stop - at.start) for name, at in self.blocks.items()]
