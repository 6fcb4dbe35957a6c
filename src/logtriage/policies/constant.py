"""Answers that depend on nothing: the floor against which a grader is measured."""

import attrs

from logtriage.actions import Action, Malformed, Resolve, check_action, describe
from logtriage.errors import UnknownName
from logtriage.observation import Observation
from logtriage.policies.base import Memory


@attrs.frozen
class ConstantPolicy:
    """Plays a fixed list of actions, then resolves.

    An action that names what the topology at hand does not have is malformed there,
    as from any agent.
    """

    actions: tuple[Action, ...]

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The action at this position of the list; memory is the position."""
        position = 0 if memory is None else memory
        if position >= len(self.actions):
            return Resolve(), position
        action = self.actions[position]
        try:
            check_action(action, observation.topology)
        except UnknownName as error:
            action = Malformed(describe(action), str(error))
        return action, position + 1
