"""The seat of one agent of a team: its spaces, its observations, and how its answers are read."""

import string
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from logtriage.actions import Action, Malformed, signed
from logtriage.env.spaces import box_of
from logtriage.errors import InvalidInput
from logtriage.observation import Observation
from logtriage.parsing import parse_action, render_action
from logtriage.parsing.marks import MAX_TEXT
from logtriage.policies.team import as_taken_by
from logtriage.rendering import ending, render_observation
from logtriage.roles import Role, RoleSplit, as_allowed, role_actions
from logtriage.state import State
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector import encode_role_tokens, role_token_mask, role_tokens_of

#: The most characters of a screen; topologies of 200 services stay below.
MAX_SCREEN: Final = 100_000
_SAMPLED: Final = "".join(filter(str.isprintable, string.printable)) + "\n"


class AnyText(spaces.Text):
    """Texts of up to ``max_length`` characters of any kind."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=_SAMPLED)

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


class Replies(AnyText):
    """The space of an agent's replies, sampled from ``texts``. Longer replies lose the turn."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(MAX_TEXT)
        self._texts = texts

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """One of the ``texts``; with a mask or a probability, a text of random characters."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        return self._texts[int(self.np_random.integers(len(self._texts)))]


#: Kinds of observations: arrays with their mask, arrays alone, or text both ways.
OBSERVATIONS: Final = ("dict", "flat", "text")


def agent_name(role: Role) -> str:
    """The name of the agent that plays a role, such as ``triage_0``."""
    return f"{role.name}_0"


def _taken(action: Action, role: Role, topology: Topology) -> Action:
    """A core action, signed by the role; InvalidInput if the role may not take it."""
    taken = as_allowed(as_taken_by(action, role), role, topology, left=None)
    if isinstance(taken, Malformed) and not isinstance(action, Malformed):
        raise InvalidInput(f"action {action} of {agent_name(role)}: {taken.reason}")
    return taken


class NumericSeat:
    """An agent that sees rows of its role's layout and acts by integers of ``role_actions``.

    The mask stands beside the row, or in the info if ``flat``: TorchRL refuses two at once.
    """

    def __init__(
        self, role: Role, split: RoleSplit, task: TaskSpec, topology: Topology, flat: bool
    ) -> None:
        self.role, self._split, self._flat, self._topology = role, split, flat, topology
        self._choices = role_actions(role, topology, task.world, hand_over=task.takes_hand_over)
        box = box_of(role_tokens_of(split, role, task.setting, topology, task.horizon))
        mask = spaces.Box(0, 1, (len(self._choices),), np.int8)
        self.action_space: spaces.Space[Any] = spaces.Discrete(len(self._choices))
        self.observation_space: spaces.Space[Any] = (
            box if flat else spaces.Dict({"observation": box, "action_mask": mask})
        )

    def look(self, state: State, _: Sequence[Observation]) -> tuple[Any, dict[str, Any]]:
        """(observation, further entries of the info)."""
        where = state, self._split, self.role
        row, mask = encode_role_tokens(*where), role_token_mask(*where)
        if self._flat:
            return row, {"action_mask": mask}
        return {"observation": row, "action_mask": mask}, {}

    def read(self, number: Any) -> Action:
        """The action of an integer, or a core action; InvalidInput outside the action space."""
        if isinstance(number, Action):
            return _taken(number, self.role, self._topology)
        if not self.action_space.contains(number):
            raise InvalidInput(
                f"action {number!r} of {agent_name(self.role)}: "
                f"expected an integer in [0, {len(self._choices)})"
            )
        return self._choices[int(number)]


class TextSeat:
    """An agent that sees its role's screens and replies with a JSON action or any other text."""

    def __init__(self, role: Role, split: RoleSplit, task: TaskSpec, topology: Topology) -> None:
        self.role, self._topology, self._lane = role, topology, split.roles.index(role)
        self.observation_space: spaces.Space[Any] = AnyText(MAX_SCREEN)
        self._choices = role_actions(role, topology, task.world, hand_over=task.takes_hand_over)
        self.action_space: spaces.Space[Any] = Replies(
            [render_action(action) for action in self._choices]
        )

    def look(self, _: State, slices: Sequence[Observation]) -> tuple[Any, dict[str, Any]]:
        """(screen, info); the info of the last screen says as ``ending`` how the incident ended."""
        seen = slices[self._lane]
        end = ending(seen)
        return render_observation(seen), {} if end is None else {"ending": end}

    def read(self, reply: Any) -> Action:
        """The action of a reply, or a core action; InvalidInput for anything else."""
        if isinstance(reply, Action):
            return _taken(reply, self.role, self._topology)
        if not isinstance(reply, str):
            raise InvalidInput(
                f"action {reply!r} of {agent_name(self.role)}: expected text, such as "
                f"{render_action(self._choices[0])}"
            )
        return signed(parse_action(reply, self._topology, self.role.kinds), self.role.name)


#: A seat is an agent's place in the environment; its spaces stay the same objects.
Seat = NumericSeat | TextSeat


def seat_for(
    role: Role, split: RoleSplit, task: TaskSpec, topology: Topology, observations: str
) -> Seat:
    """The seat of a role that gets ``observations``, one of :data:`OBSERVATIONS`."""
    if observations == "text":
        return TextSeat(role, split, task, topology)
    return NumericSeat(role, split, task, topology, flat=observations == "flat")
