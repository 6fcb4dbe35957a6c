"""A model that acts at random: nearly every token that it can say is a whole action.

It is built in a moment and plays real episodes with real sampling, whose rewards differ. To
be fast, it reads each line of a screen as one and the same token.
"""

from functools import cache
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AddedToken, PreTrainedTokenizerFast, Qwen2ForCausalLM
from trl.chat_template_utils import qwen2_5_chat_template

import logtriage as lt
from logtriage.actions import all_actions
from logtriage.conversations.tools import call_from_action
from tests.adapters.trl.tiny import SPECIAL, said, tiny_model

TASK = "single_crash-v3-fog0"
WORDS = ["<unk>", "\n", "system", "user", "assistant"]


@cache
def acting_tokenizer() -> PreTrainedTokenizerFast:
    """Tokens for the actions of the default topology, and little else."""
    topology = lt.make_incident(f"{TASK}/train/0").topology
    calls = [
        said(call_from_action(one)).removesuffix("<|im_end|>") for one in all_actions(topology)
    ]
    vocabulary = {name: number for number, name in enumerate([*SPECIAL, *WORDS])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Split("\n", "isolated")
    raw.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token="<unk>"
    )
    tokenizer.add_tokens(AddedToken("<|im_start|>", special=True), special_tokens=True)
    tokenizer.add_tokens([AddedToken(call, normalized=False) for call in calls])
    tokenizer.chat_template = qwen2_5_chat_template
    return tokenizer


def acting_model(seed: int = 0, width: int = 32) -> Qwen2ForCausalLM:
    """A Qwen2 from scratch of 2 layers."""
    return tiny_model(acting_tokenizer(), seed=seed, width=width)


def save_acting(folder: Path, width: int = 32) -> Path:
    """Write both as a model directory."""
    acting_tokenizer().save_pretrained(folder)
    acting_model(width=width).save_pretrained(folder)
    return folder
