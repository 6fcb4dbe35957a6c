"""Draws tokens from the truth. The only module of the world that reads it."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final

import attrs

from logtriage.actions import SEVERITIES, Severity
from logtriage.rng import below, draw, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, WINDOW_LINES, Channel, Evidence
from logtriage.world.conditions import (
    Condition,
    Hypothesis,
    affected,
    errors_first,
    unaffected,
)
from logtriage.world.outcomes import (
    at_service,
    condition_at,
    edge_state,
    elsewhere,
    fixed_at,
    left_at,
    spell,
)
from logtriage.world.prior import Prior
from logtriage.world.schedule import Cell, Doings, cells
from logtriage.world.setting import Setting
from logtriage.world.signs import (
    drawn_edge_sign,
    drawn_sign,
    is_down,
    is_root,
    read,
    read_edge,
    silent,
)
from logtriage.world.tables import base_of, places

CONDITION_STREAM: Final = hash_name("condition")
TOKEN_STREAM: Final = hash_name("token")
SPEAKER_STREAM: Final = hash_name("speaker")
CHANNEL_KEYS: Final = {channel: hash_name(f"channel {channel}") for channel in Channel}


def speakers(seed: int, services: int, now: int) -> tuple[int, ...]:
    """Who speaks in the window of a tick: uniform, whatever is the matter."""
    key = subkey(seed, SPEAKER_STREAM)
    return tuple(below(draw(key, now, slot), services) for slot in range(WINDOW_LINES))


@attrs.frozen(cache_hash=True)
class Simulation:
    """A simulated system with its hidden truth.

    ``directory`` holds the owner of each service, ``seed`` addresses every draw,
    ``held`` names the public prior (:func:`logtriage.world.prior.prior`), ``phrasing``
    the group of texts that lines are worded with. The truth of an ``original`` incident was
    not drawn from that prior, so that nobody can hold a belief of it.
    """

    setting: Setting
    topology: Topology
    directory: tuple[str, ...]
    seed: int
    truth: Hypothesis
    severity: Severity
    held: bool | None = False
    phrasing: int = 0
    original: bool = False

    @property
    def open_loop(self) -> bool:
        """Whether remedies change nothing here: never in a simulation."""
        return False

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What every service is."""
        world = self.setting.world
        reached = affected(world, self.topology, self.truth)
        key = subkey(self.seed, CONDITION_STREAM)
        found = []
        for service, row in enumerate(self.topology.services):
            if service in reached:
                found.append(reached[service])
                continue
            point = draw(key, service) >> 48
            for condition, weight in unaffected(world, row.tier):
                point -= weight
                if point < 0:
                    found.append(condition)
                    break
        return tuple(found)

    @cached_property
    def reached(self) -> frozenset[int]:
        """The services that recover when the fault is fixed."""
        if not self.truth.faults:
            return frozenset()
        return frozenset(affected(self.setting.world, self.topology, self.truth))

    def shown(self, now: int, doings: Doings) -> Iterator[Evidence]:
        """The evidence on the screen of a tick, in the order of its cells."""
        voices = speakers(self.seed, len(self.topology), now)
        world, topology, truth = self.setting.world, self.topology, self.truth
        left: dict[int, Hypothesis | None] = {}
        stay = world.rules.signs is not None
        for cell in cells(self.setting, self.topology, voices, now, doings):
            service, start = cell[1], cell[3]
            if stay and (service >= 0 or cell[0] is Channel.EDGE):
                yield Evidence(*cell, self._kept(cell, doings))
            elif service >= 0:
                shown = self.conditions[service]
                if doings.remedies:
                    if start not in left:
                        left[start] = left_at(world, topology, truth, doings, start)
                    shown = condition_at(world, topology, truth, left[start], service, shown)
                yield Evidence(*cell, _service_token(self, cell, shown))
            else:
                yield Evidence(*cell, self._token(cell, doings))

    def _kept(self, cell: Cell, doings: Doings) -> str:
        """The token of a cell in a world whose signs stay."""
        setting, topology, truth = self.setting, self.topology, self.truth
        channel, service, slot, start = cell
        point = draw(_key(self.seed, channel), max(service, 0) << 16 | slot, start) >> 48
        if service < 0:
            fixed = fixed_at(setting.world, topology, truth, doings)
            severity, begin = edge_state(truth, SEVERITIES.index(self.severity), fixed, start)
            first = errors_first(setting.world, truth)
            edge = drawn_edge_sign(setting, self.seed, severity, first, begin)
            return read_edge(setting, severity, edge, start, point)
        if is_down(setting, self.seed, service, channel):
            return DOWN
        condition, begin = self.conditions[service], 0
        if doings.remedies and service in self.reached:
            condition, begin, _ = spell(
                setting.world, topology, truth, doings, start, service, condition
            )
        sort, place = setting.world.sort_of(channel, slot), places(topology)[service]
        hidden = silent(setting, sort, start) and is_root(setting.world, condition)
        base = base_of(sort)
        sign = drawn_sign(setting, self.seed, base, service, place, condition, begin, hidden)
        return read(setting, sort, place, start, sign, point)

    def _token(self, cell: Cell, doings: Doings) -> str:
        channel, _, _, start = cell
        severity = SEVERITIES.index(self.severity)
        tokens, row = elsewhere(
            self.setting, self.topology, self.directory, self.truth, severity, cell, doings
        )
        point = draw(_key(self.seed, channel), start) >> 48
        return tokens[bisect_right(tuple(accumulate(row)), point)]


@lru_cache(maxsize=4096)
def _key(seed: int, channel: Channel) -> int:
    return subkey(subkey(seed, TOKEN_STREAM), CHANNEL_KEYS[channel])


@lru_cache(maxsize=65_536)
def _steps(row: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(accumulate(row))


@lru_cache(maxsize=65_536)
def _service_token(world: Simulation, cell: Cell, shown: Condition) -> str:
    channel, service, slot, start = cell
    tokens, row = at_service(world.setting, world.topology, shown, cell)
    bits = draw(_key(world.seed, channel), service << 16 | slot, start)
    return tokens[bisect_right(_steps(row), bits >> 48)]


def draw_truth(table: Prior, bits: int) -> Hypothesis:
    """The hypothesis that 64 random bits pick from a prior."""
    point = bits * table.total >> 64
    return table.hypotheses[bisect_right(_prior_steps(table), point)]


@lru_cache(maxsize=256)
def _prior_steps(table: Prior) -> tuple[int, ...]:
    return tuple(accumulate(table.weights))
