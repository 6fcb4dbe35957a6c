"""Spaces of numeric observations and actions."""

from typing import cast

import numpy as np
from gymnasium import spaces

from logtriage.actions import all_actions
from logtriage.topology import Topology
from logtriage.vector import Layout, layout_of
from logtriage.vector.layout import Floats


def observation_space(topology: Topology) -> spaces.Space[Floats]:
    """The box of a single agent's observation."""
    return box_of(layout_of(topology))


def box_of(layout: Layout) -> spaces.Space[Floats]:
    """Shares and flags in [0, 1], trends in [-1, 1]; columns by the layout."""
    low = np.zeros(layout.size, np.float32)
    if "trend" in layout.blocks:
        low[layout["trend"]] = -1
    if "slo" in layout.blocks:
        low[layout["slo"].stop - 1] = -1  # its third figure is a trend
    box = spaces.Box(low, np.ones(layout.size, np.float32), dtype=np.float32)
    return cast("spaces.Space[Floats]", box)


def action_space(topology: Topology) -> spaces.Discrete:
    """The canonical integers of the actions."""
    return spaces.Discrete(len(all_actions(topology)))
