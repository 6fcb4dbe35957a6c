"""Draws tokens from the truth. The only module of the world that reads it."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Final

import attrs

from logtriage.actions import SEVERITIES, Severity
from logtriage.rng import below, draw, draws, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import WINDOW_LINES, Channel, Evidence
from logtriage.world.conditions import Condition, Hypothesis, affected, errors_first, unaffected
from logtriage.world.kept import Kept, channel_key
from logtriage.world.outcomes import edge_state, elsewhere, fixed_at, fixing, spell
from logtriage.world.prior import Prior
from logtriage.world.schedule import Cell, Doings, Row, rows
from logtriage.world.setting import Setting
from logtriage.world.tables import picked

CONDITION_STREAM: Final = hash_name("condition")
SPEAKER_STREAM: Final = hash_name("speaker")


def speakers(seed: int, services: int, now: int) -> tuple[int, ...]:
    """The services whose lines the window of a tick shows: uniform, whatever the truth."""
    key = subkey(seed, SPEAKER_STREAM)
    return tuple([below(bits, services) for bits in draws(key, (now,) * WINDOW_LINES, step=1)])


@attrs.frozen(cache_hash=True)
class Simulation:
    """A simulated system with its hidden truth.

    ``directory`` holds the owner of each service. ``held`` is that of the truth's prior
    (:func:`logtriage.world.prior.prior`). ``phrasing`` is the index of a group of phrasings.
    """

    setting: Setting
    topology: Topology
    directory: tuple[str, ...]
    seed: int
    truth: Hypothesis
    severity: Severity
    held: bool | None = False
    phrasing: int = 0

    @property
    def open_loop(self) -> bool:
        """Whether remedies change nothing here: never in a simulation."""
        return False

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The condition of every service before any remedy."""
        world = self.setting.world
        reached = affected(world, self.topology, self.truth)
        key = subkey(self.seed, CONDITION_STREAM)
        conditions = []
        for service, row in enumerate(self.topology.services):
            rows = unaffected(world, row.tier)
            place = picked(tuple([weight for _, weight in rows]), draw(key, service) >> 48)
            conditions.append(reached.get(service, rows[place][0]))
        return tuple(conditions)

    @cached_property
    def kept(self) -> Kept:
        """The drawn tokens of services and edge."""
        return Kept(self.setting, self.topology, self.seed, self.conditions)

    @cached_property
    def reached(self) -> frozenset[int]:
        """The services that the faults affect, and that recover when these are fixed."""
        if not self.truth.faults:
            return frozenset()
        return frozenset(affected(self.setting.world, self.topology, self.truth))

    def speakers(self, now: int) -> tuple[int, ...]:
        """The services of the window's lines at a tick."""
        return speakers(self.seed, len(self.topology.services), now)

    def shown(self, now: int, doings: Doings) -> Iterator[Evidence]:
        """The evidence on the screen of a tick, in the order of its cells."""
        for row in rows(self.setting, self.topology, self.speakers(now), now, doings):
            yield from self.row(row, doings)

    def row(self, row: Row, doings: Doings) -> list[Evidence]:
        """The evidence in one row of cells."""
        channel, start, spots = row
        of_services = spots[0][0] >= 0
        # Cells of services are as from the start while no fault is fixed.
        if of_services and not (
            doings.remedies and fixing(self.setting.world, self.topology, self.truth, doings)
        ):
            return self.kept.row(channel, start, spots)
        cells = [(channel, service, slot, start) for service, slot in spots]
        return [Evidence(*cell, self._token(cell, doings)) for cell in cells]

    def _token(self, cell: Cell, doings: Doings) -> str:
        """The token of a cell."""
        channel, service, slot, start = cell
        if channel is Channel.EDGE:
            return self._edge(start, doings)
        if service < 0:
            return self._other(cell, doings)
        condition, begin = self.conditions[service], 0
        if service in self.reached:
            condition, begin, _ = spell(
                self.setting.world, self.topology, self.truth, doings, start, service, condition
            )
        if begin:
            return self.kept.changed(*cell, condition, begin)
        return self.kept.row(channel, start, ((service, slot),))[0].token

    def _edge(self, start: int, doings: Doings) -> str:
        """The token of the edge panel."""
        world, truth, fixed = self.setting.world, self.truth, None
        if doings.remedies:
            fixed = fixed_at(world, self.topology, truth, doings)
        severity, begin = edge_state(truth, SEVERITIES.index(self.severity), fixed, start)
        return self.kept.edge(severity, errors_first(world, truth), begin, start)

    def _other(self, cell: Cell, doings: Doings) -> str:
        """The token of a note, or of what became of a remedy."""
        tokens, row = elsewhere(
            self.setting, self.topology, self.directory, self.truth, cell, doings
        )
        channel, _, _, start = cell
        return tokens[picked(row, draw(channel_key(self.seed, channel), start) >> 48)]


def draw_truth(table: Prior, bits: int) -> Hypothesis:
    """The hypothesis that 64 random bits pick from a prior."""
    return table.hypotheses[bisect_right(table.steps, bits * table.total >> 64)]
