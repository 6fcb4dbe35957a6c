"""A loaded model as a player of a run: ``hf:DIR``."""

import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from safetensors import SafetensorError
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.tokenization_auto import get_tokenizer_config
from transformers.utils.logging import disable_progress_bar

from logtriage.adapters.local.chat import Chat, use_our_template
from logtriage.adapters.local.play import Decoding, play
from logtriage.errors import InvalidInput, MissingExtra
from logtriage.evaluation.usage import Usage
from logtriage.incident import Incident
from logtriage.transcript import Transcript

#: Tokenizer classes that ``tokenizer.json`` describes in full. If the model's configuration is of
#: a known family, AutoTokenizer would load that family's tokenizer instead.
PLAIN: Final = ("PreTrainedTokenizerFast", "TokenizersBackend")
DTYPES: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
ADAPTER: Final = "adapter_config.json"
_ADAPTED: Final = "adapter_model.safetensors"
#: What loading raises for files that are missing, torn, or of another model.
_UNREADABLE: Final = (OSError, ValueError, RuntimeError, SafetensorError)
#: Choices of a chat template: the model's own, or ours with tools.
TEMPLATES: Final = ("own", "tools")
#: The beginning of a loaded model's name.
LOCAL: Final = "hf:"


def is_adapter(path: str) -> bool:
    """Whether a directory holds a LoRA adapter and no model."""
    return (Path(path) / ADAPTER).is_file()


def adapter_field(path: str, field: str) -> Any:
    """A field of the configuration of the LoRA adapter in a directory.

    InvalidInput if there is no such field, or the configuration cannot be read.
    """
    file = Path(path) / ADAPTER
    try:
        return json.loads(file.read_text("utf-8"))[field]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{file}: cannot be read: {error!r}") from None


def base_of(path: str) -> str:
    """The base model of the LoRA adapter in a directory: a directory, or a name on the hub.

    InvalidInput if the adapter names no model, or a directory that is no longer there.
    """
    file, base = Path(path) / ADAPTER, adapter_field(path, "base_model_name_or_path")
    if not isinstance(base, str) or not base:
        raise InvalidInput(f"{file}: base_model_name_or_path must name a model, got {base!r}")
    try:
        check_place(base)
    except InvalidInput as error:
        raise InvalidInput(f"{file}: base_model_name_or_path: {error}") from None
    return base


def check_place(path: str) -> None:
    """Raise InvalidInput if ``path`` is no directory of a model nor ``[OWNER/]NAME`` on the hub."""
    where = Path(path)
    if where.is_dir():
        needed = _ADAPTED if is_adapter(path) else "config.json"
        if not (where / needed).is_file():
            broken_off = (where / "run.json").is_file() and not is_adapter(path)
            why = "; its training did not end (--resume goes on)" if broken_off else ""
            raise InvalidInput(f"model {path!r}: no {needed} in this directory{why}")
    elif where.exists():
        raise InvalidInput(f"model {path!r}: expected a directory, this is a file")
    elif path.startswith((".", "/", "~")) or path.count("/") > 1:
        raise InvalidInput(f"model {path!r}: no such directory")
    elif "/" in path and where.parent.is_dir():
        raise InvalidInput(f"model {path!r}: {str(where.parent)!r} has no such directory")


def load_tokenizer(path: str, template: str = "own") -> Any:
    """The tokenizer of a model, or of a LoRA adapter or its base; it pads on the left.

    ``template`` is one of :data:`TEMPLATES`. InvalidInput if there is no tokenizer.
    """
    place = path
    if is_adapter(path) and not (Path(path) / "tokenizer_config.json").exists():
        place = base_of(path)
    check_place(place)
    try:
        named = get_tokenizer_config(place).get("tokenizer_class")
        kind: Any = PreTrainedTokenizerFast if named in PLAIN else AutoTokenizer
        tokenizer = kind.from_pretrained(place, padding_side="left")
    except (OSError, ValueError) as error:
        here = "" if Path(place).exists() else "no directory here, and from the hub "
        raise InvalidInput(f"model {path!r}: {here}no tokenizer can be loaded: {error}") from None
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if template == "tools":
        use_our_template(tokenizer)
    return tokenizer


def load_model(
    path: str,
    *,
    dtype: torch.dtype | str | None = None,
    load_in_4bit: bool = False,
    device: torch.device | str | None = None,
    trainable: bool = False,
) -> Any:
    """A causal language model in evaluation mode, or a LoRA adapter on its base.

    Args:
        path: a directory, or a name on the hub; of a model or of a LoRA adapter.
        dtype: of the weights, or of the arithmetic if they are quantised; by default bfloat16
            where the processor has it, else float32 on a CPU and float16 on a GPU.
        load_in_4bit: quantise the weights on loading: nf4, with quantised constants.
        device: where to; by default the first GPU, else the CPU.
        trainable: whether a LoRA adapter can be trained on.

    Raises:
        InvalidInput: if there is no such model, or its weights cannot be read.
        MissingExtra: if bitsandbytes or peft are needed and missing.
    """
    device = torch.device(default_device() if device is None else device)
    dtype = resolved_dtype(dtype, device)
    check_place(path)
    place = base_of(path) if is_adapter(path) else path
    if Path(place).is_dir():  # an adapter keeps this name, and is loaded from other directories
        place = str(Path(place).resolve())
    arguments: dict[str, Any] = {"dtype": dtype}
    if load_in_4bit:
        _need("bitsandbytes", "loading in 4 bits")
        # A quantised model cannot be moved afterwards, so it is loaded into its place.
        arguments |= {"quantization_config": nf4(dtype), "device_map": {"": device}}
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(place, **arguments)
    except _UNREADABLE as error:
        raise InvalidInput(f"model {place!r} cannot be loaded: {error}") from None
    if is_adapter(path):
        _need("peft", "a LoRA adapter")
        # Otherwise it logs at every start about kernels that only 4-bit weights need.
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
        from peft import PeftModel

        width = len(load_tokenizer(path))
        if width > model.get_input_embeddings().weight.shape[0]:  # tokens of actions were added
            model.resize_token_embeddings(width, mean_resizing=False)
        try:
            model = PeftModel.from_pretrained(model, path, is_trainable=trainable)
        except _UNREADABLE as error:
            raise InvalidInput(f"LoRA adapter {path!r} cannot be loaded: {error}") from None
    if not load_in_4bit:
        model = model.to(device)
    return model.eval()


def nf4(dtype: torch.dtype) -> Any:
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
    """A dtype by its name (InvalidInput if unknown), or what suits the device."""
    if isinstance(dtype, torch.dtype):
        return dtype
    if dtype is not None:
        if dtype not in DTYPES:
            raise InvalidInput(f"dtype {dtype!r}: expected one of {', '.join(DTYPES)}")
        return DTYPES[dtype]
    if device.type != "cuda":
        has = torch.cpu.get_capabilities()
        has_bfloat16 = has.get("avx512_bf16", False) or has.get("amx_bf16", False)
        return torch.bfloat16 if has_bfloat16 else torch.float32
    # Older GPUs only emulate bfloat16, slowly; the first with it have capability 8.
    return torch.bfloat16 if torch.cuda.get_device_capability(device)[0] >= 8 else torch.float16


def _need(module: str, feature: str) -> None:
    if find_spec(module) is None:
        raise MissingExtra(feature, "train")


@attrs.define(eq=False)
class LocalPlayer:
    """Plays incidents with a model from a directory or the hub, ``decoding.batch`` at once.

    ``description`` are the settings that change replies, ``spent`` the usage of finished episodes.
    """

    model: Any
    chat: Chat
    decoding: Decoding
    description: str = ""
    spent: Usage = attrs.field(factory=Usage)

    @classmethod
    def of(
        cls,
        policy: str,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        batch: int = 16,
        max_tokens: int = 1_024,
        template: str = "own",
        told: Mapping[str, Any] | None = None,
    ) -> "LocalPlayer":
        """The player of ``hf:DIR``; the template is checked before weights load.

        ``template`` is ``own`` or ``tools`` (ours); ``told`` has more variables for the template.
        The other arguments are those of :class:`~logtriage.adapters.local.play.Decoding`.

        Raises:
            MissingExtra: without the extra ``train``.
            InvalidInput: for a model or template that cannot be used.
        """
        decoding = Decoding(temperature, seed, batch, max_tokens)
        place = policy.removeprefix(LOCAL)
        if place.startswith("~"):  # a shell leaves hf:~ as it is
            place = str(Path(place).expanduser())
        if not place:
            raise InvalidInput(f"policy {policy!r}: expected a directory or name after {LOCAL}")
        warnings.filterwarnings("ignore", module="transformers|peft|torch")
        disable_progress_bar()
        tokenizer = load_tokenizer(place, template)
        Chat(tokenizer, told)  # checks the template before the weights are loaded
        model = load_model(place)
        stops = getattr(model.generation_config, "eos_token_id", None)  # one, several or none
        if not isinstance(stops, list):
            stops = [] if stops is None else [stops]
        chat = Chat(tokenizer, told, stops)
        settings = {
            "temperature": decoding.temperature,
            "seed": decoding.seed,
            "max_tokens": decoding.max_tokens,
            "template": template,
            "style": chat.manner.style,
            "rules": chat.manner.rules,
            **(told or {}),
        }
        return cls(model, chat, decoding, ", ".join(f"{k} {v}" for k, v in settings.items()))

    @property
    def batch(self) -> int:
        """How many episodes are played at once."""
        return self.decoding.batch

    def record(self, incident: Incident, agent: str) -> Transcript:
        """The transcript of an episode."""
        return self.record_together([incident], agent)[0]

    def record_together(self, incidents: Sequence[Incident], agent: str) -> list[Transcript]:
        """The transcripts of episodes played side by side; unscored if the model failed."""
        first = [(incident, 0) for incident in incidents]  # the first attempt at each
        attempts = play(self.model, self.chat, first, self.decoding)
        self.spent = sum((attempt.usage for attempt in attempts), self.spent)
        return [attempt.transcript(agent) for attempt in attempts]
