"""Models that think: Qwen3's own template, thought and tools, in training and in evaluation."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl.chat_template_utils import qwen3_chat_template

from logtriage.adapters.episode import opening
from logtriage.drawing.generator import make_incident
from tests.adapters.trl.tiny import said, tiny_tokenizer
from training.grpo.learn import make_trainer
from training.grpo.settings import Settings
from training.language.chat import Chat

HEADER = "<|im_start|>assistant\n"
NO_THOUGHT = "<think>\n\n</think>\n\n"
TASK = "single_crash-v3-fog0"
CALL = said(("classify_severity", {"severity": "P1"}))


def thinking_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = qwen3_chat_template
    return tokenizer


def random_qwen3(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
            max_position_embeddings=8_192,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


class Replies:
    """Stands in for sampling: the n-th turn of every attempt, and what was read before it."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, turns: list[list[str]]) -> None:
        self.tokenizer, self.turns = tokenizer, turns
        self.prompts: list[list[list[int]]] = []

    def __call__(self, _: Any, prompts: Any) -> list[list[int]]:
        replies = self.turns[len(self.prompts)]
        self.prompts.append([list(one) for one in prompts])
        return [self.tokenizer.encode(one, add_special_tokens=False) for one in replies]


@pytest.mark.parametrize("thinking", ["off", "on"])
def test_thought_and_tools_over_turns(thinking: str, tmp_path: Path) -> None:
    tokenizer = thinking_tokenizer()
    settings = Settings(
        model="random", task=TASK, group=2, rollouts=2, batch=2, max_steps=1, thinking=thinking,
        precision="fp32", use_cpu=True, gradient_checkpointing=False, report_to="none",
        reward="step",
    )  # fmt: skip
    trainer = make_trainer(settings, tmp_path, random_qwen3(tokenizer), tokenizer, None)
    thought = "<think>\nWhat is <tool_call> for?\n</think>\n\n" if thinking == "on" else ""
    cut = "<think>\nI wonder, and wonder"
    replies = Replies(tokenizer, [[thought + CALL, said(("resolve", {}))], [cut, said("Done.")]])
    assert trainer._turns is not None
    trainer._turns.replies = replies  # type: ignore[method-assign]
    before = {name: one.clone() for name, one in trainer.model.named_parameters()}
    trainer.train()

    first, second = trainer.environments
    # What was only thought is no call, and a thought that is cut off ends the episode.
    assert [one["action_type"] for one in first.actions] == ["classify_severity"]
    assert [one["action_type"] for one in second.actions] == ["resolve"]
    moved = [not torch.equal(one, before[name]) for name, one in trainer.model.named_parameters()]
    assert any(moved)

    incident = make_incident(f"{TASK}/train/0")
    chat = Chat(thinking_tokenizer(), settings.template_arguments)
    begin = HEADER + (NO_THOUGHT if thinking == "off" else "")
    (prompt, same), (later, _) = replies.prompts
    assert prompt == same == chat.opening(opening(incident, "tools"))  # as evaluation shows it
    assert tokenizer.decode(prompt).endswith(begin)
    assert tokenizer.decode(later).endswith(f"</tool_response><|im_end|>\n{begin}")
    assert tokenizer.decode(later).startswith(tokenizer.decode(prompt) + thought + CALL)


def test_evaluation_reads_thoughts_as_training_does() -> None:
    chat = Chat(thinking_tokenizer(), {"enable_thinking": True})
    before = chat.opening(opening(make_incident(f"{TASK}/train/0"), "tools"))
    reply = f"<think>\nA page? <tool_call> no.\n</think>\n\n{CALL}"
    message = chat.read(chat.tokenizer.encode(reply, add_special_tokens=False), before)
    (call,) = message["tool_calls"]
    assert call["function"] == {"name": "classify_severity", "arguments": {"severity": "P1"}}
