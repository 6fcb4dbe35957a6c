"""One incident after another of a task and split, on the scalar core."""

from collections.abc import Mapping
from typing import Any

from logtriage._lib.seal import Seal
from logtriage.drawing.generator import draw_incident, make_incident
from logtriage.drawing.ids import IncidentId
from logtriage.drawing.sealing import seal_for
from logtriage.env.playlist import Playlist, Tasks
from logtriage.errors import InvalidInput
from logtriage.grading import Rubric
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.grade import score
from logtriage.incident import Incident
from logtriage.state import State
from logtriage.tasks import is_registered, task_of
from logtriage.topology import Topology
from logtriage.world.loading import WorldLike
from logtriage.world.topologies import fitting


class Incidents:
    """The incidents that an environment plays, drawn when their turn comes.

    ``number`` is that of the task of the last one drawn, among ``tasks``; ``task`` the first.

    Raises:
        UnknownName: for a task or split that does not exist.
        InvalidInput: as :class:`Playlist`.
        SealError: for split ``sealed`` without a key.
    """

    def __init__(
        self,
        tasks: Tasks,
        split: str,
        topology: Topology | None,
        seal: Seal | None = None,
        horizon: int | None = None,
        world: WorldLike | None = None,
    ) -> None:
        if isinstance(tasks, Mapping):
            if horizon is not None:
                raise InvalidInput(f"horizon {horizon!r}: can be given for one task, not several")
        else:
            tasks = task_of(tasks, world, horizon)
        self.playlist = Playlist(tasks, split, topology is not None, world)
        self.tasks = self.playlist.tasks
        self.task = self.tasks[0]
        self.number = 0
        own = topology or self.task.topology
        assert own is not None  # or the playlist would have refused it
        self.topology = own if topology is None else fitting(own, self.task.world)
        self._split, self._own = split, topology
        self._seal = seal_for(split, seal)

    def draw(self, asked: Any = None) -> tuple[int, Incident]:
        """The index and the incident asked for, by id or index, or else of the next one.

        Raises:
            UnknownName, InvalidInput: as :meth:`Playlist.ask`.
        """
        self.playlist.ask([] if asked is None else [asked])
        numbers, indices = self.playlist.take(1)
        self.number, index = int(numbers[0]), int(indices[0])
        task = self.tasks[self.number]
        name = IncidentId(task, self._split, index, self._seal)
        if self._own is None and is_registered(task):
            return index, make_incident(str(name), seal=self._seal, world=task.world)
        return index, draw_incident(task, name, self._own)


def standing(state: State, index: int | None, rubric: Rubric | None) -> dict[str, Any]:
    """What an environment tells of a state beside observations: numbers only.

    ``index`` is that of the incident where it may be told: it says which incident is
    played, and so its truth to whoever has this package.
    """
    known = {
        "score": score(state, rubric),
        "closing": -1 if state.closing is None else CLOSINGS.index(state.closing),
        "tick": state.tick,
    }
    return known if index is None else {**known, "index": index}
