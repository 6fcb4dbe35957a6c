"""The directory of a run, written so that a crash at any time leaves whole files.

``checkpoints/00020`` (RLlib's own, after 20 rounds; only the last is kept), ``agent.pt``
(weights, tensors only), ``run.json`` (settings, machine, figures) and ``curve.csv``.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

AGENT: Final = "agent.pt"
RUN: Final = "run.json"
CURVE: Final = "curve.csv"
CHECKPOINTS: Final = "checkpoints"
#: What ``run.json`` says of who trained.
TRAINER: Final = "rllib"


def save_checkpoint(out: Path, rounds: int, save: Callable[[str], object]) -> None:
    """Let ``save`` fill a directory, move it to its place, and drop those before it."""
    at = out.absolute() / CHECKPOINTS / f"{rounds:05d}"
    unfinished = at.with_name(f"{at.name}.{os.getpid()}.tmp")
    save(str(unfinished))
    unfinished.replace(at)
    for other in at.parent.iterdir():
        if other != at:
            shutil.rmtree(other)


def last_checkpoint(out: Path) -> tuple[int, Path] | None:
    """How many rounds the last whole checkpoint of a run holds, and where it is."""
    found = [one for one in (out.absolute() / CHECKPOINTS).glob("*") if one.name.isdigit()]
    last = max(found, default=None)
    return None if last is None else (int(last.name), last)


def load_run(out: Path) -> dict[str, Any]:
    """What ``run.json`` says."""
    found: dict[str, Any] = json.loads((out / RUN).read_text("utf-8"))
    return found
