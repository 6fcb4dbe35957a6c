"""Which incidents a run trains on, in which order: a function of its settings alone."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, Final

from logtriage.adapters.trl import triage_rows
from logtriage.rng import draw, hash_name, subkey
from logtriage.tasks import MAX_INDEX, get_task
from training.common.settings import TRAIN_SPLIT
from training.grpo.settings import Settings

#: Runs of different seeds that never play an incident twice are this far apart.
STRIDE: Final = 1_000_000
_STREAM: Final = hash_name("training.grpo order of incidents")


def training_rows(settings: Settings) -> list[dict[str, Any]]:
    """The data set of a run: one row for each incident that it plays, in the order of play.

    It is never shuffled nor gone through twice, so that a run taken up again, or longer
    than another, plays the same.
    """
    rounds = -(-settings.max_steps // settings.iterations)
    return triage_rows(islice(training_ids(settings), rounds * settings.incidents))


def training_ids(settings: Settings) -> Iterator[str]:
    """Incidents without end, of each task in turn."""
    number = 0
    while True:
        for place, task in enumerate(settings.tasks):
            yield f"{task}/{TRAIN_SPLIT}/{_index(settings, place, number)}"
        number += 1


def _index(settings: Settings, task: int, number: int) -> int:
    """The index in its split of the incident that a task has as its ``number``-th."""
    if settings.episodes is None:
        return (settings.seed * STRIDE + number) % MAX_INDEX
    passed, place = divmod(number, settings.episodes)
    return _order(settings.seed, settings.episodes, task, passed)[place]


@cache
def _order(seed: int, episodes: int, task: int, passed: int) -> tuple[int, ...]:
    """The first indices of a split, in an order of this pass's own."""
    key = subkey(subkey(seed, _STREAM), task)
    return tuple(sorted(range(episodes), key=lambda one: (draw(key, passed, one), one)))


def longest(settings: Settings) -> int:
    """The most ticks that an episode may have."""
    return max(get_task(task).horizon for task in settings.tasks)
