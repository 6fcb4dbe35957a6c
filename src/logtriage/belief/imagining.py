"""Draws what might be seen next, given a belief: for expectations that no table holds.

Draws are counter-based: the same state, action and number of draws give the same
samples on every machine. Nothing here reads an incident's truth.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from logtriage.belief.beliefs import Belief
from logtriage.belief.model import Model
from logtriage.rng import draw, hash_name, subkey
from logtriage.world.channels import EASES, NO_CHANGE, NO_NEWS, Channel, Evidence, sort_of
from logtriage.world.conditions import (
    WELL,
    Condition,
    Hypothesis,
    accepted_remedies,
    owner_is_paged,
)
from logtriage.world.schedule import Cell, Doings
from logtriage.world.tables import (
    CALM,
    EDGE_TOKENS,
    RECOVERED,
    alphabet,
    edge_weights,
    note_weights,
    weights,
)

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


def imagine_conditions(
    belief: Belief, place: int, chance: Imagination
) -> tuple[dict[int, Condition], int]:
    """What every service might be under a hypothesis, and the severity (0, 1, 2)."""
    model = belief.model
    found = {service: model.conditions[service][one] for service, one in model.reach[place]}
    for service, own in enumerate(belief.posterior.own):
        if service not in found:
            found[service] = model.conditions[service][chance.pick(own)]
    return found, chance.pick(belief.posterior.severities[place])


def imagine(
    model: Model,
    place: int,
    conditions: dict[int, Condition],
    severity: int,
    cells: Iterable[Cell],
    doings: Doings,
    chance: Imagination,
) -> list[Evidence]:
    """What the cells might hold under a hypothesis."""
    hypothesis = model.hypotheses[place]
    reached = {service for service, _ in model.reach[place]} if hypothesis.faults else set()
    wanted = accepted_remedies(model.topology, hypothesis)
    fixing = next((slot for slot, one in enumerate(doings.remedies) if one[1:] in wanted), None)
    fixed_at = None if fixing is None else doings.remedies[fixing][0]
    found = []
    for cell in cells:
        channel, service, slot, start = cell
        fixed = fixed_at is not None and start > fixed_at
        if service >= 0:
            sort, where = sort_of(channel, slot), model.places[service]
            condition = WELL if fixed and service in reached else conditions[service]
            row = weights(model.setting, sort, where, condition, start)
            token = alphabet(sort, where, model.setting.fog)[chance.pick(row)]
        elif channel is Channel.EDGE:
            shown = CALM if not hypothesis.faults else RECOVERED if fixed else severity
            row = edge_weights(model.setting, shown, hypothesis.errors_first, start)
            token = EDGE_TOKENS[chance.pick(row)]
        elif channel is Channel.EFFECT:
            token = EASES if slot == fixing else NO_CHANGE
        else:
            token = _note(model, hypothesis, chance)
        found.append(Evidence(*cell, token))
    return found


def _note(model: Model, hypothesis: Hypothesis, chance: Imagination) -> str:
    kind, service = hypothesis.faults[0]
    if not owner_is_paged(kind):
        return NO_NEWS
    rows = note_weights(kind, model.topology.services[service].tier, model.setting.fog)
    token = rows[chance.pick([weight for _, weight in rows])][0]
    return token if token == NO_NEWS else f"{service}:{token}"
