"""What the shell offers for arguments: tasks, splits, policies, incidents, role splits.

Each function takes what was typed so far and returns the values that begin with it, most with a
line of help. The shell filters them again, so a longer list does no harm.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from logtriage.cli.human import HUMAN
from logtriage.drawing.ids import ALL_SPLITS
from logtriage.grading import RUBRICS
from logtriage.registry import POLICY_HELP, TEAM_HELP
from logtriage.roles.splits import ROLE_SPLITS
from logtriage.shift.tasks import SHIFT_TASKS
from logtriage.tasks import TaskSpec, as_world, tasks_of
from logtriage.world.loading import load_world, shipped_worlds

#: Offered beside the tasks by the commands that take them.
ALL: Final = "all"
RECORDED: Final = {
    "recorded": "recorded incidents",
    "recorded_models": "recorded incidents, with figures on request",
}
#: How many numbers of a split are offered: there are billions.
_NUMBERS: Final = 10

Offered = Iterator[tuple[str, str]]


def _beginning(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


#: Names of worlds; the shell itself knows the folders.
complete_world = _beginning(shipped_worlds)
complete_split = _beginning(lambda: ALL_SPLITS)
complete_role_split = _beginning(lambda: ROLE_SPLITS)
complete_rubric = _beginning(lambda: RUBRICS)


def complete_task(incomplete: str) -> Offered:
    """Tasks, each with its title."""
    for task in _tasks():
        if task.id.startswith(incomplete):
            yield task.id, task.title


def _tasks() -> Iterator[TaskSpec]:
    """The tasks of the default world, then those of the other shipped worlds."""
    default = as_world(None)
    others = (load_world(name) for name in shipped_worlds() if name != default.name)
    for world in (default, *others):
        yield from tasks_of(world).values()


def complete_tasks(incomplete: str) -> Offered:
    """Tasks, and names that stand for several tasks."""
    yield from complete_task(incomplete)
    shifts = {task.id: task.title for task in SHIFT_TASKS.values()}
    for name, title in {ALL: "every task of the benchmark", **RECORDED, **shifts}.items():
        if name.startswith(incomplete):
            yield name, title


def complete_policy(incomplete: str) -> Offered:
    """Policies up to their colon, and a person."""
    for name, title in {**POLICY_HELP, HUMAN: "you, in this terminal"}.items():
        word, colon, _ = name.partition(":")
        if word.startswith(incomplete):
            yield word + colon, title


def complete_player(incomplete: str) -> Offered:
    """Policies and teams: what ``eval`` plays, with and without ``--split-roles``."""
    yield from complete_policy(incomplete)
    for name, title in TEAM_HELP.items():
        word, colon, _ = name.partition(":")
        if colon and word.startswith(incomplete):
            yield word + colon, title


def complete_incident(incomplete: str) -> Iterator[str]:
    """Incident ids, part by part: tasks and recorded incidents, splits, the first numbers."""
    task, slash, rest = incomplete.partition("/")
    if not slash:
        yield from (f"{name}/" for name, _ in complete_task(task))
        yield from _recorded(incomplete)
        return
    if task not in {sheet.id for sheet in _tasks()}:
        yield from _recorded(incomplete)
        return
    split, slash, number = rest.partition("/")
    if not slash:
        yield from (f"{task}/{name}/" for name in ALL_SPLITS if name.startswith(split))
    elif split in ALL_SPLITS:
        numbers = (f"{number}{digit}" for digit in range(_NUMBERS))
        yield from (
            f"{task}/{split}/{digits}" for digits in numbers if digits == "0" or digits[0] != "0"
        )


def _recorded(incomplete: str) -> Iterator[str]:
    from logtriage.recorded import SHIPPED, shipped_incidents

    shipped = (incident.id for source in SHIPPED for incident in shipped_incidents(source))
    return (name for name in shipped if name.startswith(incomplete))
