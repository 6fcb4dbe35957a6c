"""The tasks of each stage of training, and when one stage gives way to the next.

A stage is left when the model's pages are right, not after a number of steps: a model that
pages wrongly on a clear screen would learn from a foggy one that paging does not pay.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from logtriage.adapters.sources import is_own_task
from logtriage.errors import InvalidInput
from logtriage.tasks import DRAWN_TASKS, get_task, tasks_of

#: Stands for the benchmark's tasks.
ALL: Final = "all"
Stage = tuple[str, ...]
#: Steps that are drawn before those that come before them are over: a step's incidents are
#: looked up while the one before it is still to be played.
AHEAD: Final = 1


def task_names(text: str) -> tuple[str, ...]:
    """The tasks of a setting, each once: ids, ``all``, or ``module:name``, by blanks.

    Raises:
        UnknownName: for a task that does not exist.
        InvalidInput: if there is none.
    """
    names = [name for word in text.split() for name in (DRAWN_TASKS if word == ALL else (word,))]
    if not names:
        raise InvalidInput("task: expected an id, all, or module:name, got nothing")
    return tuple(dict.fromkeys(task if is_own_task(task) else get_task(task).id for task in names))


def stages_of(task: str, fog: str) -> tuple[Stage, ...]:
    """The stages of a run: its tasks at each level of fog, or as they are if none is given.

    Raises:
        UnknownName: for a task that does not exist.
        InvalidInput: for a level that does not exist, or tasks without levels.
    """
    names = task_names(task)
    if not fog.split():
        return (names,)
    return tuple(tuple(_at_fog(name, level) for name in names) for level in fog.split())


def _at_fog(task: str, level: str) -> str:
    if is_own_task(task):
        raise InvalidInput(f"fog = {level}: task {task!r} has no levels of fog; drawn tasks have")
    sheet = get_task(task)
    levels = {
        str(sheet_of_fog.fog): sheet_of_fog.id
        for sheet_of_fog in tasks_of(sheet.world).values()
        if sheet_of_fog.name == sheet.name
    }
    if level not in levels:
        last = len(levels) - 1
        raise InvalidInput(f"fog: expected levels from 0 to {last}, got {level!r}")
    return levels[level]


class Paging(Protocol):
    """The deciding figures of a step: its shares of episodes with a page, and with a wrong page."""

    @property
    def paged(self) -> float:
        """In which anybody was paged."""

    @property
    def mis_paged(self) -> float:
        """In which a wrong team was."""


class Curriculum:
    """Which stage the episodes of a round are of, from the pages of the rounds before.

    A round is a step, or the first of several on the same episodes. The stage of a round
    depends on what came before the round before it, since incidents are looked up one
    round ahead; so a run that is taken up again decides as it would have.

    Args:
        stages: how many there are.
        precision: a stage ends when this share of pages is right ...
        pages: ... and this share of episodes has one ...
        window: ... over so many rounds of it.
    """

    def __init__(self, stages: int, *, precision: float, pages: float, window: int) -> None:
        self._last = stages - 1
        self._precision, self._pages, self._window = precision, pages, window
        self._rounds: list[Paging] = []
        self._stages = [0] * (AHEAD + 1)

    def note(self, played: Paging) -> None:
        """A round was played."""
        self._rounds.append(played)
        now = self._stages[-1]
        number = len(self._rounds)
        since = [
            episodes for episodes, of in zip(self._rounds, self._stages, strict=False) if of == now
        ]
        self._stages.append(min(now + self._is_over(since[-self._window :]), self._last))
        assert len(self._stages) == number + AHEAD + 1

    def stage(self, number: int) -> int:
        """The stage of the round of this number, from 0.

        Raises:
            IndexError: if the rounds that decide on it are not known.
        """
        return self._stages[number]

    def _is_over(self, latest: Sequence[Paging]) -> bool:
        if len(latest) < self._window:
            return False
        paged = sum(episode.paged for episode in latest)
        wrong = sum(episode.mis_paged for episode in latest)
        enough = paged > 0 and paged >= self._pages * self._window
        return enough and 1 - wrong / paged >= self._precision
