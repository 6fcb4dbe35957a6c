"""A policy that slips: now and then it takes another action than it meant to."""

from typing import Final

import attrs

from logtriage.actions import Action
from logtriage.errors import InvalidInput
from logtriage.observation import Observation
from logtriage.policies.base import Memory, Policy
from logtriage.policies.random_policy import masked_actions
from logtriage.rng import Stream, hash_name, mix
from logtriage.roles import Role

NOISE_STREAM: Final = hash_name("noisy-expert")
WHOLE: Final = 1000


def _permille(_: object, field: "attrs.Attribute[int]", value: int) -> None:
    if not 0 <= value <= WHOLE:
        raise InvalidInput(f"{field.name} must lie in [0, {WHOLE}], got {value}")


@attrs.frozen
class NoisyPolicy:
    """Plays as another policy, but draws some of its actions anew.

    Args:
        policy: who decides on the kind of action.
        slips: how many of 1,000 actions are drawn anew, uniformly; some come out the same.
        seed: of the draws, which depend on it and on the tick.
        role: the role in which it plays, if any.
        alike: draw among actions of the same kind: the right thing done to the wrong
            service. If not, among all that could have an effect.
        spared: kinds of action that are never drawn anew.

    Raises:
        InvalidInput: unless ``slips`` lies in [0, 1000].
    """

    policy: Policy
    slips: int = attrs.field(validator=_permille)
    seed: int = 0
    role: Role | None = None
    alike: bool = True
    spared: tuple[type[Action], ...] = ()

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The other policy's action, or the one drawn; the memory is the other's."""
        action, memory = self.policy.act(observation, memory)
        stream = Stream(mix(self.seed) ^ mix(observation.tick), NOISE_STREAM)
        if not stream.chance(self.slips) or isinstance(action, self.spared):
            return action, memory
        choices = [
            one
            for one in masked_actions(observation, self.role)
            if not self.alike or type(one) is type(action)
        ]
        return (choices[stream.below(len(choices))] if choices else action), memory
