"""Models and tokenizers are loaded as they were saved, and what is wrong is said."""

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from logtriage.errors import InvalidInput
from tests.training.language.models import acting_model, acting_tokenizer, save_acting
from training.language.loading import load_model, load_tokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_acting(tmp_path_factory.mktemp("acting"))


def test_a_tokenizer_of_our_own_is_not_replaced(model: Path) -> None:
    text = "a line\nuser\nanother"
    loaded = load_tokenizer(str(model))
    assert loaded(text)["input_ids"] == acting_tokenizer()(text)["input_ids"]
    assert loaded.padding_side == "left"
    assert loaded.chat_template == acting_tokenizer().chat_template


def test_weights_are_those_that_were_saved(model: Path) -> None:
    loaded, saved = load_model(str(model), device="cpu"), acting_model().state_dict()
    assert not loaded.training
    assert all(torch.equal(one, saved[name]) for name, one in loaded.state_dict().items())


def test_quantised_weights_are_4_bits_with_quantised_constants(model: Path) -> None:
    import bitsandbytes as bnb

    loaded = load_model(str(model), load_in_4bit=True, device="cpu")
    layer = loaded.model.layers[0].self_attn.q_proj
    assert isinstance(layer, bnb.nn.Linear4bit)
    assert layer.weight.quant_state.quant_type == "nf4"
    assert layer.weight.quant_state.nested
    assert layer.weight.numel() * layer.weight.element_size() == 32 * 32 // 2


def test_what_is_no_model_is_refused(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter/adapter_config.json").write_text(json.dumps({"r": 1}))
    for path, said in [
        (tmp_path, "no config.json"),
        (file, "this is a file"),
        (tmp_path / "none", "no such directory"),
        (tmp_path / "adapter", "base_model_name_or_path"),
    ]:
        with pytest.raises(InvalidInput, match=said):
            load_model(str(path))
    with pytest.raises(InvalidInput, match="expected one of float32"):
        load_model(str(model), dtype="int8")


def test_a_tokenizer_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    raw = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="a").save_pretrained(tmp_path)
    acting_model().save_pretrained(tmp_path)
    with pytest.raises(InvalidInput, match="no chat template"):
        load_tokenizer(str(tmp_path))
