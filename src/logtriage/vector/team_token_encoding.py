"""The numeric observations of a team on the scalar core.

The batched team computes the same numbers from its arrays; a law holds that they agree.
"""

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import ClassifySeverity, IdentifyRootCause
from logtriage.evidence import evidence, simulation_of
from logtriage.joint import board_of, requests_left
from logtriage.roles import Role, RoleSplit, is_request, role_actions, role_words
from logtriage.state import State
from logtriage.vector.layout import Floats
from logtriage.vector.team_tokens import role_tokens_of, team_tokens_of
from logtriage.vector.tokens.encoding import in_units, write_tokens


def encode_team_tokens(state: State, split: RoleSplit) -> Floats:
    """All that the roles of a split could see together, shape (D,) of :func:`team_tokens_of`.

    Raises:
        InvalidInput: as :func:`logtriage.evidence.simulation_of`.
    """
    return _encode(state, split, None)


def encode_role_tokens(state: State, split: RoleSplit, role: Role) -> Floats:
    """What a role of a split sees, shape (D,) of :func:`role_tokens_of`.

    Raises:
        InvalidInput: as :func:`encode_team_tokens`.
    """
    return _encode(state, split, role)


def role_token_mask(state: State, split: RoleSplit, role: Role) -> NDArray[np.int8]:
    """Which of a role's actions could have an effect, shape (A,) of ``role_actions``.

    As :func:`logtriage.policies.masked_actions` of what the role sees, without its screen.
    """
    board, left = board_of(state, role), requests_left(state, split, role)
    incident = state.incident
    choices = role_actions(
        role, incident.topology, incident.world, hand_over=incident.takes_hand_over
    )
    sensible = np.array(
        [
            not (
                (isinstance(choice, ClassifySeverity) and board.severity is not None)
                or (isinstance(choice, IdentifyRootCause) and board.settles(choice.service))
                or (left == 0 and is_request(choice))
            )
            for choice in choices
        ],
        np.int8,
    )
    return sensible if sensible.any() else np.ones(len(choices), np.int8)


def _encode(state: State, split: RoleSplit, role: Role | None) -> Floats:
    shown, incident = evidence(state), state.incident
    topology = incident.topology
    where = simulation_of(incident).setting, topology, incident.horizon
    layout, board = team_tokens_of(split, *where), board_of(state, role)
    numbers = np.zeros(layout.size, np.int64)
    write_tokens(numbers, layout.base, state, shown, board, role)
    for name in board.declared:
        owner = topology.teams.index(incident.directory[topology.index(name)])
        numbers[layout["declared_owner"].start + owner] = 1
    for _, report in board.reports:
        if report.by in split.names:
            words = role_words(split.role(report.by), topology, layout.base.world)
            if report.message in words:
                numbers[layout[f"report:{report.by}"].start + words.index(report.message)] = 1
    for asker in split.roles:
        left = requests_left(state, split, asker)
        if left is not None:
            numbers[layout[f"left:{asker.name}"]] = left
    team = in_units(numbers, layout.units)
    return team if role is None else team[role_tokens_of(split, role, *where).columns]
