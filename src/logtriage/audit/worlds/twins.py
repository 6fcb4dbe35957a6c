"""Kinds of faults that no evidence tells apart, by the tables alone.

Two kinds that can strike the same tier, show every sign there as often as each other, move the
edge alike and put the same load on others are one kind to whoever looks. That does no harm where
both ask for the same team and accept a common remedy. Where they do not, the grade is the toss of
a coin.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import attrs

from logtriage.world.model import World
from logtriage.world.schema.parts import Kind


@attrs.frozen
class Twins:
    """Two kinds that show the same at a tier, and what of the answer is not the same.

    ``differ`` may hold ``team`` and ``remedy``; it is empty for twins that do no harm.
    """

    kinds: tuple[str, str]
    tier: str
    differ: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kinds[0]} and {self.kinds[1]} at tier {self.tier}"


def twins(world: World) -> tuple[Twins, ...]:
    """Every pair of kinds that look alike, tier by tier."""
    pairs = []
    for tier in world.tier_names:
        rows = [(kind, _shown(world, kind, tier)) for kind in world.kinds_at(tier)]
        pairs += [
            Twins((kind.name, twin.name), tier, _differ(world, kind, twin))
            for (kind, shown), (twin, alike) in combinations(rows, 2)
            if shown == alike
        ]
    return tuple(pairs)


def _shown(world: World, kind: Kind, tier: str) -> Mapping[str, Any]:
    """All that the evidence of a kind at a tier depends on, lines that name it aside."""
    second = world.rules.secondary_fault
    shares = {
        sort: {
            token: share
            for token, share in row.items()
            if share and token in world.tokens_at(sort, tier)
        }
        for sort, row in world.signature(kind.name).items()
    }
    return {
        "signs": {sort: row for sort, row in shares.items() if row},
        "edge": kind.errors_first,
        "load": kind.pours_load,
        "secondary": second is not None and second.kind == kind.name,
    }


def _differ(world: World, kind: Kind, twin: Kind) -> tuple[str, ...]:
    parts = []
    if _team(world, kind) != _team(world, twin):
        parts.append("team")
    if not set(kind.remedies) & set(twin.remedies):
        parts.append("remedy")
    return tuple(parts)


def _team(world: World, kind: Kind) -> str:
    return kind.pages or world.classes[kind.fault_class].pages
