"""The numeric observations of a team on the scalar core.

The batched team computes the same numbers from its arrays; a law holds that they agree.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES, ClassifySeverity, IdentifyRootCause
from logtriage.evidence import evidence, is_shown
from logtriage.joint import Board, board_of, requests_left
from logtriage.roles import Role, RoleSplit, is_request, role_actions, role_words
from logtriage.state import State
from logtriage.vector.layout import Floats
from logtriage.vector.team_tokens import TeamTokens, role_tokens_of, team_tokens_of
from logtriage.vector.tokens.encoding import Numbers, enter, price_number, write_asked
from logtriage.vector.tokens.layout import MOST
from logtriage.world.channels import Evidence
from logtriage.world.schedule import Cell
from logtriage.world.simulation import Simulation


def encode_team_tokens(state: State, split: RoleSplit) -> Floats:
    """All that the roles of a split could see together, shape (D,) of :func:`team_tokens_of`.

    Raises:
        InvalidInput: as :func:`logtriage.evidence.simulation_of`.
    """
    return _encode(state, split, evidence(state), None)


def encode_role_tokens(state: State, split: RoleSplit, role: Role) -> Floats:
    """What a role of a split sees, shape (D,) of :func:`role_tokens_of`.

    Raises:
        InvalidInput: as :func:`encode_team_tokens`.
    """
    return _encode(state, split, evidence(state), role)


class TeamReader:
    """Reads state after state of one incident: each tick's evidence once, for all roles."""

    def __init__(self, split: RoleSplit) -> None:
        self.split = split
        self._found: dict[Cell, Evidence] = {}
        self._state: State | None = None

    def read(self, state: State) -> None:
        """Take in the next state of an incident; one in its first tick begins anew."""
        world = state.incident.telemetry
        assert isinstance(world, Simulation)  # or nothing could be shown
        if state.tick == 0:
            self._found = {}
        for one in world.shown(state.tick, state.facts.doings):
            self._found.setdefault(one.cell, one)
        self._state = state

    def team(self) -> Floats:
        """As :func:`encode_team_tokens` of the state that was read."""
        assert self._state is not None, "read() comes first"
        return _encode(self._state, self.split, self._found.values(), None)

    def role(self, role: Role) -> Floats:
        """As :func:`encode_role_tokens` of the state that was read."""
        assert self._state is not None, "read() comes first"
        return _encode(self._state, self.split, self._found.values(), role)

    def mask(self, role: Role) -> NDArray[np.int8]:
        """As :func:`role_token_mask` of the state that was read."""
        assert self._state is not None, "read() comes first"
        return role_token_mask(self._state, self.split, role)


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
                (isinstance(one, ClassifySeverity) and board.severity is not None)
                or (isinstance(one, IdentifyRootCause) and board.settles(one.service))
                or (left == 0 and is_request(one))
            )
            for one in choices
        ],
        np.int8,
    )
    return sensible if sensible.any() else np.ones(len(choices), np.int8)


def _encode(state: State, split: RoleSplit, shown: Iterable[Evidence], role: Role | None) -> Floats:
    """From the evidence that was shown to anybody, what a role sees, or the team."""
    incident = state.incident
    world, topology = incident.telemetry, incident.topology
    assert isinstance(world, Simulation)  # or there would be no evidence
    where = world.setting, topology, incident.horizon
    layout = team_tokens_of(split, *where)
    numbers: Numbers = np.zeros(layout.size, np.int64)
    for one in shown:
        if role is None or is_shown(one, role, topology):
            enter(numbers, layout.base, world, state.tick, one)
    write_asked(numbers, layout.base, state, world, role)
    _write_done(numbers, layout, state)
    _write_board(numbers, layout, incident.directory, board_of(state, role))
    for one_of in split.roles:
        left = requests_left(state, split, one_of)
        if left is not None:
            numbers[layout[f"left:{one_of.name}"]] = left
    numbers[layout["price"]] = price_number(incident)
    for service, owner in enumerate(incident.directory):
        numbers[layout[f"owner:{owner}"].start + service] = 1
    found: Floats = np.minimum(numbers, MOST).astype(np.float32) * layout.units
    if role is None:
        return found
    mine: Floats = found[role_tokens_of(split, role, *where).columns]
    return mine


def _write_done(numbers: Numbers, layout: TeamTokens, state: State) -> None:
    """Write what was applied, and how far the episode is."""
    topology = layout.topology
    for _, remedy, name in state.facts.remedies:
        numbers[layout["remedied"].start + topology.index(name)] = 1
        numbers[layout["applied"].start + topology.remedies.index(remedy)] = 1
    numbers[layout["time"]] = state.tick
    numbers[layout["closed"]] = state.is_closed


def _write_board(
    numbers: Numbers, layout: TeamTokens, directory: Sequence[str], board: Board
) -> None:
    """Write what was declared and reported, as far as it is known."""
    topology, split = layout.topology, layout.split
    named = () if board.root_cause is None else (board.root_cause,)
    for name in named if board.root_causes is None else board.root_causes:
        service = topology.index(name)
        owner = topology.teams.index(directory[service])
        numbers[layout["declared"].start + service] = 1
        numbers[layout["declared_owner"].start + owner] = 1
    if board.severity is not None:
        numbers[layout["severity"].start + SEVERITIES.index(board.severity)] = 1
    for team in board.pages:
        numbers[layout["paged"].start + topology.teams.index(team)] = 1
    for _, report in board.reports:
        if report.by in split.names:
            words = role_words(split.role(report.by), topology, layout.base.world)
            if report.message in words:
                numbers[layout[f"report:{report.by}"].start + words.index(report.message)] = 1
