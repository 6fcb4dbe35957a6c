"""What all rows of a batch share: task, topology, and the tables made of them."""

import attrs

from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector.episodes import ActionTable, Episodes
from logtriage.vector.layout import Layout, layout_of
from logtriage.vector.tables import Choices, Graph, choices_of, graph_of, mode_of


@attrs.frozen(eq=False)
class Setting:
    """A task on a topology of n services and m teams; ``own_topology`` if not the default.

    ``lanes`` is how many act in each tick.
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

    def begin(self, count: int) -> Episodes:
        """Fresh episodes in this setting."""
        return Episodes.begin(count, self.graph.n, self.graph.m, self.task.horizon, self.lanes)

    def choices(self, split: str) -> Choices:
        """Where and what a fault can be in a split.

        Raises:
            InvalidInput: if the topology has no place for the task's faults.
        """
        ood = None if self.own_topology else split == "ood"
        return choices_of(mode_of(self.task), self.topology, ood)
