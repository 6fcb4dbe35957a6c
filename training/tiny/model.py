"""A Qwen2 model with random weights."""

import torch
from transformers import PreTrainedTokenizerBase, Qwen2Config, Qwen2ForCausalLM

from training.tiny.settings import Size

#: Long enough for the longest episode on a graph of two hundred services.
POSITIONS = 16_384


def build_model(tokenizer: PreTrainedTokenizerBase, size: Size, seed: int) -> Qwen2ForCausalLM:
    """Weights from ``seed``, in float32; embeddings are tied, since answers copy what is read."""
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
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
