"""Log-probabilities and entropies of the actions in played episodes."""

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor

from training.tiny.imitation import padded
from training.tiny.play import Played
from training.tiny.words import Grammar

#: Rows of a forward pass.
CHUNK: Final = 32


def scores(
    model: Any, ids: Tensor, grammar: Grammar, barred: Tensor, temperature: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    """Row, log-probability and entropy of each action (N,) in right-padded episodes (B, T).

    In nats, under the grammar; ``barred`` (B,) says in which rows nobody may hand over.
    """
    chosen = torch.zeros_like(ids, dtype=torch.bool)
    chosen[:, 1:] = (ids[:, :-1] == grammar.act) & (ids[:, 1:] != model.config.pad_token_id)
    rows, columns = chosen.nonzero(as_tuple=True)
    # Without a mask attention is causal, and what pads comes last.
    hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    logits = model.get_output_embeddings()(hidden[rows, columns - 1]).float() / temperature
    legal = grammar.legal(barred[rows])
    shares = torch.log_softmax(logits.masked_fill(~legal, torch.finfo(logits.dtype).min), -1)
    entropy = -(shares.exp() * shares).sum(-1)
    return rows, shares.gather(1, ids[rows, columns][:, None])[:, 0], entropy


def chunks(model: Any, played: Sequence[Played]) -> list[tuple[list[int], Tensor, Tensor]]:
    """Episodes of like length together: their numbers, tokens and labels."""
    order = sorted(range(len(played)), key=lambda row: len(played[row].ids))
    parts = [order[start : start + CHUNK] for start in range(0, len(order), CHUNK)]
    pad = model.config.pad_token_id
    return [(part, *padded([played[row] for row in part], pad)) for part in parts]
