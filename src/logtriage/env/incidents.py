"""The order in which an environment plays incidents: requested ones first, then a sequence."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logtriage._lib.seal import Seal
from logtriage.drawing.generator import draw_incident, make_incident
from logtriage.drawing.ids import MAX_INDEX, SPLITS, IncidentId, check_split, parse_incident_id
from logtriage.drawing.sealing import seal_for
from logtriage.errors import InvalidInput
from logtriage.grading import Rubric
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.grade import score
from logtriage.incident import Incident
from logtriage.state import State
from logtriage.tasks import TaskSpec, check_one_world, get_task, is_registered, task_of
from logtriage.topology import Topology
from logtriage.vector.checks import checked_pool, nth_index, places_in
from logtriage.world.drawn import WORLDS, unseen_world
from logtriage.world.loading import WorldLike
from logtriage.world.topologies import fitting

Ints = NDArray[np.int64]


class Playlist:
    """The order in which incidents are played; none repeats until all have been played.

    Raises:
        UnknownName: if the split is unknown.
        InvalidInput: for split ``ood`` or ``fleet_outage`` without a topology of your own.
    """

    def __init__(
        self, task: TaskSpec, split: str, own_topology: bool, pool: Sequence[int] = ()
    ) -> None:
        _check_playable(task, split, own_topology, pooled=bool(pool))
        self._count = MAX_INDEX // WORLDS * len(pool) if pool else MAX_INDEX
        self._task, self._split, self._pool = task, split, pool
        self._next: int | None = None
        self._asked: list[int] = []

    @property
    def begun(self) -> bool:
        """Whether the start of the sequence was drawn."""
        return self._next is not None

    def begin(self, random: np.random.Generator) -> None:
        """Draw the start of the sequence."""
        self._next = int(random.integers(self._count))

    def ask(self, ids: Iterable[Any], at_least: int = 0) -> None:
        """Play these ids (or indices) next, in place of earlier requests.

        UnknownName or InvalidInput for ids of other tasks or splits; InvalidInput for fewer ids
        than ``at_least``.
        """
        asked = list(map(self._parsed, ids))
        if len(asked) < at_least:
            raise InvalidInput(
                f"{len(asked)} ids for {at_least} environments; give at least an id for each"
            )
        self._asked = asked

    def take(self, count: int) -> Ints:
        """The indices of the next ``count`` incidents, (count,)."""
        asked, self._asked = self._asked[:count], self._asked[count:]
        left = count - len(asked)
        if not left:
            return np.array(asked, np.int64)
        assert self._next is not None, "begin() comes first"
        turns = (self._next + np.arange(left, dtype=np.int64)) % self._count
        self._next = (self._next + left) % self._count
        return np.concatenate([np.array(asked, np.int64), nth_index(self._pool, turns)])

    def _parsed(self, name: Any) -> int:
        if isinstance(name, str):
            parsed = parse_incident_id(name, world=None if self._pool else self._task.world)
            if (parsed.task.id, parsed.split) != (self._task.id, self._split):
                raise InvalidInput(
                    f"incident id {name!r}: this environment plays {self._task.id}/{self._split}/…;"
                    " make another environment for another task or split"
                )
            return parsed.index
        is_number = isinstance(name, int | np.integer) and not isinstance(name, bool)
        if not (is_number and 0 <= name < MAX_INDEX):
            raise InvalidInput(
                f"incident {name!r}: expected an id, {self._task.id}/{self._split}/<index>, or "
                f"a whole number in [0, {MAX_INDEX})"
            )
        return int(name)


def _check_playable(task: TaskSpec, split: str, own_topology: bool, *, pooled: bool) -> None:
    check_split(split)
    if pooled:
        return  # checked_pool has seen to it
    check_one_world(task)
    if split == "ood" and not own_topology:
        raise InvalidInput(
            "half of split 'ood' lies on random topologies, whose observations have other "
            "shapes; give a topology, or choose a split from: "
            + ", ".join(name for name in SPLITS if name != "ood")
        )
    if task.topology is None and not own_topology:
        raise InvalidInput(
            f"every incident of task {task.id!r} has a topology of its own; give one "
            "topology for all of them, or choose another task"
        )


def option(options: dict[str, Any] | None, name: str) -> Any:
    """The value of the option ``name`` of a reset, or None; InvalidInput for any other option."""
    for other in options or {}:
        if other != name:
            raise InvalidInput(f"unknown option {other!r}; known: {name}")
    return (options or {}).get(name)


class Incidents:
    """The incidents that an environment plays, drawn when their turn comes.

    ``task`` is the task, with a pool of worlds that of its first world. Raises as :class:`Playlist`
    and :func:`~logtriage.vector.checks.checked_pool`; SealError for ``sealed`` without a key.
    """

    def __init__(
        self,
        task: str | TaskSpec,
        split: str,
        topology: Topology | None,
        seal: Seal | None = None,
        horizon: int | None = None,
        world: WorldLike | None = None,
        pool: Sequence[int] | None = None,
    ) -> None:
        self.task = self._drawn = task_of(task, world, horizon)
        numbers = () if pool is None else checked_pool(self.task, pool)
        own_topology = topology is not None
        self.playlist = Playlist(self.task, split, own_topology=own_topology, pool=numbers)
        if numbers:
            if topology is not None:
                raise InvalidInput(
                    f"topology {topology.name!r}: each world of a pool has a topology of its own"
                )
            self.task = get_task(self.task.id, unseen_world(split, numbers[0]))
        self._pool, self.pooled = numbers, bool(numbers)
        played = topology or self.task.topology
        assert played is not None  # the playlist refuses a task without a topology
        self.topology = played if topology is None else fitting(played, self.task.world)
        self._split, self._own = split, topology
        self._seal = seal_for(split, seal)

    def draw(self, asked: Any = None) -> tuple[int, Incident]:
        """(index, incident) of the incident ``asked``, or of the next; raises as ``ask``."""
        self.playlist.ask([] if asked is None else [asked])
        indices = self.playlist.take(1)
        index, task = int(indices[0]), self._drawn
        places_in(self._pool, indices)  # refuses an incident of a world outside of the pool
        name = IncidentId(task, self._split, index, self._seal)
        if self._own is None and is_registered(task):
            world = None if self._pool else task.world
            return index, make_incident(str(name), seal=self._seal, world=world)
        return index, draw_incident(task, name, self._own)


def info_of(state: State, index: int | None, rubric: Rubric | None) -> dict[str, Any]:
    """The entries of an info on a state; ``index`` gives the truth away, None leaves it out."""
    known = {
        "score": score(state, rubric),
        "closing": -1 if state.closing is None else CLOSINGS.index(state.closing),
        "tick": state.tick,
    }
    return known if index is None else {**known, "index": index}
