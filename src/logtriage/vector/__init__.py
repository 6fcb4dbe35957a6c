"""Play many incidents at once: the incidents are arrays, and compiled kernels step through them.

Engines and beliefs load the extra ``fast`` (numba) when they are made. Numeric observations of a
single state (:func:`encode_tokens`) do not need it.

>>> import numpy as np
>>> from logtriage.vector import BatchedTriage
>>> batch = BatchedTriage("cascading_failure-v4")
>>> screen = batch.reset("train", np.arange(1024))
>>> screen = batch.step(np.zeros(1024, int))  # every row declares P1
>>> screen.observation.shape, screen.reward.shape
((1024, 394), (1024,))
"""

from logtriage.vector.belief_replay import belief_batch
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.believing import BeliefScreens, belief_layout_of
from logtriage.vector.engine import BatchedTriage, Step
from logtriage.vector.following import TeamBeliefs
from logtriage.vector.layout import Layout
from logtriage.vector.team import CREDITS, BatchedTeam, TeamStep
from logtriage.vector.team_tokens import (
    RoleTokens,
    TeamTokens,
    encode_role_tokens,
    encode_team_tokens,
    role_token_mask,
    role_tokens_of,
    team_tokens_of,
)
from logtriage.vector.tokens.encoding import action_mask, encode_tokens
from logtriage.vector.tokens.layout import TokenLayout, token_layout_of

__all__ = [
    "CREDITS",
    "BatchedTeam",
    "BatchedTriage",
    "BeliefBatch",
    "BeliefScreens",
    "Layout",
    "RoleTokens",
    "Step",
    "TeamBeliefs",
    "TeamStep",
    "TeamTokens",
    "TokenLayout",
    "action_mask",
    "belief_batch",
    "belief_layout_of",
    "encode_role_tokens",
    "encode_team_tokens",
    "encode_tokens",
    "role_token_mask",
    "role_tokens_of",
    "team_tokens_of",
    "token_layout_of",
]
