"""The incidents of a task and split in turn, on the scalar core."""

from collections.abc import Sequence
from typing import Any

from logtriage._lib.seal import Seal
from logtriage.drawing.generator import draw_incident, make_incident
from logtriage.drawing.ids import IncidentId
from logtriage.drawing.sealing import seal_for
from logtriage.env.playlist import Playlist
from logtriage.errors import InvalidInput
from logtriage.grading import Rubric
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.grade import score
from logtriage.incident import Incident
from logtriage.state import State
from logtriage.tasks import TaskSpec, get_task, is_registered, task_of
from logtriage.topology import Topology
from logtriage.vector.checks import checked_pool, places_in
from logtriage.world.loading import WorldLike
from logtriage.world.topologies import fitting
from logtriage.world.unseen import unseen_world


class Incidents:
    """The incidents that an environment plays, drawn when their turn comes.

    ``task`` is the task; with a pool, that of the first world.

    Raises:
        UnknownName: for a task or split that does not exist.
        InvalidInput: as :class:`Playlist` and :func:`~logtriage.vector.checks.checked_pool`.
        SealError: for split ``sealed`` without a key.
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
        self.playlist = Playlist(self.task, split, topology is not None, numbers)
        if numbers:
            if topology is not None:
                raise InvalidInput(
                    f"topology {topology.name!r}: each world of a pool has a topology of its own"
                )
            self.task = get_task(self.task.id, unseen_world(split, numbers[0]))
        self._pool, self.pooled = numbers, bool(numbers)
        own = topology or self.task.topology
        assert own is not None  # or the playlist would have refused it
        self.topology = own if topology is None else fitting(own, self.task.world)
        self._split, self._own = split, topology
        self._seal = seal_for(split, seal)

    def draw(self, asked: Any = None) -> tuple[int, Incident]:
        """The index and the incident of an id or index, or else the next.

        Raises:
            UnknownName, InvalidInput: as :meth:`Playlist.ask`.
        """
        self.playlist.ask([] if asked is None else [asked])
        indices = self.playlist.take(1)
        index, task = int(indices[0]), self._drawn
        places_in(self._pool, indices)  # refuses an incident of a world outside of the pool
        name = IncidentId(task, self._split, index, self._seal)
        if self._own is None and is_registered(task):
            world = None if self._pool else task.world
            return index, make_incident(str(name), seal=self._seal, world=world)
        return index, draw_incident(task, name, self._own)


def standing(state: State, index: int | None, rubric: Rubric | None) -> dict[str, Any]:
    """The numbers of a state that stand in infos.

    ``index`` names the incident, and so its truth to anybody who has this package; None hides it.
    """
    known = {
        "score": score(state, rubric),
        "closing": -1 if state.closing is None else CLOSINGS.index(state.closing),
        "tick": state.tick,
    }
    return known if index is None else {**known, "index": index}
