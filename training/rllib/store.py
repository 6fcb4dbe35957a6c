"""Weights and curve of a run: ``agent.pt`` and ``curve.csv``."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import attrs
import torch

from training.common.files import replace, save_text
from training.ppo.evaluate import Result
from training.rllib.networks import Agent, make_agent
from training.rllib.settings import Settings


@attrs.frozen
class Point:
    """A point of the curve: after so many ``rounds``, ``seconds`` of wall time and ``steps``.

    ``train`` is the mean grade of the incidents that ended in the last round, ``val`` the
    figures of the evaluation.
    """

    rounds: int
    seconds: float
    steps: int
    train: float | None
    entropy: float | None
    val: Result


def save_agent(path: Path, agent: Agent) -> None:
    """Save the weights."""
    weights = agent.networks.state_dict()
    replace(path, lambda where: torch.save(weights, where))


def load_agent(path: Path, settings: Settings) -> Agent:
    """The agent of a run; ``settings`` as in its ``run.json``. Needs no Ray."""
    agent = make_agent(settings)
    agent.networks.load_state_dict(torch.load(path, weights_only=True))
    return agent


def save_curve(path: Path, points: Sequence[Point]) -> None:
    """Save the points of the curve, a row each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in attrs.fields(Result)]
    writer.writerow(
        ["rounds", "seconds", "steps", "train", "entropy", *(f"val_{one}" for one in names)]
    )
    for point in points:
        measured = ["" if one is None else f"{one:.4f}" for one in (point.train, point.entropy)]
        val = [f"{getattr(point.val, name):.6g}" for name in names]
        writer.writerow([point.rounds, f"{point.seconds:.1f}", point.steps, *measured, *val])
    save_text(path, out.getvalue())


def load_curve(path: Path) -> list[Point]:
    """The points of :func:`save_curve`; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [_point(row) for row in csv.DictReader(file)]


def _point(row: dict[str, str]) -> Point:
    val = {name.removeprefix("val_"): one for name, one in row.items() if name.startswith("val_")}
    figures = {name: float(one) for name, one in val.items() if name != "incidents"}
    return Point(
        int(row["rounds"]),
        float(row["seconds"]),
        int(row["steps"]),
        float(row["train"]) if row["train"] else None,
        float(row["entropy"]) if row["entropy"] else None,
        Result(incidents=int(val["incidents"]), **figures),
    )
