"""From settings to a model directory."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from datasets import Dataset
from rich.console import Console
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM, TrainerCallback

from training.common.directory import check_empty
from training.common.files import machine, save_json
from training.common.settings import TRAIN_SPLIT
from training.evaluate.phases import Phases
from training.language.loading import load_model, load_tokenizer
from training.language.places import check_there
from training.language.sources import Source
from training.tiny.demonstrations import Conversation, demonstration, demonstration_ids
from training.tiny.drills import drilled, rehearsed
from training.tiny.model import build_model
from training.tiny.own_play import own_episodes
from training.tiny.rows import rows_of
from training.tiny.settings import ABOUT, SIZES, Settings
from training.tiny.tokenizer import build_tokenizer
from training.tiny.warm_start import warm_start

LIBRARIES: Final = ("torch", "transformers", "trl", "numpy")
#: Conversations that a tokenizer is trained on: more add no phrase.
READ: Final = 600


class _Shown(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Shows how far supervised learning got, and its loss."""

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        self._loss = ""

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        self._phases.begin("warm start", state.max_steps)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        self._phases.advance(state.global_step, self._loss)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:  # noqa: ARG002
        if "said" in logs:
            self._loss = f"loss {float(logs['said']):.3f}"


def build(settings: Settings, out: Path, command: str, console: Console | None = None) -> None:
    """Build tokenizer and model, start it warm, and leave both in ``out``.

    The directory appears when all is done, or not at all.

    Raises:
        Refused: if there is something in ``out`` already.
        InvalidInput: if there is no model to start from.
    """
    check_empty(out)
    if settings.start:
        check_there(settings.start)
    started = time.perf_counter()
    torch.set_num_threads(settings.threads)
    phases = Phases(Console(stderr=True) if console is None else console)
    out.parent.mkdir(parents=True, exist_ok=True)
    source = Source()
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        ids = demonstration_ids(settings.episodes, settings.tasks, source, settings.skip)
        phases.begin("demonstrations", len(ids))
        said: list[Conversation] = []
        for one in ids:
            said.append(demonstration(source(one), settings))
            phases.advance(len(said))
        phases.begin("tokenizer")
        if settings.start:
            tokenizer = load_tokenizer(settings.start)
            model = load_model(settings.start, dtype=torch.float32, device="cpu", trainable=True)
        else:
            tokenizer = build_tokenizer(said[:READ], settings.vocab)
            model = build_model(tokenizer, SIZES[settings.size], settings.seed)
        own = demonstration_ids(settings.own_play, settings.tasks, source, settings.skip)
        right = drilled(model, tokenizer, source, ids or own, settings, phases)
        made, losses, tokens = Path(folder, "model"), [], []
        for rows in _rounds(model, tokenizer, source, said, ids, settings, phases):
            tokens += map(len, rows["input_ids"])
            losses += warm_start(model, rows, settings, Path(folder, "trainer"), [_Shown(phases)])
        phases.end()
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        about = {
            "command": command,
            "settings": attrs.asdict(settings),
            "split": TRAIN_SPLIT,
            "parameters": model.num_parameters(),
            "vocabulary": len(tokenizer),
            "tokens_per_row": sum(tokens) / len(tokens),
            "drills_right": right,
            "losses": losses,
            "seconds": time.perf_counter() - started,
            "machine": machine(LIBRARIES),
        }
        save_json(made / ABOUT, about)
        if out.exists():
            out.rmdir()
        made.replace(out)


def _rounds(
    model: Qwen2ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    source: Source,
    said: list[Conversation],
    ids: list[str],
    settings: Settings,
    phases: Phases,
) -> Iterator[Dataset]:
    """The rows of the demonstrations, then of each round of own play.

    A round is played by the model as it is when the round begins.
    """
    if said:
        drills = rehearsed(tokenizer, source, ids, settings)
        yield rows_of(tokenizer, settings.screens, said, drills)
    told = settings.skip + settings.episodes
    for number in range(settings.rounds):
        ids = demonstration_ids(
            settings.own_play, settings.tasks, source, told + number * settings.own_play
        )
        played = own_episodes(model, tokenizer, source, ids, settings, phases)
        drills = rehearsed(tokenizer, source, ids, settings)
        yield rows_of(tokenizer, settings.screens, drills=drills, played=played)
