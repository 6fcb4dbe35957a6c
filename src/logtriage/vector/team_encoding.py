"""The numeric observation of a role, on the scalar core.

The batched team computes the same numbers from its arrays; a law holds that they agree.
"""

import numpy as np
from numpy.typing import NDArray

from logtriage.board_words import REPORT_WORDS
from logtriage.observation import Observation
from logtriage.policies import masked_actions
from logtriage.roles import Role, role_actions
from logtriage.vector.encoding import Evidence, encode
from logtriage.vector.layout import Floats
from logtriage.vector.team_layout import role_columns, team_layout_of


def encode_team(observation: Observation, evidence: Evidence) -> Floats:
    """The team's numeric observation, shape (D,) of :func:`team_layout_of`."""
    topology = observation.topology
    layout = team_layout_of(topology)
    alone = encode(observation, evidence)
    row = np.zeros(layout.size, np.float32)
    row[: len(alone)] = alone
    if observation.root_cause is not None and observation.directory:
        owner = observation.directory[topology.index(observation.root_cause)]
        row[layout["declared_owner"].start + topology.teams.index(owner)] = 1
    for _, report in observation.reports:
        if report.message in REPORT_WORDS:
            row[layout["report"].start + REPORT_WORDS.index(report.message)] = 1
    return row


def encode_role(observation: Observation, evidence: Evidence, role: Role) -> Floats:
    """A role's numeric observation, shape (D,) of :func:`role_layout_of`.

    ``observation`` is the role's slice, ``evidence`` what it gathered of its slices,
    this one included.
    """
    return encode_team(observation, evidence)[role_columns(observation.topology, role)]


def role_mask(observation: Observation, role: Role) -> NDArray[np.int8]:
    """Which of a role's actions could have an effect, shape (A,) of :func:`role_actions`.

    By :func:`logtriage.policies.masked_actions`, never all of them useless.
    """
    sensible = set(masked_actions(observation, role))
    return np.array([one in sensible for one in role_actions(role, observation.topology)], np.int8)
