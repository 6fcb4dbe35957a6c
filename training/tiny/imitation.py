"""Supervised learning of what the teacher does, in every turn of an episode."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from training.tiny.play import SCREEN, Played
from training.tiny.settings import Settings
from training.tiny.words import Grammar


def imitate(
    model: Any,
    rows: Sequence[Played],
    grammar: Grammar,
    settings: Settings,
    number: int,
    on_step: Callable[[int, float], None],
) -> list[float]:
    """Train ``model`` in place on episodes of round ``number``; the loss of each step, in nats.

    The loss of an action is that under the grammar. Episodes of like length go together, so
    that little is padding.
    """
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.lr, weight_decay=0.01)
    draws = torch.Generator().manual_seed(settings.seed * 1_000 + number)
    epochs = settings.epochs if number else settings.first_epochs
    steps = -(-len(rows) // settings.batch) * epochs
    losses: list[float] = []
    for _ in range(epochs):
        order = sorted(range(len(rows)), key=lambda row: len(rows[row].ids))
        batches = [
            order[start : start + settings.batch] for start in range(0, len(order), settings.batch)
        ]
        for place in torch.randperm(len(batches), generator=draws).tolist():
            ids, labels = padded([rows[row] for row in batches[place]], model.config.pad_token_id)
            said, screens = losses_of(model, ids, labels, grammar)
            optimiser.zero_grad()
            (said + settings.screens * screens).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            share = len(losses) / steps
            for group in optimiser.param_groups:
                group["lr"] = settings.lr * (0.55 + 0.45 * math.cos(math.pi * share))
            optimiser.step()
            losses.append(float(said.detach()))
            on_step(len(losses), losses[-1])
    return losses


def padded(rows: Sequence[Played], pad: int) -> tuple[Tensor, Tensor]:
    """Tokens and labels (B, T), padded on the right."""
    width = max(len(row.ids) for row in rows)
    ids = [[*row.ids, *[pad] * (width - len(row.ids))] for row in rows]
    labels = [[*row.labels, *[SCREEN] * (width - len(row.labels))] for row in rows]
    return torch.tensor(ids), torch.tensor(labels)


def losses_of(model: Any, ids: Tensor, labels: Tensor, grammar: Grammar) -> tuple[Tensor, Tensor]:
    """The mean loss of the actions, and that of the words of screens, in nats."""
    logits = model(input_ids=ids).logits
    asked = labels != SCREEN
    chosen = logits[asked].masked_fill(~grammar.actions, -torch.inf)
    said = torch.nn.functional.cross_entropy(chosen, labels[asked])
    after = ids[:, 1:]
    # What follows <|act|> is an action, what follows that the end: nothing to foretell.
    read = ~asked[:, :-1] & (after != grammar.end) & (after != model.config.pad_token_id)
    screens = torch.nn.functional.cross_entropy(logits[:, :-1][read], after[read])
    return said, screens
