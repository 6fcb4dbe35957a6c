"""The files of a run; a crash at any time leaves whole ones.

``curve.csv`` is renewed at every evaluation, and so are ``team.json`` and ``team.npz``, the
policies as ``logtriage eval`` plays them (``net:DIR``). ``run.json`` has settings and machine
from the beginning, figures when the run ends; then come ``transcripts.jsonl``, which
``logtriage grade`` reads, and ``episodes.csv``, a row an incident.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
from torch import nn

from logtriage.codec import encode_transcript, role_split_from_json, role_split_to_json
from logtriage.roles import RoleSplit
from logtriage.state import State
from logtriage.trained import files
from logtriage.transcript import transcript_of
from training.common.files import replace, save_json, save_text
from training.marl.evaluate import Result
from training.marl.learn import Point
from training.marl.networks import TRUST, Pointing, Team
from training.marl.settings import Settings

RUN: Final = "run.json"
CURVE: Final = "curve.csv"
TRANSCRIPTS: Final = "transcripts.jsonl"


def save_team(out: Path, team: Team, settings: Settings) -> None:
    """Save what :mod:`logtriage.trained` plays with: the policies alone, for any program."""
    arrays: dict[str, np.ndarray] = {}
    for place, policy in enumerate(team.policies):
        assert isinstance(policy, Pointing)
        layers = [module for module in policy.body.modules() if isinstance(module, nn.Linear)]
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


def split_of(facts: Mapping[str, Any]) -> RoleSplit:
    """The role split of a run, as its ``run.json`` has it."""
    return role_split_from_json(facts["role_split"])


def load_run(out: Path) -> dict[str, Any]:
    """The contents of ``run.json``."""
    about: dict[str, Any] = json.loads((out / RUN).read_text("utf-8"))
    return about


def save_curve(path: Path, points: Sequence[Point], roles: Sequence[str]) -> None:
    """Save the points of the curve, a row each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in attrs.fields(Result)]
    writer.writerow(
        ["rounds", "seconds", "ticks", "episodes", "train", *(f"entropy_{role}" for role in roles),
         *(f"val_{name}" for name in names)]
    )  # fmt: skip
    for point in points:
        entropy = [None] * len(roles) if point.entropy is None else point.entropy
        training = ["" if value is None else f"{value:.4f}" for value in (point.train, *entropy)]
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


def save_transcripts(
    path: Path, states: Iterable[State], agent: str, role_split: RoleSplit
) -> None:
    """Save a transcript a line."""
    transcripts = (transcript_of(state, agent=agent, role_split=role_split) for state in states)
    save_text(path, "".join(f"{encode_transcript(transcript)}\n" for transcript in transcripts))
