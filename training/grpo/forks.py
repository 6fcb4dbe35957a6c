"""Generation for trees: what attempts share is generated once, and forks go on from it."""

from collections.abc import Sequence
from typing import Any

import torch

from training.grpo.tree import Tree
from training.grpo.turns import Turns, continued


class TreeTurns(Turns):
    """The episodes of one rollout, of which neighbours form trees.

    Environments know nothing of it: that of an attempt plays what the trunk said, as if the
    attempt had said so itself.

    Args:
        stops: the tokens that end a reply.
        limit: the most tokens a reply.
        temperature: of sampling, above 0.
        size: attempts of a tree.
        within: each but the first forks at a turn that is drawn from 1 up to this one.
    """

    def __init__(
        self, stops: frozenset[int], limit: int, temperature: float, *, size: int, within: int
    ) -> None:
        super().__init__(stops, limit, temperature)
        self._size, self._within = size, within
        self.forget()

    def forget(self) -> None:
        """Other episodes begin."""
        super().forget()
        self._turn = 0
        self._planned: list[int] = []
        self._forks: list[int | None] = []
        #: The conversations of the last turn by attempt, and the rows of those generated.
        self._talks: dict[int, list[int]] = {}
        self._rows: dict[int, int] = {}

    @property
    def trees(self) -> list[Tree]:
        """The trees of this rollout, as far as they have grown."""
        each = range(0, len(self._forks), self._size)
        return [Tree(tuple(self._forks[first : first + self._size])) for first in each]

    def replies(self, model: Any, prompts: Sequence[Sequence[int]]) -> list[list[int]]:
        """A reply to each conversation: sampled, or what its trunk says.

        The first call of a rollout has the conversations of all attempts; later ones have
        those that go on, in the same order.
        """
        if not self._planned:
            self._plan(len(prompts))
            attempts = list(range(len(prompts)))
        else:
            known = list(self._talks)
            found = continued(list(self._talks.values()), prompts)
            assert found is not None, "a conversation that no attempt has begun"
            attempts = [known[one] for one in found]
        speakers = [self._speaker(one, self._turn) for one in attempts]
        fresh = [place for place, one in enumerate(attempts) if speakers[place] == one]
        before = [self._speaker(attempts[place], self._turn - 1) for place in fresh]
        rows = [self._rows[one] for one in before] if self._rows else None
        said = self._sampled(model, [prompts[place] for place in fresh], rows)
        self._rows = {attempts[place]: row for row, place in enumerate(fresh)}
        for place in fresh:
            if self._planned[attempts[place]] == self._turn:
                self._forks[attempts[place]] = self._turn
        replies = [list(said[self._rows[one]]) for one in speakers]
        self._talks = {
            one: [*prompt, *reply]
            for one, prompt, reply in zip(attempts, prompts, replies, strict=True)
        }
        self._turn += 1
        return replies

    def _plan(self, attempts: int) -> None:
        """Draw at which turns the attempts fork."""
        drawn = torch.randint(1, self._within + 1, (attempts,)).tolist()
        self._planned = [turn if one % self._size else 0 for one, turn in enumerate(drawn)]
        self._forks = [None] * attempts

    def _speaker(self, attempt: int, turn: int) -> int:
        """The attempt whose reply is this one's."""
        return attempt if self._planned[attempt] <= turn else attempt - attempt % self._size
