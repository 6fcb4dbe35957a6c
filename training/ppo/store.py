"""The files of a run; a crash at any time leaves whole ones.

``checkpoint.pt`` (weights, tensors only), ``run.json`` (settings, machine, figures) and
``curve.csv`` are renewed at every evaluation.
"""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs
import torch

from training.common.files import replace, save_text
from training.ppo.evaluate import Result
from training.ppo.learn import Point
from training.ppo.networks import Agent, make_agent
from training.ppo.settings import Settings

CHECKPOINT: Final = "checkpoint.pt"
RUN: Final = "run.json"
CURVE: Final = "curve.csv"


def save_agent(path: Path, agent: Agent) -> None:
    """Save the weights."""
    replace(path, lambda where: torch.save(agent.state(), where))


def load_agent(path: Path, settings: Settings) -> Agent:
    """The agent of a checkpoint; ``settings`` as in its ``run.json``."""
    agent = make_agent(settings)
    agent.load(torch.load(path, weights_only=True))
    return agent


def save_curve(path: Path, points: Sequence[Point]) -> None:
    """Save the points of the curve, a row each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in attrs.fields(Result)]
    measured = ("train", "entropy", "kl")
    writer.writerow(
        ["seconds", "cpu", "steps", "episodes", *measured, *(f"val_{name}" for name in names)]
    )
    for point in points:
        training = ["" if (value := getattr(point, name)) is None else f"{value:.4f}"
                    for name in measured]  # fmt: skip
        val = [f"{getattr(point.val, name):.6g}" for name in names]
        spent = f"{point.seconds:.1f}", f"{point.cpu:.1f}"
        writer.writerow([*spent, point.steps, point.incidents, *training, *val])
    save_text(path, out.getvalue())


def load_curve(path: Path) -> list[dict[str, float | None]]:
    """The rows of :func:`save_curve`, by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {name: float(text) if text else None for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def load_settings(path: Path) -> Settings:
    """The settings of a ``run.json``."""
    return Settings(**json.loads(path.read_text("utf-8"))["settings"])
