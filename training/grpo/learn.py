"""A run: load, review, train, save, review."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from rich.console import Console
from transformers import PrinterCallback, TrainerCallback

from training.grpo import figures, review, store
from training.grpo.configuration import arithmetic, device_of, grpo_config, lora_config
from training.grpo.progress import Monitor
from training.grpo.record import Recorder
from training.grpo.rows import training_rows
from training.grpo.settings import Settings
from training.grpo.trainer import TriageTrainer
from training.language.loading import is_adapter, load_model, load_tokenizer


def processes() -> int:
    """How many processes ``accelerate launch`` or ``torchrun`` started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main() -> bool:
    """Whether this process is the first of them."""
    return int(os.environ.get("RANK", "0")) == 0


def load(settings: Settings) -> tuple[Any, Any]:
    """Model and tokenizer. All weights that are trained are float32, unless in LoRA.

    Raises:
        InvalidInput, MissingExtra, MissingLibrary: if they cannot be loaded.
    """
    tokenizer = load_tokenizer(settings.model)
    if settings.use_unsloth:
        from training.grpo.unsloth import load_by_unsloth

        return load_by_unsloth(settings), tokenizer
    full = settings.lora_r == 0 and not is_adapter(settings.model)
    model = load_model(
        settings.model,
        dtype=torch.float32 if full else arithmetic(settings),
        load_in_4bit=settings.load_in_4bit,
        device=device_of(settings),
        trainable=True,
    )
    return model, tokenizer


def make_trainer(
    settings: Settings, out: Path, model: Any, tokenizer: Any, monitor: Monitor | None
) -> TriageTrainer:
    """The trainer of a run."""
    trained_already = settings.use_unsloth or is_adapter(settings.model)
    trainer = TriageTrainer(
        settings,
        (lambda _: None) if monitor is None else monitor.played,
        model=model,
        args=grpo_config(settings, out, processes()),
        train_dataset=Dataset.from_list(training_rows(settings)),
        processing_class=tokenizer,
        peft_config=None if trained_already else lora_config(settings),
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
        Refused: if there is a run already that is not to be resumed, or that has other
            settings.
        InvalidInput: if the model cannot be used.
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
    model, tokenizer = load(settings)
    if is_main():
        review.before(model, tokenizer, settings, out)
    checkpoint = store.last_checkpoint(out, clean=is_main())
    monitor = None
    if is_main():
        recorder = Recorder(out, store.step_of(checkpoint))
        monitor = Monitor(recorder, settings.group, console)
    trainer = make_trainer(settings, out, model, tokenizer, monitor)
    for one in callbacks:
        trainer.add_callback(one)
    try:
        done = trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    finally:
        if monitor is not None:
            monitor.close()
    trainer.save_model(str(out))
    if is_main():
        figures.draw(out)
        review.after(trainer.accelerator.unwrap_model(trainer.model), tokenizer, settings, out)
        store.finish(out, about, done.metrics)
    trainer.accelerator.wait_for_everyone()
    console.print(f"{settings.max_steps} steps; see {out}", soft_wrap=True)
    _push(settings, out)


def _push(settings: Settings, out: Path) -> None:
    if settings.push_to_hub and is_main():
        review.push(settings, out)
