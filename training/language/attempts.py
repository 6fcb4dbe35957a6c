"""Which incidents an evaluation plays, and how often. Loads no torch."""

from collections.abc import Sequence
from typing import Final

from logtriage.adapters.sources import is_own_task
from logtriage.drawing.ids import check_split
from logtriage.errors import InvalidInput
from logtriage.evaluation import RECORDED_TASKS
from logtriage.tasks import DRAWN_TASKS, get_task
from training.language.sources import Source

#: Stands for the tasks of the benchmark.
ALL: Final = "all"


def every_task(tasks: str | Sequence[str]) -> list[str]:
    """Task ids, ``module:name`` of one's own, ``recorded``; ``all`` is the benchmark.

    Raises:
        UnknownName: for a task that does not exist.
    """
    words = tasks.split() if isinstance(tasks, str) else list(tasks)
    names = [
        name
        for word in words
        for name in (
            DRAWN_TASKS
            if word == ALL
            else [word if word in RECORDED_TASKS or is_own_task(word) else get_task(word).id]
        )
    ]
    return list(dict.fromkeys(names))


def planned(
    source: Source,
    tasks: str | Sequence[str],
    episodes: int,
    *,
    split: str,
    samples: int = 1,
    temperature: float = 1.0,
) -> list[tuple[str, int]]:
    """Every attempt, as incident id and number, in order.

    Raises:
        UnknownName: for a task or split that does not exist.
        InvalidInput: if a number makes no sense.
    """
    names = every_task(tasks)
    if not names:
        raise InvalidInput("task: expected at least one, got none")
    check_split(split)
    if samples < 1:
        raise InvalidInput(f"samples must be at least 1, got {samples}")
    if samples > 1 and temperature == 0:
        raise InvalidInput(
            f"{samples} samples at temperature 0 would all be the same; set temperature above 0"
        )
    return [
        (name, sample)
        for task in names
        for name in source.ids(task, split, episodes)
        for sample in range(samples)
    ]
