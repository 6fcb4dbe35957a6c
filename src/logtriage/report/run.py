"""What the page is made from: a run with its summary rows and its episodes."""

from collections.abc import Iterator
from pathlib import Path

import attrs

from logtriage._lib.seal import Seal
from logtriage.evaluation import LoadedRun, Row, load_run, summarise
from logtriage.report.episode import Episode
from logtriage.roles import RoleSplit


@attrs.frozen
class Run:
    """An evaluation run, task by task and therein policy by policy.

    ``planned`` counts the episodes of a finished run; ``seal`` is the fingerprint of the
    key of sealed incidents.
    """

    name: str
    version: str
    split: str
    start: int
    per_task: int
    planned: int
    policies: tuple[str, ...]
    tasks: tuple[str, ...]
    rubrics: tuple[str, ...]
    rows: tuple[Row, ...]
    episodes: tuple[Episode, ...]
    roles: RoleSplit | None = None
    seal: str | None = None


def read_run(directory: Path, seal: Seal | None = None) -> Run:
    """Read the directory of a run, finished or not; ``seal`` as for ``load_run``.

    Raises:
        InvalidInput: if it holds no run, or a damaged one.
        SealError: if the run is of sealed incidents, and there is no key or another one.
        OSError: if something cannot be read.
    """
    loaded = load_run(directory, seal=seal)
    spec = loaded.manifest.spec
    return Run(
        name=directory.resolve().name,
        version=loaded.manifest.version,
        split=spec.split,
        start=spec.start,
        per_task=spec.episodes,
        planned=sum(len(cell.ids) for cell in loaded.planned),
        policies=loaded.policies,
        tasks=loaded.tasks,
        rubrics=tuple(dict.fromkeys(loaded.rubrics[task][0] for task in loaded.tasks)),
        rows=summarise(loaded),
        episodes=tuple(episodes_of(loaded)),
        roles=spec.role_split,
        seal=loaded.manifest.seal,
    )


def episodes_of(loaded: LoadedRun) -> Iterator[Episode]:
    """The episodes of a loaded run, task by task and therein policy by policy."""
    for task in loaded.tasks:
        for policy in loaded.policies:
            key = policy, task
            for transcript, graded in zip(loaded.transcripts[key], loaded.grades[key], strict=True):
                incident = loaded.incidents(transcript.incident)
                yield Episode(
                    policy,
                    incident,
                    transcript,
                    graded,
                    loaded.manifest.spec.role_split,
                    loaded.explained[key].get(incident.id),
                )
