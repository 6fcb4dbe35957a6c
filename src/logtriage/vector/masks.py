"""Which actions could have an effect, as numeric agents need it."""

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import all_actions
from logtriage.observation import Observation
from logtriage.policies import masked_actions
from logtriage.roles import Role, role_actions


def action_mask(observation: Observation) -> NDArray[np.int8]:
    """Which actions could have an effect, shape (A,): all but declarations already made."""
    sensible = set(masked_actions(observation))
    choices = all_actions(observation.topology, hand_over=observation.takes_hand_over)
    return np.array([choice in sensible for choice in choices], np.int8)


def role_mask(observation: Observation, role: Role) -> NDArray[np.int8]:
    """Which of a role's actions could have an effect, shape (A,) of :func:`role_actions`.

    By :func:`logtriage.policies.masked_actions`, never all of them useless.
    """
    sensible = set(masked_actions(observation, role))
    choices = role_actions(
        role, observation.topology, observation.world, hand_over=observation.takes_hand_over
    )
    return np.array([choice in sensible for choice in choices], np.int8)
