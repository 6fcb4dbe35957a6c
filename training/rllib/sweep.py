"""Train tasks by seeds, each as a trial of Ray Tune; finished runs are left alone.

    python -m training.rllib.sweep runs/sweep --tasks single_crash-v3 --seeds 0 1 2

Each trial is a run of ``training.rllib`` in a directory of its own, and goes on from its last
checkpoint if the sweep is started again. Options that it does not know go to every run. On a
cluster the directory must lie on storage that all machines share.
"""

import argparse
import csv
import io
import shlex
import sys
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from logtriage.errors import LogTriageError
from logtriage.tasks import DRAWN_TASKS, get_task
from training.common.files import save_text
from training.common.options import add_options
from training.common.tasks import file_name
from training.rllib.directory import load_run
from training.rllib.run import begin, run
from training.rllib.settings import Settings
from training.rllib.start import add_ray_options, started

TABLE = "sweep.csv"


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train what is missing, and write the table."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m training.rllib.sweep", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("out", type=Path, help="directory for the runs")
    tasks = [task for task in DRAWN_TASKS if get_task(task).topology]
    parser.add_argument("--tasks", nargs="+", default=tasks)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--at-once", type=int, help="trials at a time; default: all that fit")
    add_ray_options(parser)
    known, rest = parser.parse_known_args(given)
    others = argparse.ArgumentParser(prog=parser.prog)
    add_options(others, Settings, only_given=True)
    options = vars(others.parse_args(rest))
    out: Path = known.out.absolute()
    command = "python -m training.rllib.sweep " + shlex.join(given)
    console = Console(stderr=True)
    try:
        runs = {
            f"{file_name(task)}-seed{seed}": Settings(**{**options, "task": task, "seed": seed})
            for task, seed in product(known.tasks, known.seeds)
        }
        begun = {name: begin(one, out / name, command, resume=True) for name, one in runs.items()}
    except LogTriageError as wrong:
        parser.error(str(wrong))
    missing = [name for name in runs if not begun[name]["finished"]]
    if missing:
        each = 1 + runs[missing[0]].runners
        with started(known.address, each, console):
            failed = _fit({name: (runs[name], begun[name]) for name in missing}, out, each,
                          known.at_once)  # fmt: skip
        if failed:
            raise SystemExit(f"failed: {', '.join(failed)}; start the sweep again to go on")
    save_text(out / TABLE, _table(out, list(runs)))
    console.print(f"{len(runs)} runs; see {out / TABLE}", soft_wrap=True)


def _fit(
    missing: dict[str, tuple[Settings, dict[str, Any]]], out: Path, each: int, at_once: int | None
) -> list[str]:
    """Let Tune run these trials, with ``each`` cores a trial; the names of those that failed."""
    from ray import tune

    def trial(config: dict[str, str]) -> None:
        name = config["run"]
        settings, about = missing[name]
        run(settings, out / name, about, Console(stderr=True))
        tune.report({"grade": load_run(out / name)["after"]["grade"]})

    cores = tune.PlacementGroupFactory([{"CPU": 1.0}] * each)
    found = tune.Tuner(
        tune.with_resources(trial, cores),
        param_space={"run": tune.grid_search(list(missing))},
        tune_config=tune.TuneConfig(max_concurrent_trials=at_once),
        run_config=tune.RunConfig(name="tune", storage_path=str(out)),
    ).fit()
    return [one.config["run"] for one in found if one.error is not None]


def _table(out: Path, names: list[str]) -> str:
    """A row for every run: what it reached on split ``val``, before and after."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "task", "seed", "steps", "seconds", "grade_before", "grade_after"])
    for name in names:
        about = load_run(out / name)
        played = [about["settings"][one] for one in ("task", "seed")]
        row = [name, *played, about["steps"], f"{about['seconds']:.0f}"]
        writer.writerow([*row, *(f"{about[one]['grade']:.4f}" for one in ("before", "after"))])
    return text.getvalue()


if __name__ == "__main__":
    main()
