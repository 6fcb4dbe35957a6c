"""An estimate of a run's memory, from the model's configuration alone.

The estimates leave out what a library takes for itself and fragmentation; they say which
of two settings fits, not to the megabyte. Sources:

.. [1] S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion
   Parameter Models", arXiv:1910.02054, section 3: weights, gradients and Adam's states.
.. [2] V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer
   Models", arXiv:2205.05198, section 4: activations of a layer.
.. [3] T. Dettmers et al., "QLoRA: Efficient Finetuning of Quantized LLMs",
   arXiv:2305.14314, section 3: 4 bits a weight, and 0.127 bits for doubly quantised
   constants.
"""

from typing import Any, Final

import attrs
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM

from logtriage.errors import InvalidInput
from training.grpo.configuration import arithmetic
from training.grpo.settings import Settings
from training.language.places import base_of, check_place, is_adapter

#: A tile of logits that TRL's fused head computes at a time, in tokens and vocabulary; the
#: logits of whole episodes (9.3 GiB in bfloat16 for four of 8,192 tokens and 152,000 words)
#: never stand in memory at once.
TILE: Final = (4_096, 32_768)
#: Bits of a quantised weight with its share of the constants [3]_.
NF4_BITS: Final = 4.127


@attrs.frozen
class Parameters:
    """Numbers of weights.

    All, those of linear layers in blocks, of embeddings and head, and of a LoRA adapter.
    """

    total: int
    linear: int
    embeddings: int
    adapter: int

    def trained(self, settings: Settings) -> int:
        """The number of trained parameters."""
        if settings.lora_r > 0:
            return self.adapter
        return self.total if settings.train == "all" else self.embeddings


@attrs.frozen
class Memory:
    """Bytes, by what they are for.

    ``vllm`` is what vLLM takes in this process, with its own copy of the weights and its
    cache; where it sleeps, it takes them only while episodes are played.
    """

    weights: int
    gradients: int
    optimiser: int
    kv_cache: int
    activations: int
    logits: int
    vllm: int
    vllm_sleeps: bool

    @property
    def generating(self) -> int:
        """While episodes are played."""
        return self.weights + self.optimiser + self.kv_cache + self.vllm

    @property
    def updating(self) -> int:
        """While gradients are computed."""
        needed = self.weights + self.gradients + self.optimiser + self.activations + self.logits
        return needed + (0 if self.vllm_sleeps else self.vllm)

    @property
    def peak(self) -> int:
        """The larger of both."""
        return max(self.generating, self.updating)


def load_config(path: str) -> Any:
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


def count(config: Any, lora_r: int) -> Parameters:
    """Count weights on torch's meta device, where they take no memory.

    A LoRA adapter of rank r adds r (m + n) weights to a linear layer of m x n; it is put on
    all but the output layer.
    """
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    head = model.get_output_embeddings()
    layers = [
        module for module in model.modules() if isinstance(module, nn.Linear) and module is not head
    ]
    return Parameters(
        total=sum(weights.numel() for weights in model.parameters()),  # tied ones once
        linear=sum(layer.weight.numel() for layer in layers),
        embeddings=sum(
            weights.numel() for weights in {model.get_input_embeddings().weight, head.weight}
        ),
        adapter=sum(lora_r * (layer.in_features + layer.out_features) for layer in layers),
    )


def estimate(
    settings: Settings, config: Any, prompt_tokens: int, device_bytes: int | None = None
) -> Memory:
    """The memory of one process that holds the whole model.

    - Weights: 2 bytes each in half precision, 4 in float32; in 4 bits the linear layers
      take 4.127 bits a weight [3]_. Adapters take 4 bytes (2 in bfloat16 on quantised).
    - Gradients and optimiser: for each trained weight one gradient of its own size and two
      states of Adam of 4 bytes [1]_.
    - KV cache: 2 x layers x KV heads x head size x tokens x episodes that are generated at
      once, in the precision of the arithmetic; none where vLLM generates, which has its own.
    - vLLM in the same process: ``vllm_memory`` of ``device_bytes``; without them what it
      needs at least, a copy of the weights in half precision and the cache of one episode.
    - Logits: a tile, its gradient and a copy, in float32, and the gradient of the output
      layer where that is trained is among the gradients.
    - Activations: s b h (34 + 5 a s / h) bytes a layer in half precision, without the term
      of the attention matrix, which fused attention does not keep [2]_; with checkpointing
      2 s b h a layer and one whole layer. Twice that in float32.

    Tokens are the prompt and ``completion_tokens``, so that this is the worst case.

    Raises:
        InvalidInput: if vLLM's share of the GPU does not hold what it needs.
    """
    parameters = count(config, settings.lora_r)
    full = settings.lora_r == 0
    size = torch.finfo(arithmetic(settings)).bits // 8
    if full:
        weights = 4 * parameters.total
    elif settings.load_in_4bit:
        rest = parameters.total - parameters.linear
        weights = round(parameters.linear * NF4_BITS / 8) + size * rest
    else:
        weights = size * parameters.total
    trained = parameters.trained(settings)
    adapter_size = size if settings.load_in_4bit and size == 2 else 4
    own = 4 if full else adapter_size
    tokens = prompt_tokens + settings.completion_tokens
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    layers, width = config.num_hidden_layers, config.hidden_size
    layer = 34 * tokens * settings.batch * width * size // 2
    kept = 2 * tokens * settings.batch * width * size // 2
    per_token = 2 * layers * heads * head * size
    vllm = 0
    if settings.vllm == "colocate":
        least = 2 * parameters.total + per_token * settings.read_tokens
        vllm = least if device_bytes is None else round(settings.vllm_memory * device_bytes)
        if vllm < least:
            raise InvalidInput(
                f"vllm_memory = {settings.vllm_memory}: {vllm / 2**30:.1f} GiB of this GPU; vLLM's "
                f"copy of the weights and one episode need {least / 2**30:.1f} GiB"
            )
    rows, columns = TILE
    scored = min(rows, settings.completion_tokens * settings.batch)
    return Memory(
        weights=weights + (0 if full else own * parameters.adapter),
        gradients=own * trained,
        optimiser=8 * trained,
        kv_cache=0 if settings.vllm != "off" else per_token * tokens * settings.rollouts,
        activations=layers * kept + layer if settings.gradient_checkpointing else layers * layer,
        logits=3 * 4 * scored * min(columns, config.vocab_size),
        vllm=vllm,
        vllm_sleeps=settings.vllm_sleep,
    )
