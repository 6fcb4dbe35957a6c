"""The Inspect task of incidents."""

from collections.abc import Iterable

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from logtriage.adapters.episode import opening, row_of
from logtriage.adapters.inspect_ai.agent import SOURCES, as_input, triage_agent, triage_setup
from logtriage.adapters.inspect_ai.scoring import listed, triage_scorer
from logtriage.adapters.sources import is_own_task
from logtriage.errors import InvalidInput
from logtriage.tasks import DRAWN_TASKS

#: What ``logtriage/triage`` plays by default.
DEFAULT_TASKS = ",".join(DRAWN_TASKS)


def triage_sample(incident_id: str, bundle: str | None = None) -> Sample:
    """One incident as a sample: the rules and the first screen, without the truth."""
    incident = SOURCES(incident_id, bundle)
    named = {"incident": incident_id, **({} if bundle is None else {"bundle": bundle})}
    return Sample(
        id=incident_id,
        input=as_input(opening(incident, "tools")),
        metadata={**row_of(incident), **named, "task": incident.task},
    )


def _refuse_several_rubrics(incident_ids: Iterable[str], bundle: str | None) -> None:
    rubrics = {SOURCES(name, bundle).rubric for name in incident_ids}
    if len(rubrics) > 1:
        raise InvalidInput(
            f"incidents of several rubrics ({', '.join(sorted(rubrics))}) have different "
            "criteria; score them in separate evaluations, or all by one 'rubric'"
        )


@task
def triage(
    tasks: str | list[str] = DEFAULT_TASKS,
    split: str = "test",
    episodes: int = 100,
    start: int = 0,
    rubric: str | None = None,
    bundle: str | None = None,
    world: str | None = None,
) -> Task:
    """Triage incidents of tasks (by commas), ``episodes`` of each.

    A task is an id, your own ``module:name``, which imports, and so runs, that module, or
    ``recorded`` or ``recorded_models``: those of ``bundle``, or the shipped incidents.
    ``rubric`` replaces the rubrics of the tasks. ``world`` is a folder or a name; its tasks need
    not name it.
    """
    names = listed(tasks)
    own = list(filter(is_own_task, names))
    scorer = triage_scorer(rubric, tasks=own, bundle=bundle, world=world)
    rows = SOURCES.rows(names, split, episodes, start, bundle, world)
    if rubric is None:
        _refuse_several_rubrics(rows, bundle)
    return Task(
        dataset=MemoryDataset([triage_sample(row, bundle) for row in rows], name="logtriage"),
        setup=triage_setup(),
        solver=triage_agent(),
        scorer=scorer,
    )
