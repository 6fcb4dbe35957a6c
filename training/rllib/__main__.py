"""Train by PPO of RLlib on one task, and leave checkpoint, weights and curve in a directory."""

import argparse
import shlex
import sys
from pathlib import Path

from rich.console import Console

from logtriage.errors import LogTriageError
from training.common.options import add_options
from training.common.worlds import add_world, task_in
from training.rllib.run import begin, run
from training.rllib.settings import Settings
from training.rllib.start import add_ray_options, started


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train, and leave everything in the output directory."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.rllib", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="directory for this run")
    parser.add_argument(
        "--resume", action="store_true", help="continue the existing run, if there is one"
    )
    add_ray_options(parser)
    add_world(parser)
    add_options(parser, Settings)
    options = vars(parser.parse_args(given))
    out: Path = options.pop("out")
    resume, address = options.pop("resume"), options.pop("address")
    command = "python -m training.rllib " + shlex.join(one for one in given if one != "--resume")
    console = Console(stderr=True)
    try:
        options["task"] = task_in(options.pop("world"), options["task"])
        settings = Settings(**options)
        about = begin(settings, out, command, resume=resume)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    if about["finished"]:
        console.print(f"{out}: this run is finished", soft_wrap=True)
        return
    with started(address, 1 + settings.runners, console):
        run(settings, out, about, console)


if __name__ == "__main__":
    main()
