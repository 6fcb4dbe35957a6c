"""Your own worlds for trainers: ``--world DIR``, and tasks by their names in it."""

import argparse
import os
from pathlib import Path
from typing import Final

from logtriage.errors import WorldError
from logtriage.tasks import benchmark_of, get_task
from logtriage.world.loading import WORLDS_VARIABLE, load_world, world_named

#: Stands for the tasks of the world that have one fault.
ALL: Final = "all"


def add_world(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--world``."""
    parser.add_argument(
        "--world",
        metavar="DIR",
        help="the folder of the tasks' world; without it, an id such as my-shop:outage names a "
        f"world in the folders of {WORLDS_VARIABLE}",
    )


def task_in(world: str | None, task: str) -> str:
    """The ids of tasks, separated by blanks, in the world of a folder; as they are without one.

    From then on this process, and those that it starts, find the world by its name: a trainer
    keeps ids, and its workers read the world themselves.

    Raises:
        UnknownName, WorldError: for a task, or a world, that cannot be used; WorldError, too, for
            a folder that cannot be read, or is not called as its world.
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
