"""Fixed answers that depend on no screen: the floor against which a grader is measured."""

import attrs

from logtriage.actions import Action, Malformed, Resolve, check_action, describe
from logtriage.errors import UnknownName
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.topology import Topology


def fitted(action: Action, topology: Topology) -> Action:
    """The action, or a :class:`Malformed` one if it names something that the topology lacks."""
    try:
        check_action(action, topology)
    except UnknownName as error:
        return Malformed(describe(action), str(error))
    return action


@attrs.frozen
class ConstantPolicy:
    """Plays a fixed list of actions, each :func:`fitted` to the topology, then resolves."""

    actions: tuple[Action, ...]

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The action at this position of the list; memory is the position."""
        position = 0 if memory is None else memory
        if position >= len(self.actions):
            return Resolve(), position
        return fitted(self.actions[position], observation.topology), position + 1
