"""Supervised learning of what the noisy expert said, by TRL's ``SFTTrainer``."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from datasets import Dataset
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM, TrainerCallback
from trl import SFTConfig, SFTTrainer

from training.tiny.demonstrations import Conversation
from training.tiny.settings import Settings

#: What the loss leaves out: all that the assistant did not say.
IGNORED: Final = -100
WARM_UP: Final = 0.05


def labelled(
    tokenizer: PreTrainedTokenizerFast, conversations: Iterable[Conversation]
) -> Dataset:
    """Rows ``input_ids``, ``labels`` and ``length``; only what the assistant said is learnt.

    Tokenised here, since a table of conversations would give every call the arguments of
    all the others.
    """
    rows = []
    for one in conversations:
        read = tokenizer.apply_chat_template(one, return_assistant_tokens_mask=True, return_dict=True)
        ids = read["input_ids"]
        labels = [
            token if said else IGNORED
            for token, said in zip(ids, read["assistant_masks"], strict=True)
        ]
        rows.append({"input_ids": ids, "labels": labels, "length": len(ids)})
    return Dataset.from_list(rows)


def warm_start(
    model: Qwen2ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    rows: Dataset,
    settings: Settings,
    folder: Path,
    callbacks: list[TrainerCallback],
) -> float:
    """Train ``model`` in place; returns the mean loss of the run, in nats a token.

    ``folder`` is the trainer's own; nothing is kept there.
    """
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(
            output_dir=str(folder),
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=1,
            gradient_accumulation_steps=settings.batch,
            learning_rate=settings.lr,
            lr_scheduler_type="cosine",
            warmup_steps=WARM_UP,
            train_sampling_strategy="group_by_length",
            max_length=None,
            seed=settings.seed,
            gradient_checkpointing=False,
            bf16=False,
            use_cpu=True,
            logging_steps=10,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=rows,
        processing_class=tokenizer,
        callbacks=callbacks,
    )
    return float(trainer.train().training_loss)
