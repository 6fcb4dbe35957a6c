"""Which incidents a run plays: the options of ``eval`` and ``mcp``, and what they mean."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from logtriage._lib.seal import Seal
from logtriage.cli.options import ALL, flag, option, seal_in
from logtriage.drawing.ids import ALL_SPLITS
from logtriage.drawing.sealing import seal_for
from logtriage.errors import InvalidInput
from logtriage.roles import RoleSplit
from logtriage.tasks import DRAWN_TASKS, benchmark_of
from logtriage.world.model import World

if TYPE_CHECKING:
    from logtriage.evaluation import RunSpec

#: The default split.
SPLIT: Final = "test"

TasksOfRun = Annotated[
    list[str] | None,
    option(
        "TASK",
        "A task, all (the default: every task of the benchmark), recorded, "
        "recorded_models, or a task of shifts. May be repeated.",
        "--task",
    ),
]
SplitOfRun = Annotated[
    str | None,
    option(
        "SPLIT",
        f"One of {', '.join(ALL_SPLITS)}; {SPLIT} if not given. Recorded incidents have none.",
        "--split",
    ),
]
Episodes = Annotated[int, option("N", "How many incidents of each task to play.")]
Start = Annotated[int, option("N", "Number of the first incident.")]
Kinds = Annotated[
    list[str] | None,
    option(
        "KIND",
        "Take only incidents of this kind of fault or of benign trouble; world show lists "
        "the kinds. May be repeated.",
        "--kind",
    ),
]
Fresh = Annotated[bool, flag("Delete the run in --out and start again.", "--fresh")]
RetryUnscored = Annotated[bool, flag("Play unscored episodes again.", "--retry-unscored")]


def chosen(
    policies: list[str],
    task: list[str] | None,
    split: str | None,
    episodes: int,
    start: int,
    roles: RoleSplit | None,
    bundle: Path | None,
    seal_file: Path | None,
    world: World | None,
    kinds: list[str] | None = None,
) -> "tuple[RunSpec, Seal | None]":
    """The run that the options define, and the seal of its incidents.

    Raises:
        UnknownName, InvalidInput: as :class:`~logtriage.evaluation.RunSpec`, and for a split of
            recorded incidents.
        SealError, OSError: for sealed incidents without a key, and a file without one.
    """
    from logtriage.evaluation import RECORDED_TASK, RECORDED_TASKS, RunSpec

    if task is None:
        task = [ALL if bundle is None else RECORDED_TASK]
    elif bundle is not None and not any(name in RECORDED_TASKS for name in task):
        task = [*task, RECORDED_TASK]
    every = DRAWN_TASKS if world is None else benchmark_of(world)
    names = [name for wanted in task for name in (every if wanted == ALL else [wanted])]
    if split is not None and all(name in RECORDED_TASKS for name in names):
        raise InvalidInput(f"--split {split}: recorded incidents have no split; leave it out")
    spec = RunSpec(
        policies, names, split or SPLIT, episodes, start, roles, world=world, kinds=kinds or ()
    )
    return spec, seal_for(spec.split, seal_in(seal_file))
