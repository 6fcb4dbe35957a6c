"""Draws what might be seen next, given a belief: for expectations that no table holds.

Draws are counter-based: the same state, action and number of draws give the same
samples on every machine. Nothing here reads an incident's truth.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

import numpy as np

from logtriage.beliefs.edges import kept_row
from logtriage.beliefs.fixedpoint import exp2
from logtriage.beliefs.pools import LOGS, Span
from logtriage.beliefs.posterior import Posterior
from logtriage.rng import draw, hash_name, subkey
from logtriage.world.channels import DOWN, Channel, Evidence
from logtriage.world.conditions import Condition, Hypothesis, errors_first
from logtriage.world.outcomes import (
    edge_state,
    elsewhere,
    fixed_at,
    spell,
)
from logtriage.world.schedule import Cell, Doings
from logtriage.world.signs import (
    blinded,
    edge_signs,
    is_root,
    read_edge,
    readings,
    sign_weights,
    silent,
)
from logtriage.world.tables import alphabet, base_of

IMAGINED: Final = hash_name("imagined")


class Imagination:
    """Successive draws of one key."""

    def __init__(self, name: str, *counters: int) -> None:
        self._key = subkey(hash_name(name), IMAGINED)
        for counter in counters:
            self._key = subkey(self._key, counter)
        self._count = 0

    def point(self) -> int:
        """A whole number below 65,536."""
        self._count += 1
        return draw(self._key, self._count) >> 48

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
    reached = held.reach(place)
    own = [
        conditions[reached[service] if service in reached else chance.pick(weights)]
        for service, (conditions, weights) in enumerate(
            zip(listed.conditions, held.own.tolist(), strict=True)
        )
    ]
    severity = chance.pick(held.severities[place])
    drawn = []
    signs = _ImaginedSigns(held, hypothesis, own, severity, doings, chance)
    for cell in cells:
        if cell[1] >= 0 or cell[0] is Channel.EDGE:
            drawn.append(Evidence(*cell, signs.token(cell)))
            continue
        tokens, row = elsewhere(setting, topology, held.directory, hypothesis, cell, doings)
        drawn.append(Evidence(*cell, tokens[chance.pick(row)]))
    return drawn


class _ImaginedSigns:
    """Signs that a hypothesis might have, each drawn once given what was read of it."""

    def __init__(
        self,
        held: Posterior,
        hypothesis: Hypothesis,
        own: Sequence[Condition],
        severity: int,
        doings: Doings,
        chance: Imagination,
    ) -> None:
        self._pools, self._model = held.pools, held.model
        self._hypothesis, self._own, self._severity = hypothesis, own, severity
        self._doings, self._chance = doings, chance
        model = held.model
        self._fixed = fixed_at(model.world, model.topology, hypothesis, doings)
        self._signs: dict[object, int] = {}
        self._down: dict[tuple[int, Channel], bool] = dict(held.pools.down)

    def token(self, cell: Cell) -> str:
        """What a cell of a service, or of the edge, holds."""
        return self._panel(cell[3]) if cell[1] < 0 else self._reading(cell)

    def _reading(self, cell: Cell) -> str:
        channel, service, slot, start = cell
        model, setting = self._model, self._model.setting
        if self._is_down(service, channel):
            return DOWN
        condition, begin, end = spell(
            model.world, model.topology, self._hypothesis, self._doings, start, service,
            self._own[service],
        )  # fmt: skip
        sort, place = model.world.sort_of(channel, slot), model.places[service]
        base, root = base_of(sort), is_root(model.world, condition)
        hidden = root and silent(setting, sort, start)
        key = service, base, begin, hidden
        if key not in self._signs:
            gains = self._pools.gains(service, base, Span(begin, end, hidden if root else None))
            weights = sign_weights(setting, base, place, condition, hidden=hidden)
            logs = LOGS[np.array(weights)] + np.array(
                [gains.get(token, 0) for token in alphabet(setting, base, place)]
            )
            self._signs[key] = self._chance.pick(exp2(logs - logs.max()).tolist())
        row = readings(setting, sort, place)
        return row.token(start, self._signs[key], self._chance.point())

    def _is_down(self, service: int, channel: Channel) -> bool:
        part = blinded(channel)
        if part is None:
            return False
        if (service, part) not in self._down:
            point = self._chance.point()
            self._down[service, part] = point < self._model.setting.blind_weight
        return self._down[service, part]

    def _panel(self, start: int) -> str:
        setting = self._model.setting
        severity, begin = edge_state(self._hypothesis, self._severity, self._fixed, start)
        first = errors_first(setting.world, self._hypothesis)
        if ("edge", begin) not in self._signs:
            panels = [
                panel
                for panel in self._pools.edge
                if edge_state(self._hypothesis, self._severity, self._fixed, panel.start)[1]
                == begin
            ]
            logs = kept_row(setting, severity, first, panels)
            self._signs["edge", begin] = self._chance.pick(exp2(logs - logs.max()).tolist())
        tokens, _ = edge_signs(setting, severity, first)
        sign = tokens[self._signs["edge", begin]]
        return read_edge(setting, severity, sign, start, self._chance.point())
