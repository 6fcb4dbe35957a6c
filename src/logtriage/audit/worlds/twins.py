"""Kinds of faults that no evidence tells apart, by the tables alone.

Two kinds are alike to every observer if they can strike the same tier, show every sign there as
often as each other, move the edge alike and put the same load on others. That does no harm if
both ask for the same team and accept a common remedy. If not, the grade is the toss of a coin.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import attrs

from logtriage.world.model import World
from logtriage.world.schema.parts import Kind


@attrs.frozen
class Twins:
    """Two kinds that show the same at a tier, and the parts of the answer that differ.

    ``differ`` may hold ``team`` and ``remedy``; it is empty for twins that do no harm.
    """

    kinds: tuple[str, str]
    tier: str
    differ: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kinds[0]} and {self.kinds[1]} at tier {self.tier}"


def twins(world: World) -> tuple[Twins, ...]:
    """Every pair of kinds that look alike, tier by tier."""
    return tuple(
        Twins((kind.name, twin.name), tier, _differ(world, kind, twin))
        for tier in world.tier_names
        for kind, twin in combinations(world.kinds_at(tier), 2)
        if _shown(world, kind, tier) == _shown(world, twin, tier)
    )


def _shown(world: World, kind: Kind, tier: str) -> Mapping[str, Any]:
    """Everything that the evidence of a kind at a tier depends on, except lines that name it."""
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
    teams = {world.page_of(row.name) for row in (kind, twin)}
    common = set(kind.remedies) & set(twin.remedies)
    return (*(["team"] if len(teams) > 1 else []), *([] if common else ["remedy"]))
