"""A cache of keys and values that grows in place, and in which rows can be dropped.

That of transformers is put together anew for each token; with many rows on a CPU, this
is most of the work.
"""

from typing import Any

from torch import Tensor
from transformers import Cache, DynamicCache, PreTrainedConfig
from transformers.cache_utils import DynamicLayer


class Growing(DynamicLayer):
    """A layer whose ``keys`` and ``values`` are views of room that doubles when it is full."""

    _room: tuple[Tensor, Tensor] | None = None

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Append (B, H, T, D) keys and values; all of them so far."""
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
        """Keep these rows alone."""
        if self.get_seq_length() > 0:
            self.keys, self.values = self.keys[indices], self.values[indices]
            self._room = (self.keys, self.values)


def _larger(like: Tensor, before: Tensor, used: int, length: int) -> Tensor:
    rows, heads, _, width = like.shape
    room = like.new_empty(rows, heads, max(2 * used, length + 64), width)
    if used:
        room[..., :used, :] = before
    return room


def can_be_kept(config: PreTrainedConfig) -> bool:
    """Whether every layer attends to all that came before, by a mask that may have holes.

    Windows that slide over places in the cache, recurrent states and kernels that know
    padding at an end alone would see the padding within.
    """
    plain = getattr(config, "_attn_implementation", None) in ("sdpa", "eager", None)
    layers = DynamicCache(config=config).layers
    return plain and all(type(layer) is DynamicLayer for layer in layers)


def new_cache(config: PreTrainedConfig) -> Cache:
    """An empty cache for a model of this configuration."""
    if can_be_kept(config):
        return Cache(layer_class_to_replicate=Growing)
    return DynamicCache(config=config)


def keep_rows(cache: Cache, rows: Tensor) -> None:
    """Drop all rows but these."""
    for layer in cache.layers:
        layer.batch_select_indices(rows)
