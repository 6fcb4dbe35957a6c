"""Explaining the episodes of an existing run, over several workers."""

from contextlib import closing
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Final

import attrs

from logtriage._lib.progress import OnProgress, watched
from logtriage._lib.seal import Seal
from logtriage.beliefs.explain import SAMPLES, Explanation, explain, why_unexplained
from logtriage.errors import InvalidInput
from logtriage.evaluation import store
from logtriage.evaluation.cell_files import EXPLANATIONS, append, cell_path, mend, put_in_order
from logtriage.evaluation.episodes import played_state
from logtriage.evaluation.explanation_files import encode_explanation
from logtriage.evaluation.incidents import Incidents
from logtriage.evaluation.keeping import holding
from logtriage.evaluation.loading import LoadedRun, load_run
from logtriage.evaluation.manifest import read_manifest
from logtriage.evaluation.parallel import Workers, in_order, workers_of
from logtriage.evaluation.spec import Cell, RunSpec, plan
from logtriage.evaluation.summary import Row, rows_to_json, summarise
from logtriage.evidence import NOT_CLAIMED
from logtriage.grading import Graded
from logtriage.incident import Incident

#: A task cannot be explained if none of this many first incidents can be.
LOOKED_AT: Final = 10


def explain_run(
    directory: str | PathLike[str],
    episodes: int,
    *,
    jobs: int | Workers = 1,
    on_progress: OnProgress | None = None,
    seal: Seal | None = None,
) -> tuple[Row, ...]:
    """Explain the first episodes of each policy and task of a run, and sum it up again.

    Explanations are kept: after an interrupt the same call goes on, and ends with the same files.
    An episode takes half a second to a second, on a fleet two to four. Episodes that are unscored,
    open or :func:`unexplained <logtriage.beliefs.explain.why_unexplained>` are left out.

    Args:
        directory: where the run is kept.
        episodes: how many of each policy and task.
        jobs: processes or workers, as for :func:`logtriage.evaluation.evaluate`.
        on_progress: called at the start and after each episode.
        seal: the key of a run of sealed incidents; by default that of the environment.

    Raises:
        InvalidInput: if there is nothing to explain, the directory holds no run or a
            damaged run, or another evaluation works in it.
        SealError: if the run is of sealed incidents, and there is no key or another key.
        LogTriageError: if a worker died.
    """
    if episodes < 1:
        raise InvalidInput(f"episodes must be at least 1, got {episodes}")
    workers_of(jobs)  # before anything is read
    directory = Path(directory)
    read_manifest(directory)  # before anything is made there
    with holding(directory):
        run = load_run(directory, seal=seal)
        workers = workers_of(jobs, run.incidents.seal)
        check_explainable(run.manifest.spec, run.incidents)
        for cell in run.planned:
            mend(cell_path(directory, EXPLANATIONS, cell))
        left = [episode for cell in run.planned for episode in _left_of(run, cell, episodes)]
        if left:
            (directory / store.SUMMARY_FILE).unlink(missing_ok=True)
        with closing(in_order(partial(_explain, run.incidents), left, workers)) as explained:
            for (cell, _), line in watched(explained, on_progress, len(left)):
                append(cell_path(directory, EXPLANATIONS, cell), line)
        for cell in run.planned:
            put_in_order(cell_path(directory, EXPLANATIONS, cell), cell.ids)
        run = load_run(directory, seal=seal)
        rows = summarise(run)
        if run.complete:
            store.write_json(directory / store.SUMMARY_FILE, rows_to_json(rows))
    return rows


def check_explainable(spec: RunSpec, incidents: Incidents) -> tuple[str, ...]:
    """The tasks whose first incidents cannot be explained; InvalidInput if all tasks are such."""
    if spec.role_split is not None:
        raise InvalidInput("joint play is not explained: a tick has several actions")
    tasks = {
        cell.task: list(map(incidents, cell.ids[:LOOKED_AT]))
        for cell in plan(spec, incidents)
        if cell.ids  # an agent of a graded run may lack a task
    }
    reasons = {
        task: why_unexplained(first[0])
        for task, first in tasks.items()
        if all(map(why_unexplained, first))
    }
    if len(reasons) == len(tasks):
        causes = [f"{task}: {why}" for task, why in reasons.items()]
        looked_at = chain.from_iterable(tasks.values())
        if any(incident.telemetry.open_loop for incident in looked_at):
            causes.append(NOT_CLAIMED)
        raise InvalidInput(f"nothing to explain: {'; '.join(causes)}")
    return tuple(reasons)


def _left_of(run: LoadedRun, cell: Cell, count: int) -> list[tuple[Cell, Graded]]:
    """The episodes to explain among the first ``count`` of a cell."""
    key = cell.policy, cell.task
    explained, no_ids = run.explained[key], attrs.evolve(cell, ids=())  # workers need no ids
    return [
        (no_ids, graded)
        for graded in run.grades[key][:count]
        if graded.closing is not None  # None: unscored, or left open
        and graded.incident not in explained
        and why_unexplained(run.incidents(graded.incident)) is None
    ]


def explanation_of(incident: Incident, graded: Graded) -> Explanation:
    """Explain a scored episode of a single agent; raises as :func:`explain`."""
    return explain(played_state(incident, graded), samples=SAMPLES)


def _explain(incidents: Incidents, episode: tuple[Cell, Graded]) -> bytes:
    _, graded = episode
    return encode_explanation(graded, explanation_of(incidents(graded.incident), graded))
