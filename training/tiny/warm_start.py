"""Supervised learning of what the teacher noted and did."""

from collections.abc import Iterable, Sequence
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
from training.tiny.drills import Drill
from training.tiny.notes import SUSPECT
from training.tiny.reading import read_loss, readings
from training.tiny.settings import Settings
from training.tiny.tokenizer import CALL

#: What the loss leaves out: all that the assistant did not say.
IGNORED: Final = -100
WARM_UP: Final = 0.05
#: Of the course of the loss.
POINTS: Final = 40


def labelled(
    tokenizer: PreTrainedTokenizerFast,
    conversations: Iterable[Conversation],
    drills: Iterable[Drill] = (),
) -> Dataset:
    """Rows ``input_ids``, ``labels`` and ``read``, of conversations and of drills.

    Only what the assistant said is learnt, and of drills the answers. Tokenised here, since a
    table of conversations would give every call the arguments of all the others.
    """
    rows = []
    for one in conversations:
        row = tokenizer.apply_chat_template(
            one, return_assistant_tokens_mask=True, return_dict=True
        )
        ids, said = row["input_ids"], row["assistant_masks"]
        learnt = _as_taught(tokenizer, one, ids, said)
        rows.append(_row(ids, learnt, readings(tokenizer, ids, said)))
    rows += [_row(one.ids, one.asked, one.read) for one in drills]
    return Dataset.from_list(rows)


def _as_taught(
    tokenizer: PreTrainedTokenizerFast,
    conversation: Conversation,
    ids: Sequence[int],
    said: Sequence[int],
) -> list[int]:
    """The same mask without what the teacher would not have said: that counts as a screen."""
    (suspect,) = tokenizer.encode(f" {SUSPECT}")
    (call,) = tokenizer.encode(CALL)
    starts = {None: None, "suspect": suspect, "call": call}
    left_out = iter(
        [starts[one.get("unlearnt")] for one in conversation if one["role"] == "assistant"]
    )
    learnt, start, silent = list(said), None, False
    for place, token in enumerate(ids):
        if said[place] and not (place and said[place - 1]):
            start, silent = next(left_out), False
        silent = silent or token == start
        if silent:
            learnt[place] = 0
    return learnt


def _row(ids: list[int], learnt: Sequence[int], read: list[int]) -> dict[str, list[int]]:
    labels = [token if one else IGNORED for token, one in zip(ids, learnt, strict=True)]
    return {"input_ids": ids, "labels": labels, "read": read}


class ReadingTrainer(Trainer):  # type: ignore[misc, unused-ignore]
    """A trainer of one row at a time, without padding, that weighs what is read and said.

    What the assistant said counts whole, screens by ``weight``. A model that foretells
    screens, which repeat names and lines, learns to copy; answers alone, one token in
    fifteen, teach it that slowly.
    """

    def __init__(self, weight: float, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._weight = weight
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
        output = model(input_ids=inputs["input_ids"], output_hidden_states=True)
        said = inputs["labels"][0, 1:] != IGNORED
        losses = torch.nn.functional.cross_entropy(
            output.logits[0, :-1], inputs["input_ids"][0, 1:], reduction="none"
        )
        self._said.append(float(losses.detach()[said].mean()))
        count = said.sum() if num_items_in_batch is None else num_items_in_batch
        loss = (losses * torch.where(said, 1.0, self._weight)).sum() / count
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
        settings.screens,
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
