"""What one agent of a team gets, and how what it gives back becomes an action."""

from typing import Any, Final, Protocol

import numpy as np
from gymnasium import spaces

from logtriage.actions import Action, signed
from logtriage.errors import InvalidInput
from logtriage.multi.boxes import role_box
from logtriage.multi.sight import Sight
from logtriage.multi.texts import Replies, Screens
from logtriage.parsing import parse_action, render_action
from logtriage.rendering import render_observation
from logtriage.roles import Role, RoleSplit, role_actions
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector import encode_role_tokens, role_token_mask

#: Kinds of observations: arrays with their mask, arrays alone, or text both ways.
OBSERVATIONS: Final = ("dict", "flat", "text")


def agent_name(role: Role) -> str:
    """The name of the agent that plays a role, such as ``triage_0``."""
    return f"{role.name}_0"


class Seat(Protocol):
    """A role with its spaces, each of them one object for good."""

    role: Role
    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]

    def begin(self) -> None:
        """Forget the last incident."""

    def look(self, sight: Sight) -> tuple[Any, dict[str, Any]]:
        """The observation and what else the info gets: once a tick, of all there is to see."""

    def read(self, given: Any) -> Action:
        """The action that was given.

        Raises:
            InvalidInput: for what is not of the kind that the action space holds.
        """


class NumericSeat:
    """Rows of a role's ``layout``, integers of ``role_actions``.

    The mask comes with the row, or if ``flat`` in the info: never in both, which TorchRL
    takes for an error.
    """

    def __init__(
        self, role: Role, split: RoleSplit, task: TaskSpec, topology: Topology, flat: bool
    ) -> None:
        self.role, self._flat = role, flat
        self._choices = role_actions(role, topology, task.world, hand_over=task.takes_hand_over)
        count = len(self._choices)
        box = role_box(split, role, task, topology)
        mask = spaces.Box(0, 1, (count,), np.int8)
        self.action_space: spaces.Space[Any] = spaces.Discrete(count)
        self.observation_space: spaces.Space[Any] = (
            box if flat else spaces.Dict({"observation": box, "action_mask": mask})
        )

    def begin(self) -> None:
        """As :class:`Seat`."""

    def look(self, sight: Sight) -> tuple[Any, dict[str, Any]]:
        """As :class:`Seat`."""
        where = sight.state, sight.split, self.role
        row, mask = encode_role_tokens(*where), role_token_mask(*where)
        if self._flat:
            return row, {"action_mask": mask}
        return {"observation": row, "action_mask": mask}, {}

    def read(self, given: Any) -> Action:
        """As :class:`Seat`."""
        if not self.action_space.contains(given):
            raise InvalidInput(
                f"action {given!r} of {agent_name(self.role)}: "
                f"expected an integer in [0, {len(self._choices)})"
            )
        return self._choices[int(given)]


class TextSeat:
    """Rendered screens, and replies with one JSON action.

    Whatever text is given is an action: what cannot be read, or is not the role's to do,
    is its :class:`~logtriage.Malformed` and costs it its turn.
    """

    def __init__(self, role: Role, split: RoleSplit, task: TaskSpec, topology: Topology) -> None:
        self.role, self._topology, self._lane = role, topology, split.roles.index(role)
        self.observation_space: spaces.Space[Any] = Screens()
        self._choices = role_actions(role, topology, task.world, hand_over=task.takes_hand_over)
        self.action_space: spaces.Space[Any] = Replies(self._choices)

    def begin(self) -> None:
        """As :class:`Seat`."""

    def look(self, sight: Sight) -> tuple[Any, dict[str, Any]]:
        """As :class:`Seat`; text has no mask."""
        return render_observation(sight.slices[self._lane]), {}

    def read(self, given: Any) -> Action:
        """As :class:`Seat`."""
        if not isinstance(given, str):
            raise InvalidInput(
                f"action {given!r} of {agent_name(self.role)}: expected text, such as "
                f"{render_action(self._choices[0])}"
            )
        return signed(parse_action(given, self._topology, self.role.kinds), self.role.name)


def seat_for(
    role: Role, split: RoleSplit, task: TaskSpec, topology: Topology, observations: str
) -> Seat:
    """The seat of a role, for one of :data:`OBSERVATIONS`."""
    if observations == "text":
        return TextSeat(role, split, task, topology)
    return NumericSeat(role, split, task, topology, observations == "flat")
