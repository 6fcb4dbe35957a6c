"""Options that several commands share."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, Final

import attrs
import typer

from logtriage._lib.seal import SEAL_VARIABLE, Seal
from logtriage.codec import load_role_split
from logtriage.drawing.ids import ALL_SPLITS
from logtriage.drawing.sealing import read_seal, seal_for
from logtriage.errors import InvalidInput
from logtriage.evaluation import RECORDED_TASK, RECORDED_TASKS, Incidents, RunSpec
from logtriage.evaluation.money import Prices
from logtriage.evaluation.parallel import Workers, workers_of
from logtriage.roles import RoleSplit
from logtriage.roles.splits import ROLE_SPLITS, get_role_split
from logtriage.shift.shifts import is_shift
from logtriage.tasks import DRAWN_TASKS, benchmark_of
from logtriage.world.loading import WORLDS_VARIABLE, load_world
from logtriage.world.model import World


def option(metavar: str, text: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """An option with a value, named as its parameter or by ``names``; ``text`` is its help."""
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)


def flag(text: str, *names: str, panel: str | None = None) -> Any:
    """An option without a metavar; ``text`` is its help."""
    return typer.Option(*names, help=text, rich_help_panel=panel)


def argument(metavar: str, text: str) -> Any:
    """An argument; ``text`` is its help."""
    return typer.Argument(metavar=metavar, help=text)


#: Stands for every task of the benchmark.
ALL: Final = "all"
#: The split if none is given.
SPLIT: Final = "test"
_MONEY: Final = "Money"

Json = Annotated[bool, flag("Write one JSON object a line to stdout.", "--json")]
RunDirectory = Annotated[Path, argument("RUN", "The directory of a run.")]
Legend = Annotated[bool, flag("Also say what each column means.", "--legend")]
Bundle = Annotated[
    Path | None,
    option("FILE", "Take recorded incidents from this bundle, not the shipped incidents."),
]
SealFile = Annotated[
    Path | None, option("FILE", f"The key of sealed incidents. Default: {SEAL_VARIABLE}.")
]
OfWorld = Annotated[
    str | None,
    option(
        "DIR",
        f"The world: a folder, a shipped name, or a name in {WORLDS_VARIABLE}. "
        "Ids may then leave it out. Default: what they begin with.",
        "--world",
    ),
]
SplitRoles = Annotated[
    str | None,
    option(
        "SPLIT",
        f"Let teams play, split into these roles: {', '.join(ROLE_SPLITS)}, or a JSON file, "
        "such as team.json of a trained team. Each policy is then a team: oracle, expert, "
        "observer, pooled, random, net:DIR, module:name, ROLE=POLICY,...; eval plays "
        "openai:MODEL, too.",
    ),
]


Episodes = Annotated[int, option("N", "How many incidents of each task to play.")]
Start = Annotated[int, option("N", "Number of the first incident.")]
Fresh = Annotated[bool, flag("Delete the run in --out and start again.", "--fresh")]
RetryUnscored = Annotated[bool, flag("Play unscored episodes again.", "--retry-unscored")]


@attrs.frozen
class Sources:
    """Where incidents come from: a bundle, a key, a world."""

    bundle: Bundle = None
    seal_file: SealFile = None
    of_world: OfWorld = None

    @property
    def seal(self) -> Seal | None:
        """The seal, as :func:`seal_in`."""
        return seal_in(self.seal_file)

    @property
    def world(self) -> World | None:
        """The world, as :func:`world_in`."""
        return world_in(self.of_world)

    @property
    def incidents(self) -> Incidents:
        """The incidents; raises as :meth:`Incidents.of`, ``read_seal`` and ``load_world``."""
        return Incidents.of(self.bundle, self.seal, self.world)


@attrs.frozen
class Choice:
    """Which incidents a run plays."""

    task: Annotated[
        list[str] | None,
        option(
            "TASK",
            "A task, all (the default: every task of the benchmark), recorded, "
            "recorded_models, or a task of shifts. May be repeated.",
            "--task",
        ),
    ] = None
    split: Annotated[
        str | None,
        option(
            "SPLIT",
            f"One of {', '.join(ALL_SPLITS)}; {SPLIT} if not given. Recorded incidents have none.",
            "--split",
        ),
    ] = None
    start: Annotated[int, option("N", "Number of the first incident.")] = 0
    kind: Annotated[
        list[str] | None,
        option(
            "KIND",
            "Take only incidents of this kind of fault or of benign trouble; world show lists "
            "the kinds. May be repeated.",
            "--kind",
        ),
    ] = None

    @property
    def shifts(self) -> list[str]:
        """The tasks of shifts; InvalidInput if there are others, too."""
        tasks = self.task or []
        shifts = list(filter(is_shift, tasks))
        if shifts and shifts != tasks:
            raise InvalidInput(f"--task {shifts[0]}: shifts and incidents take a run each")
        return shifts

    def spec(
        self, policies: list[str], episodes: int, roles: RoleSplit | None, sources: Sources
    ) -> tuple[RunSpec, Seal | None]:
        """The run that the options define, and the seal of its incidents.

        Raises:
            UnknownName, InvalidInput: as :class:`~logtriage.evaluation.RunSpec`, and for a split of
                recorded incidents.
            SealError, OSError: for sealed incidents without a key, and a file without one.
        """
        task, world, with_bundle = self.task, sources.world, sources.bundle is not None
        if task is None:
            task = [RECORDED_TASK if with_bundle else ALL]
        elif with_bundle and not any(name in RECORDED_TASKS for name in task):
            task = [*task, RECORDED_TASK]
        names = named_tasks(task, world)
        if self.split is not None and all(name in RECORDED_TASKS for name in names):
            raise InvalidInput(
                f"--split {self.split}: recorded incidents have no split; leave it out"
            )
        spec = RunSpec(
            policies,
            names,
            self.split or SPLIT,
            episodes,
            self.start,
            roles,
            world=world,
            kinds=self.kind or (),
        )
        return spec, seal_for(spec.split, sources.seal)


@attrs.frozen
class Work:
    """Who does the work."""

    jobs: Annotated[
        int | None,
        option("J", "How many processes to use; 1 if not given. With --ray local, workers."),
    ] = None
    ray: Annotated[
        str | None,
        option(
            "ADDRESS",
            "Let Ray do the work: local, or the address of a cluster, such as auto.",
            "--ray",
        ),
    ] = None

    @contextmanager
    def workers(self) -> Iterator[Workers]:
        """The workers; stops a Ray that it started itself at the end."""
        if self.ray is None:
            yield workers_of(1 if self.jobs is None else self.jobs)
            return
        from logtriage.adapters.ray import RayWorkers  # needs an extra

        with RayWorkers(self.ray, self.jobs) as workers:
            yield workers


@attrs.frozen
class Money:
    """What solving an incident saves, and what an episode costs."""

    value_of_incident: Annotated[
        float | None,
        option(
            "V",
            "What it saves to have an incident solved: also show what the agent is worth.",
            panel=_MONEY,
            min=0,
        ),
    ] = None
    cost_per_episode: Annotated[
        float | None,
        option(
            "C",
            "What an episode costs. Default: what the run keeps, as answer sheets do.",
            panel=_MONEY,
            min=0,
        ),
    ] = None
    price_per_million_tokens: Annotated[
        str | None,
        option("IN,OUT", "Or what a million tokens cost, of prompts and of replies.", panel=_MONEY),
    ] = None

    @property
    def prices(self) -> Prices | None:
        """The prices; None without the value of an incident, which costs need."""
        value, cost, tokens = attrs.astuple(self)
        if value is None:
            if cost is not None or tokens is not None:
                raise InvalidInput("--value-of-incident: missing; costs alone say no worth")
            return None
        if tokens is None:
            return Prices(value, cost)
        try:
            of_prompts, of_replies = map(float, tokens.split(","))
        except ValueError:
            expected = "expected two numbers, such as 1.25,10"
            raise InvalidInput(f"--price-per-million-tokens: {expected}, got {tokens!r}") from None
        return Prices(value, cost, (of_prompts, of_replies))


@attrs.frozen
class Shown:
    """How figures are shown."""

    legend: Legend = False
    as_json: Json = False
    luck_adjusted: bool = attrs.field(default=False, init=False)


@attrs.frozen
class ShownRun(Shown):
    """How the figures of runs are shown, which may have explained episodes."""

    luck_adjusted: Annotated[
        bool, flag("Also show mean grades less the luck of explained episodes.", "--luck-adjusted")
    ] = False


@attrs.frozen
class Page:
    """What a page has beside the episodes."""

    bases: Annotated[
        list[Path] | None,
        option(
            "RUN", "Show this run beside it, with the paired difference. May be repeated.", "--base"
        ),
    ] = None
    beliefs: Annotated[
        int | None,
        option(
            "N",
            "Work out the belief of at most N episodes of the page; 100 if not given. Takes "
            "0.1 seconds each, up to 1 in a fleet, 2 with several faults, 8 with both; a team up "
            "to four times that.",
            min=0,
        ),
    ] = None
    explain: Annotated[
        int | None,
        option(
            "N",
            "Explain at most N of the episodes with the lowest grades; 20 if not given. Takes "
            "0.2 seconds each, up to 3 in a fleet or with several faults.",
            min=0,
        ),
    ] = None


def refuse_for_shifts(**given: object) -> None:
    """Refuse options that shifts do not take; None and False stand for an option not given."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise InvalidInput(f"--{name.replace('_', '-')} is not for shifts")


def role_split(named: str | None) -> RoleSplit | None:
    """The built-in role split of this name, or the split in this JSON file; None for None."""
    if named is None:
        return None
    # A missing .json file is opened too, for an error that says it is missing.
    if named not in ROLE_SPLITS and (Path(named).is_file() or Path(named).suffix == ".json"):
        return load_role_split(named)
    return get_role_split(named)


def sources_in(names: Iterable[str]) -> list[Path | IO[bytes]]:
    """Files by their names; ``-`` is stdin."""
    return [sys.stdin.buffer if name == "-" else Path(name) for name in names]


def world_in(named: str | None) -> World | None:
    """The world of a folder or a name; None if none is given. Raises as ``load_world``."""
    return None if named is None else load_world(named)


def seal_in(path: Path | None) -> Seal | None:
    """The seal of a file; None if none is given. Raises as ``read_seal``."""
    return None if path is None else read_seal(path)


def named_tasks(names: Iterable[str], world: World | None) -> list[str]:
    """The tasks by name, with the benchmark's tasks of the world in place of :data:`ALL`."""
    stands_for = {ALL: DRAWN_TASKS if world is None else benchmark_of(world)}
    return [task for name in names for task in stands_for.get(name, (name,))]
