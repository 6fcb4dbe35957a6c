"""Supervised learning of what the teacher noted and did."""

from pathlib import Path
from typing import Any, Final

import torch
from datasets import Dataset
from torch import Tensor
from transformers import (
    PrinterCallback,
    Qwen2ForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)

from training.tiny.reading import read_loss
from training.tiny.rows import IGNORED, seen
from training.tiny.settings import Settings

WARM_UP: Final = 0.05
#: Of the course of the loss.
POINTS: Final = 40


class ReadingTrainer(Trainer):  # type: ignore[misc, unused-ignore]
    """A trainer of one row (:mod:`training.tiny.rows`) at a time, without padding."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._rows = self.args.gradient_accumulation_steps
        self._said: list[float] = []

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Tensor],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | None = None,
    ) -> Any:
        """The weighed cross-entropy, in nats a token that was said in this step."""
        shown: dict[str, Tensor] = {}
        if inputs["branches"].any():
            shown["position_ids"] = inputs["positions"]
            shown["attention_mask"] = seen(inputs["positions"][0], inputs["branches"][0])[
                None, None
            ]
        output = model(input_ids=inputs["input_ids"], output_hidden_states=True, **shown)
        said = inputs["labels"][0, 1:] != IGNORED
        losses = torch.nn.functional.cross_entropy(
            output.logits[0, :-1], inputs["input_ids"][0, 1:], reduction="none"
        )
        self._said.append(float(losses.detach()[said].mean()))
        count = said.sum() if num_items_in_batch is None else num_items_in_batch
        loss = (losses * inputs["weights"][0, 1:]).sum() / count
        loss = loss + read_loss(model, output.hidden_states[1], inputs["read"]) / self._rows
        return (loss, output) if return_outputs else loss

    def log(self, logs: dict[str, float], *arguments: Any, **named: Any) -> None:
        """Log ``said``, the mean loss of what was said, too."""
        if self._said:
            logs["said"] = sum(self._said) / len(self._said)
            self._said.clear()
        super().log(logs, *arguments, **named)


def warm_start(
    model: Qwen2ForCausalLM,
    rows: Dataset,
    settings: Settings,
    folder: Path,
    callbacks: list[TrainerCallback],
) -> list[float]:
    """Train ``model`` in place; the loss of what was said, in nats a token, in the course of it.

    ``folder`` is the trainer's own; nothing is kept there.
    """
    steps = -(-len(rows) // settings.batch) * settings.epochs
    trainer = ReadingTrainer(
        model=model,
        args=TrainingArguments(
            output_dir=str(folder),
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=1,
            gradient_accumulation_steps=settings.batch,
            remove_unused_columns=False,
            learning_rate=settings.lr,
            lr_scheduler_type="cosine",
            warmup_steps=WARM_UP,
            seed=settings.seed,
            use_cpu=True,
            logging_steps=max(1, steps // POINTS),
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=rows,
        data_collator=default_data_collator,
        callbacks=callbacks,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return [one["said"] for one in trainer.state.log_history if "said" in one]
