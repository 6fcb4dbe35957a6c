"""A Qwen2 model with random weights."""

import torch
from transformers import PreTrainedTokenizerBase, Qwen2Config, Qwen2ForCausalLM

from training.tiny.settings import Size

#: Long enough for the longest episode on a graph of two hundred services.
POSITIONS = 16_384
#: The standard deviation of weights: between the 0.02 of large models and 1 / sqrt(128).
SPREAD = 0.06
#: The base of rotary positions: a high one leaves more dimensions that hardly turn within an
#: episode, by which equal names match.
THETA = 1e6


def build_model(tokenizer: PreTrainedTokenizerBase, size: Size, seed: int) -> Qwen2ForCausalLM:
    """Weights from ``seed``, in float32; embeddings are tied, since answers copy what is read.

    Above the first layer queries start equal to keys, so that a name attends to the same name
    elsewhere ("mimetic" initialisation, Trockman and Kolter 2023, arXiv:2305.09828).
    """
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=size.width,
            intermediate_size=2 * size.width,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.heads,
            max_position_embeddings=POSITIONS,
            tie_word_embeddings=True,
            initializer_range=SPREAD,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            rope_parameters={"rope_type": "default", "rope_theta": THETA},
        )
    )
    with torch.no_grad():
        for layer in model.model.layers[1:]:
            keys = layer.self_attn.k_proj.weight
            keys.normal_(std=size.width**-0.5)
            layer.self_attn.q_proj.weight.copy_(keys)
    return model
