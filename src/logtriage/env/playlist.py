"""The order of incidents in an environment: requested ones first, then a sequence."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logtriage.drawing.ids import MAX_INDEX, SPLITS, check_split, parse_incident_id
from logtriage.errors import InvalidInput, UnknownName
from logtriage.tasks import TaskSpec, check_one_world, task_of
from logtriage.vector.checks import nth_index
from logtriage.world.loading import WorldLike
from logtriage.world.unseen import WORLDS

Ints = NDArray[np.int64]
#: A task, by its id or as a sheet, or several with weights.
Tasks = str | TaskSpec | Mapping[str, float]


class Playlist:
    """Incidents of one split of a task, or of several with weights, by number and index.

    From a drawn beginning on, every incident of a task comes once before any comes again.
    Of several tasks, each incident's is drawn by the weights of the moment.

    Raises:
        UnknownName: for an unknown task or split.
        InvalidInput: for split ``ood`` or ``fleet_outage`` without a topology of one's own, and
            for weights that are none.
    """

    def __init__(
        self,
        tasks: Tasks,
        split: str,
        own_topology: bool,
        world: WorldLike | None = None,
        pool: Sequence[int] = (),
    ) -> None:
        weights = tasks if isinstance(tasks, Mapping) else {tasks: 1.0}
        self.tasks = tuple(task_of(one, world) for one in weights)
        names = (task.id for task in self.tasks)
        self.set_weights(dict(zip(names, weights.values(), strict=True)))
        for task in self.tasks:
            _check_playable(task, split, own_topology, pooled=bool(pool))
        # So many incidents of each task come before any comes again.
        self._count = MAX_INDEX // WORLDS * len(pool) if pool else MAX_INDEX
        self._pool = pool
        self._split = split
        self._next: Ints | None = None
        self._asked: list[tuple[int, int]] = []

    @property
    def weights(self) -> dict[str, float]:
        """The share of each task in the incidents drawn."""
        return dict(zip([task.id for task in self.tasks], self._shares.tolist(), strict=True))

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Draw tasks by these weights from now on, as :meth:`Weighted.set_task_weights`."""
        known = [task.id for task in self.tasks]
        named: Mapping[str, Any] = weights
        for name, weight in named.items():
            if name not in known:
                raise UnknownName("task of this environment", name, known)
            number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
            if not number or not (math.isfinite(weight) and weight >= 0):
                raise InvalidInput(
                    f"weight of task {name!r}: expected a number from 0 on, got {weight!r}"
                )
        shares = np.array([float(weights.get(name, 0.0)) for name in known])
        if not shares.sum() > 0:
            raise InvalidInput(f"weights of tasks: expected one above 0, got {dict(weights)}")
        self._shares = shares / shares.sum()
        steps = np.cumsum(self._shares)
        self._steps = steps / steps[-1]

    @property
    def begun(self) -> bool:
        """Whether a beginning was drawn."""
        return self._next is not None

    def begin(self, random: np.random.Generator) -> None:
        """Draw where the sequence of each task begins, and how several tasks mix."""
        self._next = np.array([random.integers(self._count) for _ in self.tasks], np.int64)
        if len(self.tasks) > 1:  # a stream of its own, which nobody else draws from
            self._random = np.random.default_rng(random.integers(1 << 63))

    def ask(self, ids: Iterable[Any], at_least: int = 0) -> None:
        """Play these ids (or indices) next, in place of earlier ones.

        Raises:
            UnknownName, InvalidInput: for an id that is none of the tasks and the split, for
                an index where there are several tasks, and for fewer than ``at_least``.
        """
        asked = list(map(self._parsed, ids))
        if len(asked) < at_least:
            raise InvalidInput(
                f"{len(asked)} ids for {at_least} environments; give at least one each"
            )
        self._asked = asked

    def take(self, count: int) -> tuple[Ints, Ints]:
        """The next ``count`` incidents: task numbers and indices, (count,) each."""
        asked, self._asked = self._asked[:count], self._asked[count:]
        numbers, index = self._follow(count - len(asked))
        first = np.array(asked, np.int64).reshape(len(asked), 2)
        return np.concatenate([first[:, 0], numbers]), np.concatenate([first[:, 1], index])

    def _follow(self, count: int) -> tuple[Ints, Ints]:
        """The next ``count`` incidents of the sequence."""
        numbers = np.zeros(count, np.int64)
        if not count:
            return numbers, numbers
        assert self._next is not None, "begin() comes first"
        if len(self.tasks) > 1:
            drawn = self._random.random(count)
            numbers = np.searchsorted(self._steps, drawn, side="right").astype(np.int64)
        index = np.empty(count, np.int64)
        for number in range(len(self.tasks)):
            at = np.flatnonzero(numbers == number)
            turns = (self._next[number] + np.arange(len(at))) % self._count
            index[at] = nth_index(self._pool, turns)
            self._next[number] = (self._next[number] + len(at)) % self._count
        return numbers, index

    def _parsed(self, name: Any) -> tuple[int, int]:
        """The number of an incident's task, and its index."""
        names = " or ".join(f"{task.id}/{self._split}/…" for task in self.tasks)
        if isinstance(name, str):
            world = None if self._pool else self.tasks[0].world
            parsed = parse_incident_id(name, world=world)
            known = [task.id for task in self.tasks]
            if parsed.task.id not in known or parsed.split != self._split:
                raise InvalidInput(
                    f"incident id {name!r}: this environment plays {names}; "
                    "make another one for another task or split"
                )
            return known.index(parsed.task.id), parsed.index
        whole = isinstance(name, int | np.integer) and not isinstance(name, bool)
        if len(self.tasks) > 1:
            raise InvalidInput(f"incident {name!r}: expected an id, {names}")
        if not (whole and 0 <= name < MAX_INDEX):
            raise InvalidInput(
                f"incident {name!r}: expected an id, {self.tasks[0].id}/{self._split}/<index>, or "
                f"a whole number in [0, {MAX_INDEX})"
            )
        return 0, int(name)


class Weighted:
    """An environment whose tasks are drawn by weights."""

    _playlist: Playlist

    @property
    def task_weights(self) -> dict[str, float]:
        """The share of each task in the incidents to come."""
        return self._playlist.weights

    def set_task_weights(self, weights: Mapping[str, float]) -> None:
        """Draw the tasks of incidents to come by these weights; one not named is not played.

        Raises:
            UnknownName: for a task that is none of ``tasks``.
            InvalidInput: for a weight that is no number from 0 on, or none above 0.
        """
        self._playlist.set_weights(weights)


def _check_playable(task: TaskSpec, split: str, own_topology: bool, *, pooled: bool) -> None:
    """Refuse an unknown split, and a task or split whose incidents differ in their topologies."""
    check_split(split)
    if pooled:
        return
    check_one_world(task)
    if split == "ood" and not own_topology:
        raise InvalidInput(
            "half of split 'ood' lies on random topologies, whose observations have other "
            "shapes; give a topology, or choose a split from: "
            + ", ".join(one for one in SPLITS if one != "ood")
        )
    if task.topology is None and not own_topology:
        raise InvalidInput(
            f"every incident of task {task.id!r} has a topology of its own; give one "
            "topology for all of them, or choose another task"
        )


def option(options: dict[str, Any] | None, name: str, *, strict: bool = True) -> Any:
    """The value of the only option of a reset; None without it.

    Another option would do nothing; if not ``strict`` a warning says so.

    Raises:
        InvalidInput: for another option, if ``strict``.
    """
    for other in options or {}:
        if other != name:
            reason = f"unknown option {other!r}; known: {name}"
            if strict:
                raise InvalidInput(reason)
            warnings.warn(reason, stacklevel=3)
    return (options or {}).get(name)
