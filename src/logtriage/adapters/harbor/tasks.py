"""Task directories: instruction, environment, solution and verifier of each incident."""

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from logtriage import __version__
from logtriage.adapters.episode import opening, row_of
from logtriage.adapters.harbor import templates
from logtriage.conversations.tools import call_from_action
from logtriage.drawing.ids import parse_incident_id
from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput, SealError
from logtriage.incident import Incident
from logtriage.policies import perfect_actions
from logtriage.tasks import OF_WORLD, as_world, get_task
from logtriage.world.loading import WorldLike, pickled

_EXAMPLES: Final = (
    "request_more_logs service={service}      # read a service's own recent lines",
    "classify_severity severity=P2",
)


def write_tasks(
    incident_ids: Iterable[str],
    out: str | Path,
    *,
    wheel: str | Path | None = None,
    world: WorldLike | None = None,
) -> list[Path]:
    """Write a task directory for each incident; returns them in order.

    Directories are named by task and number in the list. The id of the incident stands in
    ``environment/triage`` and ``tests``, which become the player's and the verifier's
    containers, and its solution in ``solution``; nothing of it reaches the agent's.

    Args:
        incident_ids: whose tasks.
        out: the folder, which must not hold any of these directories.
        wheel: logtriage's wheel, to be copied beside each Dockerfile that installs it; by
            default this version is installed from the package index of the builder.
        world: that of the incidents, if their ids alone do not find it.

    Raises:
        UnknownName, InvalidInput: for an id that does not exist, a directory that does, or a
            wheel that is none.
        SealError: for a sealed incident: its solution would stand in a file.
        OSError: if they cannot be written.
    """
    folder = Path(out)
    package = None if wheel is None else _wheel(Path(wheel))
    written = []
    of = None if world is None else as_world(world)
    for number, incident_id in enumerate(incident_ids):
        incident = incident_of(incident_id, world=of)
        if incident.seal is not None:
            raise SealError(f"{incident_id}: a task directory holds the solution of its incident")
        place = folder / f"{incident.task.replace(OF_WORLD, '-')}-{number:04}"
        if place.exists():
            raise InvalidInput(f"{place}: exists already; give another folder")
        for name, text in _files(incident, place.name, package).items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        for script in ("solution/solve.sh", "tests/test.sh"):
            (place / script).chmod(0o755)
        if package is not None:
            for part in ("environment/triage", "tests"):
                (place / part / package.name).write_bytes(package.read_bytes())
        written.append(place)
    return written


def _wheel(path: Path) -> Path:
    if path.suffix != ".whl" or not path.name.startswith("logtriage-") or not path.is_file():
        raise InvalidInput(f"{path}: expected a wheel of logtriage, logtriage-….whl")
    return path


def _files(incident: Incident, name: str, wheel: Path | None) -> dict[str, str]:
    """The texts of a task by their paths."""
    task = get_task(incident.task, incident.world)
    install = (
        f"RUN pip install --no-cache-dir logtriage=={__version__}"
        if wheel is None
        else f"COPY {wheel.name} /opt/\nRUN pip install --no-cache-dir /opt/{wheel.name}"
    )
    image, record = templates.IMAGE, templates.RECORD
    rules, screen = (message["content"] for message in opening(incident, "tools"))
    service = incident.topology.names[0]
    examples = (f"    triage {line.format(service=service)}" for line in _EXAMPLES)
    truth = f"{json.dumps(row_of(incident))}\n"
    # A container knows the worlds that logtriage ships; any other comes along.
    own = pickled(task.world).content
    places = () if own is None else ("environment/triage/world.json", "tests/world.json")
    worlds = {place: (own or b"").decode() for place in places}
    return {
        "task.toml": templates.TASK.format(
            record=record,
            name=name,
            title=task.title,
            task=task.id,
            split=parse_incident_id(incident.id, world=incident.world).split,
        ),
        "instruction.md": templates.INSTRUCTION.format(
            rules=rules,
            screen=screen,
            examples="\n".join(examples),
        ),
        "environment/Dockerfile": templates.MAIN.format(image=image),
        "environment/triage.py": templates.COMMAND,
        "environment/docker-compose.yaml": templates.COMPOSE,
        "environment/triage/Dockerfile": templates.PLAYER.format(
            image=image, install=install, record=record
        ),
        "environment/triage/incident.json": truth,
        "solution/solve.sh": templates.SOLUTION.format(calls="\n".join(_solution(incident))),
        "tests/Dockerfile": templates.VERIFIER.format(image=image, install=install),
        "tests/incident.json": truth,
        "tests/test.sh": templates.TEST.format(record=record),
        **worlds,
    }


def _solution(incident: Incident) -> Iterable[str]:
    """The oracle's calls, as commands."""
    for action in perfect_actions(incident):
        name, arguments = call_from_action(action)
        words = [name, *(f"{key}={value}" for key, value in arguments.items())]
        yield shlex.join(["triage", *words])
