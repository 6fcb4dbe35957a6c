"""What all rows of a batch share: task, topology and tables."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from logtriage.belief.model import Model, model_of
from logtriage.errors import InvalidInput
from logtriage.grading.action_lists import ActionRanges, ranges_of
from logtriage.grading.tables import Span
from logtriage.tasks import TaskSpec, tasks_of
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.cells import shown_tokens
from logtriage.vector.layout import MOST_TICKS
from logtriage.vector.tokens.episodes import TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.layout import MOST, TokenLayout, layout_of_several
from logtriage.vector.tokens.tables import TokenTables, tables_of
from logtriage.world.model import World
from logtriage.world.setting import Setting
from logtriage.world.tables import places
from logtriage.world.topologies import fitting
from logtriage.world.vocabulary import LOG

#: The number of a team fits a signed byte.
_MOST_TEAMS: Final = 127


@attrs.frozen(eq=False)
class TokenSetting:
    """A task on a topology, or in the worlds of a pool, each with its own.

    ``models`` has each world with its topology and prior, alike in all sizes; ``lanes`` is how
    many act in each tick.
    """

    task: TaskSpec
    models: tuple[Model, ...]
    tables: TokenTables
    layout: TokenLayout
    lanes: int = 1

    @property
    def public(self) -> Setting:
        """The public constants, which all worlds share."""
        return self.models[0].setting

    @property
    def topology(self) -> Topology:
        """The services and teams of the first world."""
        return self.models[0].topology

    @property
    def n(self) -> int:
        """How many services there are."""
        return len(self.topology)

    @property
    def held(self) -> bool | None:
        """Which (service, fault) pairs the prior holds back."""
        return self.models[0].held

    @cached_property
    def span(self) -> Span:
        """What levels of measures range over: the pars are of faults, then of benign incidents.

        Several roles may apply a remedy in a tick; a byte counts them.
        """
        world, horizon = self.public, self.task.horizon
        clocks = (horizon, world.par), (horizon, world.par_benign)
        return Span(horizon, clocks, actions=MOST)

    @property
    def action_count(self) -> int:
        """How many actions there are."""
        return self.ranges.count

    @cached_property
    def ranges(self) -> ActionRanges:
        """The canonical integers of the topology's actions."""
        return ranges_of(self.topology, hand_over=True)

    @property
    def time(self) -> int:
        """The column that counts the ticks."""
        return int(self.layout["time"].start)

    def room(self, count: int) -> TokenIncidents:
        """Room for ``count`` incidents."""
        return TokenIncidents.empty(count, self.n, self.tables.condition_type, self.layout)

    def ticks(self, episodes: TokenEpisodes) -> Ints:
        """The ticks used in each row (N,), as an array of the caller's own."""
        return episodes.columns[:, self.time].astype(np.int64)


def settings_of(
    tasks: Sequence[TaskSpec],
    own: Topology | None,
    lanes: int = 1,
    *,
    apart: bool = False,
    ood: bool = False,
    worlds: Sequence[World] = (),
) -> tuple[TokenSetting, ...]:
    """The setting of each of several tasks, all with one layout.

    ``apart``: see :func:`token_layout_of`. ``ood``: incidents of that split are played. ``worlds``
    is the pool of a task of unseen worlds.

    Raises:
        InvalidInput: as :func:`check_together`; if incidents of a task have a topology each and
            none is given, if a topology is too large or has no place for a task's faults, for a
            task with several faults, and for a horizon of more ticks than a byte counts.
    """
    check_together(tasks, own=own is not None)
    models = [_models_of(task, own, worlds, ood=ood) for task in tasks]
    for task, some in zip(tasks, models, strict=True):
        _check_counts(task, some, lanes)
    layout = layout_of_several(
        [some[0].setting for some in models],
        models[0][0].topology,
        max(task.horizon for task in tasks),
        lanes,
        apart=apart,
    )
    return tuple(
        TokenSetting(task, some, tables_of(some), layout, lanes)
        for task, some in zip(tasks, models, strict=True)
    )


def _models_of(
    task: TaskSpec, own: Topology | None, worlds: Sequence[World], *, ood: bool
) -> tuple[Model, ...]:
    """The task on a topology, or in each world of a pool."""
    if task.unseen:
        if own is not None:
            raise InvalidInput(
                f"topology {own.name!r}: each world of task {task.id!r} has a topology of its own"
            )
        sheets = [tasks_of(world)[task.id] for world in worlds]
        models = [model_of(*_place_of(sheet), ood) for sheet in sheets]
        return tuple(models)
    topology, setting = own or task.topology, task.setting
    if own is not None:
        fitting(own, setting.world)
    if topology is None:
        raise InvalidInput(
            f"task {task.id!r}: each incident has a topology of its own, and a batch has "
            "one: give a topology"
        )
    # On another topology than the task's any (service, fault) pair may occur.
    return (model_of(setting, topology, None if own is not None else ood),)


def _place_of(sheet: TaskSpec) -> tuple[Setting, Topology]:
    assert sheet.topology is not None  # as every drawn world's
    return sheet.setting, sheet.topology


def _check_counts(task: TaskSpec, models: Sequence[Model], lanes: int) -> None:
    """Refuse counts that do not fit a byte."""
    setting, topology = models[0].setting, models[0].topology
    widest = max(len(shown_tokens(setting, LOG, place)) for place in places(topology))
    counts = len(topology), len(topology.teams), widest
    if max(counts[0], widest) >= MOST or counts[1] > _MOST_TEAMS:
        raise InvalidInput(
            f"topology {topology.name!r} has {counts[0]} services, one of which can say {widest} "
            f"things, and {counts[1]} teams; the batched engine counts to {MOST - 1}, and to "
            f"{_MOST_TEAMS} teams"
        )
    if task.horizon * lanes > MOST_TICKS:
        raise InvalidInput(
            f"horizon {task.horizon} of task {task.id!r} with {lanes} who act in each tick: "
            f"expected at most {MOST_TICKS // lanes}"
        )


def check_together(tasks: Sequence[TaskSpec], *, own: bool) -> None:
    """Refuse several tasks that cannot be played on one topology, one's ``own`` or theirs.

    Raises:
        InvalidInput: for tasks of several worlds, topologies or rubrics, and one named twice.
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
        if task.world != first.world:
            raise InvalidInput(
                f"task {task.id!r} is of another world than {first.id!r}, and so its observations "
                "mean something else"
            )
        if task.rubric != first.rubric:
            raise InvalidInput(
                f"task {task.id!r} is graded by {task.rubric}, {first.id!r} by {first.rubric}; "
                "one batch has one rubric"
            )
