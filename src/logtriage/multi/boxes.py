"""Boxes of what a role sees in numbers, and of what the team does."""

from gymnasium import spaces

from logtriage.env.spaces import box_of
from logtriage.roles import Role, RoleSplit
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector import role_tokens_of, team_tokens_of
from logtriage.vector.layout import Floats


def role_box(
    split: RoleSplit, role: Role, task: TaskSpec, topology: Topology
) -> spaces.Space[Floats]:
    """The box of a role's numeric observation."""
    assert task.setting is not None  # or there would be no environment of the task
    where = task.setting, topology, task.horizon
    return box_of(role_tokens_of(split, role, *where))


def team_box(split: RoleSplit, task: TaskSpec, topology: Topology) -> spaces.Space[Floats]:
    """The box of all that any role could see."""
    assert task.setting is not None  # or there would be no environment of the task
    where = task.setting, topology, task.horizon
    return box_of(team_tokens_of(split, *where))
