"""Generation that reads each turn once.

TRL gives the whole conversation to ``model.generate`` in every turn, which reads all of it
again and puts the cache of keys and values together anew for each token. Here one batch
lives as long as its episodes; what was read stays read.
"""

from collections.abc import Sequence
from typing import Any

import torch

from training.language.generation import Batch


class Turns:
    """The episodes of one rollout, as far as the model read them.

    Args:
        stops: the tokens that end a reply.
        limit: the most tokens a reply.
        temperature: of sampling, above 0.
    """

    def __init__(self, stops: frozenset[int], limit: int, temperature: float) -> None:
        self._stops = stops
        self._limit = limit
        self._temperature = temperature
        self._batch: Batch | None = None
        #: How many tokens the last turn took.
        self.sampled = 0

    def forget(self) -> None:
        """Read everything anew: the weights have changed, or other episodes begin."""
        self._batch = None

    def replies(self, model: Any, prompts: Sequence[Sequence[int]]) -> list[list[int]]:
        """A sampled reply to each conversation, from torch's own draws.

        Conversations that go on from the last turn's are recognised; those that are
        missing are over.
        """
        rows = None if self._batch is None else continued(self._batch.ids, prompts)
        return self._sampled(model, prompts, rows)

    def _begin(self, model: Any, rows: int) -> Batch:
        return Batch(model, rows, self._stops)

    def _select(self, batch: Batch, rows: Sequence[int]) -> None:
        batch.select(rows)

    def _sampled(
        self, model: Any, prompts: Sequence[Sequence[int]], rows: Sequence[int] | None
    ) -> list[list[int]]:
        """Replies to conversations that go on from these rows; None to read all anew."""
        if self._batch is None or rows is None:
            self._batch = self._begin(model, len(prompts))
            rows = range(len(prompts))
        self._select(self._batch, rows)
        for row, prompt in enumerate(prompts):
            self._batch.append(row, prompt[len(self._batch.ids[row]) :])
        draws = torch.rand(len(prompts), self._limit, dtype=torch.float64).numpy()
        training = model.training
        model.eval()
        try:
            replies = self._batch.reply(
                draws, limits=[self._limit] * len(prompts), temperature=self._temperature
            )
        finally:
            model.train(training)
        self.sampled = sum(map(len, replies))
        return replies


def continued(held: Sequence[list[int]], prompts: Sequence[Sequence[int]]) -> list[int] | None:
    """The row that each prompt continues, in order; None if a prompt continues none."""
    rows: list[int] = []
    at = 0
    for prompt in prompts:
        while at < len(held) and list(prompt[: len(held[at])]) != held[at]:
            at += 1
        if at == len(held):
            return None
        rows.append(at)
        at += 1
    return rows
