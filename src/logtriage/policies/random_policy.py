"""The random policy: a uniformly drawn action that could have an effect."""

from typing import Final

import attrs

from logtriage.actions import Action, ClassifySeverity, IdentifyRootCause, all_actions
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.rng import Stream, hash_name, mix
from logtriage.roles import Role, is_request, role_actions

RANDOM_STREAM: Final = hash_name("random-policy")


def masked_actions(observation: Observation, role: Role | None = None) -> tuple[Action, ...]:
    """Every action of a single agent or of a role that could have an effect.

    Declarations that were already made have no effect, nor have requests beyond a role's budget.
    If no action is left (for a role that may only declare, and not wait), all are returned.
    """
    topology, world = observation.topology, observation.world
    offered = observation.takes_hand_over
    choices = (
        all_actions(topology, hand_over=offered)
        if role is None
        else role_actions(role, topology, world, hand_over=offered)
    )
    sensible = tuple(
        action
        for action in choices
        if not (isinstance(action, ClassifySeverity) and observation.severity is not None)
        and not (isinstance(action, IdentifyRootCause) and observation.settles(action.service))
        and not (observation.requests_left == 0 and is_request(action))
    )
    return sensible or choices


@attrs.frozen
class RandomPolicy:
    """Draws uniformly from :func:`masked_actions`, by seed and tick."""

    seed: int
    role: Role | None = None

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """A random action; memory is not used."""
        stream = Stream(mix(self.seed) ^ mix(observation.tick), RANDOM_STREAM)
        choices = masked_actions(observation, self.role)
        return choices[stream.below(len(choices))], memory
