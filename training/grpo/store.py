"""The directory of a run: what it is, how far it got, and what may go on in it."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from training.common.directory import Refused, check_empty
from training.common.files import machine, save_json
from training.common.settings import EVAL_SPLIT, TRAIN_SPLIT
from training.grpo.record import STEPS, read_steps
from training.grpo.settings import Settings

RUN: Final = "run.json"
#: The held-out episodes of its evaluations.
BEFORE: Final = "before.jsonl"
AFTER: Final = "after.jsonl"
LIBRARIES: Final = ("torch", "transformers", "trl", "peft", "numpy")
#: What the trainer writes last, and what a checkpoint needs to be gone on with.
_LAST: Final = "trainer_state.json"
#: Settings that change nothing in a run.
_UPLOAD: Final = ("push_to_hub", "hub_model_id")


def begin(
    settings: Settings, out: Path, command: str, *, resume: bool, write: bool = True
) -> dict[str, Any]:
    """The contents of ``run.json`` at the start, or those of the run to resume.

    A run may be taken up with more steps than it was begun with, if the learning rate does
    not depend on their number; evaluated on more incidents; and uploaded though that was not
    asked for before.

    Raises:
        Refused: if there is something else in the directory, or a run that is not to be
            resumed, or that has other settings.
    """
    about = {
        "command": command,
        "settings": attrs.asdict(settings),
        "train_split": TRAIN_SPLIT,
        "test_split": EVAL_SPLIT,
        "machine": machine(LIBRARIES),
        "load_before": os.getloadavg()[0],
        "finished": False,
    }
    before = check(settings, out, resume=resume)
    if before is not None:
        # One that goes on for more steps ends as if all had been asked for at once.
        about = before if before["finished"] else {**before, "command": command}
    if write:
        if before is not None and _grows("eval_episodes", load_run(out)["settings"], settings):
            (out / BEFORE).unlink(missing_ok=True)  # of too few incidents
        save_json(out / RUN, about)
    return about


def check(settings: Settings, out: Path, *, resume: bool) -> dict[str, Any] | None:
    """The contents of ``run.json`` of a run to resume; None for a fresh run.

    It loads nothing, so that a directory is refused before anything else is done.

    Raises:
        Refused: as :func:`begin`.
    """
    path = out / RUN
    if not path.exists():
        check_empty(out)
        return None
    if not resume:
        raise Refused(f"{out} holds a run already: give --resume, or another directory")
    before = load_run(out)
    was, asked = before["settings"], attrs.asdict(settings)
    other = {
        name: value
        for name, value in was.items()
        if asked.get(name) != value and name not in _UPLOAD
    }
    more = ["eval_episodes"] + (["max_steps"] if settings.lr_schedule == "constant" else [])
    grown = [name for name in more if _grows(name, was, settings)]
    for name in grown:
        del other[name]
    if other:
        raise Refused(f"{out} holds a run with other settings: {other}")
    return {**before, "settings": asked, "finished": False} if grown else before


def _grows(name: str, was: Mapping[str, Any], settings: Settings) -> bool:
    """Whether a number is larger than it was in a run."""
    return bool(getattr(settings, name) > was[name])


def load_run(out: Path) -> dict[str, Any]:
    """The contents of ``run.json``."""
    about: dict[str, Any] = json.loads((out / RUN).read_text("utf-8"))
    return about


def finish(out: Path, about: dict[str, Any], metrics: dict[str, float]) -> None:
    """Note the end of a run, with where its time went."""
    steps = read_steps(out / STEPS)
    seconds = {
        name: sum(getattr(step, name) for step in steps)
        for name in ("seconds", "generation", "env", "update")
    }
    save_json(
        out / RUN,
        {
            **about,
            "finished": True,
            "load_after": os.getloadavg()[0],
            "steps": len(steps),
            "step_seconds": seconds,
            "env_share": seconds["env"] / seconds["seconds"],
            "trainer": metrics,
        },
    )


def last_checkpoint(out: Path, *, clean: bool = False) -> Path | None:
    """The last whole checkpoint of a run; ``clean`` removes what a crash left half done."""
    whole = None
    for path in sorted(out.glob("checkpoint-*"), key=step_of):
        if _is_whole(path):
            whole = path
        elif clean:
            shutil.rmtree(path)
    return whole


def step_of(checkpoint: Path | None) -> int:
    """The step after which a checkpoint was made; 0 without one."""
    return 0 if checkpoint is None else int(checkpoint.name.removeprefix("checkpoint-"))


def _is_whole(path: Path) -> bool:
    try:
        json.loads((path / _LAST).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return True
