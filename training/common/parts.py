"""Runs the parts of a study: each is a process with a directory and a log."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from training.common.files import RUN, load_json

#: The exit code of a recipe in which all attempts earn the same, step after step: a result.
NOTHING = 3


def is_finished(out: Path) -> bool:
    """Whether the run in a directory has come to its end."""
    about = out / RUN
    return about.exists() and bool(load_json(about)["finished"])


def run_parts(
    out: Path, commands: Mapping[str, Sequence[str]], at_once: int, console: Console
) -> None:
    """Run the recipes that are not finished yet, at most ``at_once`` at the same time.

    ``commands`` are a module and its options by the name of the part, which is its directory in
    ``out``. ``out/NAME.log`` keeps what a part prints.

    Raises:
        SystemExit: if a part fails, with the end of its log.
    """
    out.mkdir(parents=True, exist_ok=True)
    waiting = [name for name in commands if not is_finished(out / name)]
    running: dict[str, subprocess.Popen[bytes]] = {}
    while waiting or running:
        while waiting and len(running) < at_once:
            name = waiting.pop(0)
            command = [sys.executable, "-m", *commands[name], "--out", str(out / name)]
            told = f"{name}, then {len(waiting)} more: {' '.join(command[1:])}"
            console.print(told, soft_wrap=True, markup=False, highlight=False)
            with (out / f"{name}.log").open("ab") as log:
                running[name] = subprocess.Popen(command, stdout=log, stderr=log)
        name, process = next(iter(running.items()))
        process.wait()
        del running[name]
        if process.returncode not in (0, NOTHING) or not (out / name / RUN).exists():
            for other in running.values():
                other.terminate()
            tail = (out / f"{name}.log").read_text("utf-8", "replace")[-2000:]
            raise SystemExit(f"{name} failed ({process.returncode}):\n{tail}")
