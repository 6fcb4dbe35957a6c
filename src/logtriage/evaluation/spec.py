"""What a run plays: policies, and for each task the ids of its incidents."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from logtriage.drawing.ids import SEALED, check_split, incident_ids
from logtriage.drawing.kinds import check_kinds, ids_of_kinds
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evaluation.incidents import RECORDED_TASKS, Incidents
from logtriage.incident import Incident
from logtriage.roles import RoleSplit
from logtriage.roles.splits import SplitLike, get_role_split
from logtriage.tasks import get_task, world_of_tasks
from logtriage.world.loading import WorldLike
from logtriage.world.model import World


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InvalidInput(f"expected a list of names, got the string {names!r}")
    return tuple(dict.fromkeys(names))


def _as_split(split: SplitLike | None) -> RoleSplit | None:
    return None if split is None else get_role_split(split)


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
    role_split: RoleSplit | None = attrs.field(default=None, converter=_as_split)
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
    tasks: dict[str, tuple[str, tuple[str, ...]]] = {}
    for name in spec.tasks:
        drawn = name not in RECORDED_TASKS
        own = (_drawn_ids if drawn else _recorded_ids)(spec, incidents, name)
        for task, (rubric, ids) in own.items():
            if task in tasks and tasks[task] != (rubric, ids):
                raise InvalidInput(f"a recorded task has the name of a drawn task: {task!r}")
            tasks[task] = rubric, ids
    return tuple(
        Cell(policy, task, rubric, ids)
        for policy in spec.policies
        for task, (rubric, ids) in tasks.items()
    )


def _cells_of(ids: Mapping[str, tuple[str, ...]], incidents: Incidents) -> Iterator[Cell]:
    """Yield a cell for each policy and task; it has no ids if the policy has none of the task."""
    rubrics: dict[str, str] = {}
    own: dict[tuple[str, str], list[str]] = {}
    for policy, names in ids.items():
        for incident in map(incidents, names):
            if rubrics.setdefault(incident.task, incident.rubric) != incident.rubric:
                raise _two_rubrics(incident, rubrics[incident.task])
            own.setdefault((policy, incident.task), []).append(incident.id)
    for policy in ids:
        for task, rubric in rubrics.items():
            yield Cell(policy, task, rubric, tuple(own.get((policy, task), ())))


def _two_rubrics(incident: Incident, used: str) -> InvalidInput:
    return InvalidInput(f"{incident.id}: task {incident.task!r} is graded by {used!r} elsewhere")


def _drawn_ids(
    spec: RunSpec, incidents: Incidents, name: str
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """(rubric, ids) by task; recorded incidents of one name may be of several tasks."""
    task, split, count, start = get_task(name, spec.world), spec.split, spec.episodes, spec.start
    if spec.kinds:
        ids = ids_of_kinds(spec.kinds, task, split, count, start, incidents)
    else:
        ids = incident_ids(name, split, count, start, world=spec.world)
    return {name: (task.rubric, ids)}


def _recorded_ids(
    spec: RunSpec, incidents: Incidents, name: str
) -> dict[str, tuple[str, tuple[str, ...]]]:
    recorded = list(incidents.recorded(name).values())
    chosen = recorded[spec.start : spec.start + spec.episodes]
    if not chosen:
        raise InvalidInput(
            f"{name}, start {spec.start}: there are {len(recorded)} recorded incidents of it"
        )
    tasks: dict[str, tuple[str, tuple[str, ...]]] = {}
    for incident in chosen:
        task, used = incident.task, incident.rubric
        rubric, ids = tasks.get(task, (used, ()))
        if rubric != used:
            raise _two_rubrics(incident, rubric)
        tasks[task] = rubric, (*ids, incident.id)
    return tasks
