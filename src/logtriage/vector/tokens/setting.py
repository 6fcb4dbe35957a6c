"""What all rows of a batch share: task, models, tables and layout."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from logtriage.beliefs.model import Model, model_of
from logtriage.errors import InvalidInput
from logtriage.grading.steps import Letters, letters_of
from logtriage.grading.tables import Span
from logtriage.tasks import TaskSpec, tasks_of
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.checks import checked_integers
from logtriage.vector.layout import MOST_TICKS
from logtriage.vector.tokens.episodes import TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.layout import MOST, TokenLayout, token_layout_of
from logtriage.vector.tokens.tables import TokenTables, tables_of
from logtriage.world.model import World
from logtriage.world.setting import Setting
from logtriage.world.tables import alphabet, places
from logtriage.world.topologies import fitting
from logtriage.world.vocabulary import LOG

#: The most teams whose numbers fit a signed byte.
_MOST_TEAMS: Final = 127


@attrs.frozen(eq=False)
class TokenSetting:
    """A task on a topology, or in the worlds of a pool, with its tables and layout.

    ``models`` has one model for each world, all of equal sizes. ``lanes`` agents act in each tick.
    """

    task: TaskSpec
    models: tuple[Model, ...]
    tables: TokenTables
    layout: TokenLayout
    lanes: int = 1

    @property
    def public(self) -> Setting:
        """The setting of the first world; batches read only constants that all worlds share."""
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
        """Whether pairs held back for split ``ood`` are drawn; None if all pairs are alike."""
        return self.models[0].held

    @cached_property
    def span(self) -> Span:
        """The range of levels, with a pair of horizon and par for faults, then for benign ones."""
        world, horizon = self.public, self.task.horizon
        clocks = (horizon, world.par), (horizon, world.par_benign)
        return Span(horizon, clocks, actions=MOST)

    @property
    def action_count(self) -> int:
        """The number of actions of a single agent, a hand-over among them."""
        return int(self.letters.hand_over) + 1

    @cached_property
    def letters(self) -> Letters:
        """The canonical integers of the topology's actions."""
        return letters_of(self.topology)

    def room(self, count: int) -> TokenIncidents:
        """Room for ``count`` incidents, which kernels then draw."""
        condition_type = np.min_scalar_type(self.tables.sign_row.shape[-1] - 1)
        return TokenIncidents.empty(count, self.n, condition_type, self.layout)

    def ticks(self, episodes: TokenEpisodes) -> Ints:
        """The ticks used in each row (N,), as a copy."""
        return episodes.columns[:, self.layout["time"].start].astype(np.int64)


def batch_setting(
    task: TaskSpec,
    own: Topology | None,
    lanes: int = 1,
    *,
    apart: bool = False,
    ood: bool = False,
    worlds: Sequence[World] = (),
) -> TokenSetting:
    """The setting of a task on its topology, on ``own`` if given, or in the ``worlds`` of a pool.

    ``apart``: see :func:`token_layout_of`. ``ood``: incidents of split ``ood`` are played.

    Raises:
        InvalidInput: if incidents of the task have a topology each and none is given, if a
            topology is too large or has no place for the task's faults, for a task with several
            faults, for no lanes, and for a horizon of more ticks than a byte counts.
    """
    models = _models_of(task, own, worlds, ood=ood)
    _check_counts(task, models, lanes)
    public, topology = models[0].setting, models[0].topology
    layout = token_layout_of(public, topology, task.horizon, lanes, apart=apart)
    return TokenSetting(task, models, tables_of(models), layout, lanes)


def _models_of(
    task: TaskSpec, own: Topology | None, worlds: Sequence[World], *, ood: bool
) -> tuple[Model, ...]:
    if task.unseen:
        if own is not None:
            raise InvalidInput(
                f"topology {own.name!r}: each world of task {task.id!r} has a topology of its own"
            )
        sheets = [tasks_of(world)[task.id] for world in worlds]
        models = [model_of(*_place_of(sheet), held=ood) for sheet in sheets]
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
    return (model_of(setting, topology, held=None if own is not None else ood),)


def _place_of(sheet: TaskSpec) -> tuple[Setting, Topology]:
    assert sheet.topology is not None  # as every drawn world's
    return sheet.setting, sheet.topology


def _check_counts(task: TaskSpec, models: Sequence[Model], lanes: int) -> None:
    """Refuse counts that do not fit a byte."""
    checked_integers("lanes", lanes, (), 1, MOST_TICKS)
    setting, topology = models[0].setting, models[0].topology
    widest = max(len(alphabet(setting, LOG, place)) for place in places(topology))
    services, teams = len(topology), len(topology.teams)
    if max(services, widest) >= MOST or teams > _MOST_TEAMS:
        raise InvalidInput(
            f"topology {topology.name!r} has {services} services, one of which can say {widest} "
            f"things, and {teams} teams; the batched engine counts to {MOST - 1}, and to "
            f"{_MOST_TEAMS} teams"
        )
    if task.horizon * lanes > MOST_TICKS:  # each lane may apply a remedy in each tick
        raise InvalidInput(
            f"horizon {task.horizon} of task {task.id!r} with {lanes} who act in each tick: "
            f"expected at most {MOST_TICKS // lanes}"
        )
