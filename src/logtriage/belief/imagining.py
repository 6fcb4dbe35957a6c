"""Draws what might be seen next, given a belief: for expectations that no table holds.

Draws are counter-based: the same state, action and number of draws give the same
samples on every machine. Nothing here reads an incident's truth.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from logtriage.belief.posterior import Posterior
from logtriage.rng import draw, hash_name, subkey
from logtriage.world.channels import Evidence
from logtriage.world.outcomes import at_service, condition_at, elsewhere, left_at
from logtriage.world.schedule import Cell, Doings

IMAGINED: Final = hash_name("imagined")


class Imagination:
    """Successive draws of one key."""

    def __init__(self, name: str, *counters: int) -> None:
        self._key = subkey(hash_name(name), IMAGINED)
        for counter in counters:
            self._key = subkey(self._key, counter)
        self._count = 0

    def pick(self, row: Sequence[int]) -> int:
        """An index in proportion to whole-number weights."""
        self._count += 1
        steps = list(accumulate(row))
        return bisect_right(steps, draw(self._key, self._count) * steps[-1] >> 64)


def imagine(
    held: Posterior, place: int, cells: Iterable[Cell], doings: Doings, chance: Imagination
) -> list[Evidence]:
    """What the cells might hold under the hypothesis at a place."""
    model, listed, hypothesis = held.model, held.listed, held.hypothesis(place)
    setting, topology = model.setting, model.topology
    world = setting.world
    reached = held.reach(place)
    own = [
        conditions[reached[service] if service in reached else chance.pick(weights)]
        for service, (conditions, weights) in enumerate(
            zip(listed.conditions, held.own.tolist(), strict=True)
        )
    ]
    severity = chance.pick(held.severities[place])
    found = []
    for cell in cells:
        service, start = cell[1], cell[3]
        if service >= 0:
            left = left_at(world, topology, hypothesis, doings, start)
            condition = condition_at(world, topology, hypothesis, left, service, own[service])
            tokens, row = at_service(setting, topology, condition, cell)
        else:
            tokens, row = elsewhere(
                setting, topology, held.directory, hypothesis, severity, cell, doings
            )
        found.append(Evidence(*cell, tokens[chance.pick(row)]))
    return found
