"""Which incidents a run trains on, in which order.

Without a curriculum that is a function of its settings alone; with one, of its pages too.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from logtriage.adapters.trl import triage_rows
from logtriage.drawing.ids import MAX_INDEX
from logtriage.rendering import Style
from logtriage.rng import draw, hash_name, subkey
from training.common.settings import TRAIN_SPLIT
from training.grpo.settings import Settings
from training.language.sources import Source

#: Runs of different seeds that never play an incident twice are this far apart.
STRIDE: Final = 1_000_000
#: The column of a data set that is filled when a row is looked up.
NUMBER: Final = "number"
_STREAM: Final = hash_name("training.grpo order of incidents")

#: From the number of a round of fresh episodes, from 0, to the stage that it is of.
StageOf = Callable[[int], int]


def rounds(settings: Settings) -> int:
    """The number of times that fresh episodes are played."""
    return -(-settings.max_steps // settings.iterations)


def numbers(settings: Settings) -> list[dict[str, int]]:
    """The data set of a run before it is looked up: the incidents that it plays, by number.

    It is never shuffled nor gone through twice, so that a run taken up again, or longer
    than another, plays the same.
    """
    return [{NUMBER: number} for number in range(rounds(settings) * settings.incidents)]


class Rows:
    """Looks up rows of :func:`numbers`: a transform of the data set.

    They are rendered when they are asked for: to draw all of them at the start would take
    minutes, and which stage they are of is not known before.
    """

    def __init__(
        self, settings: Settings, source: Source, stage_of: StageOf, style: Style = "text"
    ) -> None:
        self._settings, self._source, self._stage_of = settings, source, stage_of
        self._style = style

    def __call__(self, batch: Mapping[str, Sequence[int]]) -> dict[str, list[Any]]:
        """Columns ``prompt`` and ``incident`` (and ``seal``) for the column ``number``."""
        ids = [self.incident(number) for number in batch[NUMBER]]
        rows = triage_rows(ids, resolve=self._source, style=self._style)
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def incident(self, number: int) -> str:
        """The id of the incident of that number."""
        settings = self._settings
        tasks = settings.stages[self._stage_of(number // settings.incidents)]
        turn, place = divmod(number, len(tasks))
        return self._source.id_at(tasks[place], TRAIN_SPLIT, _index(settings, place, turn))


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
    return tuple(sorted(range(episodes), key=lambda place: (draw(key, passed, place), place)))


def longest(settings: Settings, source: Source) -> int:
    """The most ticks that an episode may have."""
    return max(source(source.id_at(task, TRAIN_SPLIT, 0)).horizon for task in settings.tasks)
