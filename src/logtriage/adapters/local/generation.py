"""Write a causal language model's replies to many conversations at once, turn after turn.

A batch keeps attention keys and values, so a turn costs no more than its own tokens; the common
prefix of all openings is read once. Padding is masked out, and positions do not count it.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer

from logtriage.errors import LogTriageError

#: On a GPU, a batch checks after this many tokens whether all replies have ended.
LOOK_EVERY: Final = 16


class ModelFailure(LogTriageError):
    """The model's logits are no distribution over tokens."""


class Growing(DynamicLayer):
    """A cache layer that appends tokens to a buffer, which doubles when it is full."""

    keys: Tensor
    values: Tensor
    _room: tuple[Tensor, Tensor] | None = None  # of which keys and values are the beginnings

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Append (B, H, T, D) keys and values; returns all keys and values so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        used = self.get_seq_length()
        length = used + key_states.shape[-2]
        if self._room is None or self._room[0].shape[-2] < length:
            self._room = (
                _larger(key_states, self.keys, used, length),
                _larger(value_states, self.values, used, length),
            )
        keys, values = self._room
        keys[..., used:length, :] = key_states
        values[..., used:length, :] = value_states
        self.keys, self.values = keys[..., :length, :], values[..., :length, :]
        return self.keys, self.values

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep only the rows ``indices``, in this order; a row that is named twice is copied."""
        if self.get_seq_length() > 0:
            self.keys, self.values = self.keys[indices], self.values[indices]
            self._room = (self.keys, self.values)


def _larger(like: Tensor, before: Tensor, used: int, length: int) -> Tensor:
    """A buffer with room for ``length`` tokens and more, which begins with the ``used`` ones."""
    rows, heads, _, width = like.shape
    room = like.new_empty(rows, heads, max(2 * used, length + 64), width)
    if used:
        room[..., :used, :] = before
    return room


def can_be_kept(config: Any) -> bool:
    """Whether kept keys and values are exact: each layer sees all earlier tokens, by the mask."""
    plain = getattr(config, "_attn_implementation", None) in ("sdpa", "eager", None)
    return plain and all(
        type(layer) is DynamicLayer for layer in DynamicCache(config=config).layers
    )


class Batch:
    """Conversations with one model. ``ids`` are each one's tokens, ``read`` counts tokens read.

    Args:
        model: a causal language model of transformers, or of PEFT.
        openings: the ids that begin each conversation; their common prefix is read once, and so
            is an opening that occurs more than once.
        stops: the ids that end a reply.
        keep: reuse keys and values between turns. Default: only where this is exact.
    """

    def __init__(
        self,
        model: Any,
        openings: Sequence[Sequence[int]],
        stops: Collection[int],
        *,
        keep: bool | None = None,
    ) -> None:
        self._model = model
        self._config = model.config.get_text_config()
        self._keep = can_be_kept(self._config) if keep is None else keep
        self._stops = torch.tensor(sorted(stops), device=model.device)
        self.stops = frozenset(stops)
        self.read = 0
        self.ids = [list(opening) for opening in openings]
        self._begin(len(openings))
        self._unread = [list(opening) for opening in openings]
        if self._keep:
            self._read_openings()

    def _begin(self, rows: int) -> None:
        device = self._model.device
        self._cache = (
            Cache(layer_class_to_replicate=Growing)
            if self._keep
            else DynamicCache(config=self._config)
        )
        self._mask = torch.zeros(rows, 0, dtype=torch.long, device=device)
        self._position = torch.zeros(rows, 1, dtype=torch.long, device=device)

    @torch.no_grad()
    def _read_openings(self) -> None:
        """Read the common prefix once, then what is left of each different opening, then fork."""
        if len(self.ids) < 2:
            return
        different = list(dict.fromkeys(map(tuple, self.ids)))
        shared = min(common_prefix(different), min(map(len, different)) - 1)  # one id stays unread
        if shared > 0:
            self._begin(1)
            self._forward([list(different[0][:shared])])
            self._fork([0] * len(different))
        else:
            self._begin(len(different))
        tails = [list(opening[shared:-1]) for opening in different]
        if any(tails):
            self._forward(tails)
        places = {opening: place for place, opening in enumerate(different)}
        self._fork([places[tuple(ids)] for ids in self.ids])
        self._unread = [ids[-1:] for ids in self.ids]

    def select(self, rows: Sequence[int]) -> None:
        """Keep only these rows, in this order."""
        if list(rows) == list(range(len(self.ids))):
            return
        self.ids = [self.ids[row] for row in rows]
        self._unread = [self._unread[row] for row in rows]
        self._fork(rows)

    def _fork(self, rows: Sequence[int]) -> None:
        chosen = torch.tensor(list(rows), dtype=torch.long, device=self._mask.device)
        for layer in self._cache.layers:
            layer.batch_select_indices(chosen)
        self._mask, self._position = self._mask[chosen], self._position[chosen]

    def append(self, row: int, ids: Sequence[int]) -> None:
        """Add tokens that the model did not write to the end of a row."""
        self.ids[row] += ids
        self._unread[row] += ids

    @torch.no_grad()
    def reply(
        self,
        draws: NDArray[np.float64],
        limit: int,
        temperature: float = 0.0,
        barred: Tensor | None = None,
    ) -> list[list[int]]:
        """Write one reply to each row, up to its stop token or ``limit``, and append it to the row.

        Args:
            draws: (rows, limit) numbers in [0, 1): ``draws[i, t]`` chooses token t of row i.
            limit: the most tokens, at least 1.
            temperature: 0 for the likeliest token.
            barred: (rows, vocabulary) tokens that must not be chosen.

        Raises:
            ModelFailure: if the model's logits are not numbers.
            Exception: whatever the model raises.
        """
        device = self._mask.device
        if not self._keep:
            self._begin(len(self.ids))
            self._unread = [list(ids) for ids in self.ids]
        marks = torch.from_numpy(draws[:, :limit]).to(device)
        logits = self._forward(self._unread)
        failed = logits.isnan().any()  # looked at once, after the loop: a GPU waits for each look
        done = torch.zeros(len(self.ids), dtype=torch.bool, device=device)
        columns: list[Tensor] = []
        wrote: list[Tensor] = []
        every = LOOK_EVERY if device.type == "cuda" else 1
        for place in range(limit):
            if barred is not None:
                logits = logits.masked_fill(barred, -torch.inf)
            token = _choose(logits, marks[:, place], temperature)
            columns.append(token)
            wrote.append(~done)
            done = done | torch.isin(token, self._stops)
            if place + 1 == limit or (place % every == every - 1 and bool(done.all())):
                break
            logits = self._run(token[:, None], (~done).long()[:, None])
            failed = failed | (logits.isnan().any(1) & ~done).any()
        if bool(failed):
            raise ModelFailure("the model's logits are not numbers (NaN)")
        tokens = torch.stack(columns, 1).tolist()
        counts = torch.stack(wrote, 1).sum(1).tolist()
        self.read += sum(counts) - len(counts)  # all but the last of each row
        replies = [row[:count] for row, count in zip(tokens, counts, strict=True)]
        for row, reply in enumerate(replies):
            self.ids[row] += reply
            self._unread[row] = reply[-1:]  # chosen, and not yet read
        return replies

    def _forward(self, chunks: Sequence[Sequence[int]]) -> Tensor:
        """Read unequal chunks, padded on the left; logits (rows, vocabulary) after each."""
        width = max(map(len, chunks))
        ids = np.zeros((len(chunks), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, chunk in enumerate(chunks):
            if chunk:
                ids[row, -len(chunk) :] = chunk
                mask[row, -len(chunk) :] = 1
        self.read += int(mask.sum())
        device = self._mask.device
        return self._run(torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device))

    def _run(self, ids: Tensor, fresh: Tensor) -> Tensor:
        """Read ``ids`` (rows, width); ``fresh`` is 1 for new tokens, 0 for padding."""
        positions = (self._position + fresh.cumsum(1) - 1).clamp(min=0)
        self._mask = torch.cat([self._mask, fresh], dim=1)
        out = self._model(
            input_ids=ids,
            attention_mask=self._mask,
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._position = self._position + fresh.sum(1, keepdim=True)
        logits: Tensor = out.logits[:, -1].float()
        return logits


def common_prefix(rows: Sequence[tuple[int, ...]]) -> int:
    """The length of the prefix that all rows share; the least and the greatest row decide it."""
    first, last = min(rows), max(rows)
    for place, (token, other) in enumerate(zip(first, last, strict=False)):
        if token != other:
            return place
    return min(len(first), len(last))


def _choose(logits: Tensor, marks: Tensor, temperature: float) -> Tensor:
    """The likeliest token of each row, or the one drawn by the row's mark, uniform in [0, 1)."""
    if temperature == 0.0:
        return logits.argmax(-1)
    reached = torch.softmax(logits / temperature, -1).double().cumsum(-1)
    # Rounding may make the last of them other than 1.
    return (reached <= marks[:, None] * reached[:, -1:]).sum(-1)
