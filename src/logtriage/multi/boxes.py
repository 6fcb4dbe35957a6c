"""Boxes of what a role sees in numbers, and of what the team does."""

from typing import cast

import numpy as np
from gymnasium import spaces

from logtriage.env.spaces import box_of
from logtriage.roles import Role, RoleSplit
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector import (
    RoleTokens,
    TeamTokens,
    role_layout_of,
    role_tokens_of,
    team_layout_of,
    team_tokens_of,
)
from logtriage.vector.layout import Floats
from logtriage.vector.team_first_world import check_plain
from logtriage.vector.tokens.layout import MOST


def role_box(
    split: RoleSplit, role: Role, task: TaskSpec, topology: Topology
) -> spaces.Space[Floats]:
    """The box of a role's numeric observation.

    Raises:
        InvalidInput: for a role that only arrays of the second world know, in the first.
    """
    if task.setting is None:
        check_plain(split)
        return box_of(role_layout_of(topology, role))
    return _counted(role_tokens_of(split, role, topology, task.setting.fog, task.horizon))


def team_box(split: RoleSplit, task: TaskSpec, topology: Topology) -> spaces.Space[Floats]:
    """The box of all that any role could see."""
    if task.setting is None:
        return box_of(team_layout_of(topology))
    return _counted(team_tokens_of(split, topology, task.setting.fog, task.horizon))


def _counted(layout: RoleTokens | TeamTokens) -> spaces.Space[Floats]:
    """Numbers up to 255, in units of their columns."""
    low, high = np.zeros(layout.size, np.float32), (MOST * layout.units).astype(np.float32)
    return cast("spaces.Space[Floats]", spaces.Box(low, high, dtype=np.float32))
