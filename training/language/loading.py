"""Models and tokenizers from a directory or the hub, as they were meant to be loaded.

Code that comes with a model is never run (``trust_remote_code`` stays off).
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.tokenization_auto import get_tokenizer_config

from logtriage.errors import InvalidInput, MissingExtra
from training.language.places import base_of, check_place, is_adapter

#: Classes of tokenizers that are wholly described by their ``tokenizer.json``. Beside a
#: configuration of a known family, AutoTokenizer would make one of that family of it, with
#: that family's way to split text.
PLAIN: Final = ("PreTrainedTokenizerFast", "TokenizersBackend")
DTYPES: Final = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def load_tokenizer(path: str) -> PreTrainedTokenizerBase:
    """The tokenizer of a model, or of a LoRA adapter or of its base; it pads on the left.

    Raises:
        InvalidInput: if there is none, or it has no chat template.
    """
    place = path
    if is_adapter(path) and not (Path(path) / "tokenizer_config.json").exists():
        place = base_of(path)
    check_place(place)
    try:
        named = get_tokenizer_config(place).get("tokenizer_class")
        kind: Any = PreTrainedTokenizerFast if named in PLAIN else AutoTokenizer
        tokenizer: PreTrainedTokenizerBase = kind.from_pretrained(place, padding_side="left")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"model {path!r}: no tokenizer can be loaded: {error}") from None
    if not tokenizer.chat_template:
        raise InvalidInput(f"model {path!r}: its tokenizer has no chat template")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(
    path: str,
    *,
    dtype: torch.dtype | str | None = None,
    load_in_4bit: bool = False,
    device: torch.device | str | None = None,
    trainable: bool = False,
) -> PreTrainedModel:
    """A causal language model in evaluation mode, or a LoRA adapter on its base.

    Args:
        path: a directory, or a name on the hub; of a model or of a LoRA adapter.
        dtype: of the weights, or of the arithmetic if they are quantised; by default
            float32 on a CPU, bfloat16 on a GPU that has it, float16 on others.
        load_in_4bit: quantise the weights on loading: nf4, with quantised constants.
        device: where to; by default the first GPU, else the CPU.
        trainable: whether a LoRA adapter can be trained on.

    Raises:
        InvalidInput: if there is no such model, or its weights cannot be read.
        MissingExtra: if bitsandbytes or peft are needed and missing.
    """
    device = torch.device(default_device() if device is None else device)
    dtype = resolved_dtype(dtype, device)
    place = base_of(path) if is_adapter(path) else path
    check_place(place)
    arguments: dict[str, Any] = {"dtype": dtype}
    if load_in_4bit:
        _need("bitsandbytes", "loading in 4 bits")
        # A quantised model cannot be moved afterwards, so that it is loaded into its place.
        arguments |= {"quantization_config": nf4(dtype), "device_map": {"": device}}
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(place, **arguments)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"model {place!r} cannot be loaded: {error}") from None
    if is_adapter(path):
        _need("peft", "a LoRA adapter")
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, path, is_trainable=trainable)
    if not load_in_4bit:
        model = model.to(device)
    return model.eval()


def nf4(dtype: torch.dtype) -> BitsAndBytesConfig:
    """4 bits a weight in normal floats, the constants of blocks quantised as well (QLoRA)."""
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )


def default_device() -> str:
    """The first GPU if there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def resolved_dtype(dtype: torch.dtype | str | None, device: torch.device) -> torch.dtype:
    """A dtype by its name, or what suits the device.

    Raises:
        InvalidInput: for an unknown name.
    """
    if isinstance(dtype, torch.dtype):
        return dtype
    if dtype is not None:
        if dtype not in DTYPES:
            raise InvalidInput(f"dtype {dtype!r}: expected one of {', '.join(DTYPES)}")
        return DTYPES[dtype]
    if device.type != "cuda":
        return torch.float32
    # Older GPUs only emulate bfloat16, slowly; the first with it have capability 8.
    return torch.bfloat16 if torch.cuda.get_device_capability(device)[0] >= 8 else torch.float16


def _need(module: str, feature: str) -> None:
    if find_spec(module) is None:
        raise MissingExtra(feature, "train")
