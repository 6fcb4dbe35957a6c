"""A Qwen2 model with random weights."""

import torch
from transformers import PreTrainedTokenizerBase, Qwen2Config, Qwen2ForCausalLM

from training.tiny.settings import Size

#: Longer than any episode: 17 ticks, of a hundred words in notation and 500 in text.
POSITIONS = 8_192
#: The standard deviation of weights: between the 0.02 of large models and 1 / sqrt(128).
SPREAD = 0.06


def build_model(tokenizer: PreTrainedTokenizerBase, size: Size, seed: int) -> Qwen2ForCausalLM:
    """Weights from ``seed``, in float32; embeddings are tied."""
    torch.manual_seed(seed)
    return Qwen2ForCausalLM(
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
        )
    )
