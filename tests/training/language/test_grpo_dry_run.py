"""A dry run says what a run would be, and loads no weights."""

from pathlib import Path

import attrs
import pytest
import torch

from logtriage import make_incident
from logtriage.adapters.episode import row_of
from logtriage.adapters.trl import TriageEnv
from logtriage.errors import InvalidInput
from tests.training.language.models import TASK, acting_model, acting_tokenizer, save_acting
from training.grpo.__main__ import main
from training.grpo.dry_run import first_prompt
from training.grpo.memory import TILE, count, estimate, load_config
from training.grpo.settings import Settings


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_acting(tmp_path_factory.mktemp("acting"))


def test_it_shows_settings_memory_and_prompt_without_weights(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (model / "model.safetensors").rename(model / "hidden")
    try:
        main(["--preset", "cpu", "--model", str(model), "--task", TASK, "--lr", "0.5", "--dry-run"])
    finally:
        (model / "hidden").rename(model / "model.safetensors")
    said = capsys.readouterr().out
    assert "0.5" in said
    assert f"{sum(one.numel() for one in acting_model().parameters()):,} weights" in said
    assert "kv cache" in said
    assert "TICK 0/11" in said
    assert "classify_severity" in said


def test_the_prompt_is_that_of_the_trainer(model: Path) -> None:
    settings = Settings(model=str(model), task=TASK)
    text = first_prompt(settings, acting_tokenizer())
    assert text.endswith("<|im_start|>assistant\n")
    row = row_of(make_incident(f"{TASK}/train/0"))
    screen = TriageEnv().reset(**row, prompt=[{"role": "system", "content": ""}])
    assert screen in text


def test_memory_follows_its_formulas(model: Path) -> None:
    config = load_config(str(model))
    settings = Settings(
        model=str(model), precision="fp32", use_cpu=True, gradient_checkpointing=False,
        rollouts=8, group=4, batch=4, completion_tokens=900,
    )  # fmt: skip
    whole = acting_model()
    total = sum(one.numel() for one in whole.parameters())
    parameters = count(config, 2)
    linear = [one for name, one in whole.named_modules() if name.endswith("_proj")]
    assert parameters.total == total
    assert parameters.linear == sum(one.weight.numel() for one in linear)
    assert parameters.adapter == sum(2 * (one.in_features + one.out_features) for one in linear)
    memory = estimate(settings, config, prompt_tokens=100)
    assert (memory.weights, memory.gradients, memory.optimiser) == (4 * total, 4 * total, 8 * total)
    # keys and values, 2 layers, 1 head of 16, 1,000 tokens, 8 episodes, 4 bytes
    assert memory.kv_cache == 2 * 2 * 1 * 16 * 1_000 * 8 * 4
    # and as transformers keeps them
    with torch.no_grad():
        kept = whole(torch.zeros((2, 50), dtype=torch.long), use_cache=True).past_key_values
    bytes_kept = sum(
        one.numel() * one.element_size()
        for layer in kept.layers
        for one in (layer.keys, layer.values)
    )
    assert bytes_kept * 1_000 * 8 // (2 * 50) == memory.kv_cache
    less = estimate(attrs.evolve(settings, gradient_checkpointing=True), config, 100)
    assert less.activations < memory.activations
    # Logits stand in memory a tile at a time, as TRL computes them.
    assert memory.logits == 3 * 4 * 900 * 4 * config.vocab_size
    long = estimate(attrs.evolve(settings, completion_tokens=90_000), config, 100)
    assert long.logits == 3 * 4 * TILE[0] * config.vocab_size
    few = estimate(attrs.evolve(settings, train="embeddings"), config, 100)
    assert few.weights == memory.weights
    tables = {whole.get_input_embeddings().weight, whole.get_output_embeddings().weight}
    assert few.gradients == 4 * sum(one.numel() for one in tables) < memory.gradients
    lora = estimate(attrs.evolve(settings, lora_r=2, load_in_4bit=True), config, 100)
    assert lora.optimiser == 8 * parameters.adapter
    assert lora.weights < memory.weights


def test_vllm_has_a_share_its_own_weights_and_the_cache(model: Path) -> None:
    config = load_config(str(model))
    beside = Settings(model=str(model), vllm="server", vllm_url="http://127.0.0.1:1")
    here = attrs.evolve(beside, vllm="colocate", vllm_memory=0.5)
    total = count(config, 0).total
    assert estimate(beside, config, 100).kv_cache == estimate(beside, config, 100).vllm == 0
    least = estimate(here, config, 100)
    # keys and values: 2 layers, 1 head of 16, 4 bytes each
    assert least.vllm == 2 * total + 2 * 2 * 1 * 16 * here.read_tokens * 4
    share = estimate(here, config, 100, device_bytes=2 * 2**30)
    assert (share.vllm, share.kv_cache) == (2**30, 0)
    assert share.generating - share.updating == share.vllm - (
        share.gradients + share.activations + share.logits
    )
    awake = estimate(attrs.evolve(here, vllm_sleep=False), config, 100, device_bytes=2 * 2**30)
    assert awake.updating == share.updating + share.vllm
    with pytest.raises(InvalidInput, match=r"vllm_memory = 0\.5"):
        estimate(here, config, 100, device_bytes=2**20)
