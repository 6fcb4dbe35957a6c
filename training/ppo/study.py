"""Inference or decision? Arms that differ in what the agent is given, with several seeds each.

    python -m training.ppo.study runs/ppo --tasks single_crash-v3 --to docs/results

Runs that are finished are left alone, so the command goes on where it was stopped. Options
that it does not know, such as ``--rounds 20``, go to every run.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from training.ppo import predictor, store
from training.ppo.writeup import PREDICTOR, write_up

#: Tasks in the order of the page; the runs of each have a directory of its name.
TASKS: Final = ("single_crash-v3", "cascading_failure-v3", "silent_degradation-v3")
#: What an agent is given, by arm, as options of ``training.ppo``.
ARMS: Final[dict[str, dict[str, Any]]] = {
    "belief": {"inputs": "belief"},
    "predicted": {"inputs": "predicted"},
    "counts": {"inputs": "counts"},
    "counts-auxiliary": {"inputs": "counts", "auxiliary": 0.1},
    "screen-gru": {"inputs": "screen", "memory": 96},
}


def finished(out: Path) -> bool:
    """Whether a run in this directory came to its end."""
    path = out / store.RUN
    return path.exists() and bool(json.loads(path.read_text("utf-8"))["finished"])


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, train what is missing, and write up what is there."""
    parser = argparse.ArgumentParser(prog="python -m training.ppo.study", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("out", type=Path, help="directory for the runs")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS, metavar="TASK")
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=ARMS, metavar="ARM")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(5)))
    parser.add_argument("--only-write", action="store_true", help="train nothing")
    parser.add_argument("--to", type=Path, help="directory for the page, figure and tables")
    words, options = parser.parse_known_args(arguments)
    out: Path = words.out
    if not words.only_write:
        for task in words.tasks:
            for seed in words.seeds:
                for arm in words.arms:
                    _train(out / task, task, arm, seed, options)
    if words.to is not None:
        write_up(out, TASKS, list(ARMS), words.to)


def _train(out: Path, task: str, arm: str, seed: int, options: Sequence[str]) -> None:
    """Train one arm; the first that needs it trains the predictor, on the agent of seed 0."""
    where = out / f"{arm}-{seed}"
    if finished(where):
        return
    words = {"task": task, "seed": seed, "out": where, **ARMS[arm]}
    if arm == "predicted":
        if not (out / PREDICTOR / predictor.ABOUT).exists():
            agent = str(out / "belief-0")
            _run("training.ppo.predictor", ["--agent", agent, "--output-dir", str(out / PREDICTOR)])
        words["predictor"] = out / PREDICTOR
    flags = [text for name, value in words.items() for text in (f"--{name}", str(value))]
    _run("training.ppo", [*flags, *options])


def _run(module: str, options: Sequence[str]) -> None:
    # One thread: a second in NumPy's or torch's pool would wait for a core.
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", module, *options]
    subprocess.run(command, check=True, env={**os.environ, **threads})


if __name__ == "__main__":
    main()
