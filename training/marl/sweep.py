"""Train every split on every task with several seeds, in parallel, and write the results up.

    python -m training.marl.sweep runs/sweep --jobs 2 --to docs/results

Each run is a process of its own with one thread. Finished runs are kept and interrupted
ones are taken up again, so the same command goes on where it was stopped. Options that
it does not know, such as ``--rounds 40``, go to every run.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import attrs

from logtriage.errors import LogTriageError
from logtriage.role_splits import ROLE_SPLITS
from logtriage.tasks import DRAWN_TASKS, TASKS
from training.common.splits import role_split_of
from training.marl import store
from training.marl.runs import Written
from training.marl.writeup import write_up


@attrs.frozen
class Cell:
    """A run of the sweep."""

    split: str
    task: str
    seed: int
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        """The directory of the run."""
        return "-".join([role_split_of(self.split).name, self.task, f"seed{self.seed}"])


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train what is not trained yet, and write up."""
    parser = argparse.ArgumentParser(prog="python -m training.marl.sweep", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("out", type=Path, help="directory for the runs")
    parser.add_argument(
        "--splits", nargs="+", default=["trio", "trio_without_reports"],
        help=f"of {', '.join(ROLE_SPLITS)}, or JSON files",
    )  # fmt: skip
    # The others have many topologies, or several faults at once.
    tasks = [one.id for one in TASKS if one.setting and one.topology and not one.several]
    parser.add_argument("--tasks", nargs="+", choices=tasks,
                        default=[one for one in tasks if one in DRAWN_TASKS])  # fmt: skip
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time; default: 2")
    parser.add_argument("--to", type=Path, help="directory for the page, figure and tables")
    given, options = parser.parse_known_args(arguments)
    try:
        for split in given.splits:
            role_split_of(split)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    # Seed by seed, so that an unfinished sweep already compares all splits.
    cells = [
        Cell(split, task, seed, tuple(options))
        for seed, task, split in product(given.seeds, given.tasks, given.splits)
    ]
    with ThreadPoolExecutor(given.jobs) as pool:
        failed = [cell.name for cell, code in zip(cells, pool.map(
            lambda cell: train(cell, given.out), cells), strict=True) if code]  # fmt: skip
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}; see run.log there")
    if given.to is not None:
        write_up([Written.read(given.out / cell.name) for cell in cells], given.to)


def train(cell: Cell, out: Path) -> int:
    """Train one run in a process of its own; its exit status. What it says is in ``run.log``."""
    where = out / cell.name
    if (where / store.RUN).exists() and store.load_run(where)["finished"]:
        return 0
    where.mkdir(parents=True, exist_ok=True)
    command = [
        *(sys.executable, "-m", "training.marl", "--resume", "--output-dir", str(where)),
        *("--split", cell.split, "--task", cell.task, "--seed", str(cell.seed)),
        *cell.options,
    ]
    with (where / "run.log").open("a") as log:
        return subprocess.run(
            command,
            stdout=log,
            stderr=log,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        ).returncode


if __name__ == "__main__":
    main()
