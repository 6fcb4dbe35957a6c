"""Train a role split on one task, and leave checkpoint, curve and figures in a directory."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

import attrs
from rich.console import Console

from logtriage.errors import LogTriageError
from training.common.files import save_json
from training.common.options import add_options
from training.common.worlds import add_world, task_in
from training.marl import record, store
from training.marl.learn import Training
from training.marl.settings import Settings


class Refused(Exception):
    """A directory that cannot be used so."""


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train, and leave everything in the output directory."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.marl", description=__doc__)
    parser.add_argument("--output-dir", type=Path, required=True, help="directory for this run")
    parser.add_argument(
        "--resume", action="store_true", help="continue the existing run, if there is one"
    )
    add_world(parser)
    add_options(parser, Settings)
    options = vars(parser.parse_args(given))
    out: Path = options.pop("output_dir")
    resume: bool = options.pop("resume")
    command = "python -m training.marl " + shlex.join(one for one in given if one != "--resume")
    try:
        options["task"] = task_in(options.pop("world"), options["task"])
        run(Settings(**options), out, command, resume=resume)
    except (LogTriageError, Refused) as wrong:
        parser.error(str(wrong))


def run(settings: Settings, out: Path, command: str, *, resume: bool = False) -> None:
    """Train and write the files of :mod:`training.marl.store` into ``out``.

    Raises:
        Refused: if there is a run already that is not to be resumed, or that has other
            settings.
    """
    console = Console(stderr=True)
    about = _begin(settings, out, command, resume=resume)
    if about["finished"]:
        console.print(f"{out}: this run is finished", soft_wrap=True)
        return
    checkpoint = out / store.CHECKPOINT
    training = (
        store.load_training(checkpoint, settings) if checkpoint.exists() else Training(settings)
    )
    save_json(out / store.RUN, about)
    title = f"{settings.split}, {settings.task}, seed {settings.seed}"
    roles = training.collector.batch.split.names

    first = training.rounds + 1

    def report(training: Training) -> None:
        store.save_training(checkpoint, training)
        store.save_team(out, training.team, settings)
        store.save_curve(out / store.CURVE, training.points, roles)
        store.save_picture(out / store.PICTURE, training.points, title)
        point = training.points[-1]
        going = first <= training.rounds < settings.rounds
        left = f"  about {_spoken(training.seconds_left)} left" if going else ""
        console.print(
            f"{point.seconds:6.0f} s {point.ticks:10,} ticks  net {point.val.net_value:+.3f}"
            f"  grade {point.val.grade:.3f}  solved {point.val.solved:6.1%}"
            f"  mis-paged {point.val.mis_paged:5.1%}"
            f"  ticks {point.val.ticks:4.1f}{left}",
            soft_wrap=True,
        )

    def expect(training: Training) -> None:
        if training.rounds == first:
            console.print(
                f"round {first} of {settings.rounds}: about {_spoken(training.seconds_left)} left",
                soft_wrap=True,
            )

    console.print(
        f"{settings.rounds} rounds of {settings.batch:,} ticks, after a first evaluation",
        soft_wrap=True,
    )
    training.run(report, expect)
    record.end(
        out,
        about,
        settings,
        training.team,
        training.points,
        lambda: (training.seconds, training.cpu_seconds),
    )
    ticks = training.points[-1].ticks
    console.print(f"{ticks:,} ticks in {training.seconds:.0f} s; see {out}", soft_wrap=True)


def _spoken(seconds: float) -> str:
    """A time in words, in seconds or minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _begin(settings: Settings, out: Path, command: str, *, resume: bool) -> dict[str, Any]:
    """The contents of ``run.json`` at the start, or those of the run to resume."""
    if (out / store.RUN).exists():
        if not resume:
            raise Refused(f"{out} holds a run already: give --resume, or another directory")
        about = store.load_run(out)
        asked = attrs.asdict(settings)
        other = {name: value for name, value in about["settings"].items() if asked[name] != value}
        if other:
            raise Refused(f"{out} holds a run with other settings: {other}")
        if store.split_of(about) != settings.roles:
            raise Refused(f"{out} holds a run of another split than {settings.split} now says")
        return about
    return record.begun(settings, command)


if __name__ == "__main__":
    main()
