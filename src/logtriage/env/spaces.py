"""Spaces of numeric observations and actions."""

from typing import cast

import numpy as np
from gymnasium import spaces

from logtriage.actions import all_actions
from logtriage.topology import Topology
from logtriage.vector import RoleTokens, TeamTokens, TokenLayout
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.layout import MOST


def box_of(layout: TokenLayout | RoleTokens | TeamTokens) -> spaces.Space[Floats]:
    """The box of an observation: every column lies between 0 and 255 of its units."""
    low, high = np.zeros(layout.size, np.float32), (MOST * layout.units).astype(np.float32)
    return cast("spaces.Space[Floats]", spaces.Box(low, high, dtype=np.float32))


def action_space(topology: Topology) -> spaces.Discrete:
    """The canonical integers of the actions."""
    return spaces.Discrete(len(all_actions(topology)))
