"""Turns that are read once, and backward passes without padding, change nothing but the time."""

from typing import Any

import torch

from tests.training.language.models import acting_model, acting_tokenizer
from training.grpo.trainer import trimmed
from training.grpo.turns import Turns, continued


def conversation(*texts: str) -> list[int]:
    ids: list[int] = acting_tokenizer().encode("".join(texts), add_special_tokens=False)
    return ids


OPENINGS = [
    conversation("<|im_start|>", "user\n", *["line\n"] * lines, "<|im_start|>assistant\n")
    for lines in (1, 7, 3, 1)
]


def play(turns: Turns, model: Any, *, forgetful: bool) -> list[list[list[int]]]:
    """Three turns; the second conversation is over after the first of them."""
    torch.manual_seed(3)
    said = []
    prompts = [list(one) for one in OPENINGS]
    for turn in range(3):
        if forgetful:
            turns.forget()
        replies = turns.replies(model, prompts)
        said.append(replies)
        prompts = [
            [*prompt, *reply, *conversation("more\n" * (turn + number + 1))]
            for number, (prompt, reply) in enumerate(zip(prompts, replies, strict=True))
        ]
        if turn == 0:
            del prompts[1]
    return said


def test_what_was_read_stays_read() -> None:
    model = acting_model()
    stops = frozenset([acting_tokenizer().eos_token_id])
    kept = play(Turns(stops, 4, 1.0), model, forgetful=False)
    anew = play(Turns(stops, 4, 1.0), model, forgetful=True)
    assert kept == anew
    assert [len(replies) for replies in kept] == [4, 3, 3]
    assert len({tuple(reply) for replies in kept for reply in replies}) > 4  # they are sampled


def test_the_model_trains_on_as_before() -> None:
    model = acting_model().train()
    Turns(frozenset([0]), 1, 1.0).replies(model, OPENINGS)
    assert model.training


def test_conversations_are_known_by_what_they_begin_with() -> None:
    held = [[1, 2], [1, 3], [1, 3], [4]]
    assert continued(held, [[1, 2, 9], [1, 3, 9], [1, 3, 8], [4, 9]]) == [0, 1, 2, 3]
    assert continued(held, [[1, 3, 9], [4]]) == [1, 3]
    assert continued(held, [[5]]) is None
    assert continued(held, [[1, 3], [1, 3], [1, 3]]) is None


def test_only_columns_without_content_are_cut() -> None:
    batch = {
        "prompt_ids": torch.tensor([[0, 0, 5, 6], [0, 7, 8, 9]]),
        "prompt_mask": torch.tensor([[0, 0, 1, 1], [0, 1, 1, 1]]),
        "completion_ids": torch.tensor([[1, 2, 0, 0, 0], [3, 4, 5, 0, 0]]),
        "completion_mask": torch.tensor([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]]),
        "tool_mask": torch.tensor([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]]),
        "advantages": torch.tensor([0.5, -0.5]),
        "num_items_in_batch": torch.tensor(3),
    }
    cut = trimmed(batch)
    assert cut["prompt_ids"].tolist() == [[0, 5, 6], [7, 8, 9]]
    assert cut["completion_ids"].tolist() == [[1, 2, 0], [3, 4, 5]]
    assert cut["tool_mask"].tolist() == [[1, 0, 0], [1, 1, 0]]
    assert cut["completion_mask"].sum() == batch["completion_mask"].sum()
    assert cut["advantages"] is batch["advantages"]
    assert cut["num_items_in_batch"] is batch["num_items_in_batch"]


def test_advantages_by_token_are_cut_alike() -> None:
    mask = torch.tensor([[1, 1, 0, 0]])
    batch = {"prompt_mask": torch.ones(1, 2), "completion_mask": mask,
             "advantages": torch.tensor([[0.1, 0.2, 0.0, 0.0]])}  # fmt: skip
    assert trimmed(batch)["advantages"].shape == (1, 2)
