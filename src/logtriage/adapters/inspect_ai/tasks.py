"""Inspect tasks: incidents to play, and transcripts to score."""

from collections.abc import Iterable

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver

from logtriage.actions import describe
from logtriage.adapters.convert import convert_file
from logtriage.adapters.episode import answer, opening, row_of
from logtriage.adapters.inspect_ai.agent import (
    INCIDENTS,
    incident_of_sample,
    triage_agent,
    triage_setup,
)
from logtriage.adapters.inspect_ai.scoring import listed, triage_scorer
from logtriage.codec import unstructure_transcript
from logtriage.errors import InvalidInput
from logtriage.evaluation import RECORDED_TASKS
from logtriage.parsing import action_from_wire
from logtriage.tasks import DRAWN_TASKS, get_task, incident_ids

#: What ``logtriage/triage`` plays by default.
DEFAULT_TASKS = ",".join(DRAWN_TASKS)


def triage_sample(incident_id: str) -> Sample:
    """One incident as a sample: the rules and the first screen; the truth is not in it."""
    incident = INCIDENTS(incident_id)
    rules, screen = opening(incident, "tools")
    return Sample(
        id=incident_id,
        input=[
            ChatMessageSystem(content=rules["content"]),
            ChatMessageUser(content=screen["content"]),
        ],
        metadata={**row_of(incident), "task": incident.task},
    )


def _one_rubric(incident_ids: Iterable[str]) -> None:
    """Refuse what cannot share a table of criteria."""
    rubrics = {INCIDENTS(one).rubric for one in incident_ids}
    if len(rubrics) > 1:
        raise InvalidInput(
            f"incidents of several rubrics ({', '.join(sorted(rubrics))}) have different "
            "criteria; score them in separate evaluations"
        )


def _triage(tasks: str | list[str], split: str, episodes: int, start: int) -> Task:
    ids: list[str] = []
    for name in listed(tasks):
        if name in RECORDED_TASKS:
            ids += list(INCIDENTS.recorded(name))[start : start + episodes]
        else:
            chosen = get_task(name)
            count = 1 if chosen.original else episodes
            ids += incident_ids(chosen.id, split, count, start)
    _one_rubric(ids)
    return Task(
        dataset=MemoryDataset([triage_sample(one) for one in ids], name="logtriage"),
        setup=triage_setup(),
        solver=triage_agent(),
        scorer=triage_scorer(),
    )


@task
def triage(
    tasks: str | list[str] = DEFAULT_TASKS,
    split: str = "test",
    episodes: int = 100,
    start: int = 0,
) -> Task:
    """Triage incidents of one or several tasks (by commas), ``episodes`` of each."""
    return _triage(tasks, split, episodes, start)


@task
def single_crash(split: str = "test", episodes: int = 100, start: int = 0) -> Task:
    """Triage incidents of ``single_crash-v2``."""
    return _triage("single_crash-v2", split, episodes, start)


@task
def cascading_failure(split: str = "test", episodes: int = 100, start: int = 0) -> Task:
    """Triage incidents of ``cascading_failure-v2``."""
    return _triage("cascading_failure-v2", split, episodes, start)


@task
def silent_degradation(split: str = "test", episodes: int = 100, start: int = 0) -> Task:
    """Triage incidents of ``silent_degradation-v2``."""
    return _triage("silent_degradation-v2", split, episodes, start)


@task
def fleet_outage(split: str = "test", episodes: int = 100, start: int = 0) -> Task:
    """Triage incidents of ``fleet_outage-v2``."""
    return _triage("fleet_outage-v2", split, episodes, start)


@task
def replay(transcripts: str) -> Task:
    """Score transcripts, or conversations of other frameworks, without any model.

    ``transcripts`` is a file as for ``logtriage grade`` or ``logtriage convert``. One
    whose status is not completed is unscored.
    """
    samples = []
    for number, one in enumerate(convert_file(transcripts, resolve=INCIDENTS)):
        sample = triage_sample(one.incident)
        sample.id = f"{number}: {one.incident}"
        sample.metadata = {
            **(sample.metadata or {}),
            "agent": one.agent,
            "transcript": unstructure_transcript(one),
        }
        samples.append(sample)
    if not samples:
        raise InvalidInput(f"{transcripts}: no transcripts")
    _one_rubric(one.metadata["incident"] for one in samples)
    return Task(
        dataset=MemoryDataset(samples, name=transcripts),
        solver=replayed(),
        scorer=triage_scorer(),
    )


@solver
def replayed() -> Solver:
    """Show the episode of a transcript as messages, for the viewer."""

    async def solve(state: TaskState, _: Generate) -> TaskState:
        wires = state.metadata["transcript"]["actions"]
        incident = incident_of_sample(state)
        for number, wire in enumerate(wires, start=1):
            done = describe(action_from_wire(wire, incident.topology))
            state.messages.append(ChatMessageAssistant(content=done))
            state.messages.append(ChatMessageUser(content=answer(incident, wires[:number])))
        return state

    return solve
