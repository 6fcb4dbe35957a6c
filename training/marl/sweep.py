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
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from pathlib import Path

import attrs
from rich.console import Console

from logtriage.errors import LogTriageError
from logtriage.roles.splits import ROLE_SPLITS
from logtriage.tasks import DRAWN_TASKS, TASKS
from training.common.splits import role_split_of
from training.common.tasks import file_name, sheet_of
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
        return "-".join([role_split_of(self.split).name, file_name(self.task), f"seed{self.seed}"])


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
    parser.add_argument("--tasks", nargs="+", metavar="TASK",
                        help=f"of {', '.join(tasks)}, or module:name of a task sheet of yours",
                        default=[one for one in tasks if one in DRAWN_TASKS])  # fmt: skip
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time; default: 2")
    parser.add_argument("--to", type=Path, help="directory for the page, figure and tables")
    given, options = parser.parse_known_args(arguments)
    try:
        for split in given.splits:
            role_split_of(split)
        for task in given.tasks:
            sheet_of(task)
    except LogTriageError as wrong:
        parser.error(str(wrong))
    # Seed by seed, so that an unfinished sweep already compares all splits.
    cells = [
        Cell(split, task, seed, tuple(options))
        for seed, task, split in product(given.seeds, given.tasks, given.splits)
    ]
    failed = _train_all(cells, given.out, given.jobs)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}; see run.log there")
    if given.to is not None:
        write_up([Written.read(given.out / cell.name) for cell in cells], given.to)


def _train_all(cells: Sequence[Cell], out: Path, jobs: int) -> list[str]:
    """Train what is not trained yet, and say how far it is; the names of those that failed."""
    console, begun = Console(stderr=True), time.perf_counter()
    todo = [cell for cell in cells if not _finished(out / cell.name)]
    console.print(
        f"{len(cells)} runs, {len(cells) - len(todo)} of them finished before; "
        f"what a run says, with the time that it takes, is in {out}/*/run.log",
        soft_wrap=True,
    )
    failed = []
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(train, cell, out): cell for cell in todo}
        for done, future in enumerate(as_completed(running), 1):
            cell = running[future]
            if future.result():
                failed.append(cell.name)
                said = "failed"
            else:
                said = f"grade {store.load_run(out / cell.name)['after']['grade']:.3f}"
            left = (time.perf_counter() - begun) / done * (len(todo) - done)
            after = f"  about {left / 60:.0f} min left" if done < len(todo) else ""
            console.print(f"{done} of {len(todo)}  {cell.name}  {said}{after}", soft_wrap=True)
    return failed


def _finished(where: Path) -> bool:
    return (where / store.RUN).exists() and bool(store.load_run(where)["finished"])


def train(cell: Cell, out: Path) -> int:
    """Train one run in a process of its own; its exit status. What it says is in ``run.log``."""
    where = out / cell.name
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
