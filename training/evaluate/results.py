"""The content of ``results.json``: agents beside one another, and before beside after."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from logtriage import __version__
from logtriage.errors import InvalidInput
from training.evaluate.cuts import share_of
from training.evaluate.evaluation import Evaluation
from training.evaluate.figures import (
    breakdown,
    difference,
    explainable,
    figures,
    first_last,
    held_out_part,
    hops,
    kind_of_fault,
    parts,
)
from training.language.episodes import OnProgress

SCHEMA: Final = "logtriage.llm-results/3"
#: Where results are kept in a directory: the figures, and their tables.
RESULTS: Final = "results.json"
TABLE: Final = "results.md"
#: The key for all tasks together.
ALL_TASKS: Final = "all tasks"
#: The split whose incidents differ from those of training in kind.
OOD: Final = "ood"


def compare(
    before: Evaluation | None,
    after: Evaluation,
    baselines: Iterable[Evaluation] = (),
    *,
    training_scores: Sequence[float] = (),
    explained: int = 0,
    explain_baselines: bool = True,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """The figures of every agent, and of what changed from ``before`` to ``after``.

    Args:
        before: the model before training on the same incidents; None if it was not trained.
        after: the agent under test.
        baselines: others on the same incidents.
        training_scores: rewards of the training episodes in order, for their first and last ten.
        explained: the number of episodes of each task to explain; each takes half a second.
        explain_baselines: whether to explain episodes of the baselines, too.
        on_progress: called with the number of explained episodes, from 0 on, and the total.

    Raises:
        InvalidInput: if agents played different incidents, since nothing could be compared.
    """
    others = list(baselines)
    agents = [*([] if before is None else [before]), after, *others]
    for agent in agents:
        if agent.split != after.split or _ids(agent) != _ids(after):
            raise InvalidInput(
                f"{agent.agent} and {after.agent} did not play the same incidents; "
                "give both the same tasks, split and episodes"
            )
    explained_of = [
        explained if explain_baselines or agent not in others else 0 for agent in agents
    ]
    lost = _lost(agents, explained_of, on_progress)
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "logtriage": __version__,
        "split": after.split,
        "tasks": list(after.tasks),
        "episodes": {task: len(ids) for task, ids in _ids(after).items()},
        "agent": after.agent,
        "agents": [_agent(agent, by_task) for agent, by_task in zip(agents, lost, strict=True)],
        "before": None if before is None else before.agent,
        "difference": None,
        "to_baselines": {
            evaluation.agent: _differences(evaluation, after) for evaluation in others
        },
        "training": first_last(training_scores) if training_scores else None,
    }
    if before is not None:
        content["difference"] = _differences(before, after)
    return content


def _ids(evaluation: Evaluation) -> dict[str, list[str]]:
    return {task: list(attempts) for task, attempts in evaluation.attempts.items()}


def _lost(
    agents: Sequence[Evaluation], explained: Sequence[int], on_progress: OnProgress | None
) -> list[dict[str, Any]]:
    """The causes of lost points by agent and task, with the number of episodes."""
    states = [
        {
            task: explainable(attempts, count, agent.judge.source)
            for task, attempts in agent.attempts.items()
        }
        for agent, count in zip(agents, explained, strict=True)
    ]
    total = sum(len(value) for by_task in states for value in by_task.values())
    done = 0

    def on_each() -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(done, total)

    if on_progress is not None and total:
        on_progress(0, total)
    return [
        {task: parts(states_of_task, on_each) for task, states_of_task in by_task.items()}
        for by_task in states
    ]


def _agent(evaluation: Evaluation, lost: Mapping[str, Any]) -> dict[str, Any]:
    resolve = evaluation.judge.source
    tasks = {}
    for task, attempts in evaluation.attempts.items():
        tasks[task] = {
            **figures(attempts, resolve),
            **_replies(evaluation, task),
            "listening": {
                role: attrs.asdict(heeded) for role, heeded in evaluation.listening(task).items()
            },
            "by_fault": breakdown(attempts, kind_of_fault, resolve),
            "by_hops": breakdown(attempts, hops, resolve),
            "by_part": breakdown(attempts, held_out_part, resolve)
            if evaluation.split == OOD
            else {},
            "lost": lost[task],
        }
    return {
        "agent": evaluation.agent,
        "samples": evaluation.samples,
        "seconds": evaluation.seconds,
        "how": dict(evaluation.how),
        "tasks": tasks,
        "all": {**figures(evaluation.all_attempts, resolve), **_replies(evaluation, None)},
    }


def _replies(evaluation: Evaluation, task: str | None) -> dict[str, Any]:
    """The number of replies, and the share that was cut off at the limit."""
    count, cut = evaluation.replies(task)
    return {"replies": count, "cut_off": share_of(count, cut)}


def _differences(before: Evaluation, after: Evaluation) -> dict[str, Any]:
    by_task = {
        task: difference(before.attempts[task], after.attempts[task]) for task in after.tasks
    }
    return {**by_task, ALL_TASKS: difference(before.all_attempts, after.all_attempts)}
