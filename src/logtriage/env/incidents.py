"""One incident after another of a task and split, on the scalar core."""

from typing import Any

from logtriage.env.playlist import Playlist
from logtriage.generator import draw_incident, make_incident
from logtriage.grading import Rubric
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.grade import score
from logtriage.incident import Incident
from logtriage.seal import Seal
from logtriage.sealing import seal_for
from logtriage.state import State
from logtriage.tasks import IncidentId, get_task
from logtriage.topology import Topology


class Incidents:
    """The incidents that an environment plays, drawn when their turn comes.

    Raises:
        UnknownName: for a task or split that does not exist.
        InvalidInput: for split ``ood`` or ``fleet_outage`` without a topology, and for
            split ``sealed`` of a task that has none.
        SealError: for split ``sealed`` without a key.
    """

    def __init__(
        self, task: str, split: str, topology: Topology | None, seal: Seal | None = None
    ) -> None:
        self.task = get_task(task)
        self.playlist = Playlist(self.task, split, topology is not None)
        own = topology or self.task.topology
        assert own is not None  # or the playlist would have refused it
        self.topology = own
        self._split, self._own = split, topology
        self._seal = seal_for(split, seal)

    def draw(self, asked: Any = None) -> tuple[int, Incident]:
        """The index and the incident asked for, by id or index, or else of the next one.

        Raises:
            UnknownName, InvalidInput: as :meth:`Playlist.ask`.
        """
        self.playlist.ask([] if asked is None else [asked])
        index = int(self.playlist.take(1)[0])
        number = IncidentId(self.task, self._split, index, self._seal)
        if self._own is None:
            return index, make_incident(str(number), seal=self._seal)
        return index, draw_incident(self.task, number, self._own)


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
