"""Credit by turns: each reply is credited with what the episode earned from it on.

The rewards of actions are differences of grades, so that what an episode earns from a turn
on is its final grade less the grade that it had there. The baseline of a turn is the mean
over the group of the same turn; who had ended by then earned nothing more.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def returns_to_go(scores: Sequence[float]) -> list[float]:
    """From the grades before each of T turns and after the last (T + 1), T returns."""
    return [scores[-1] - before for before in scores[:-1]]


def turn_advantages(returns: Sequence[Sequence[float]], group: int) -> list[list[float]]:
    """The advantage of each turn of each episode, from their returns.

    Neighbours form groups of ``group``. Within each, advantages are divided by the root of
    their mean square, as GRPO divides by the deviation; they are 0 where all are alike.
    """
    advantages: list[list[float]] = []
    for start in range(0, len(returns), group):
        members = returns[start : start + group]
        turns = max(map(len, members))
        means = [
            sum(one[turn] for one in members if turn < len(one)) / len(members)
            for turn in range(turns)
        ]
        raw = [[value - means[turn] for turn, value in enumerate(one)] for one in members]
        count = sum(map(len, raw))
        scale = (sum(value**2 for one in raw for value in one) / max(count, 1)) ** 0.5
        advantages += [[value / (scale + 1e-4) for value in one] for one in raw]
    return advantages


def by_token(advantages: Sequence[Sequence[float]], mask: Tensor) -> Tensor:
    """Advantages (B, T) of tokens from those of turns.

    ``mask`` (B, T) is 1 where the model wrote the token: each run of ones is a turn.
    Elsewhere the result is 0.
    """
    wrote = mask.bool()
    before = torch.nn.functional.pad(wrote, (1, 0))[:, :-1]
    turn = (wrote & ~before).cumsum(dim=1) - 1
    result = torch.zeros(mask.shape, dtype=torch.float32, device=mask.device)
    for row, values in enumerate(advantages):
        given = torch.tensor(values, dtype=torch.float32, device=mask.device)
        here = wrote[row]
        result[row, here] = given[turn[row, here]]
    return result
