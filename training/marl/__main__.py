"""Train a role split on one task, and leave checkpoint, curve and figures in a directory."""

import argparse
import shlex
import sys
from pathlib import Path

from rich.console import Console

from logtriage.errors import LogTriageError
from training.common.directory import Refused
from training.common.files import save_json
from training.common.options import add_options
from training.common.worlds import add_world, task_in
from training.marl import record, store
from training.marl.learn import Training
from training.marl.settings import Settings


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train, and leave everything in the output directory."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.marl", description=__doc__)
    parser.add_argument("--output-dir", type=Path, required=True, help="directory for this run")
    add_world(parser)
    add_options(parser, Settings)
    options = vars(parser.parse_args(words))
    out: Path = options.pop("output_dir")
    command = "python -m training.marl " + shlex.join(words)
    try:
        options["task"] = task_in(options.pop("world"), options["task"])
        run(Settings(**options), out, command)
    except LogTriageError as wrong:
        parser.error(str(wrong))


def run(settings: Settings, out: Path, command: str) -> None:
    """Train and write the files of :mod:`training.marl.store` into ``out``.

    What a run left there that did not come to its end is written over.

    Raises:
        Refused: if there is a finished run.
    """
    if (out / store.RUN).exists() and store.load_run(out)["finished"]:
        raise Refused(f"{out} holds a finished run: give another directory")
    console = Console(stderr=True)
    about = record.begun(settings, command)
    training = Training(settings)
    save_json(out / store.RUN, about)
    roles = training.collector.batch.split.names

    def report(training: Training) -> None:
        store.save_team(out, training.team, settings)
        store.save_curve(out / store.CURVE, training.points, roles)
        point = training.points[-1]
        console.print(
            f"{point.seconds:6.0f} s {point.ticks:10,} ticks  net {point.val.net_value:+.3f}"
            f"  grade {point.val.grade:.3f}  solved {point.val.solved:6.1%}"
            f"  mis-paged {point.val.mis_paged:5.1%}"
            f"  ticks {point.val.ticks:4.1f}",
            soft_wrap=True,
        )

    console.print(
        f"{settings.rounds} rounds of {settings.batch:,} ticks, after a first evaluation",
        soft_wrap=True,
    )
    training.run(report)
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


if __name__ == "__main__":
    main()
