"""What all rows of a batch share: task, topology and tables."""

from functools import cached_property

import attrs
import numpy as np

from logtriage.errors import InvalidInput
from logtriage.grading.kernels import Span
from logtriage.grading.rubric import Rubric
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.tokens.episodes import MOST_TICKS, ActionPlaces, TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.layout import MOST, TokenLayout, token_layout_of
from logtriage.vector.tokens.scoring import Scores, Stand, scores_of
from logtriage.vector.tokens.tables import TokenTables, tables_of
from logtriage.world.tables import alphabet, places


@attrs.frozen(eq=False)
class TokenSetting:
    """A task on a topology; ``own_topology`` if not the task's.

    ``lanes`` is how many act in each tick.
    """

    task: TaskSpec
    topology: Topology
    own_topology: bool
    tables: TokenTables
    layout: TokenLayout
    places: ActionPlaces
    lanes: int = 1

    @classmethod
    def of(
        cls,
        task: TaskSpec,
        own: Topology | None,
        lanes: int = 1,
        layout: TokenLayout | None = None,
        *,
        apart: bool = False,
    ) -> "TokenSetting":
        """With the tables of the topology: the task's own if none is given.

        ``layout`` is another one than the task's, as of :func:`layout_of_tasks`; ``apart`` as
        of :func:`token_layout_of`.

        Raises:
            InvalidInput: if incidents of the task have a topology each and none is given, if
                the topology is too large or has no place for the task's faults, and for a
                horizon of more ticks than a byte counts.
        """
        setting, topology = task.setting, own or task.topology
        assert setting is not None  # or the task would have been refused
        if topology is None:
            raise InvalidInput(
                f"task {task.id!r}: each incident has a topology of its own, and a batch has "
                "one: give a topology"
            )
        widest = max(len(alphabet("log", one, setting.fog)) for one in places(topology))
        if max(len(topology), widest) >= MOST:
            raise InvalidInput(
                f"topology {topology.name!r} has {len(topology)} services, one of which can say "
                f"{widest} things; the batched engine counts to {MOST - 1}"
            )
        if task.horizon * lanes > MOST_TICKS:
            raise InvalidInput(
                f"horizon {task.horizon} of task {task.id!r} with {lanes} who act in each tick: "
                f"expected at most {MOST_TICKS // lanes}"
            )
        if layout is None:
            layout = token_layout_of(topology, setting.fog, task.horizon, lanes, apart=apart)
        # Any (service, fault) pair may occur on a topology of one's own.
        tables = tables_of(setting, topology, None if own is not None else False)
        return cls(
            task,
            topology,
            own is not None,
            tables,
            layout,
            ActionPlaces.of(topology, layout),
            lanes,
        )

    @cached_property
    def span(self) -> Span:
        """What levels of measures range over: the pars are of faults, then of benign incidents."""
        world, horizon = self.tables.setting, self.task.horizon
        return Span(horizon, ((horizon, world.par), (horizon, world.par_benign)))

    @property
    def action_count(self) -> int:
        """How many actions there are."""
        return self.places.ranges.count

    def room(self, count: int) -> TokenIncidents:
        """Room for so many incidents."""
        tables = self.tables
        return TokenIncidents.empty(count, tables.n, tables.condition_type, self.layout)

    def begin(self, incidents: TokenIncidents) -> TokenEpisodes:
        """Fresh episodes of these incidents."""
        return TokenEpisodes.begin(incidents)

    def ticks(self, episodes: TokenEpisodes) -> Ints:
        """The ticks used in each row (N,), as an array of the caller's own."""
        return episodes.columns[:, self.places.time].astype(np.int64)

    def scores(self, rubric: Rubric, incidents: TokenIncidents, episodes: TokenEpisodes) -> Scores:
        """The grade so far of each row (N,)."""
        ticks = episodes.columns[:, self.places.time]
        stand = Stand(self.tables, incidents, episodes, ticks, self.span)
        return scores_of(stand, rubric, self.span)
