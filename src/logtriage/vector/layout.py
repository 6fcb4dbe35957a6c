"""The layout of a numeric observation: which columns mean what."""

from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.topology import Topology

Floats = NDArray[np.float32]
#: The longest horizon: kernels keep ticks in a byte, in which 255 stands for never.
MOST_TICKS: Final = 250


@attrs.frozen(eq=False)
class Layout:
    """The named blocks of columns of an observation on a topology; ``size`` columns in all."""

    topology: Topology
    blocks: dict[str, slice]
    size: int

    def __getitem__(self, name: str) -> slice:
        return self.blocks[name]

    def describe(self) -> list[tuple[str, int, int]]:
        """(name, first column, width) of every block, in order."""
        return [(name, at.start, at.stop - at.start) for name, at in self.blocks.items()]


def laid_out(widths: Mapping[str, int], first: int = 0) -> tuple[dict[str, slice], int]:
    """Blocks of these widths side by side from column ``first``, and the next free column."""
    blocks = {}
    for name, width in widths.items():
        blocks[name] = slice(first, first + width)
        first += width
    return blocks, first
