"""Attempts at an incident that share their first turns: trees in place of chains.

The first attempt of a tree is its trunk. Each of the others says what the trunk says, until
it forks: from a turn of its own on it goes its own way. What is shared is generated once, and
learnt from once. The advantage of a turn is what came of it less the mean of its siblings,
the continuations of all that came before the last fork; where there was no fork yet, these
are the trunks of the group. So it is done in Tree-GRPO [1]_, which forks episodes that are
over, and adds to each advantage the one between trees.

.. [1] Y. Ji et al., "Tree Search for LLM Agent Reinforcement Learning", arXiv:2509.21240.
"""

from collections.abc import Iterable, Sequence

import attrs

from training.grpo.credit import divided


@attrs.frozen
class Tree:
    """Attempts at one incident, of which the first is the trunk.

    ``forks[i]`` is the turn, from 0, at which attempt i began to go its own way: 0 for the
    trunk; None if the trunk had ended before, so that the attempt is the trunk once more.
    """

    forks: tuple[int | None, ...]

    def owns(self, attempt: int, turn: int) -> bool:
        """Whether this turn of an attempt is its own, and not the trunk's."""
        fork = self.forks[attempt]
        return fork is not None and turn >= fork

    def forked(self, attempt: int, turn: int) -> int:
        """The turn of the last fork up to an own turn of an attempt; 0 if there is none."""
        if attempt:
            fork = self.forks[attempt]
            assert fork is not None
            return fork
        return max(fork for fork in self.forks if fork is not None and fork <= turn)

    def below(self, attempt: int, turn: int) -> tuple[int, ...]:
        """The attempts that share an own turn of an attempt, each episode once."""
        if attempt:
            return (attempt,)
        return (0, *(i for i, fork in enumerate(self.forks) if fork is not None and fork > turn))

    def siblings(self, fork: int) -> tuple[tuple[int, ...], ...]:
        """What goes on from one and the same screen at a fork: the attempts below each."""
        return (
            self.below(0, fork),
            *((i,) for i, one in enumerate(self.forks) if i and one == fork),
        )


def owned(trees: Sequence[Tree], turns: int) -> list[list[float]]:
    """1 for each own turn of each attempt of all trees, 0 for the trunks'."""
    return [
        [float(tree.owns(attempt, turn)) for turn in range(turns)]
        for tree in trees
        for attempt in range(len(tree.forks))
    ]


def tree_advantages(
    returns: Sequence[Sequence[float]], trees: Sequence[Tree], trunks: int, scale: str = "none"
) -> list[list[float]]:
    """The advantage of each turn of each attempt, from their returns; 0 for turns not its own.

    Args:
        returns: of the attempts of all trees, each of all turns of the rollout.
        trees: all of one size; neighbours form groups.
        trunks: trees in a group.
        scale: divide by nothing, or by the root of the mean square in the ``group`` or in
            the whole ``batch``.
    """
    size, turns = len(trees[0].forks), len(returns[0])
    mine = [returns[first : first + size] for first in range(0, len(returns), size)]
    advantages: list[list[float]] = []
    for first in range(0, len(trees), trunks):
        group = list(zip(trees, mine, strict=True))[first : first + trunks]
        raw = [
            [_advantage(group, number, attempt, turn) for turn in range(turns)]
            for number in range(len(group))
            for attempt in range(size)
        ]
        ours = sum(map(sum, owned([tree for tree, _ in group], turns)))
        advantages += divided(raw, ours) if scale == "group" else raw
    if scale == "batch":
        return divided(advantages, sum(map(sum, owned(trees, turns))))
    return advantages


def _advantage(
    group: Sequence[tuple[Tree, Sequence[Sequence[float]]]], number: int, attempt: int, turn: int
) -> float:
    tree, mine = group[number]
    if not tree.owns(attempt, turn):
        return 0.0
    fork = tree.forked(attempt, turn)
    siblings = (
        [_mean(mine[one][turn] for one in some) for some in tree.siblings(fork)]
        if fork
        else [_mean(its[one][turn] for one in other.below(0, 0)) for other, its in group]
    )
    return _mean(mine[one][turn] for one in tree.below(attempt, fork)) - _mean(siblings)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
