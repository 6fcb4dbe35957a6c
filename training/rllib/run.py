"""One run in a directory: what it is said to be, whether it may go on, what it came to."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from rich.console import Console

from logtriage.errors import InvalidInput
from training.common.files import machine, save_json
from training.common.settings import TRAIN_SPLIT
from training.rllib.directory import RUN, TRAINER, load_run
from training.rllib.settings import Settings

if TYPE_CHECKING:
    from training.rllib.store import Point

LIBRARIES = ("ray", "torch", "gymnasium", "numpy")


def begin(settings: Settings, out: Path, command: str, *, resume: bool) -> dict[str, Any]:
    """What ``run.json`` says at the start, or what it said before.

    Raises:
        InvalidInput: if there is a run already that is not to be resumed, or that has other
            settings.
    """
    if (out / RUN).exists():
        if not resume:
            raise InvalidInput(f"{out} holds a run already: give --resume, or another directory")
        about = load_run(out)
        asked = attrs.asdict(settings)
        other = {name: value for name, value in about["settings"].items() if asked[name] != value}
        if other:
            raise InvalidInput(f"{out} holds a run with other settings: {other}")
        return about
    return {
        "trainer": TRAINER,
        "command": command,
        "settings": attrs.asdict(settings),
        "train_split": TRAIN_SPLIT,
        "machine": machine(LIBRARIES),
        "load_before": os.getloadavg()[0],
        "finished": False,
    }


def run(settings: Settings, out: Path, about: dict[str, Any], console: Console) -> None:
    """Train as :func:`begin` has it, with Ray up already; tell of every round."""
    console.print(f"{out.name}: {settings.runners} env runners are made", soft_wrap=True)
    from training.rllib.learn import train  # loads RLlib, which takes a while

    save_json(out / RUN, about)

    def report(rounds: int, result: dict[str, Any], point: "Point | None") -> None:
        console.print(_line(settings, rounds, result, point), soft_wrap=True)

    points = train(settings, out, report)
    save_json(
        out / RUN,
        {
            **about,
            "finished": True,
            "load_after": os.getloadavg()[0],
            "seconds": points[-1].seconds,
            "steps": points[-1].steps,
            "before": attrs.asdict(points[0].val),
            "after": attrs.asdict(points[-1].val),
        },
    )
    console.print(f"{points[-1].steps:,} steps in {points[-1].seconds:.0f} s; see {out}")


def _line(settings: Settings, rounds: int, result: dict[str, Any], point: "Point | None") -> str:
    parts = [f"{settings.task} seed {settings.seed}: round {rounds:4} of {settings.rounds}"]
    grade = result.get("env_runners", {}).get("episode_return_mean")
    parts += [] if grade is None else [f"train {grade:.3f}"]
    if point is not None:
        val = point.val
        parts.append(
            f"val {val.grade:.3f}  solved {val.solved:.1%}  paged {val.paged:.1%}  "
            f"mis-paged {val.mis_paged:.1%}  {point.seconds:.0f} s"
        )
    return "  ".join(parts)
