"""Several tasks in one batch: what they share, and a backend that plays each row by its own."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logtriage.errors import InvalidInput
from logtriage.grading.rubric import Rubric
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.backends import Backend, WholeTicks, backend_of
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.episodes import TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.layout import layout_of_tasks
from logtriage.vector.tokens.setting import TokenSetting


def settings_of(
    tasks: Sequence[TaskSpec], own: Topology | None, lanes: int
) -> tuple[TokenSetting, ...]:
    """Each task's setting, all with one layout.

    Raises:
        InvalidInput: as :func:`check_together` and :meth:`TokenSetting.of`.
    """
    check_together(tasks, own=own is not None)
    topology = own or tasks[0].topology
    layout = None if topology is None else layout_of_tasks(tasks, topology, lanes)
    return tuple(TokenSetting.of(task, own, lanes, layout) for task in tasks)


def check_together(tasks: Sequence[TaskSpec], *, own: bool) -> None:
    """Refuse several tasks that cannot be played on one topology, one's ``own`` or theirs.

    Raises:
        InvalidInput: for tasks of several topologies or rubrics, and one that is named twice.
    """
    first = tasks[0]
    for number, task in enumerate(tasks):
        if task in tasks[:number]:
            raise InvalidInput(f"task {task.id!r} is named twice")
        if not own and task.topology != first.topology:
            raise InvalidInput(
                f"task {task.id!r} has another topology than {first.id!r}, and so observations of "
                "another shape; give a topology for all of them"
            )
        if task.rubric != first.rubric:
            raise InvalidInput(
                f"task {task.id!r} is graded by {task.rubric}, {first.id!r} by {first.rubric}; "
                "one batch has one rubric"
            )


def mixed_backend(name: str, settings: Sequence[TokenSetting], rubric: Rubric) -> "MixedTokens":
    """The backend of that name for rows of several settings, graded by a rubric.

    Raises:
        UnknownName, MissingExtra: as :func:`logtriage.vector.backends.backend_of`.
    """
    backends = tuple(backend_of(name, one) for one in settings)
    # Where grades are rounded to digits, a backend grades all rows at once, as of its own task.
    whole = rubric.digits is None and all(isinstance(one, WholeTicks) for one in backends)
    return (MixedWholeTicks if whole else MixedTokens)(backends)


class MixedTokens:
    """A :class:`logtriage.vector.backends.Backend` of several tasks.

    ``task_of`` (N,) is the number of each row's task, which its owner sets before it draws.
    """

    def __init__(self, backends: tuple[Backend, ...]) -> None:
        self._backends = backends
        self.task_of: NDArray[Any] = np.zeros(0, np.uint8)

    @property
    def name(self) -> str:
        """That of each task's backend."""
        return self._backends[0].name

    def _by_task(self, rows: Ints) -> Iterator[tuple[Backend, Ints]]:
        """The backend of each task, and where in ``rows`` (R,) it plays."""
        numbers = self.task_of[rows]
        for number, backend in enumerate(self._backends):
            at = np.flatnonzero(numbers == number)
            if len(at):
                yield backend, at

    def draw(self, incidents: TokenIncidents, rows: Ints, split: str, index: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.draw`."""
        for backend, at in self._by_task(rows):
            backend.draw(incidents, rows[at], split, index[at])

    def begin(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.begin`."""
        self._backends[0].begin(episodes, rows)

    def forget(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.forget`."""
        self._backends[0].forget(episodes, rows)

    def apply(
        self,
        episodes: TokenEpisodes,
        incidents: TokenIncidents,
        actions: Ints,
        rows: Ints,
        lane: int,
    ) -> None:
        """As :meth:`logtriage.vector.backends.Backend.apply`."""
        for backend, at in self._by_task(rows):
            backend.apply(episodes, incidents, actions[at], rows[at], lane)

    def pass_time(self, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.pass_time`."""
        for backend, at in self._by_task(rows):
            backend.pass_time(episodes, rows[at])

    def read(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """As :meth:`logtriage.vector.backends.Backend.read`."""
        for backend, at in self._by_task(rows):
            backend.read(incidents, episodes, rows[at])

    def scores(
        self, rubric: Rubric, incidents: TokenIncidents, episodes: TokenEpisodes
    ) -> NDArray[np.float64]:
        """As :meth:`logtriage.vector.backends.Backend.scores`."""
        found = np.empty(len(self.task_of))
        for backend, rows in self._by_task(np.arange(len(self.task_of))):
            some = incidents.at(rows)
            found[rows] = backend.scores(rubric, some, episodes.at(rows, some))
        return found

    def observe(self, incidents: TokenIncidents, episodes: TokenEpisodes, out: Floats) -> None:
        """As :meth:`logtriage.vector.backends.Backend.observe`."""
        self._backends[0].observe(incidents, episodes, out)


class MixedWholeTicks(MixedTokens):
    """The same of backends that play a tick at once."""

    def play(
        self,
        rubric: Rubric,
        incidents: TokenIncidents,
        episodes: TokenEpisodes,
        actions: Ints,
        rows: Ints,
        scores: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """As :meth:`logtriage.vector.backends.WholeTicks.play`."""
        for backend, at in self._by_task(rows):
            assert isinstance(backend, WholeTicks)  # they all are
            scores = backend.play(rubric, incidents, episodes, actions, rows[at], scores)
        return scores
