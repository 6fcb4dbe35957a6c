"""``run.json``: the definition of a run, its version and its rubrics."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage import __version__
from logtriage.codec import role_split_from_json, role_split_to_json
from logtriage.drawing.ids import SEALED
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.spec import RunSpec, plan
from logtriage.grading import get_rubric
from logtriage.world.default import default_world
from logtriage.world.loading import read_content
from logtriage.world.model import World

SCHEMA: Final = "logtriage.run/1"
RUN_FILE: Final = "run.json"


#: The content of the world of a run, if it is not the default world.
WORLD_FILE: Final = "world.json"


@attrs.frozen
class WorldMark:
    """Name and fingerprint of a world."""

    name: str
    fingerprint: str


@attrs.frozen
class Manifest:
    """What ``run.json`` says. ``rubrics`` maps each task to the id and digest of its rubric.

    ``bundle`` is the digest of the caller's recorded incidents; ``players`` the fingerprints of the
    caller's policies and teams, and the settings of served models; ``seal`` the fingerprint of the
    key of sealed incidents. A world other than the default world has its name and fingerprint
    here, and its content in :data:`WORLD_FILE`.
    """

    spec: RunSpec
    version: str
    rubrics: Mapping[str, tuple[str, str]]
    bundle: str | None = None
    players: Mapping[str, str] = attrs.field(factory=dict)
    seal: str | None = None

    @property
    def world(self) -> "WorldMark | None":
        """Name and fingerprint of the world; None for the default world."""
        world = self.spec.world
        return None if world == default_world() else WorldMark(world.name, world.fingerprint)

    @classmethod
    def of(
        cls, spec: RunSpec, incidents: Incidents, players: Mapping[str, str] | None = None
    ) -> "Manifest":
        """The manifest of a run that is about to be played by this version."""
        cells = plan(spec, incidents)
        rubrics = {cell.task: (cell.rubric, get_rubric(cell.rubric).digest) for cell in cells}
        seal = None if incidents.seal is None else incidents.seal.fingerprint
        return cls(spec, __version__, rubrics, incidents.digest, players or {}, seal)

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON data."""
        split = self.spec.role_split
        return {
            "schema": SCHEMA,
            "logtriage": self.version,
            "policies": list(self.spec.policies),
            "players": dict(self.players),
            "tasks": list(self.spec.tasks),
            "split": self.spec.split,
            "seal": self.seal,
            **({} if self.world is None else {"world": attrs.asdict(self.world)}),
            "episodes": self.spec.episodes,
            "start": self.spec.start,
            "role_split": None if split is None else role_split_to_json(split),
            "bundle": self.bundle,
            "rubrics": {
                task: {"id": name, "digest": digest}
                for task, (name, digest) in self.rubrics.items()
            },
        }


def read_manifest(directory: Path) -> Manifest:
    """Read ``run.json``."""
    path = directory / RUN_FILE
    try:
        raw = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidInput(f"{directory}: not the directory of a run (no {RUN_FILE})") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise InvalidInput(f"{path}: expected a JSON object, got {type(raw).__name__}")
    if raw.get("schema") != SCHEMA:
        raise InvalidInput(f"{path}: schema: expected {SCHEMA!r}, got {raw.get('schema')!r}")
    try:
        return _manifest(raw, directory)
    except LogTriageError as error:
        raise InvalidInput(f"{path}: {error}") from None


def _manifest(raw: Mapping[str, Any], directory: Path) -> Manifest:
    rubrics = {}
    for task, row in _field(raw, "rubrics", dict).items():
        if not isinstance(row, dict):
            raise InvalidInput(f"rubrics[{task!r}]: expected an object, got {type(row).__name__}")
        rubrics[task] = _field(row, "id", str), _field(row, "digest", str)
    players = _field(raw, "players", dict) if "players" in raw else {}
    for policy in players:
        _field(players, policy, str)
    bundle, seal = (_text(raw, name) for name in ("bundle", "seal"))
    split = None
    if raw.get("role_split") is not None:
        split = role_split_from_json(_field(raw, "role_split", dict), source="role_split")
    if (seal is not None) != (raw.get("split") == SEALED):
        raise InvalidInput(f"seal: expected a seal if the split is {SEALED!r}, and only then")
    return Manifest(
        RunSpec(
            _names(raw, "policies"),
            _names(raw, "tasks"),
            _field(raw, "split", str),
            _field(raw, "episodes", int),
            _field(raw, "start", int),
            split,
            world=_world(raw, directory) if "world" in raw else None,
        ),
        _field(raw, "logtriage", str),
        rubrics,
        bundle,
        players,
        seal,
    )


def _world(raw: Mapping[str, Any], directory: Path) -> World:
    """The world of a run, from the copy of its content."""
    row = _field(raw, "world", dict)
    mark = WorldMark(_field(row, "name", str), _field(row, "fingerprint", str))
    world = read_content(directory / WORLD_FILE)
    if world.fingerprint != mark.fingerprint:
        raise InvalidInput(
            f"world: played in {mark.name!r} ({mark.fingerprint!r:.40}), and {WORLD_FILE} holds "
            f"{world.name!r} ({world.fingerprint})"
        )
    return world


def _text(raw: Mapping[str, Any], name: str) -> str | None:
    return None if raw.get(name) is None else str(_field(raw, name, str))


def _field(raw: Mapping[str, Any], name: str, kind: type) -> Any:
    if name not in raw:
        raise InvalidInput(f"{name}: missing")
    value = raw[name]
    if type(value) is not kind:
        raise InvalidInput(f"{name}: expected {kind.__name__}, got {value!r:.80}")
    return value


def _names(raw: Mapping[str, Any], name: str) -> Sequence[str]:
    values: list[str] = _field(raw, name, list)
    for number, value in enumerate(values):
        if not isinstance(value, str):
            raise InvalidInput(f"{name}[{number}]: expected str, got {value!r:.80}")
    return values
