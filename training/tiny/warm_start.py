"""Supervised learning of what the noisy expert said."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import torch
from datasets import Dataset
from torch import Tensor
from transformers import (
    PreTrainedTokenizerFast,
    PrinterCallback,
    Qwen2ForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)

from training.tiny.demonstrations import Conversation
from training.tiny.settings import Settings

#: What the loss leaves out: all that the assistant did not say.
IGNORED: Final = -100
WARM_UP: Final = 0.05


def labelled(tokenizer: PreTrainedTokenizerFast, conversations: Iterable[Conversation]) -> Dataset:
    """Rows ``input_ids`` and ``labels``; only what the assistant said is learnt.

    Tokenised here, since a table of conversations would give every call the arguments of
    all the others.
    """
    rows = []
    for one in conversations:
        read = tokenizer.apply_chat_template(
            one, return_assistant_tokens_mask=True, return_dict=True
        )
        labels = [
            token if said else IGNORED
            for token, said in zip(read["input_ids"], read["assistant_masks"], strict=True)
        ]
        rows.append({"input_ids": read["input_ids"], "labels": labels})
    return Dataset.from_list(rows)


class AnswersTrainer(Trainer):  # type: ignore[misc, unused-ignore]
    """A trainer of one row at a time that computes logits only where there is a label.

    Nine of ten tokens are screens: their logits would be half of the work, and padding
    most of the rest.
    """

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Tensor],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | None = None,
    ) -> Any:
        """The cross-entropy, in nats, over the tokens of the whole step."""
        (labels,) = inputs["labels"]
        places = torch.nonzero(labels != IGNORED).squeeze(1)
        output = model(input_ids=inputs["input_ids"], logits_to_keep=places - 1)
        loss = torch.nn.functional.cross_entropy(output.logits[0], labels[places], reduction="sum")
        loss = loss / (len(places) if num_items_in_batch is None else num_items_in_batch)
        return (loss, output) if return_outputs else loss


def warm_start(
    model: Qwen2ForCausalLM,
    rows: Dataset,
    settings: Settings,
    folder: Path,
    callbacks: list[TrainerCallback],
) -> float:
    """Train ``model`` in place; returns the mean loss of the run, in nats a token.

    ``folder`` is the trainer's own; nothing is kept there.
    """
    trainer = AnswersTrainer(
        model=model,
        args=TrainingArguments(
            output_dir=str(folder),
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=1,
            gradient_accumulation_steps=settings.batch,
            learning_rate=settings.lr,
            lr_scheduler_type="cosine",
            warmup_steps=WARM_UP,
            seed=settings.seed,
            use_cpu=True,
            logging_steps=10,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=rows,
        data_collator=default_data_collator,
        callbacks=callbacks,
    )
    trainer.remove_callback(PrinterCallback)
    return float(trainer.train().training_loss)
