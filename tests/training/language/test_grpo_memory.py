"""The presets for Qwen3 fit the GPUs that they are for, by the estimate."""

from typing import Any

import pytest
from transformers import Qwen3Config

from training.grpo.memory import count, estimate
from training.grpo.presets import resolve

GIB = 2**30
#: What is left of a GPU for what libraries take for themselves, and for fragments.
SPARE = 1.5 * GIB
VOCABULARY = 151_936
#: The published shapes, and GiB of the GPU that the preset names.
SHAPES: dict[str, tuple[dict[str, Any], int]] = {
    "qwen3_1b7": ({"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28,
                   "num_attention_heads": 16, "tie_word_embeddings": True}, 16),
    "qwen3_4b": ({"hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36,
                  "num_attention_heads": 32, "tie_word_embeddings": True}, 24),
    "qwen3_8b": ({"hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
                  "num_attention_heads": 32, "tie_word_embeddings": False}, 80),
}  # fmt: skip
#: Tokens of rules, tools and first screen.
PROMPT = 1_900


@pytest.mark.parametrize("preset", SHAPES)
def test_a_preset_fits_its_gpu(preset: str) -> None:
    shape, gib = SHAPES[preset]
    config = Qwen3Config(vocab_size=VOCABULARY, num_key_value_heads=8, head_dim=128, **shape)
    settings = resolve(preset, {"precision": "bf16"})
    memory = estimate(settings, config, PROMPT, device_bytes=gib * GIB)
    assert memory.peak + SPARE < gib * GIB
    # vLLM holds its copy of the weights, and at least one whole episode.
    episode = memory.vllm - 2 * count(config, 0).total
    per_token = 2 * config.num_hidden_layers * 8 * 128 * 2
    assert episode >= per_token * settings.read_tokens
    print(  # the table of docs/training-llm.md; pytest -s
        preset, *(f"{size / GIB:.1f}" for size in (
            memory.weights, memory.gradients + memory.optimiser, memory.activations,
            memory.logits, memory.vllm, memory.generating, memory.updating,
        )), f"{count(config, 16).total / 1e9:.2f}", f"{episode / per_token:,.0f}",
    )  # fmt: skip
