"""Trained teams: the files that a run of ``training.mappo`` writes, and players made of them.

``team.json`` says what was trained: the task, the split in full, and how the networks
compute. ``team.npz`` holds the weights. Each name begins with the index of a role in the split:
``0.0.weight`` (outputs, inputs) and ``0.0.bias`` (outputs,) of its first layer and so on, and its
pointers (:class:`Weights`): ``0.action``, ``0.column`` and ``0.group``.
"""

import json
import math
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from logtriage.actions import Action
from logtriage.beliefs import belief
from logtriage.beliefs.model import Model, model_of
from logtriage.codec import structured
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.policies import RoleFactory
from logtriage.roles import Role, RoleSplit, role_actions, role_words
from logtriage.state import State
from logtriage.vector import encode_role_tokens, role_token_mask, role_tokens_of
from logtriage.vector.layout import Floats
from logtriage.vector.marginals import Marginals
from logtriage.vector.role_inputs import RoleInput

SCHEMA: Final = "logtriage.team/1"
TEAM: Final = "team.json"
WEIGHTS: Final = "team.npz"
_RUN: Final = "run.json"
ACTIVATIONS: Final = ("relu", "tanh")
#: The most bytes of ``team.npz``, packed and unpacked, and of ``team.json``.
MAX_WEIGHTS: Final = 256 << 20
MAX_TEAM: Final = 1 << 20

Array = NDArray[Any]


@attrs.frozen(eq=False)
class Weights:
    """A role's network: (matrix, bias) by layer, and ``logtriage.vector.role_inputs.Pointers``."""

    layers: tuple[tuple[Array, Array], ...]
    action: Array
    column: Array
    group: Array


@attrs.frozen
class TrainedTeam:
    """A trained team: the split and task of its run, and the weights of its roles.

    ``digest`` identifies the files in ``where``; ``trust`` is added to the weight of each group.
    """

    where: str
    digest: str
    task: str
    split: RoleSplit
    trust: float
    activation: str
    roles: Mapping[str, Weights] = attrs.field(eq=False, repr=False)


@attrs.frozen
class _About:
    """What ``team.json`` says."""

    schema: str
    task: str
    split: RoleSplit
    trust: float
    activation: str

    def __attrs_post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise InvalidInput(f"schema: expected {SCHEMA!r}, got {self.schema!r:.60}")
        if self.activation not in ACTIVATIONS:
            raise InvalidInput(
                f"activation: expected {' or '.join(ACTIVATIONS)}, got {self.activation!r:.60}"
            )


def read_team(directory: Path) -> TrainedTeam:
    """Read the trained team in a directory; InvalidInput names the file and what is expected.

    A team whose training did not finish is refused.
    """
    path = directory / TEAM
    try:
        written = _bytes(path, MAX_TEAM)
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidInput(
            f"{directory}: expected the directory of a run of training.mappo, with {TEAM} in it"
        ) from None
    if not _is_finished(directory / _RUN):
        raise InvalidInput(
            f"{directory}: its training did not finish; its weights are those of the last "
            f"evaluation. To play them, copy {TEAM} and {WEIGHTS} to a directory of their own"
        )
    about = structured(written, _About, lambda reason: InvalidInput(f"{path}: {reason}"))
    roles = _weights(directory / WEIGHTS, about.split)
    packed = _bytes(directory / WEIGHTS, MAX_WEIGHTS)
    digest = blake2b(written + packed, digest_size=8).hexdigest()
    return TrainedTeam(
        str(directory), digest, about.task, about.split, about.trust, about.activation, roles
    )


def _is_finished(run: Path) -> bool:
    """Whether a trainer's record says so; True without a record."""
    try:
        return not run.exists() or bool(json.loads(_bytes(run, MAX_TEAM))["finished"])
    except (ValueError, TypeError, KeyError):
        raise InvalidInput(f"{run}: expected an object with 'finished', true or false") from None


def _bytes(path: Path, most: int) -> bytes:
    size = path.stat().st_size
    if size > most:
        raise InvalidInput(f"{path}: {size:,} bytes; at most {most:,} are read")
    return path.read_bytes()


def _weights(path: Path, split: RoleSplit) -> dict[str, Weights]:
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise InvalidInput(f"{path}: no weights there") from None
    except (OSError, EOFError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise InvalidInput(f"{path}: expected arrays of numbers (npz): {error}") from None
    roles = {}
    for place, role in enumerate(split.roles):
        try:
            roles[role.name] = weights = _weights_at(place, arrays)
        except KeyError as missing:
            raise InvalidInput(f"{path}: expected an array {missing}") from None
        if not _fits(weights):
            raise InvalidInput(f"{path}: the arrays of {role.name!r} do not fit each other")
    return roles


def _weights_at(place: int, arrays: Mapping[str, Array]) -> Weights:
    """The weights of the role at a place of the split; KeyError names the first array missing."""
    layers: list[tuple[Array, Array]] = []
    while not layers or f"{place}.{len(layers)}.weight" in arrays:
        name = f"{place}.{len(layers)}"
        layers.append((arrays[f"{name}.weight"], arrays[f"{name}.bias"]))
    pointers = [arrays[f"{place}.{name}"] for name in ("action", "column", "group")]
    return Weights(tuple(layers), *pointers)


def _fits(weights: Weights) -> bool:
    """Whether each layer takes what the last one gives, and the pointers are equally many."""
    width = None
    for matrix, bias in weights.layers:
        if (
            matrix.ndim != 2
            or bias.shape != matrix.shape[:1]
            or width not in (None, matrix.shape[1])
        ):
            return False
        if any(row.dtype.kind != "f" or not np.isfinite(row).all() for row in (matrix, bias)):
            return False
        width = matrix.shape[0]
    pointers = (weights.action, weights.column, weights.group)
    if any(row.ndim != 1 or row.dtype.kind not in "iu" or (row < 0).any() for row in pointers):
        return False
    return len({len(row) for row in pointers}) == 1


def _check_sizes(path: Path) -> None:
    """Refuse an archive whose members declare more bytes than a team may have."""
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
        total = sum(member.file_size for member in members)
        if total > MAX_WEIGHTS:
            raise ValueError(f"they unpack to {total:,} bytes; at most {MAX_WEIGHTS:,} are read")
        for member in members:
            with packed.open(member) as file:
                version = npy.read_magic(file)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, _, kind = read(file)
            needed = math.prod(shape) * kind.itemsize
            if needed > member.file_size:
                raise ValueError(f"{member.filename}: {member.file_size:,} bytes for {needed:,}")


def network_roles(where: str, split: RoleSplit, roles: tuple[str, ...]) -> RoleFactory:
    """A factory of players for ``roles`` of a split, from the trained team in directory ``where``.

    Raises:
        InvalidInput: if there is no trained team, or a role is missing or differs.
    """
    team = read_team(Path(where).expanduser())  # a shell leaves net:~ as it is
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
        reader = _reader_for(incident, split, role)
        # A layer is (matrix, bias), a matrix (outputs, inputs).
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
        row = _reader_for(incident, self.split, self.role).read(state, seen)
        logits = _logits(row, self.team.roles[self.role.name], self.team)
        allowed = role_token_mask(state, self.split, self.role).astype(bool)
        place = int(np.where(allowed, logits, -np.inf).argmax())
        world, hands_over = incident.setting.world, incident.takes_hand_over
        return role_actions(self.role, incident.topology, world, hand_over=hands_over)[place]


class _Reader:
    """Makes the input of a role's network, for incidents that one model is about.

    A model of split ``ood`` has more hypotheses; their marginals have the same columns.
    """

    def __init__(self, split: RoleSplit, role: Role, model: Model, horizon: int) -> None:
        self._split, self._role = split, role
        self._layout = role_tokens_of(split, role, model.setting, model.topology, horizon)
        self._marginals = Marginals(model)
        self.input = RoleInput(role, self._layout, model.hypotheses)

    def read(self, state: State, seen: Observation) -> Floats:
        """The network's input (1, D); its reports are those of the screen ``seen``."""
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


def _reader_for(incident: Incident, split: RoleSplit, role: Role) -> _Reader:
    assert incident.setting is not None
    model = model_of(incident.setting, incident.topology, incident.held)
    return _reader(split, role, model, incident.horizon)


def _logits(row: Floats, weights: Weights, team: TrainedTeam) -> Floats:
    """Logits of actions: outputs of their own, and the columns they point to times their trust."""
    values: Floats = row[0]
    *hidden, last = weights.layers
    for matrix, bias in hidden:
        values = matrix @ values + bias
        values = np.maximum(values, 0) if team.activation == "relu" else np.tanh(values)
    out: Floats = last[0] @ values + last[1]
    # The last layer gives what is added to the trust in each group, then the actions' logits.
    groups = int(weights.group.max()) + 1 if len(weights.group) else 0
    trust: Floats = out[:groups] + team.trust
    logits: Floats = out[groups:].copy()
    np.add.at(logits, weights.action, row[0][weights.column] * trust[weights.group])
    return logits
