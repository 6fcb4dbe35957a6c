"""Spaces of numeric observations and actions."""

from typing import Any, Final, cast

import numpy as np
from gymnasium import spaces

from logtriage.actions import all_actions
from logtriage.topology import Topology
from logtriage.vector import RoleTokens, TokenLayout
from logtriage.vector.believing import KEPT
from logtriage.vector.layout import Floats, Layout
from logtriage.vector.tokens.layout import MOST

#: A sum of probabilities in float32 may exceed 1 by this much.
ROUNDING: Final = 1e-5


def box_of(layout: TokenLayout | RoleTokens, dtype: Any = np.float32) -> spaces.Space[Floats]:
    """The box of an observation: a column lies in [0, 255], for float32 times its unit."""
    high = MOST * (layout.units if dtype == np.float32 else np.ones(layout.size))
    return cast(
        "spaces.Space[Floats]",
        spaces.Box(np.zeros(layout.size, dtype), high.astype(dtype), dtype=dtype),
    )


def belief_box(layout: Layout, tokens: TokenLayout) -> spaces.Space[Floats]:
    """The box of a belief row: shares of 1, and the columns kept from the tokens' layout."""
    low = np.zeros(layout.size, np.float32)
    high = np.full(layout.size, 1 + ROUNDING, np.float32)
    for name, where in layout.blocks.items():
        if name in KEPT:
            high[where] = (MOST * tokens.units)[tokens[name]]
    return cast("spaces.Space[Floats]", spaces.Box(low, high, dtype=np.float32))


def action_space(topology: Topology, *, hand_over: bool = False) -> spaces.Discrete:
    """The integers of ``all_actions``; ``hand_over`` says whether a hand-over is among them."""
    return spaces.Discrete(len(all_actions(topology, hand_over=hand_over)))
