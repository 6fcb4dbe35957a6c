"""Which actions could have an effect, as numeric agents need it."""

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import all_actions
from logtriage.observation import Observation
from logtriage.policies import masked_actions


def action_mask(observation: Observation) -> NDArray[np.int8]:
    """Which actions could have an effect, shape (A,): all but declarations already made."""
    sensible = set(masked_actions(observation))
    choices = all_actions(observation.topology, hand_over=observation.takes_hand_over)
    return np.array([choice in sensible for choice in choices], np.int8)
