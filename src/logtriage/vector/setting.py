"""What all rows of a batch share: task, topology, and the tables made of them."""

from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.grading.batch import grade_played
from logtriage.grading.rubric import Rubric
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.episodes import ActionTable, Episodes
from logtriage.vector.incidents import IncidentArrays
from logtriage.vector.layout import Layout, layout_of
from logtriage.vector.standing import Standing
from logtriage.vector.tables import Choices, Graph, choices_of, graph_of, mode_of


class WorldSetting(Protocol):
    """What the engine asks of a world: incidents and episodes are structures of its own."""

    @property
    def task(self) -> TaskSpec:
        """The task that is played."""

    @property
    def topology(self) -> Topology:
        """Its services."""

    @property
    def own_topology(self) -> bool:
        """Whether that is not the task's own."""

    @property
    def layout(self) -> Layout:
        """Of the numeric observation."""

    @property
    def action_count(self) -> int:
        """How many actions there are."""

    def room(self, count: int) -> Any:
        """Room for so many incidents."""

    def begin(self, incidents: Any) -> Any:
        """Fresh episodes of these incidents."""

    def ticks(self, episodes: Any) -> Ints:
        """The ticks used in each row (N,), as an array of the caller's own."""


@attrs.frozen(eq=False)
class Setting:
    """A task of the first world on a topology of n services and m teams.

    ``own_topology`` says that it is not the default one; ``lanes`` is how many act in each tick.
    """

    task: TaskSpec
    topology: Topology
    own_topology: bool
    graph: Graph
    layout: Layout
    actions: ActionTable
    lanes: int = 1

    @classmethod
    def of(
        cls, task: TaskSpec, topology: Topology, own_topology: bool, lanes: int = 1
    ) -> "Setting":
        """With the tables of the topology."""
        return cls(
            task,
            topology,
            own_topology,
            graph_of(topology),
            layout_of(topology),
            ActionTable.of(topology),
            lanes,
        )

    @property
    def action_count(self) -> int:
        """How many actions there are."""
        return len(self.actions.team)

    def room(self, count: int) -> IncidentArrays:
        """Room for so many incidents."""
        return IncidentArrays.empty(count, self.graph.n)

    def begin(self, incidents: IncidentArrays) -> Episodes:
        """Fresh episodes of these incidents."""
        return self.fresh(len(incidents.index))

    def fresh(self, count: int) -> Episodes:
        """Fresh episodes in this setting."""
        return Episodes.begin(count, self.graph.n, self.graph.m, self.task.horizon, self.lanes)

    def ticks(self, episodes: Episodes) -> Ints:
        """The ticks used in each row (N,), as an array of the caller's own."""
        return episodes.tick.astype(np.int64)

    def scores(
        self, rubric: Rubric, incidents: IncidentArrays, episodes: Episodes
    ) -> NDArray[np.float64]:
        """The grade so far of each row (N,)."""
        standing = Standing(incidents, episodes, self.task.horizon)
        return grade_played(standing, self.task.horizon, rubric)

    def choices(self, split: str) -> Choices:
        """Where and what a fault can be in a split.

        Raises:
            InvalidInput: if the topology has no place for the task's faults.
        """
        ood = None if self.own_topology else split == "ood"
        return choices_of(mode_of(self.task), self.topology, ood)
