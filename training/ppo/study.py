"""Every run of the results: what is not there yet is trained, then all of it is written up.

    python -m training.ppo.study runs/ppo --to docs/results

Runs that are finished are left alone, so the command goes on where it was stopped. Each
takes a core and a few minutes (``--jobs 2`` for two at a time). Options that it does not
know, such as ``--rounds 20``, go to every run.
"""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import attrs

from training.ppo import store
from training.ppo.runs import Written, name_of
from training.ppo.settings import Settings
from training.ppo.writeup import write_up

#: The tasks, with the rounds of a run. A round is some 8,000 steps; where signs grow slowly and
#: incidents are long, a million steps leave the curve rising.
TASKS: Final = {"single_crash-v3": 120, "cascading_failure-v3": 120, "silent_degradation-v3": 240}
SEEDS: Final = (0, 1, 2)
#: Where inputs and curriculum are compared, each with the first seed, and shaping with all.
COMPARED: Final = "single_crash-v3"
#: Of the memory of an agent that sees one screen at a time.
UNITS: Final = 128


def plan() -> list[Settings]:
    """What is run, in the order in which it is wanted."""
    main = [
        Settings(task, seed=seed, rounds=rounds, minutes=60)
        for seed in SEEDS
        for task, rounds in TASKS.items()
    ]
    base = Settings(COMPARED, rounds=TASKS[COMPARED], minutes=60)
    others = [
        attrs.evolve(base, inputs="counts"),
        attrs.evolve(base, inputs="screen"),
        attrs.evolve(base, inputs="screen", memory=UNITS),
        attrs.evolve(base, fogs="0,1"),
    ]
    shaped = [attrs.evolve(base, seed=seed, shaping=True) for seed in SEEDS]
    return [*main, *others, *shaped]


def finished(out: Path) -> bool:
    """Whether a run in this directory came to its end."""
    path = out / store.RUN
    return path.exists() and bool(json.loads(path.read_text("utf-8"))["finished"])


def train(settings: Settings, out: Path, options: list[str]) -> int:
    """Train in a process of its own, unless that is done; its exit code."""
    where = out / name_of(settings)
    if finished(where):
        return 0
    words = ["--task", settings.task, "--seed", str(settings.seed), "--inputs", settings.inputs]
    words += ["--memory", str(settings.memory)]
    words += ["--rounds", str(settings.rounds), "--minutes", str(settings.minutes)]
    words += ["--fogs", settings.fogs, "--out", str(where), *options]
    words += ["--shaping"] if settings.shaping else []
    # One thread each: a second one in NumPy's or torch's pool would wait for a core.
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "training.ppo", *words]
    return subprocess.run(command, check=False, env={**os.environ, **threads}).returncode


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train what is missing, and write up what is there."""
    parser = argparse.ArgumentParser(prog="python -m training.ppo.study", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("out", type=Path, help="directory for the runs")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; default: 1")
    parser.add_argument("--only-write", action="store_true", help="train nothing")
    parser.add_argument("--to", type=Path, help="directory for the page, figure and tables")
    given, options = parser.parse_known_args(arguments)
    wanted = plan()
    if not given.only_write:
        with ThreadPoolExecutor(given.jobs) as pool:
            codes = list(pool.map(lambda one: train(one, given.out, options), wanted))
        failed = [name_of(one) for one, code in zip(wanted, codes, strict=True) if code]
        if failed:
            raise SystemExit(f"failed: {', '.join(failed)}")
    there = [one for one in wanted if finished(given.out / name_of(one))]
    if given.to is not None:
        missing = [name_of(one) for one in wanted if one not in there]
        write_up([Written.read(given.out / name_of(one)) for one in there], given.to, missing)


if __name__ == "__main__":
    main()
