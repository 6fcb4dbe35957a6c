"""Credit by turns: each reply is credited with what the episode earned from it on.

The rewards of actions are differences of grades, or, shaped, of what the belief expects
(:mod:`logtriage.beliefs.shaping`), so that what an episode earns from a turn on is what it
ended with less what it had there. With lambda below 1 what came later counts less, as in
generalised advantage estimation [1]_. The baseline of a turn is the mean over the group of
the same turn; who had ended by then earned nothing more.

.. [1] J. Schulman et al., "High-Dimensional Continuous Control Using Generalized Advantage
   Estimation", arXiv:1506.02438: the potential stands where the value does.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def returns_to_go(scores: Sequence[float], lmbda: float = 1.0) -> list[float]:
    """From the scores before each of T turns and after the last (T + 1), T returns."""
    returns: list[float] = []
    later = 0.0
    for before, after in zip(scores[-2::-1], scores[::-1], strict=False):
        later = after - before + lmbda * later
        returns.append(later)
    return returns[::-1]


def turn_advantages(
    returns: Sequence[Sequence[float]], group: int, scale: str = "none"
) -> list[list[float]]:
    """The advantage of each turn of each episode, from their returns.

    Neighbours form groups of ``group``. Advantages are divided by nothing, or by the root
    of their mean square in the ``group`` or in the whole ``batch``; they are 0 where all
    are alike.
    """
    advantages: list[list[float]] = []
    for start in range(0, len(returns), group):
        members = returns[start : start + group]
        turns = max(map(len, members))
        means = [
            sum(turns[turn] for turns in members if turn < len(turns)) / len(members)
            for turn in range(turns)
        ]
        raw = [[value - means[turn] for turn, value in enumerate(turns)] for turns in members]
        advantages += divided(raw, sum(map(len, raw))) if scale == "group" else raw
    return divided(advantages, sum(map(len, advantages))) if scale == "batch" else advantages


def divided(rows: list[list[float]], count: float) -> list[list[float]]:
    """Rows divided by the root of the mean square of ``count`` values; others are 0."""
    scale = (sum(value**2 for row in rows for value in row) / max(count, 1)) ** 0.5
    return [[value / (scale + 1e-4) for value in row] for row in rows]


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
        credit = torch.tensor(values, dtype=torch.float32, device=mask.device)
        here = wrote[row]
        result[row, here] = credit[turn[row, here]]
    return result
