"""What a run plays: policies, and for each task the ids of its incidents."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import attrs

from logtriage.drawing.ids import SEALED, check_split, incident_ids
from logtriage.drawing.kinds import check_kinds, ids_of_kinds
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evaluation.incidents import RECORDED_TASKS, Incidents
from logtriage.roles import RoleSplit
from logtriage.roles.splits import get_role_split
from logtriage.tasks import get_task, world_of_tasks
from logtriage.world.loading import WorldLike
from logtriage.world.model import World


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InvalidInput(f"expected a list of names, got the string {names!r}")
    return tuple(dict.fromkeys(names))


def _not_empty(_: Any, field: "attrs.Attribute[Any]", value: tuple[str, ...]) -> None:
    if not value:
        raise InvalidInput(f"a run needs at least one of its {field.name}")


@attrs.frozen
class RunSpec:
    """The definition of a run: ``episodes`` incidents of each task, from number ``start``.

    ``tasks`` are ids of drawn tasks, or names in :data:`RECORDED_TASKS` for recorded incidents,
    which have no split and may be fewer. A name given twice counts once. With a ``role_split`` (or
    the name of a built-in split) ``policies`` are teams that play jointly, else single agents.
    ``world`` is the world of all tasks, as in :func:`~logtriage.tasks.get_task`. With ``kinds``,
    only incidents of these kinds of faults or benign trouble are played. ``incidents`` maps each
    policy to the ids that it plays, in place of a choice by ``split``, ``episodes`` and so on.

    Raises:
        UnknownName: for a world, task, split, kind or role split that does not exist.
        InvalidInput: if there is nothing to play, a task has no such split, or never draws a kind,
            tasks are of several worlds, or a number makes no sense.
    """

    policies: tuple[str, ...] = attrs.field(converter=_distinct, validator=_not_empty)
    tasks: tuple[str, ...] = attrs.field(converter=_distinct, validator=_not_empty)
    split: str = "test"
    episodes: int = 100
    start: int = 0
    role_split: RoleSplit | None = attrs.field(
        default=None, converter=attrs.converters.optional(get_role_split)
    )
    _world: WorldLike | None = attrs.field(default=None, kw_only=True)
    incidents: Mapping[str, tuple[str, ...]] | None = attrs.field(
        default=None, kw_only=True, hash=False
    )
    kinds: tuple[str, ...] = attrs.field(default=(), kw_only=True, converter=_distinct)

    def __attrs_post_init__(self) -> None:
        world = world_of_tasks(
            (task for task in self.tasks if task not in RECORDED_TASKS), self._world
        )
        object.__setattr__(self, "_world", world)
        tasks = dict.fromkeys(_task_id(task, world) for task in self.tasks)
        object.__setattr__(self, "tasks", tuple(tasks))
        check_split(self.split)
        for task in self.tasks:
            if self.split == SEALED and task in RECORDED_TASKS:
                raise InvalidInput(f"recorded incidents have no split {SEALED!r}: they are public")
            if self.kinds and task in RECORDED_TASKS:
                raise InvalidInput(
                    f"kind {self.kinds[0]!r}: {task} has no kinds of a world; leave out one of them"
                )
            if self.kinds:
                check_kinds(self.kinds, get_task(task, world), self.split)
        if self.episodes < 1:
            raise InvalidInput(f"episodes must be at least 1, got {self.episodes}")
        if self.start < 0:
            raise InvalidInput(f"start must not be negative, got {self.start}")
        if self.incidents is not None and tuple(self.incidents) != self.policies:
            raise InvalidInput(
                f"incidents: expected those of {', '.join(self.policies)}, got those of "
                f"{', '.join(self.incidents) or 'nobody'}"
            )

    @property
    def world(self) -> World:
        """The world of the drawn tasks; the default world if all tasks are recorded."""
        assert isinstance(self._world, World)
        return self._world


def _task_id(task: str, world: World) -> str:
    """The canonical id of a drawn task; the name of a recorded task stays as it is."""
    if task in RECORDED_TASKS:
        return task
    try:
        return get_task(task, world).id
    except UnknownName as error:
        raise UnknownName("task", task, (*error.known, *RECORDED_TASKS)) from None


@attrs.frozen
class Cell:
    """One policy on one task, with the ids of its incidents. A run has a file for each cell."""

    policy: str
    task: str
    rubric: str
    ids: tuple[str, ...]


def plan(spec: RunSpec, incidents: Incidents) -> tuple[Cell, ...]:
    """Every cell of a run, in the order in which they are played.

    Raises:
        InvalidInput: if no recorded incident is left after ``start``, or if a recorded and a drawn
            task share a name.
    """
    if spec.incidents is not None:
        return tuple(_cells_of(spec.incidents, incidents))
    cells: dict[str, Cell] = {}
    for name in spec.tasks:
        for cell in _chosen(spec, incidents, name):
            if cells.setdefault(cell.task, cell) != cell:
                raise InvalidInput(f"a recorded task has the name of a drawn task: {cell.task!r}")
    return tuple(
        attrs.evolve(cell, policy=policy) for policy in spec.policies for cell in cells.values()
    )


def _chosen(spec: RunSpec, incidents: Incidents, name: str) -> Iterator[Cell]:
    """Yield a task's cells without their policy; recorded incidents may be of several tasks."""
    split, count, start = spec.split, spec.episodes, spec.start
    if name in RECORDED_TASKS:
        recorded = tuple(incidents.recorded(name))
        ids = recorded[start : start + count]
        if not ids:
            raise InvalidInput(
                f"{name}, start {start}: there are {len(recorded)} recorded incidents of it"
            )
        yield from _cells_of({"": ids}, incidents)
        return
    task = get_task(name, spec.world)
    if spec.kinds:
        ids = ids_of_kinds(spec.kinds, task, split, count, start, incidents)
    else:
        ids = incident_ids(name, split, count, start, world=spec.world)
    yield Cell("", name, task.rubric, ids)


def _cells_of(ids: Mapping[str, tuple[str, ...]], incidents: Incidents) -> Iterator[Cell]:
    """Yield a cell for each policy and task; it has no ids if the policy has none of the task."""
    rubrics: dict[str, str] = {}
    own: dict[tuple[str, str], list[str]] = {}
    for policy, names in ids.items():
        for incident in map(incidents, names):
            task, used = incident.task, incident.rubric
            if rubrics.setdefault(task, used) != used:
                raise InvalidInput(
                    f"{incident.id}: task {task!r} is graded by {rubrics[task]!r} elsewhere"
                )
            own.setdefault((policy, task), []).append(incident.id)
    for policy, (task, rubric) in product(ids, rubrics.items()):
        yield Cell(policy, task, rubric, tuple(own.get((policy, task), ())))
