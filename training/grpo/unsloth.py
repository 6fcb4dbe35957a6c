"""Models loaded by Unsloth, which is no dependency: it needs an NVIDIA GPU."""

from typing import Any

from logtriage.errors import InvalidInput, LogTriageError
from training.grpo.settings import Settings


class MissingLibrary(LogTriageError, ImportError):
    """A library that no extra brings is not installed."""


def load_by_unsloth(settings: Settings) -> Any:
    """The model with LoRA on all projections, patched by Unsloth.

    Raises:
        MissingLibrary: if Unsloth is not installed.
        InvalidInput: if the settings train all weights.
    """
    if settings.lora_r == 0:
        raise InvalidInput("use_unsloth: needs lora_r above 0")
    try:
        from unsloth import FastLanguageModel
    except ModuleNotFoundError as error:
        if error.name != "unsloth":
            raise
        raise MissingLibrary(
            "use_unsloth needs Unsloth, and an NVIDIA GPU: pip install unsloth"
        ) from None
    model, _ = FastLanguageModel.from_pretrained(
        settings.model,
        max_seq_length=settings.completion_tokens + 4096,
        load_in_4bit=settings.load_in_4bit,
    )
    return FastLanguageModel.get_peft_model(
        model,
        r=settings.lora_r,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=[f"{name}_proj" for name in ("q", "k", "v", "o", "gate", "up", "down")],
        random_state=settings.seed,
    )
