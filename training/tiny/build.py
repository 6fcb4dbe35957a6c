"""From settings to a model directory."""

import tempfile
import time
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import TrainerCallback

from logtriage.errors import LogTriageError
from training.common.files import machine, save_json
from training.common.settings import TRAIN_SPLIT
from training.tiny.demonstrations import Conversation, demonstration, demonstration_ids
from training.tiny.model import build_model
from training.tiny.settings import ABOUT, SIZES, Settings
from training.tiny.tokenizer import build_tokenizer
from training.tiny.warm_start import labelled, warm_start

LIBRARIES: Final = ("torch", "transformers", "trl", "numpy")
#: Conversations that a tokenizer is trained on: more add no phrase.
READ: Final = 600


class Refused(LogTriageError):
    """A directory that cannot be used so."""


class _Bar(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Shows how far supervised learning got, and its loss."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("learning")

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        self._progress.update(self._task, completed=state.global_step, total=state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:  # noqa: ARG002
        if "said" in logs:
            told = f"learning, loss {float(logs['said']):.3f}"
            self._progress.update(self._task, description=told)


def build(settings: Settings, out: Path, command: str, console: Console | None = None) -> None:
    """Build tokenizer and model, start it warm, and leave both in ``out``.

    The directory appears when all is done, or not at all.

    Raises:
        Refused: if there is something in ``out`` already.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out} is there already, and not an empty directory: give another one")
    started = time.perf_counter()
    torch.set_num_threads(settings.threads)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True) if console is None else console,
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    with bar, tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        ids = demonstration_ids(settings.episodes)
        said: list[Conversation] = [
            demonstration(one, settings.slips, settings.shy, settings.seed)
            for one in bar.track(ids, description="demonstrations")
        ]
        tokenizer = build_tokenizer(said[:READ], settings.vocab)
        rows = labelled(tokenizer, said)
        model = build_model(tokenizer, SIZES[settings.size], settings.seed)
        made = Path(folder, "model")
        losses = warm_start(model, rows, settings, Path(folder, "trainer"), [_Bar(bar)])
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        about = {
            "command": command,
            "settings": attrs.asdict(settings),
            "split": TRAIN_SPLIT,
            "parameters": model.num_parameters(),
            "vocabulary": len(tokenizer),
            "tokens_per_demonstration": sum(map(len, rows["input_ids"])) / len(rows),
            "losses": losses,
            "seconds": time.perf_counter() - started,
            "machine": machine(LIBRARIES),
        }
        save_json(made / ABOUT, about)
        if out.exists():
            out.rmdir()
        made.replace(out)
