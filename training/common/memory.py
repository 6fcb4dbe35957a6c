"""An estimate of a run's memory from the model's configuration alone, and a verdict.

The estimate leaves out what libraries take for themselves and fragmentation. Sources:

.. [1] S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion
   Parameter Models", arXiv:1910.02054, section 3: weights, gradients and Adam's states.
.. [2] V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer
   Models", arXiv:2205.05198, section 4: activations of a layer.
.. [3] T. Dettmers et al., "QLoRA: Efficient Finetuning of Quantized LLMs",
   arXiv:2305.14314, section 3: 4 bits a weight, and 0.127 bits for its constants.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, Qwen3Config

from logtriage.adapters.local.player import base_of, check_place, is_adapter
from logtriage.errors import InvalidInput
from training.common.language import LanguageSettings

#: A tile of logits that TRL's fused head computes at a time, in tokens and vocabulary.
TILE: Final = (4_096, 32_768)
#: Bits of a quantised weight with its share of the constants [3]_.
NF4_BITS: Final = 4.127
#: What must be left of a device's memory, as a share.
SPARE: Final = 0.1
GIB: Final = 2**30
MEMINFO: Final = Path("/proc/meminfo")
#: The limit of a container's cgroup, in both versions.
LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@attrs.frozen
class Memory:
    """Bytes of one process, by what they are for."""

    weights: int
    trained: int
    kv_cache: int
    activations: int
    logits: int

    @property
    def peak(self) -> int:
        """While episodes are played, or while gradients are computed, whichever is more."""
        playing = self.weights + self.trained + self.kv_cache
        return max(playing, self.weights + self.trained + self.activations + self.logits)


def estimate(settings: Any, config: Any) -> Memory:
    """The memory of a run, with every conversation as long as ``max_context``.

    - Weights: 4 bytes each if all are trained or on a CPU, else those of the arithmetic;
      in 4 bits the linear layers take 4.127 bits a weight [3]_.
    - Trained: a gradient of 4 bytes, two states of Adam of 4 bytes, and for LoRA the adapter's
      own 4 bytes [1]_.
    - KV cache: 2 x layers x KV heads x head size x tokens x episodes played at once.
    - Activations: s b h (34 bytes) a layer in half precision, twice that in float32; with
      checkpointing 2 s b h a layer and one whole layer [2]_. The attention matrix is not kept.
    - Logits: a tile, its gradient and a copy, in float32.
    """
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    head = model.get_output_embeddings()
    layers = [
        module for module in model.modules() if isinstance(module, nn.Linear) and module is not head
    ]
    total = sum(weights.numel() for weights in model.parameters())
    linear = sum(layer.weight.numel() for layer in layers)
    adapter = sum(settings.lora_r * (layer.in_features + layer.out_features) for layer in layers)
    size = torch.finfo(settings.arithmetic).bits // 8
    if settings.load_in_4bit:
        weights = round(linear * NF4_BITS / 8) + size * (total - linear)
    else:
        weights = total * (size if settings.lora_r and settings.where.type == "cuda" else 4)
    tokens, width = settings.max_context, config.hidden_size
    per_head = getattr(config, "head_dim", None) or width // config.num_attention_heads
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    depth = config.num_hidden_layers
    layer_bytes = 34 * tokens * settings.batch * width * size // 2
    kept = tokens * settings.batch * width * size
    scored, columns = TILE
    at_once = getattr(settings, "episodes", settings.play_batch)
    return Memory(
        weights=weights,
        trained=16 * adapter if settings.lora_r else 12 * total,
        kv_cache=2 * depth * heads * per_head * size * tokens * at_once,
        activations=depth * kept + layer_bytes if settings.checkpointing else depth * layer_bytes,
        logits=12 * min(scored, tokens * settings.batch) * min(columns, config.vocab_size),
    )


def config_of(path: str) -> Any:
    """The configuration of a model, or of an adapter's base.

    Raises:
        InvalidInput: if there is none.
    """
    place = base_of(path) if is_adapter(path) else path
    check_place(place)
    try:
        return AutoConfig.from_pretrained(place).get_text_config()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"model {place!r}: no configuration can be loaded: {error}") from None


def available(device: torch.device) -> int | None:
    """The bytes that a device, or the machine within its cgroup, can give; None without a GPU."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] if torch.cuda.is_available() else None
    if MEMINFO.exists():  # free pages leave out the page cache, which gives way
        free = int(MEMINFO.read_text().partition("MemAvailable:")[2].split()[0]) * 1024
    else:
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    limits = (limit.read_text().strip() for limit in map(Path, LIMITS) if limit.exists())
    return min([free, *(int(limit) for limit in limits if limit != "max")])


def verdict(settings: LanguageSettings, path: str) -> tuple[bool, str]:
    """Whether a run may fit the memory there is, and what it takes and what would help."""
    memory = estimate(settings, config_of(path))
    free = available(settings.where)
    parts = ", ".join(
        f"{name.replace('_', ' ')} {value / GIB:.2f}"
        for name, value in attrs.asdict(memory).items()
    )
    told = f"memory in GiB, at full length: {parts}; peak {memory.peak / GIB:.2f}"
    if free is None:
        return True, f"{told}; torch sees no GPU here, so compare with yours"
    told += f" of {free / GIB:.1f} free"
    if memory.peak <= (1 - SPARE) * free:
        return True, f"{told}: it fits"
    helps = [
        text
        for holds, text in (
            (getattr(settings, "batch", 1) > 1, "a smaller --batch"),
            (not settings.checkpointing, "--checkpointing"),
            (True, "a smaller --max-context"),
            (not settings.lora_r, "LoRA (--lora-r 16)"),
            (settings.lora_r > 0 and not settings.load_in_4bit, "--load-in-4bit"),
        )
        if holds
    ]
    return False, f"{told}: IT DOES NOT FIT; what helps: {', '.join(helps)}"


#: Shapes of Qwen3's models, as their configurations have them.
QWEN3: Final[Mapping[str, Mapping[str, Any]]] = {
    "Qwen/Qwen3-1.7B": {"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28,
                        "num_attention_heads": 16, "tie_word_embeddings": True},
    "Qwen/Qwen3-4B": {"hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36,
                      "num_attention_heads": 32, "tie_word_embeddings": True},
    "Qwen/Qwen3-8B": {"hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
                      "num_attention_heads": 32, "tie_word_embeddings": False},
}  # fmt: skip
#: GiB of the GPU that each preset is for.
GPUS: Final = {"qwen3-1b7": 16, "qwen3-4b": 24, "qwen3-8b": 80}


def qwen3(name: str) -> Qwen3Config:
    """The configuration of one of :data:`QWEN3`."""
    return Qwen3Config(vocab_size=151_936, num_key_value_heads=8, head_dim=128, **QWEN3[name])


def presets() -> dict[str, dict[str, Any]]:
    """Settings of GRPO for Qwen3 on one GPU, by the name of the option."""
    shared = {
        "template": "tools", "device": "cuda", "precision": "bfloat16", "lora_r": 16,
        "checkpointing": True, "max_context": 8192, "batch": 1, "steps": 200, "group": 8,
    }  # fmt: skip
    return {
        "qwen3-1b7": {**shared, "model": "Qwen/Qwen3-1.7B", "incidents": 1},
        "qwen3-4b": {**shared, "model": "Qwen/Qwen3-4B", "load_in_4bit": True, "incidents": 1},
        "qwen3-8b": {**shared, "model": "Qwen/Qwen3-8B", "incidents": 4},
    }
