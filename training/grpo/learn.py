"""A run: load, review, train, save, review."""

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from rich.console import Console
from transformers import PrinterCallback, TrainerCallback

from logtriage.errors import InvalidInput
from logtriage.grading import rubric_named
from logtriage.rendering import check_style
from training.evaluate.phases import Phases
from training.grpo import figures, review, store
from training.grpo.configuration import arithmetic, device_of, grpo_config, lora_config
from training.grpo.played import Shares
from training.grpo.progress import Monitor
from training.grpo.record import EPISODES, Recorder, read_episodes
from training.grpo.rows import Rows, longest, numbers
from training.grpo.settings import Settings
from training.grpo.stages import Curriculum
from training.grpo.start import with_model
from training.grpo.trainer import TriageTrainer
from training.language.loading import load_model, load_tokenizer
from training.language.places import is_adapter
from training.language.sources import Source
from training.tiny.words import style_of


def processes() -> int:
    """The number of processes that ``accelerate launch`` or ``torchrun`` started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main() -> bool:
    """Whether this process is the first of them."""
    return int(os.environ.get("RANK", "0")) == 0


def load(settings: Settings) -> tuple[Any, Any]:
    """Model and tokenizer. All weights that are trained are float32, unless in LoRA.

    Raises:
        InvalidInput, MissingExtra, MissingLibrary: if they cannot be loaded.
    """
    if settings.train == "embeddings" and is_adapter(settings.model):
        raise InvalidInput(f"train: needs a whole model, {settings.model} is a LoRA adapter")
    tokenizer = load_tokenizer(settings.model)
    full = settings.lora_r == 0 and not is_adapter(settings.model)
    model = load_model(
        settings.model,
        dtype=torch.float32 if full else arithmetic(settings),
        load_in_4bit=settings.load_in_4bit,
        device=device_of(settings),
        trainable=True,
    )
    if settings.train == "embeddings":
        model.requires_grad_(False)
        for module in (model.get_input_embeddings(), model.get_output_embeddings()):
            module.requires_grad_(True)
    return model, tokenizer


def curriculum_of(settings: Settings, out: Path, done: int) -> Curriculum:
    """The curriculum of a run after so many steps, from the episodes that it left."""
    curriculum = Curriculum(
        len(settings.stages),
        precision=settings.stage_precision,
        pages=settings.stage_pages,
        window=settings.stage_window,
    )
    played = [episode for episode in read_episodes(out / EPISODES) if episode.step <= done]
    for _, members in groupby(played, key=lambda episode: episode.step):
        curriculum.note(Shares.of(list(members), settings.group))
    return curriculum


def make_trainer(
    settings: Settings,
    out: Path,
    model: Any,
    tokenizer: Any,
    monitor: Monitor | None,
    curriculum: Curriculum | None = None,
) -> TriageTrainer:
    """The trainer of a run."""
    source, style = Source(), check_style(style_of(tokenizer))
    if style == "notation" and settings.vllm != "off":
        raise InvalidInput("a model of notation: leave out vllm")
    curriculum = curriculum or curriculum_of(settings, out, 0)
    rows = Dataset.from_list(numbers(settings))
    trainer = TriageTrainer(
        settings,
        resolve=source,
        rubric=rubric_named(settings.rubric) if settings.rubric else None,
        curriculum=curriculum,
        on_step=(lambda _: None) if monitor is None else monitor.played,
        model=model,
        args=grpo_config(settings, out, processes(), longest(settings, source)),
        train_dataset=rows.with_transform(Rows(settings, source, curriculum.stage, style)),
        processing_class=tokenizer,
        peft_config=None if is_adapter(settings.model) else lora_config(settings),
        callbacks=[] if monitor is None else [monitor],
    )
    trainer.remove_callback(PrinterCallback)
    if monitor is not None:
        monitor.times = trainer.times
    if arithmetic(settings) != torch.bfloat16:
        # TRL makes the adapters of a quantised model bfloat16, which float16's gradient
        # scaler cannot handle, and which loses digits for nothing on a CPU.
        for weight in trainer.model.parameters():
            if weight.requires_grad:
                weight.data = weight.data.float()
    return trainer


def run(
    settings: Settings,
    out: Path,
    command: str,
    *,
    resume: bool = False,
    callbacks: Sequence[TrainerCallback] = (),
) -> None:
    """Train, and leave the files of :mod:`training.grpo.store` in ``out``.

    Raises:
        Refused: if there is something else in the directory, or a run that is not to be
            resumed, or that has other settings.
        InvalidInput: if the model cannot be used.
        NothingToLearn: if step after step all attempts are rewarded alike.
        NotUploaded: if the hub does not take the model; the run is whole then.
    """
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    console = Console(stderr=True, quiet=not is_main())
    about = store.begin(settings, out, command, resume=resume, write=is_main())
    if about["finished"]:
        console.print(f"{out}: this run is finished", soft_wrap=True)
        _push(settings, out)
        return
    settings = with_model(settings, out, console)
    phases = Phases(console)
    phases.begin(f"loading {settings.model}")
    model, tokenizer = load(settings)
    if is_main():
        review.before(model, tokenizer, settings, out, phases)
    phases.begin("setting up the trainer")
    checkpoint = store.last_checkpoint(out, clean=is_main())
    done_before = store.step_of(checkpoint)
    curriculum = curriculum_of(settings, out, done_before)
    monitor = None
    if is_main():
        recorder = Recorder(out, done_before)
        monitor = Monitor(recorder, settings.group, console, curriculum, settings.iterations)
    trainer = make_trainer(settings, out, model, tokenizer, monitor, curriculum)
    for callback in callbacks:
        trainer.add_callback(callback)
    phases.end()
    try:
        done = trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    finally:
        if monitor is not None:
            monitor.close()
    phases.begin("saving model and curves")
    trainer.save_model(str(out))
    if is_main():
        figures.draw(out)
        trained = trainer.accelerator.unwrap_model(trainer.model)
        review.after(trained, tokenizer, settings, out, phases)
        # A run that was only to be evaluated further has learnt nothing that could be told.
        trained = done_before < settings.max_steps
        store.finish(out, about, done.metrics if trained else about.get("trainer", done.metrics))
    phases.end()
    trainer.accelerator.wait_for_everyone()
    console.print(f"{settings.max_steps} steps; see {out}", soft_wrap=True)
    _push(settings, out)


def _push(settings: Settings, out: Path) -> None:
    if settings.push_to_hub and is_main():
        review.push(settings, out)
