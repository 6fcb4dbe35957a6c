"""What a run leaves on disk, written so that a crash at any time leaves whole files.

``checkpoint.pt`` (weights, tensors only), ``run.json`` (settings, machine, figures) and
``curve.csv`` are renewed at every evaluation.
"""

import csv
import io
import json
import os
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import attrs
import torch

from logtriage.vector import BatchedTriage
from training.ppo.evaluate import Result
from training.ppo.learn import Point
from training.ppo.networks import Agent, make_agent
from training.ppo.settings import Settings

CHECKPOINT: Final = "checkpoint.pt"
RUN: Final = "run.json"
CURVE: Final = "curve.csv"


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a neighbouring file, bring it to disk, and move it to ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def save_text(path: Path, text: str) -> None:
    """Save a text."""
    replace(path, lambda where: where.write_text(text, "utf-8"))


def save_agent(path: Path, agent: Agent) -> None:
    """Save the weights."""
    replace(path, lambda where: torch.save(agent.state(), where))


def load_agent(path: Path, settings: Settings) -> Agent:
    """The agent of a checkpoint; ``settings`` as in its ``run.json``."""
    batch = BatchedTriage(settings.task)
    agent = make_agent(batch.layout.size, batch.action_count, settings)
    agent.load(torch.load(path, weights_only=True))
    return agent


def save_curve(path: Path, points: Sequence[Point]) -> None:
    """Save the points of the curve, a row each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in attrs.fields(Result)]
    measured = ("train", "entropy", "kl")
    writer.writerow(["seconds", "steps", "episodes", *measured, *(f"test_{one}" for one in names)])
    for point in points:
        training = ["" if (one := getattr(point, name)) is None else f"{one:.4f}"
                    for name in measured]  # fmt: skip
        test = [f"{getattr(point.test, name):.6g}" for name in names]
        writer.writerow([f"{point.seconds:.1f}", point.steps, point.incidents, *training, *test])
    save_text(path, out.getvalue())


def load_curve(path: Path) -> list[dict[str, float | None]]:
    """The rows of :func:`save_curve`, by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {name: float(text) if text else None for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def save_json(path: Path, data: dict[str, Any]) -> None:
    """Save a JSON object, for people to read too."""
    save_text(path, json.dumps(data, indent=2) + "\n")


def load_settings(path: Path) -> Settings:
    """The settings of a ``run.json``."""
    return Settings(**json.loads(path.read_text("utf-8"))["settings"])


def machine() -> dict[str, str | int]:
    """What it runs on."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else -1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "torchrl", "tensordict", "numpy")},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
