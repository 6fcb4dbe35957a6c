"""Spaces of numeric observations and actions."""

from typing import cast

import numpy as np
from gymnasium import spaces

from logtriage.actions import all_actions
from logtriage.topology import Topology
from logtriage.vector import Layout, RoleTokens, TeamTokens, TokenLayout
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.layout import MOST


def box_of(layout: Layout | RoleTokens | TeamTokens) -> spaces.Space[Floats]:
    """The box of an observation; columns by the layout.

    Of tokens, every column lies between 0 and 255 of its units. In the first world shares
    and flags lie in [0, 1], trends in [-1, 1].
    """
    low = np.zeros(layout.size, np.float32)
    if isinstance(layout, TokenLayout | RoleTokens | TeamTokens):
        high = MOST * layout.units
        tokens = spaces.Box(low, high.astype(np.float32), dtype=np.float32)
        return cast("spaces.Space[Floats]", tokens)
    if "trend" in layout.blocks:
        low[layout["trend"]] = -1
    if "slo" in layout.blocks:
        low[layout["slo"].stop - 1] = -1  # its third figure is a trend
    box = spaces.Box(low, np.ones(layout.size, np.float32), dtype=np.float32)
    return cast("spaces.Space[Floats]", box)


def action_space(topology: Topology) -> spaces.Discrete:
    """The canonical integers of the actions."""
    return spaces.Discrete(len(all_actions(topology)))
