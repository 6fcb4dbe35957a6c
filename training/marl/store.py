"""The files of a run; a crash at any time leaves whole ones.

``checkpoint.pt`` (numbers and tensors only), ``curve.csv`` and ``curve.png`` are renewed at
every evaluation, and so are ``team.json`` and ``team.npz``, the policies as ``logtriage eval``
plays them (``net:DIR``). ``run.json`` has settings and machine from the beginning, figures
when the run ends; then come ``transcripts.jsonl``, which ``logtriage grade`` reads, and
``episodes.csv``, a row an incident.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from torch import nn

from logtriage.codec import encode_transcript, role_split_from_json, role_split_to_json
from logtriage.roles import RoleSplit
from logtriage.state import State
from logtriage.trained import files
from logtriage.transcript import transcript_of
from training.common.files import replace, save_json, save_text
from training.common.splits import role_split_of
from training.marl.evaluate import Result
from training.marl.learn import Point, Training
from training.marl.networks import TRUST, Pointing, Team, make_team
from training.marl.rollouts import make_batch
from training.marl.settings import Settings

CHECKPOINT: Final = "checkpoint.pt"
RUN: Final = "run.json"
CURVE: Final = "curve.csv"
PICTURE: Final = "curve.png"
TRANSCRIPTS: Final = "transcripts.jsonl"


def save_training(path: Path, training: Training) -> None:
    """Save all that the rest of a run depends on."""
    replace(path, lambda where: torch.save(training.saved(), where))


def load_training(path: Path, settings: Settings) -> Training:
    """A run taken up again; ``settings`` as in its ``run.json``."""
    training = Training(settings)
    training.restore(torch.load(path, weights_only=True))
    return training


def save_team(out: Path, team: Team, settings: Settings) -> None:
    """Save what :mod:`logtriage.trained` plays with: the policies alone, for any program."""
    arrays: dict[str, np.ndarray] = {}
    for place, policy in enumerate(team.policies):
        assert isinstance(policy, Pointing)
        layers = [one for one in policy.body.modules() if isinstance(one, nn.Linear)]
        for number, layer in enumerate(layers):
            arrays[f"{place}.{number}.weight"] = layer.weight.detach().numpy()
            arrays[f"{place}.{number}.bias"] = layer.bias.detach().numpy()
        for name in ("action", "column", "group"):
            arrays[f"{place}.{name}"] = policy.get_buffer(name).numpy()

    def write(where: Path) -> None:
        with where.open("wb") as file:  # of a path NumPy changes the ending
            np.savez(file, **arrays)

    replace(out / files.WEIGHTS, write)
    about = {
        "schema": files.SCHEMA,
        "task": settings.task,
        "split": role_split_to_json(settings.roles),
        "trust": TRUST,
        "activation": settings.activation,
    }
    save_json(out / files.TEAM, about)


def load_team(path: Path, settings: Settings) -> Team:
    """The networks of a checkpoint."""
    team = make_team(make_batch(settings), settings)
    team.modules().load_state_dict(torch.load(path, weights_only=True)["networks"])
    return team


def split_of(facts: Mapping[str, Any]) -> RoleSplit:
    """The role split of a run, as its ``run.json`` has it, or as it was called in older ones."""
    if "role_split" in facts:
        return role_split_from_json(facts["role_split"])
    return role_split_of(facts["settings"]["split"])


def load_run(out: Path) -> dict[str, Any]:
    """The contents of ``run.json``."""
    found: dict[str, Any] = json.loads((out / RUN).read_text("utf-8"))
    return found


def save_curve(path: Path, points: Sequence[Point], roles: Sequence[str]) -> None:
    """Save the points of the curve, a row each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in attrs.fields(Result)]
    writer.writerow(
        ["rounds", "seconds", "ticks", "episodes", "train", *(f"entropy_{one}" for one in roles),
         *(f"val_{one}" for one in names)]
    )  # fmt: skip
    for point in points:
        entropy = [None] * len(roles) if point.entropy is None else point.entropy
        training = ["" if one is None else f"{one:.4f}" for one in (point.train, *entropy)]
        val = [f"{getattr(point.val, name):.6g}" for name in names]
        counted = [point.rounds, f"{point.seconds:.1f}", point.ticks, point.incidents]
        writer.writerow([*counted, *training, *val])
    save_text(path, out.getvalue())


def load_curve(path: Path) -> list[dict[str, float | None]]:
    """The rows of :func:`save_curve`, by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {name: float(text) if text else None for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def save_picture(path: Path, points: Sequence[Point], title: str) -> None:
    """Draw the curve."""
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    ticks = [point.ticks for point in points]
    looks = [point.val for point in points]
    axes.plot(ticks, [one.grade for one in looks], color="#1b6ca8", label="grade, val, greedy")
    axes.fill_between(ticks, [one.low for one in looks], [one.high for one in looks],
                      color="#1b6ca8", alpha=0.2, linewidth=0)  # fmt: skip
    trained = [(point.ticks, point.train) for point in points if point.train is not None]
    if trained:
        axes.plot(*zip(*trained, strict=True), color="#777777", label="grade, train, sampled")
    axes.plot(ticks, [one.mis_paged for one in looks], color="#c8553d", label="mis-paged, val")
    axes.set(xlabel="ticks of a team", ylim=(0, 1.02), title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize="small")
    replace(path, lambda where: figure.savefig(where, format="png", dpi=110,
                                               metadata={"Software": None}))  # fmt: skip


def save_transcripts(
    path: Path, states: Iterable[State], agent: str, role_split: RoleSplit
) -> None:
    """Save a transcript a line."""
    transcripts = (transcript_of(state, agent=agent, role_split=role_split) for state in states)
    save_text(path, "".join(f"{encode_transcript(transcript)}\n" for transcript in transcripts))
