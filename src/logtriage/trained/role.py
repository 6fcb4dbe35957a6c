"""A role played by a trained network, beside other players."""

from functools import lru_cache
from pathlib import Path

import attrs
import numpy as np

from logtriage.actions import Action
from logtriage.beliefs import belief
from logtriage.beliefs.model import model_of
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies import RoleFactory
from logtriage.roles import Role, RoleSplit, role_actions, role_words
from logtriage.state import State
from logtriage.topology import Topology
from logtriage.trained.files import TrainedTeam, Weights, read_team
from logtriage.vector import encode_role_tokens, role_token_mask, role_tokens_of
from logtriage.vector.layout import Floats
from logtriage.vector.marginals import Marginals
from logtriage.vector.role_inputs import RoleInput
from logtriage.world.setting import Setting


def network_roles(where: str, split: RoleSplit, roles: tuple[str, ...]) -> RoleFactory:
    """A factory of players for ``roles`` of a split, from the trained team in directory ``where``.

    Raises:
        InvalidInput: if there is no trained team, or a role is missing or differs.
    """
    team = read_team(Path(where))
    for name in roles:
        if name not in team.split.names:
            raise InvalidInput(
                f"net:{where}: its split {team.split.name!r} has no role {name!r}; it has "
                f"{', '.join(team.split.names)}"
            )
        ours, theirs = attrs.asdict(split.role(name)), attrs.asdict(team.split.role(name))
        other = [field for field in ours if ours[field] != theirs[field]]
        if other:
            raise InvalidInput(
                f"net:{where}: role {name!r} was trained in split {team.split.name!r}, where it "
                f"has other {', '.join(other)} than in {split.name!r}"
            )
    return NetworkRoles(team)


@attrs.frozen
class NetworkRoles:
    """Makes players for the roles of a trained team."""

    team: TrainedTeam

    @property
    def description(self) -> str:
        """The directory and a digest of its files, which tells retrained weights apart."""
        return f"net:{self.team.where} {self.team.digest}"

    def __call__(self, incident: Incident, split: RoleSplit, role: Role) -> "NetworkRole":
        """The player of a role on an incident; InvalidInput if the network does not fit it."""
        setting, weights = incident.setting, self.team.roles[role.name]
        if setting is None:
            raise InvalidInput(
                f"{incident.id}: its probabilities are not known; a trained network needs them"
            )
        reader = _reader(split, role, setting, incident.topology, incident.horizon)
        expected, width = weights.layers[0][0].shape[1], reader.input.size
        pointers = reader.input.pointers
        world, hands_over = setting.world, incident.takes_hand_over
        actions = role_actions(role, incident.topology, world, hand_over=hands_over)
        same = (
            expected == width
            and weights.layers[-1][0].shape[0] == len(actions) + pointers.groups
            and np.array_equal(pointers.action, weights.action)
            and np.array_equal(pointers.column, weights.column)
            and np.array_equal(pointers.group, weights.group)
        )
        if not same:
            raise InvalidInput(
                f"net:{self.team.where}: role {role.name!r} was trained on {self.team.task!r} in "
                f"split {self.team.split.name!r} with {expected} inputs; on {incident.id} in "
                f"{split.name!r} it would have {width}, or others"
            )
        return NetworkRole(self.team, split, role)


@attrs.frozen
class NetworkRole:
    """A trained role, which always takes its likeliest action."""

    team: TrainedTeam
    split: RoleSplit
    role: Role

    def act_in(self, state: State, seen: Observation) -> Action:
        """The likeliest allowed action, from the role's screen and belief."""
        incident = state.incident
        assert incident.setting is not None  # else NetworkRoles refuses to make it
        reader = _reader(
            self.split, self.role, incident.setting, incident.topology, incident.horizon
        )
        row = reader.read(state, seen)
        logits = _logits(row, self.team.roles[self.role.name], self.team)
        allowed = role_token_mask(state, self.split, self.role).astype(bool)
        place = int(np.where(allowed, logits, -np.inf).argmax())
        world, hands_over = incident.setting.world, incident.takes_hand_over
        return role_actions(self.role, incident.topology, world, hand_over=hands_over)[place]


class _Reader:
    """Makes the input of a role's network, for incidents with one setting."""

    def __init__(
        self, split: RoleSplit, role: Role, setting: Setting, topology: Topology, horizon: int
    ) -> None:
        self._split, self._role = split, role
        self._layout = role_tokens_of(split, role, setting, topology, horizon)
        model = model_of(setting, topology, False)
        self._marginals = Marginals(model)
        self.input = RoleInput(role, self._layout, model.hypotheses)

    def read(self, state: State, seen: Observation) -> Floats:
        topology = state.incident.topology
        row = encode_role_tokens(state, self._split, self._role)
        for speaker in self._split.roles:
            place = self._layout.blocks.get(f"report:{speaker.name}")
            if place is None:
                continue
            words = role_words(speaker, topology, self._layout.team.base.world)
            reported = {report.message for _, report in seen.reports if report.by == speaker.name}
            row[place] = [word in reported for word in words]
        weights = np.array([belief(state, self._role).weights], np.uint32)
        owners = [[topology.teams.index(team) for team in state.incident.directory]]
        return self.input.read(row[None], weights, self._marginals, np.array(owners))


_reader = lru_cache(maxsize=64)(_Reader)


def _logits(row: Floats, weights: Weights, team: TrainedTeam) -> Floats:
    values: Floats = row[0]
    *hidden, last = weights.layers
    for matrix, bias in hidden:
        values = matrix @ values + bias
        values = np.maximum(values, 0) if team.activation == "relu" else np.tanh(values)
    out: Floats = last[0] @ values + last[1]
    groups = int(weights.group.max()) + 1 if len(weights.group) else 0
    trust: Floats = out[:groups] + team.trust
    logits: Floats = out[groups:].copy()
    np.add.at(logits, weights.action, row[0][weights.column] * trust[weights.group])
    return logits
