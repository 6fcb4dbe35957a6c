"""``run.json``: the definition of a run, its version and its rubrics."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage import __version__
from logtriage.codec import role_split_to_json, structured
from logtriage.drawing.ids import SEALED
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.evaluation.cell_files import SHIFTS
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.spec import RunSpec, plan
from logtriage.grading import get_rubric
from logtriage.roles import RoleSplit
from logtriage.world.default import default_world
from logtriage.world.loading import read_content
from logtriage.world.model import World

SCHEMA: Final = "logtriage.run/1"
RUN_FILE: Final = "run.json"
#: The file with the content of the run's world, if it is not the default world.
WORLD_FILE: Final = "world.json"


@attrs.frozen
class WorldMark:
    """Name and fingerprint of a world."""

    name: str
    fingerprint: str


@attrs.frozen
class _RubricMark:
    id: str
    digest: str


@attrs.frozen
class _Written:
    schema: str
    logtriage: str
    policies: tuple[str, ...]
    tasks: tuple[str, ...]
    split: str
    episodes: int
    start: int
    rubrics: dict[str, _RubricMark]
    players: dict[str, str] = attrs.field(factory=dict)
    seal: str | None = None
    world: WorldMark | None = None
    role_split: RoleSplit | None = None
    bundle: str | None = None
    incidents: dict[str, tuple[str, ...]] | None = None
    kinds: tuple[str, ...] = ()
    left_out: int = 0


@attrs.frozen
class Manifest:
    """The content of ``run.json``. ``rubrics`` maps each task to the id and digest of its rubric.

    ``bundle`` is the digest of the caller's recorded incidents; ``players`` describe the caller's
    policies and teams and the settings of served models; ``seal`` is the fingerprint of a key. A
    run of ``kinds`` lists the ids that it found, so that nobody draws all the others again.
    ``left_out`` counts the bad lines among the transcripts that the run was made of. The
    content of a world other than the default one is in :data:`WORLD_FILE`.
    """

    spec: RunSpec
    version: str
    rubrics: Mapping[str, tuple[str, str]]
    bundle: str | None = None
    players: Mapping[str, str] = attrs.field(factory=dict)
    seal: str | None = None
    left_out: int = 0

    @property
    def world(self) -> WorldMark | None:
        """Name and fingerprint of the world; None for the default world."""
        world = self.spec.world
        return None if world == default_world() else WorldMark(world.name, world.fingerprint)

    @classmethod
    def of(
        cls,
        spec: RunSpec,
        incidents: Incidents,
        players: Mapping[str, str] | None = None,
        left_out: int = 0,
    ) -> "Manifest":
        """The manifest of a new run; ``left_out`` if the run is made from transcripts."""
        cells = plan(spec, incidents)
        rubrics = {cell.task: (cell.rubric, get_rubric(cell.rubric).digest) for cell in cells}
        seal = None if incidents.seal is None else incidents.seal.fingerprint
        if spec.kinds:
            ids = {
                policy: tuple(name for cell in cells if cell.policy == policy for name in cell.ids)
                for policy in spec.policies
            }
            spec = attrs.evolve(spec, incidents=ids)
        return cls(spec, __version__, rubrics, incidents.digest, players or {}, seal, left_out)

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON data."""
        split, own = self.spec.role_split, self.spec.incidents
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
            **({"kinds": list(self.spec.kinds)} if self.spec.kinds else {}),
            **({} if own is None else {"incidents": {name: list(own[name]) for name in own}}),
            **({"left_out": self.left_out} if self.left_out else {}),
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
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if (directory / SHIFTS).exists():
            raise InvalidInput(f"{directory}: a run of shifts; report and replay show it") from None
        raise InvalidInput(f"{directory}: not the directory of a run (no {RUN_FILE})") from None
    if b'"python -m training.' in text:
        raise InvalidInput(
            f"{path}: a run of a trainer, not of eval: give another directory; logtriage grade "
            "takes the transcripts.jsonl of training.mappo"
        )
    try:
        return _manifest(structured(text, _Written, InvalidInput), directory)
    except LogTriageError as error:
        raise InvalidInput(f"{path}: {error}") from None


def _manifest(written: _Written, directory: Path) -> Manifest:
    if written.schema != SCHEMA:
        raise InvalidInput(f"schema: expected {SCHEMA!r}, got {written.schema!r:.80}")
    if (written.seal is not None) != (written.split == SEALED):
        raise InvalidInput(f"seal: expected a seal if the split is {SEALED!r}, and only then")
    spec = RunSpec(
        written.policies,
        written.tasks,
        written.split,
        written.episodes,
        written.start,
        written.role_split,
        world=None if written.world is None else _world(written.world, directory),
        incidents=written.incidents,
        kinds=written.kinds,
    )
    rubrics = {task: (mark.id, mark.digest) for task, mark in written.rubrics.items()}
    return Manifest(
        spec,
        written.logtriage,
        rubrics,
        written.bundle,
        written.players,
        written.seal,
        written.left_out,
    )


def _world(mark: WorldMark, directory: Path) -> World:
    world = read_content(directory / WORLD_FILE)
    if world.fingerprint != mark.fingerprint:
        raise InvalidInput(
            f"world: played in {mark.name!r} ({mark.fingerprint!r:.40}), and {WORLD_FILE} holds "
            f"{world.name!r} ({world.fingerprint})"
        )
    return world
