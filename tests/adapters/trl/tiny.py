"""A model of a few hundred thousand parameters that says what it is told to."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from transformers.utils import get_json_schema
from trl.chat_template_utils import qwen2_5_chat_template

from logtriage.adapters.episode import answer
from logtriage.adapters.trl import TriageEnv, triage_rows
from logtriage.drawing.generator import make_incident
from logtriage.parsing.tools import TOOLS

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def _first_fault(task: str) -> str:
    """The first incident of a task's training split that is no false alarm."""
    ids = (f"{task}/train/{number}" for number in count())
    return next(incident_id for incident_id in ids if not make_incident(incident_id).truth.benign)


#: Faults, so that the right play takes every step.
IDS = [_first_fault("single_crash-v4"), _first_fault("cascading_failure-v4")]
Call = tuple[str, dict[str, Any]]
Reply = Call | str


@cache
def _trained() -> str:
    """Byte-level BPE that was trained on rules and tools, as JSON.

    Its merges span words, so that what was trained on is few tokens: episodes are short, and
    what is tested is what they say.
    """
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("\n", "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    texts = [message["content"] for row in triage_rows(IDS) for message in row["prompt"]]
    texts += [json.dumps(get_json_schema(getattr(TriageEnv(), name))) for name in TOOLS]
    texts += [json.dumps({"name": name, "arguments": {}}) for name in TOOLS]
    for incident_id in IDS:
        incident = make_incident(incident_id)
        texts += [answer(incident, [{"action_type": "request_more_logs"}] * n) for n in range(6)]
    trainer = trainers.BpeTrainer(
        vocab_size=4_000,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator([*texts, qwen2_5_chat_template], trainer)
    return str(raw.to_str())


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of one's own of what was trained once, with Qwen's chat template."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(_trained()),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
    )
    tokenizer.chat_template = qwen2_5_chat_template
    return tokenizer


def tiny_model(
    tokenizer: PreTrainedTokenizerFast, *, seed: int = 0, width: int = 32
) -> Qwen2ForCausalLM:
    """A Qwen2 from scratch of 2 layers, the same for a seed."""
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=width, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=16_384,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    return Qwen2ForCausalLM(config)


def said(reply: Reply) -> str:
    """A reply as Qwen writes it."""
    if isinstance(reply, str):
        return f"{reply}<|im_end|>"
    name, arguments = reply
    call = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{call}\n</tool_call><|im_end|>"


class Script:
    """Stands in for ``model.generate``: row i of the first turn follows the i-th script.

    The first replies must differ, since later turns are known by what was said before.
    ``prompts`` keeps every prompt as text.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, scripts: Sequence[Sequence[Reply]]):
        self.tokenizer = tokenizer
        self.scripts = [[said(reply) for reply in script] for script in scripts]
        assert len({script[0] for script in self.scripts}) == len(self.scripts)
        self.prompts: list[str] = []

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        texts = [
            self.tokenizer.decode(ids[ids != self.tokenizer.pad_token_id]) for ids in input_ids
        ]
        self.prompts += texts
        replies = [self._next(number, text) for number, text in enumerate(texts)]
        ids = [self.tokenizer.encode(reply, add_special_tokens=False) for reply in replies]
        longest = max(map(len, ids))
        padded = [
            incident_id + [self.tokenizer.pad_token_id] * (longest - len(incident_id))
            for incident_id in ids
        ]
        return torch.cat([input_ids, torch.tensor(padded)], dim=1)

    def _next(self, number: int, text: str) -> str:
        turns = text.split("<|im_start|>assistant\n")[1:]
        if len(turns) == 1:
            return self.scripts[number % len(self.scripts)][0]
        (script,) = (
            script for script in self.scripts if turns[0].startswith(script[0].split("<|im_end")[0])
        )
        return script[len(turns) - 1] if len(turns) <= len(script) else said("Done.")
