"""A numeric observation: which columns stand for what."""

from collections.abc import Mapping

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


def laid_out(widths: Mapping[str, int], first: int = 0) -> tuple[dict[str, slice], int]:
    """Blocks of these widths side by side from a first column on, and the column behind them."""
    blocks = {}
    for name, width in widths.items():
        blocks[name] = slice(first, first + width)
        first += width
    return blocks, first
