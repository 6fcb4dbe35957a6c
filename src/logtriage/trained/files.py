"""The files with a trained team that a run of ``training.mappo`` writes.

``team.json`` says what was trained: the task, the split in full, and how the networks
compute. ``team.npz`` holds the weights. Each name begins with the index of a role in the split:
``0.0.weight`` (outputs, inputs) and ``0.0.bias`` (outputs,) of its first layer and so on, and its
pointers (:class:`Weights`): ``0.action``, ``0.column`` and ``0.group``.
"""

import json
import math
import zipfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from logtriage.codec import structured
from logtriage.errors import InvalidInput
from logtriage.roles import RoleSplit

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
    """A role's network: (matrix, bias) by layer, ``logtriage.vector.role_inputs.Pointers``."""

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
        text = _bytes(path, MAX_TEAM)
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidInput(
            f"{directory}: expected the directory of a run of training.mappo, with {TEAM} in it"
        ) from None
    if not _is_finished(directory / _RUN):
        raise InvalidInput(
            f"{directory}: its training did not finish; its weights are those of the last "
            f"evaluation. To play them, copy {TEAM} and {WEIGHTS} to a directory of their own"
        )
    about = structured(text, _About, lambda reason: InvalidInput(f"{path}: {reason}"))
    roles = _weights(directory / WEIGHTS, about.split)
    packed = _bytes(directory / WEIGHTS, MAX_WEIGHTS)
    digest = blake2b(text + packed, digest_size=8).hexdigest()
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

    def of(place: int) -> Weights:
        layers: list[tuple[Array, Array]] = []
        while (name := f"{place}.{len(layers)}") + ".weight" in arrays:
            layers.append((arrays[f"{name}.weight"], arrays[f"{name}.bias"]))
        if not layers:
            raise KeyError(f"{place}.0.weight")
        pointers = (arrays[f"{place}.{name}"] for name in ("action", "column", "group"))
        weights = Weights(tuple(layers), *pointers)
        if not _fits(weights):
            name = split.roles[place].name
            raise InvalidInput(f"{path}: the arrays of {name!r} do not fit each other")
        return weights

    try:
        return {role.name: of(place) for place, role in enumerate(split.roles)}
    except KeyError as missing:
        raise InvalidInput(f"{path}: expected an array {missing}") from None


def _fits(weights: Weights) -> bool:
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
        whole = sum(member.file_size for member in members)
        if whole > MAX_WEIGHTS:
            raise ValueError(f"they unpack to {whole:,} bytes; at most {MAX_WEIGHTS:,} are read")
        for member in members:
            with packed.open(member) as file:
                version = npy.read_magic(file)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, _, kind = read(file)
            asked = math.prod(shape) * kind.itemsize
            if asked > member.file_size:
                raise ValueError(f"{member.filename}: {member.file_size:,} bytes for {asked:,}")
