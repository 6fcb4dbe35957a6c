"""Replies of a causal language model to many conversations at once, turn after turn.

A batch keeps the keys and values of all that its conversations hold, so that a turn
costs no more than its own tokens. Rows are of unequal length: what pads them is masked
out, and positions count what is not padding.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from logtriage.errors import LogTriageError
from training.language.cache import can_be_kept, keep_rows, new_cache
from training.tiny.words import Grammar

_NOTHING: Final[list[int]] = []


class ModelFailure(LogTriageError):
    """The model gave no distribution over tokens."""


class Batch:
    """Some conversations with one model.

    Args:
        model: a causal language model of transformers, or of PEFT.
        rows: how many conversations.
        stops: the tokens that end a reply.
        keep: keep keys and values from turn to turn; None for wherever that is exact.
            Without, each turn reads the whole conversations again.
        grammar: of notation: a reply is an action and its end, which is not asked for.

    Attributes:
        barred: (rows,) bools: who may not hand over, under a grammar.
    """

    def __init__(
        self,
        model: Any,
        rows: int,
        stops: frozenset[int],
        *,
        keep: bool | None = None,
        grammar: Grammar | None = None,
    ) -> None:
        self._model = model
        self.stops = stops
        self._config = model.config.get_text_config()
        self._keep = can_be_kept(self._config) if keep is None else keep
        self.ids: list[list[int]] = [[] for _ in range(rows)]
        self._grammar = grammar
        self.barred = np.zeros(rows, dtype=bool)
        self._begin()

    def _begin(self) -> None:
        rows, device = len(self.ids), self._model.device
        self._cache = new_cache(self._config)
        self._mask = torch.zeros(rows, 0, dtype=torch.long, device=device)
        self._position = torch.zeros(rows, 1, dtype=torch.long, device=device)
        self._unread: list[list[int]] = [list(row) for row in self.ids]

    def select(self, rows: Sequence[int]) -> None:
        """Go on with these rows alone, in this order; one that is named twice forks."""
        if list(rows) == list(range(len(self.ids))):
            return
        self.ids = [list(self.ids[row]) for row in rows]
        self._unread = [list(self._unread[row]) for row in rows]
        chosen = torch.tensor(list(rows), dtype=torch.long, device=self._mask.device)
        keep_rows(self._cache, chosen)
        self._mask, self._position = self._mask[chosen], self._position[chosen]
        self.barred = self.barred[list(rows)]

    def append(self, row: int, ids: Sequence[int]) -> None:
        """Add tokens that the model did not write to the end of a row."""
        self.ids[row] += ids
        self._unread[row] += ids

    @torch.no_grad()
    def reply(
        self, draws: NDArray[np.float64], *, limits: Sequence[int], temperature: float = 0.0
    ) -> list[list[int]]:
        """One reply to each row, which becomes part of it; with its stop token, if it has one.

        Args:
            draws: (rows, longest) numbers in [0, 1): token t of row i is chosen by
                ``draws[i, t]``, whatever else is in the batch.
            limits: the most tokens for each row, at least 1.
            temperature: 0 for the likeliest token.

        Raises:
            ModelFailure: if the model's logits are not numbers.
            Exception: whatever the model raises.
        """
        if not self._keep:
            self._begin()
        if self._grammar is not None:
            logits = self._grammar.choose(self._read(), self.barred)
            acts = _choose(logits, draws[:, 0], temperature)
            for row, act in enumerate(acts):
                self.append(row, [act, self._grammar.end])
            return [[act, self._grammar.end] for act in acts]
        replies: list[list[int]] = [[] for _ in self.ids]
        logits = self._read()
        open_rows = list(range(len(self.ids)))
        for place in range(max(limits)):
            chosen = _choose(logits, draws[:, place], temperature)
            for row in open_rows:
                replies[row].append(chosen[row])
                self.append(row, [chosen[row]])
            open_rows = [
                row
                for row in open_rows
                if replies[row][-1] not in self.stops and len(replies[row]) < limits[row]
            ]
            if not open_rows:
                break
            logits = self._read(open_rows)
        return replies

    def _read(self, rows: Sequence[int] | None = None) -> Tensor:
        """Let the model read what these rows (None: all) hold unread; logits (rows, vocabulary).

        The other rows are given padding.
        """
        reading = range(len(self.ids)) if rows is None else rows
        chunks = [_NOTHING] * len(self.ids)
        for row in reading:
            chunks[row] = self._unread[row]
            self._unread[row] = []
        width = max(map(len, chunks))
        ids = np.zeros((len(chunks), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, chunk in enumerate(chunks):
            if chunk:
                ids[row, -len(chunk) :] = chunk
                mask[row, -len(chunk) :] = 1
        device = self._mask.device
        fresh = torch.from_numpy(mask).to(device)
        positions = (self._position + fresh.cumsum(1) - 1).clamp(min=0)
        self._mask = torch.cat([self._mask, fresh], dim=1)
        out = self._model(
            input_ids=torch.from_numpy(ids).to(device),
            attention_mask=self._mask,
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._position = self._position + fresh.sum(1, keepdim=True)
        logits: Tensor = out.logits[:, -1].float()
        if logits[list(reading)].isnan().any():
            raise ModelFailure("the model's logits are not numbers (NaN)")
        return logits


def _choose(logits: Tensor, draws: NDArray[np.float64], temperature: float) -> list[int]:
    """A token for each row: the likeliest, or the one in whose share of [0, 1) the draw lies."""
    if temperature == 0.0:
        likeliest: list[int] = logits.argmax(-1).tolist()
        return likeliest
    shares = torch.softmax(logits / temperature, -1).double().cumsum(-1)
    marks = torch.from_numpy(draws[:, None]).to(shares.device) * shares[:, -1:]
    chosen = (shares <= marks).sum(-1).clamp(max=shares.shape[-1] - 1)
    tokens: list[int] = chosen.tolist()
    return tokens
