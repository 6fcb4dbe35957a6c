"""Tasks, worlds and role splits that trainers take by name, or from files of yours."""

import argparse
import os
import shlex
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage._lib.references import imported
from logtriage.adapters.sources import is_own_task
from logtriage.codec import load_role_split
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId, index_of
from logtriage.errors import InvalidInput, WorldError
from logtriage.incident import Incident
from logtriage.roles import RoleSplit
from logtriage.roles.splits import ROLE_SPLITS, get_role_split
from logtriage.tasks import OF_WORLD, TASKS, TaskSpec, benchmark_of, get_task
from logtriage.world.loading import WORLDS_VARIABLE, load_world, shipped_worlds, world_named

#: Stands for the tasks of a world that have one fault.
ALL: Final = "all"
#: Splits: for training, for evaluations during a run, and for what is reported.
TRAIN_SPLIT, CHOICE_SPLIT, EVAL_SPLIT = "train", "val", "test"


@lru_cache(maxsize=64)
def sheet_of(task: str | TaskSpec) -> TaskSpec:
    """The sheet of a task; ``module:name`` imports, and so runs, the module.

    Raises:
        UnknownName: for the id of a task that does not exist.
        InvalidInput: if there is no such module, or it has no such sheet; for a sheet with the
            id of another task; and for a task that batches do not play.
    """
    if isinstance(task, TaskSpec):
        return task
    sheet = imported(task) if is_own_task(task) else get_task(task)
    if not isinstance(sheet, TaskSpec):
        raise InvalidInput(
            f"task {task!r}: expected a task sheet (TaskSpec), which batches play, "
            f"got {type(sheet).__name__}"
        )
    if sheet not in TASKS and any(sheet.id == task.id for task in TASKS):
        raise InvalidInput(
            f"task {task!r}: expected a name or version of its own: {sheet.id!r} is another task, "
            "by which transcripts would be graded"
        )
    if sheet.several or sheet.topology is None:
        raise InvalidInput(
            f"task {sheet.id!r}: expected a task that draws incidents of one fault on one "
            "topology: batches play no others, and networks have a fixed width"
        )
    return sheet


def is_playable(_: object, __: "attrs.Attribute[Any]", task: str) -> None:
    """A validator of attrs: :func:`sheet_of` finds the task."""
    sheet_of(task)


def incident_of(task: str | TaskSpec, incident_id: str) -> Incident:
    """The incident of a task with that id, ``<task>/<split>/<index>``."""
    sheet = sheet_of(task)
    _, split, _ = incident_id.split("/")
    return draw_incident(sheet, IncidentId(sheet, split, index_of(incident_id)))


def ids_of(task: str | TaskSpec, split: str, count: int) -> tuple[str, ...]:
    """The ids of the first incidents of a split."""
    sheet = sheet_of(task)
    return tuple(str(IncidentId(sheet, split, index)) for index in range(count))


@lru_cache(maxsize=64)
def role_split_of(name: str) -> RoleSplit:
    """A built-in role split by its name, or one from a JSON file, read once.

    UnknownName for another name; InvalidInput names the file and the field.
    """
    if name in ROLE_SPLITS or Path(name).suffix != ".json":
        return get_role_split(name)
    try:
        return load_role_split(name)
    except OSError as error:
        raise InvalidInput(f"{name}: {error.strerror}") from None


def add_world(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--world``."""
    parser.add_argument(
        "--world",
        metavar="DIR",
        help="the folder of the tasks' world; without it, an id such as my-shop:outage names a "
        f"world in the folders of {WORLDS_VARIABLE}",
    )


def task_in(world: str | None, task: str) -> str:
    """The ids of tasks, separated by blanks, in the world of a folder; unchanged without one.

    From then on this process, and those that it starts, find the world by its name: a trainer
    keeps ids, and its workers read the world themselves.

    Raises:
        UnknownName, WorldError: for a task or a world that cannot be used; WorldError for
            a folder that cannot be read, or has another name than its world.
    """
    if world is None:
        return task
    folder = Path(world).absolute()
    try:
        loaded = load_world(folder)
    except OSError as error:
        raise WorldError(f"{folder}: {error.strerror}") from None
    if loaded.name != folder.name:
        raise WorldError(
            f"{folder}: expected a folder that is called as its world, {loaded.name!r}: workers "
            "look for it by that name"
        )
    names = [
        name
        for word in task.split()
        for name in (benchmark_of(loaded) if word == ALL else (get_task(word, loaded).id,))
    ]
    before = os.environ.get(WORLDS_VARIABLE)
    folders = (str(folder.parent), *([before] if before else ()))
    os.environ[WORLDS_VARIABLE] = os.pathsep.join(folders)
    assert world_named(loaded.name) == loaded, "its folder is searched first"
    return " ".join(dict.fromkeys(names))


def words_for(tasks: str) -> str:
    """The options by which ``logtriage eval`` plays these tasks, in a shell without our world."""
    return " ".join(f"--task {name}" for name in tasks.split()) + world_words(tasks)


def world_words(tasks: str) -> str:
    """The option that finds the world of these tasks, after a space; empty for a shipped one."""
    world, colon, _ = tasks.partition(OF_WORLD)
    if not colon or world in shipped_worlds():
        return ""
    places = (Path(place, world) for place in os.environ[WORLDS_VARIABLE].split(os.pathsep))
    folder = next(place for place in places if place.is_dir())
    return f" --world {shlex.quote(str(folder))}"
