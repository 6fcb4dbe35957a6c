"""GRPO on notation: a reply is an action and its end, under the grammar, and rows are packed."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch import Tensor

from logtriage.rng import hash_name
from training.grpo.environment import NotationTrainingEnv
from training.grpo.turns import Turns
from training.language.generation import Batch
from training.tiny.words import Grammar

#: Tokens of a packed row at least: longer ones have fewer gaps, and more attention to mask.
WIDTH: Final = 384


def is_barred(incident: str, share: float) -> bool:
    """Whether nobody may hand over in the group of an incident: so in this share of them."""
    return hash_name(f"barred {incident}") % 10_000 < 10_000 * share


class NotationTurns(Turns):
    """Turns of models of notation.

    Args:
        grammar: that of the tokenizer.
        temperature: of sampling, above 0.
        environments: those of the rollout, in the order of its first prompts.
        barred: (B,) bools in that order: who may not hand over.
    """

    def __init__(
        self,
        grammar: Grammar,
        temperature: float,
        environments: Callable[[], Sequence[NotationTrainingEnv]],
        barred: Callable[[], Tensor],
    ) -> None:
        super().__init__(frozenset({grammar.end}), 2, temperature)
        self._grammar = grammar
        self._environments, self._barred = environments, barred
        self._who: list[int] = []

    def _begin(self, model: Any, rows: int) -> Batch:
        assert rows == len(self._environments())  # a rollout begins with all of its episodes
        self._who = list(range(rows))
        return Batch(model, rows, self._stops, grammar=self._grammar)

    def _select(self, batch: Batch, rows: Sequence[int]) -> None:
        super()._select(batch, rows)
        self._who = [self._who[row] for row in rows]
        batch.barred = self._barred().numpy()[self._who]

    def _sampled(
        self, model: Any, prompts: Sequence[Sequence[int]], rows: Sequence[int] | None
    ) -> list[list[int]]:
        replies = super()._sampled(model, prompts, rows)
        # TRL knows no end of an episode but a reply without an action.
        environments = self._environments()
        return [
            [self._grammar.end] if environments[number].episode.done else reply
            for number, reply in zip(self._who, replies, strict=True)
        ]


def scores_of_actions(
    model: Any,
    ids: Tensor,
    mask: Tensor,
    grammar: Grammar,
    barred: Tensor,
    temperature: float,
) -> tuple[Tensor, Tensor]:
    """Log-probabilities (B, T) of the actions in episodes (B, T), and entropies there.

    Both under the grammar, in nats; 0 for all that is no action, since nothing else is chosen.
    ``mask`` says what is no padding, ``barred`` (B,) whose actions leave out the hand-over.
    """
    chosen = torch.zeros_like(ids, dtype=torch.bool)
    chosen[:, 1:] = (ids[:, :-1] == grammar.act) & (ids[:, 1:] != grammar.end)
    chosen &= mask.bool()
    rows, columns = chosen.nonzero(as_tuple=True)
    hidden = _packed_hidden(model.base_model, ids, mask)
    logits = model.get_output_embeddings()(hidden[rows, columns - 1]).float() / temperature
    shares = torch.log_softmax(
        logits.masked_fill(~grammar.legal(barred[rows]), torch.finfo(logits.dtype).min), -1
    )
    said = shares.gather(1, ids[rows, columns][:, None])[:, 0]
    entropy = -(shares.exp() * shares).sum(-1)
    blank = torch.zeros(ids.shape, dtype=shares.dtype, device=ids.device)
    return blank.index_put((rows, columns), said), blank.index_put((rows, columns), entropy)


def _packed_hidden(base: Any, ids: Tensor, mask: Tensor) -> Tensor:
    """The last hidden states (B, T, D), computed on rows that hold several episodes each."""
    lengths = mask.sum(1).tolist()
    bins = packed(lengths, max(WIDTH, *lengths))
    width = max(sum(lengths[row] for row in part) for part in bins)
    tokens = torch.zeros(len(bins), width, dtype=torch.long, device=ids.device)
    episode = torch.full_like(tokens, -1)
    positions = torch.zeros_like(tokens)
    places: list[tuple[int, int]] = [(0, 0)] * len(lengths)
    for number, part in enumerate(bins):
        start = 0
        for row in part:
            end = start + lengths[row]
            tokens[number, start:end] = ids[row, mask[row].bool()]
            episode[number, start:end] = row
            positions[number, start:end] = torch.arange(lengths[row], device=ids.device)
            places[row] = number, start
            start = end
    same = (episode[:, :, None] == episode[:, None, :]).tril()
    out = base(input_ids=tokens, attention_mask=same[:, None], position_ids=positions)
    hidden = out.last_hidden_state
    spread = hidden.new_zeros(*ids.shape, hidden.shape[-1])
    taken = torch.cat(
        [
            hidden[number, start : start + length]
            for (number, start), length in zip(places, lengths, strict=True)
        ]
    )
    return spread.index_put(mask.bool().nonzero(as_tuple=True), taken)


def packed(lengths: Sequence[int], width: int) -> list[list[int]]:
    """Rows of these lengths in bins of at most ``width``: the longest first, where they fit."""
    bins: list[list[int]] = []
    room: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        place = next((at for at, left in enumerate(room) if left >= lengths[row]), None)
        if place is None:
            bins.append([])
            room.append(width)
            place = len(bins) - 1
        bins[place].append(row)
        room[place] -= lengths[row]
    return bins
