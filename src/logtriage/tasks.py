"""Tasks: versioned distributions of incidents, each with a sheet.

A version of the default world's tasks changes exactly when behaviour changes. The tasks of any
other world have no version: the fingerprint of the world tells its behaviour.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import attrs

from logtriage.errors import InvalidInput, UnknownName
from logtriage.topology import Topology
from logtriage.world.default import default_world
from logtriage.world.drawn import UNSEEN, is_unseen, unseen_task
from logtriage.world.loading import WorldLike, is_world, load_world, world_named
from logtriage.world.model import World
from logtriage.world.schema.parts import BENCHMARK_FOG as BENCHMARK_FOG
from logtriage.world.schema.parts import Task
from logtriage.world.setting import Setting, check_whole

_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
#: What stands between the name of a world and the name of its task.
OF_WORLD: Final = ":"


@attrs.frozen
class TaskSpec:
    """The spec sheet of a task.

    ``hard`` says what makes it hard. ``horizon`` is in ticks. ``version`` is None for a world that
    a fingerprint identifies; ``history`` has an entry for each version, with its reason. All splits
    but ``ood`` use ``topology``; if it is None, each incident draws one of ``services`` services
    (least, most). Each incident of an ``unseen`` task has a world of its own, drawn around that of
    ``setting``.

    Raises:
        InvalidInput: naming the field and what was expected.
    """

    name: str
    version: int | None
    title: str
    hard: str
    horizon: int
    rubric: str
    history: tuple[str, ...]
    setting: Setting
    topology: Topology | None = None
    services: tuple[int, int] | None = None
    unseen: bool = False

    def __attrs_post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(
                f"task {self.name!r:.80}: name: expected letters, digits, '-', '_' and '.'"
            )
        where = f"task {self.name!r}"
        if self.version is not None:
            check_whole(f"{where}: version", self.version)
        if (self.topology is None) == (self.services is None):
            raise InvalidInput(f"{where}: expected either topology or services")
        check_whole(f"{where}: horizon", self.horizon, least=1)

    @property
    def fog(self) -> int:
        """The level of fog, 0 to 3."""
        return self.setting.fog

    @property
    def takes_hand_over(self) -> bool:
        """Whether incidents of the task can be handed over, each at a worth of its own."""
        return self.rubric == WITH_WORTH

    @property
    def several(self) -> bool:
        """Whether an incident may have more than one fault."""
        return self.setting.several

    @property
    def world(self) -> World:
        """The world of the task's incidents; an ``unseen`` task draws around it."""
        return self.setting.world

    @cached_property
    def id(self) -> str:
        """Name, version and fog, such as ``cascading_failure-v4-fog1``, or ``tiny:outage-fog1``.

        The benchmark's level of fog is left out, so that each task has one id.
        """
        if self.version is None:
            return _with_fog(f"{self.world.name}{OF_WORLD}{self.name}", self.fog)
        return _with_fog(f"{self.name}-v{self.version}", self.fog)


#: The id of :data:`logtriage.grading.TRIAGE_3`, under which a hand-over has a worth.
WITH_WORTH: Final = "logtriage/3"
#: The version of the tasks of the default world.
VERSION: Final = 4
_HISTORY: Final = (
    "v4: a sign is a history: usual until an onset, then a token that stays; nothing is read with "
    "error, and when something began is evidence",
)
#: What stands in the ids of earlier versions.
_EARLIER: Final = re.compile(r"-v[0-3](?=$|-fog)")
_UNSEEN_HISTORY: Final = (
    "v4: 256 worlds a split, drawn around the world of version 4: only the runbook tells them",
)


def _with_fog(name: str, fog: int) -> str:
    return name if fog == BENCHMARK_FOG else f"{name}-fog{fog}"


_ONE_FAULT: Final = ("single_crash", "cascading_failure", "silent_degradation", "fleet_outage")
_SEVERAL: Final = ("compound_failure", "compound_fleet")
_FOGS: Final = (BENCHMARK_FOG, 0, 1, 3)  # the benchmark's first


def _versioned_ids() -> Iterator[tuple[str, tuple[str, int]]]:
    """(id, (name, fog)) of the default world's tasks, in the order of :func:`tasks_of`."""
    for names in (_ONE_FAULT, _SEVERAL):
        for fogs in (_FOGS[:1], _FOGS[1:]):
            for name in names:
                for fog in fogs:
                    yield _with_fog(f"{name}-v{VERSION}", fog), (name, fog)


#: Name and fog of every task of the default world: the benchmark's, then those at other levels
#: of fog, then several faults at once.
DEFAULT_TASKS: Final[Mapping[str, tuple[str, int]]] = MappingProxyType(dict(_versioned_ids()))

#: The level of fog of each task with unseen worlds.
UNSEEN_TASKS: Final[Mapping[str, int]] = MappingProxyType(
    {_with_fog(f"{UNSEEN}-v{VERSION}", fog): fog for fog in _FOGS}
)

#: The ids of the benchmark: what ``all`` stands for everywhere. Incidents with several
#: faults at once are named where they are wanted: they are another measure.
DRAWN_TASKS: Final = tuple(f"{name}-v{VERSION}" for name in _ONE_FAULT)

if TYPE_CHECKING:
    #: Every task of the default world.
    TASKS: tuple[TaskSpec, ...]


def __getattr__(name: str) -> Any:
    """``TASKS``, when it is first asked for: the default world is read for it."""
    if name == "TASKS":
        return tuple(tasks_of(default_world()).values())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@lru_cache(maxsize=64)
def tasks_of(world: World) -> Mapping[str, TaskSpec]:
    """The tasks of a world by id: one fault before several, each the benchmark's fog first."""
    version = VERSION if world == default_world() or is_unseen(world) else None
    fogs = range(len(world.rules.fog))
    drawn = [_drawn_task(world, row, fog, version) for row in world.tasks.values() for fog in fogs]
    drawn.sort(key=lambda task: (task.several, task.fog != BENCHMARK_FOG))
    if world == default_world():
        drawn.extend(_unseen_task(world, fog) for fog in UNSEEN_TASKS.values())
    return MappingProxyType({task.id: task for task in drawn})


def benchmark_of(world: World) -> tuple[str, ...]:
    """The ids that ``all`` stands for: tasks of one fault (if none, all) at the benchmark's fog."""
    rows = [row for row in tasks_of(world).values() if row.fog == BENCHMARK_FOG and not row.unseen]
    return tuple(row.id for row in rows if not row.several) or tuple(row.id for row in rows)


def _drawn_task(world: World, row: Task, fog: int, version: int | None) -> TaskSpec:
    """A task of a world at a level of fog."""
    return TaskSpec(
        name=row.name,
        version=version,
        title=row.title,
        hard=row.hard,
        horizon=row.horizon,
        rubric=WITH_WORTH,
        history=() if version is None else _HISTORY,
        setting=setting_of(world, row, fog),
        topology=None if row.topology is None else world.topologies[row.topology],
        services=row.services,
    )


def _unseen_task(world: World, fog: int) -> TaskSpec:
    """The task of unseen worlds around a world; their topologies differ, so it has none."""
    task = _drawn_task(world, unseen_task(world), fog, VERSION)
    assert task.topology is not None  # the task that it copies has one
    size = len(task.topology)
    return attrs.evolve(
        task, topology=None, services=(size, size), history=_UNSEEN_HISTORY, unseen=True
    )


def setting_of(world: World, row: Task, fog: int) -> Setting:
    """The public constants of a task at a level of fog."""
    names = {field.name for field in attrs.fields(Setting)} - {"fog", "world"}
    return Setting(fog=fog, world=world, **{name: getattr(row, name) for name in names})


def is_registered(task: TaskSpec) -> bool:
    """Whether a task equals its world's own task of that id."""
    return tasks_of(task.world).get(task.id) == task


def check_one_world(task: TaskSpec) -> None:
    """Raise InvalidInput for a task with unseen worlds, where all incidents need the same world."""
    if task.unseen:
        raise InvalidInput(
            f"task {task.id!r}: each incident has a world of its own, with its own services and "
            "teams; make_incident draws one by its id"
        )


def get_task(task_id: str, world: WorldLike | None = None) -> TaskSpec:
    """The task of an id, which is ``world:task`` unless the world is the default one.

    ``world`` is a :class:`World`, the name of a shipped one or of one on the search path
    ``LOGTRIAGE_WORLDS``, or a folder; with it, the name of the task is enough.

    Raises:
        UnknownName: if there is no such task, or no such world; lists the known ids.
        InvalidInput: if the id names another world than ``world``.
    """
    if not isinstance(task_id, str):
        raise UnknownName("task", task_id, DEFAULT_TASKS)
    chosen = world_of_id(task_id, world)
    tasks = tasks_of(chosen)
    sheet = tasks.get(task_id)
    if sheet is None and OF_WORLD not in task_id:
        sheet = tasks.get(f"{chosen.name}{OF_WORLD}{task_id}")
    if sheet is not None:
        return sheet
    later = _EARLIER.sub(f"-v{VERSION}", task_id)
    if later in tasks:
        raise UnknownName(f"task (now {later})", task_id, tasks)
    raise UnknownName("task", task_id, tasks)


def names_world(text: str) -> bool:
    """Whether a text begins with the name of a known world and a colon, as ids do."""
    name, colon, _ = text.partition("/")[0].partition(OF_WORLD)
    return bool(colon) and is_world(name)


def task_of(
    task: str | TaskSpec, world: WorldLike | None = None, horizon: int | None = None
) -> TaskSpec:
    """The task, or the task of an id; ``horizon``, if given, replaces its own.

    Raises as :func:`get_task`; InvalidInput for a horizon below 1.
    """
    if isinstance(task, TaskSpec):
        world_of_id(f"{task.world.name}{OF_WORLD}{task.name}", world)  # refuses another world
    else:
        task = get_task(task, world)
    return task if horizon is None else attrs.evolve(task, horizon=horizon)


def world_of_tasks(task_ids: Iterable[str], world: WorldLike | None = None) -> World:
    """The world that tasks share; without any tasks, ``world`` or the default world.

    Raises as :func:`world_of_id`; InvalidInput for tasks of several worlds.
    """
    worlds = {world_of_id(task, world): task for task in task_ids}
    if not worlds:
        return as_world(world)
    if len(worlds) > 1:
        named = " and ".join(f"{each.name!r} ({task})" for each, task in worlds.items())
        raise InvalidInput(f"expected tasks of one world, got some of {named}")
    (shared,) = worlds
    return shared


def as_world(world: WorldLike | None) -> World:
    """The world that an argument stands for (None: the default one); raises as ``load_world``."""
    if world is None:
        return default_world()
    return world if isinstance(world, World) else load_world(world)


def world_of_id(text: str, world: WorldLike | None = None) -> World:
    """The world of a task or an incident, by the beginning of its id.

    Raises:
        UnknownName: if no shipped world and no world on the search path has the id's name.
        InvalidInput: naming both worlds, if the id is of another world than ``world``.
    """
    name, colon, _ = text.partition("/")[0].partition(OF_WORLD)
    if world is None:
        if colon:
            return world_named(name)
        return default_world()
    chosen = as_world(world)
    if name in UNSEEN_TASKS and is_unseen(chosen):
        return chosen
    named = name if colon else chosen.name
    # A bare id of a task of the default world names that world, unless ``chosen`` has such a task.
    by_default = name in {**DEFAULT_TASKS, **UNSEEN_TASKS} and name not in chosen.tasks
    if not colon and by_default and chosen != default_world():
        named = default_world().name
    if named != chosen.name:
        raise InvalidInput(
            f"{text!r:.200}: of world {named!r}, and the world given here is {chosen.name!r} "
            f"({chosen.fingerprint})"
        )
    return chosen
