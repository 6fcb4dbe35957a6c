"""Chance: a uniformly drawn action that could have an effect."""

from typing import Final

import attrs

from logtriage.actions import Action, ClassifySeverity, IdentifyRootCause, all_actions
from logtriage.observation import Observation
from logtriage.policies.base import Memory
from logtriage.rng import Stream, hash_name, mix

RANDOM_STREAM: Final = hash_name("random-policy")


def masked_actions(observation: Observation) -> tuple[Action, ...]:
    """Every action but declarations that were already made."""
    return tuple(
        action
        for action in all_actions(observation.topology)
        if not (isinstance(action, ClassifySeverity) and observation.severity is not None)
        and not (isinstance(action, IdentifyRootCause) and observation.root_cause is not None)
    )


@attrs.frozen
class RandomPolicy:
    """Draws uniformly from :func:`masked_actions`, by seed and tick."""

    seed: int

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """A random action; memory is not used."""
        stream = Stream(mix(self.seed) ^ mix(observation.tick), RANDOM_STREAM)
        choices = masked_actions(observation)
        return choices[stream.below(len(choices))], memory
