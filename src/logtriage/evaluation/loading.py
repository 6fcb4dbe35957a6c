"""A run read back from its directory and graded anew."""

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

import attrs

from logtriage import __version__
from logtriage._lib.progress import OnProgress, watched
from logtriage._lib.seal import Seal
from logtriage.beliefs.explain import Explanation
from logtriage.drawing.sealing import seal_of_run
from logtriage.errors import InvalidInput, RubricError
from logtriage.evaluation.cell_files import read_cell
from logtriage.evaluation.explanation_files import read_explanations
from logtriage.evaluation.incidents import RECORDED_TASKS, Incidents, is_recorded
from logtriage.evaluation.manifest import RUN_FILE, Manifest, read_manifest
from logtriage.evaluation.spec import Cell, plan
from logtriage.evaluation.store import BUNDLES, copies_of
from logtriage.grading import Grade, Graded, Rubric, get_rubric, grade_transcript
from logtriage.registry import is_shipped
from logtriage.roles.splits import splits_with
from logtriage.transcript import Transcript


@attrs.frozen
class LoadedRun:
    """A run read back: transcripts and their grades by (policy, task).

    Loading grades the transcripts; no file of a run holds a grade. ``planned`` are the cells of the
    definition, with the ids of all their incidents. ``rubrics`` maps each task to the id and
    digest of its rubric. ``explained`` maps (policy, task) to explanations by incident.
    """

    directory: Path
    manifest: Manifest
    planned: tuple[Cell, ...]
    incidents: Incidents
    rubrics: Mapping[str, tuple[str, str]]
    transcripts: Mapping[tuple[str, str], tuple[Transcript, ...]]
    grades: Mapping[tuple[str, str], tuple[Graded, ...]]
    explained: Mapping[tuple[str, str], Mapping[str, Explanation]]

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, in order."""
        return self.manifest.spec.policies

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in order; those of recorded incidents by their own names."""
        return tuple(dict.fromkeys(cell.task for cell in self.planned))

    def scored(self, policy: str, tasks: Iterable[str]) -> dict[str, Grade]:
        """The scored grades of a policy on some tasks, by incident."""
        every = (grade for task in tasks for grade in self.grades[policy, task])
        return {grade.incident: grade for grade in every if grade.score is not None}

    def is_scripted(self, policy: str) -> bool:
        """Whether a policy is a shipped policy; an agent from elsewhere may have the same name."""
        return policy not in self.manifest.players and is_shipped(policy)

    def split_of(self, task: str) -> str | None:
        """The split of a task's incidents; None for recorded incidents, and for several splits."""
        if self.manifest.spec.incidents is not None:
            ids = (name for cell in self.planned if cell.task == task for name in cell.ids)
            splits = {None if is_recorded(name) else name.split("/")[1] for name in ids}
            return splits.pop() if len(splits) == 1 else None
        drawn = task in self.manifest.spec.tasks and task not in RECORDED_TASKS
        return self.manifest.spec.split if drawn else None

    @property
    def complete(self) -> bool:
        """Whether every episode was played."""
        return all(
            len(self.grades[cell.policy, cell.task]) == len(cell.ids) for cell in self.planned
        )


def load_run(
    directory: str | os.PathLike[str],
    rubric: Rubric | None = None,
    *,
    seal: Seal | None = None,
    on_progress: OnProgress | None = None,
) -> LoadedRun:
    """Read a run, finished or not, and grade its transcripts.

    ``rubric`` replaces the rubric of each task; explanations, which are of the task's own rubric,
    are then left out. ``seal`` is the key of a run of sealed incidents; by default that of
    the environment. ``on_progress`` is called after each episode.

    Raises:
        InvalidInput: if the directory holds no run, or a damaged run; the message
            names the file and what is wrong.
        SealError: if the run is of sealed incidents, and there is no key or another key.
        RubricError: if this version of logtriage grades by other rubrics than the run.
        OSError: if something cannot be read.
    """
    directory = Path(directory)
    manifest = read_manifest(directory)
    seal = seal_of_run(manifest.seal, seal, str(directory / RUN_FILE))
    incidents = _incidents_of(directory, manifest, seal)
    planned = plan(manifest.spec, incidents)
    rubrics = {}
    for cell in planned:
        used = get_rubric(cell.rubric) if rubric is None else rubric
        rubrics[cell.task] = used.id, used.digest
    if rubric is None and rubrics != manifest.rubrics:
        kept = manifest.rubrics
        task, *_ = (name for name in {**rubrics, **kept} if rubrics.get(name) != kept.get(name))
        was, now = rubric_label(kept.get(task)), rubric_label(rubrics.get(task))
        raise RubricError(
            f"{directory / RUN_FILE}: {task} was graded by {was}, "
            f"logtriage {__version__} grades it by {now}; play the run again"
        )
    splits = splits_with(manifest.spec.role_split)
    transcripts = {(cell.policy, cell.task): read_cell(directory, cell) for cell in planned}
    graded = (
        grade_transcript(transcript, rubric, resolve=incidents, splits=splits)
        for transcript in chain(*transcripts.values())
    )
    # Cut into cells again, which have the same order and lengths.
    in_order = iter(list(watched(graded, on_progress, sum(map(len, transcripts.values())))))
    grades = {key: tuple(islice(in_order, len(played))) for key, played in transcripts.items()}
    explained = {}
    for cell in planned:
        by_incident = {grade.incident: grade for grade in grades[cell.policy, cell.task]}
        explained[cell.policy, cell.task] = (
            read_explanations(directory, cell, by_incident) if rubric is None else {}
        )
    return LoadedRun(
        directory, manifest, planned, incidents, rubrics, transcripts, grades, explained
    )


def rubric_label(rubric: tuple[str, str] | None) -> str:
    """The id and digest of a rubric, for errors."""
    return "no rubric" if rubric is None else f"{rubric[0]} (digest {rubric[1]})"


def _incidents_of(directory: Path, manifest: Manifest, seal: Seal | None) -> Incidents:
    if manifest.bundle is None:
        return Incidents(seal=seal, world=manifest.spec.world)
    copy = next(copies_of(directory, manifest.bundle), None)
    if copy is not None:
        return Incidents(copy, digest=manifest.bundle, seal=seal, world=manifest.spec.world)
    others = [directory / name for name in BUNDLES if (directory / name).exists()]
    if not others:
        raise InvalidInput(f"{directory}: the recorded incidents ({BUNDLES[0]}) are missing")
    digest = Incidents.of(others[0]).digest
    raise InvalidInput(f"{others[0]}: digest is {digest}, {RUN_FILE} says {manifest.bundle}")
