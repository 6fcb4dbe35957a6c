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
from logtriage.world.channels import (
    EASES,
    NO_CHANGE,
    NO_NEWS,
    WINDOW_LINES,
    Channel,
    Evidence,
    sort_of,
)
from logtriage.world.conditions import (
    WELL,
    Condition,
    Hypothesis,
    accepted_remedies,
    affected,
    owner_is_paged,
    unaffected,
)
from logtriage.world.prior import Prior
from logtriage.world.schedule import Cell, Doings, cells
from logtriage.world.setting import Setting
from logtriage.world.tables import (
    CALM,
    EDGE_TOKENS,
    RECOVERED,
    Place,
    alphabet,
    edge_weights,
    note_weights,
    places,
    weights,
)

CONDITION_STREAM: Final = hash_name("condition")
TOKEN_STREAM: Final = hash_name("token")
SPEAKER_STREAM: Final = hash_name("speaker")
_CHANNEL_KEYS: Final = {channel: hash_name(f"channel {channel}") for channel in Channel}


def speakers(seed: int, services: int, now: int) -> tuple[int, ...]:
    """Who speaks in the window of a tick: uniform, whatever is the matter."""
    key = subkey(seed, SPEAKER_STREAM)
    return tuple(below(draw(key, now, slot), services) for slot in range(WINDOW_LINES))


@attrs.frozen(cache_hash=True)
class World:
    """A simulated system with its hidden truth.

    ``directory`` holds the owner of each service, ``seed`` addresses every draw,
    ``held`` names the public prior (:func:`logtriage.world.prior.prior`), ``phrasing``
    the group of texts that lines are worded with.
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
        """What every service is."""
        reached = affected(self.topology, self.truth)
        key = subkey(self.seed, CONDITION_STREAM)
        found = []
        for service, row in enumerate(self.topology.services):
            if service in reached:
                found.append(reached[service])
                continue
            point = draw(key, service) >> 48
            for condition, weight in unaffected(row.tier):
                point -= weight
                if point < 0:
                    found.append(condition)
                    break
        return tuple(found)

    @cached_property
    def reached(self) -> frozenset[int]:
        """The services that recover when the fault is fixed."""
        return frozenset(affected(self.topology, self.truth)) if self.truth.faults else frozenset()

    def shown(self, now: int, doings: Doings, fixed_at: int | None) -> Iterator[Evidence]:
        """The evidence on the screen of a tick, in the order of its cells."""
        seed, services = self.seed, len(self.topology)
        for cell in cells(self.setting, self.topology, speakers(seed, services, now), now, doings):
            yield Evidence(*cell, self._token(cell, doings, fixed_at))

    def _token(self, cell: Cell, doings: Doings, fixed_at: int | None) -> str:
        channel, service, slot, start = cell
        fixed = fixed_at is not None and start > fixed_at
        if service >= 0:
            return _service_token(self, channel, service, slot, start, fixed)
        if channel is Channel.EDGE:
            return _edge_token(self, start, fixed)
        if channel is Channel.EFFECT:
            when, remedy, name = doings.remedies[slot]
            return EASES if self._eases(when, remedy, name, doings) else NO_CHANGE
        return self._note(start)

    def _eases(self, when: int, remedy: str, service: str, doings: Doings) -> bool:
        """Whether this remedy is the first accepted one."""
        wanted = accepted_remedies(self.topology, self.truth)
        first = next((one for one in doings.remedies if one[1:] in wanted), None)
        return first == (when, remedy, service)

    def _note(self, start: int) -> str:
        """What the responders of the paged team see, if the service is theirs."""
        kind, service = self.truth.faults[0]
        if not owner_is_paged(kind):
            return NO_NEWS
        row = note_weights(kind, self.topology.services[service].tier, self.setting.fog)
        point = draw(_key(self.seed, Channel.NOTE), start) >> 48
        for token, weight in row:
            point -= weight
            if point < 0:
                return token if token == NO_NEWS else f"{service}:{token}"
        raise AssertionError("unreachable: the weights sum to 65,536")


@lru_cache(maxsize=4096)
def _key(seed: int, channel: Channel) -> int:
    return subkey(subkey(seed, TOKEN_STREAM), _CHANNEL_KEYS[channel])


@lru_cache(maxsize=65_536)
def _cumulative(
    setting: Setting, sort: str, place: Place, condition: Condition, start: int
) -> tuple[int, ...]:
    return tuple(accumulate(weights(setting, sort, place, condition, start)))


@lru_cache(maxsize=65_536)
def _service_token(
    world: World, channel: Channel, service: int, slot: int, start: int, fixed: bool
) -> str:
    sort, place = sort_of(channel, slot), places(world.topology)[service]
    recovered = fixed and service in world.reached
    condition = WELL if recovered else world.conditions[service]
    bits = draw(_key(world.seed, channel), service << 16 | slot, start)
    row = _cumulative(world.setting, sort, place, condition, start)
    return alphabet(sort, place, world.setting.fog)[bisect_right(row, bits >> 48)]


@lru_cache(maxsize=4096)
def _edge_token(world: World, start: int, fixed: bool) -> str:
    truth = world.truth
    shown = CALM if truth.benign else RECOVERED if fixed else SEVERITIES.index(world.severity)
    row = accumulate(edge_weights(world.setting, shown, truth.errors_first, start))
    return EDGE_TOKENS[bisect_right(tuple(row), draw(_key(world.seed, Channel.EDGE), start) >> 48)]


def draw_truth(table: Prior, bits: int) -> Hypothesis:
    """The hypothesis that 64 random bits pick from a prior."""
    point = bits * table.total >> 64
    return table.hypotheses[bisect_right(_prior_steps(table), point)]


@lru_cache(maxsize=256)
def _prior_steps(table: Prior) -> tuple[int, ...]:
    return tuple(accumulate(table.weights))
