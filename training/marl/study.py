"""Does talking pay? Teams that talk and teams that do not, with several seeds each.

    python -m training.marl.study runs/teams --to docs/results

Each run is a process with one thread. Finished runs are left alone, so the command goes on where
it was stopped. Options that it does not know, such as ``--rounds 20``, go to every run.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from logtriage.errors import LogTriageError
from logtriage.roles.splits import ROLE_SPLITS, SILENT
from training.common.splits import role_split_of
from training.common.tasks import sheet_of
from training.marl import store
from training.marl.writeup import write_up

#: The splits of the page, each with a team that talks and a silent team.
SPLITS: Final = ("by_channel", "north_south")


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train what is not trained yet, and write up what is there."""
    parser = argparse.ArgumentParser(prog="python -m training.marl.study", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("out", type=Path, help="directory for the runs")
    parser.add_argument(
        "--splits", nargs="+",
        default=[f"{split}{voice}" for split in SPLITS for voice in ("", SILENT)],
        help=f"of {', '.join(ROLE_SPLITS)}, or JSON files",
    )  # fmt: skip
    parser.add_argument("--task", default="single_crash-v3")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(5)))
    parser.add_argument("--only-write", action="store_true", help="train nothing")
    parser.add_argument("--to", type=Path, help="directory for the page, figure and tables")
    words, options = parser.parse_known_args(arguments)
    out: Path = words.out
    try:
        names = {split: role_split_of(split).name for split in words.splits}
        sheet_of(words.task)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    if not words.only_write:
        for seed in words.seeds:
            for split, name in names.items():
                train(out / f"{name}-{seed}", split, words.task, seed, options)
    if words.to is not None:
        write_up(out, words.to)


def train(out: Path, split: str, task: str, seed: int, options: list[str]) -> None:
    """Train one run in a process of its own, unless it is finished."""
    if (out / store.RUN).exists() and store.load_run(out)["finished"]:
        return
    command = [
        *(sys.executable, "-m", "training.marl", "--output-dir", str(out)),
        *("--split", split, "--task", task, "--seed", str(seed)),
        *options,
    ]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


if __name__ == "__main__":
    main()
