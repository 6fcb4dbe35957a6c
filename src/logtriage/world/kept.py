"""The tokens of one incident whose signs stay: each sign and each key is made once.

Everything here follows from the rules of :mod:`logtriage.world.signs`. What was drawn is kept, so
that a reading costs one draw; who draws it again draws the same.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import attrs

from logtriage.rng import draw, draws, hash_name, subkey
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, GAP, Channel, Evidence
from logtriage.world.conditions import Condition
from logtriage.world.schedule import Cell, Spot
from logtriage.world.setting import Setting
from logtriage.world.signs import (
    blinded,
    drawn_edge_sign,
    is_down,
    is_root,
    read_edge,
    readings,
    sign_key,
    sign_steps,
)
from logtriage.world.tables import SILENT_SORTS, Weights, base_of, places

TOKEN_STREAM: Final = hash_name("token")
CHANNEL_KEYS: Final = {channel: hash_name(f"channel {channel}") for channel in Channel}


def channel_key(seed: int, channel: Channel) -> int:
    """The key of the draws of a channel's cells."""
    return subkey(subkey(seed, TOKEN_STREAM), CHANNEL_KEYS[channel])


class _Tables:
    """What the cells of a sort have in common on a topology, whatever the incident.

    ``readings`` are by service; before tick ``silent`` a root hides its sign. ``signs`` are the
    sums of the weights of signs by service, condition and whether it is hidden.
    """

    __slots__ = ("base", "places", "readings", "setting", "signs", "silent")

    def __init__(self, setting: Setting, topology: Topology, sort: str) -> None:
        self.setting, self.places, self.base = setting, places(topology), base_of(sort)
        self.readings = [readings(setting, sort, place) for place in self.places]
        self.silent = setting.root_silent if sort in SILENT_SORTS else 0
        self.signs: dict[tuple[int, Condition, bool], Weights] = {}

    def sign(self, key: int, service: int, condition: Condition, begin: int, hidden: bool) -> int:
        """:func:`~logtriage.world.signs.drawn_sign`, by the key of the sort's signs."""
        steps = self.signs.get((service, condition, hidden))
        if steps is None:
            steps = sign_steps(
                self.setting, self.base, self.places[service], condition, hidden=hidden
            )
            self.signs[service, condition, hidden] = steps
        return bisect_right(steps, draw(subkey(key, service << 1 | hidden), begin) >> 48)


class _Shared:
    """The tables that incidents on a topology share, as far as any of them was asked."""

    __slots__ = ("_setting", "_tables", "_topology")

    def __init__(self, setting: Setting, topology: Topology) -> None:
        self._setting, self._topology = setting, topology
        self._tables: dict[Channel, list[_Tables]] = {}

    def of(self, channel: Channel) -> list[_Tables]:
        """The tables of a channel: of each slot, if slots have sorts of their own."""
        tables = self._tables.get(channel)
        if tables is None:
            world = self._setting.world
            slots = range(len(world.slots.get(channel, (channel,))))
            sorts = [world.sort_of(channel, slot) for slot in slots]
            tables = [_Tables(self._setting, self._topology, sort) for sort in sorts]
            self._tables[channel] = tables
        return tables


_shared: Final = lru_cache(maxsize=512)(_Shared)


#: A reading whose sign is drawn: the rows and the tokens of its :class:`Readings`, and the sign.
_Reader = tuple[tuple[tuple[int, int, Weights], ...], tuple[str, ...], str]


@attrs.define(eq=False)
class _Source:
    """A channel of an incident.

    ``key`` is the key of its draws and ``blind`` the part of a service that may be down for it.
    By slot, if slots have sorts of their own: ``tables``, the ``keys`` of their signs, and
    ``readers`` of what services show from the start, at twice the service plus whether hidden.
    """

    key: int
    blind: Channel | None
    tables: list[_Tables]
    keys: list[int]
    readers: list[list[_Reader | None]]


class Kept:
    """The tokens of an incident's services and of its edge.

    ``conditions`` is what every service is until a remedy changes it.
    """

    __slots__ = (
        "_conditions",
        "_down",
        "_edges",
        "_roots",
        "_seed",
        "_setting",
        "_shared",
        "_signs",
        "_sources",
    )

    def __init__(
        self, setting: Setting, topology: Topology, seed: int, conditions: tuple[Condition, ...]
    ) -> None:
        self._setting, self._seed, self._conditions = setting, seed, conditions
        self._roots = [is_root(setting.world, condition) for condition in conditions]
        self._shared = _shared(setting, topology)
        self._sources: dict[Channel, _Source] = {}
        self._signs: dict[tuple[int, int], int] = {}
        self._down: dict[tuple[int, Channel], bool] = {}
        self._edges: dict[tuple[int, int], str] = {}

    def _source(self, channel: Channel) -> _Source:
        tables = self._shared.of(channel)
        source = self._sources[channel] = _Source(
            channel_key(self._seed, channel),
            blinded(channel),
            tables,
            [sign_key(self._seed, table.base) for table in tables],
            [[None] * (2 * len(self._conditions)) for _ in tables],
        )
        return source

    def _reader(self, source: _Source, at: int, spot: int) -> _Reader:
        """What reads a service; the spot is twice the service plus whether its sign is hidden."""
        table, key = source.tables[at], source.keys[at]
        sign, service = self._signs.get((key, spot)), spot >> 1
        if sign is None:
            sign = table.sign(key, service, self._conditions[service], 0, bool(spot & 1))
            self._signs[key, spot] = sign
        readings = table.readings[service]
        reader = source.readers[at][spot] = readings.rows, readings.tokens, readings.tokens[sign]
        return reader

    def row(self, channel: Channel, start: int, spots: Sequence[Spot]) -> list[Evidence]:
        """The cells of services under the conditions that these have from the start."""
        source = self._sources.get(channel) or self._source(channel)
        blind, tables, readers = source.blind, source.tables, source.readers
        roots, at, shown = self._roots, 0, []
        several, clear_from = len(tables) > 1, tables[0].silent
        points = draws(source.key, [service << 16 | slot for service, slot in spots], start)
        for (service, slot), bits in zip(spots, points, strict=True):
            if blind is not None and self._is_down(service, blind):
                token = DOWN
            else:
                if several:
                    at, clear_from = slot, tables[slot].silent
                spot = service << 1 | (start < clear_from and roots[service])
                rows, tokens, token = readers[at][spot] or self._reader(source, at, spot)
                clear, gap, steps = rows[start] if start < len(rows) else rows[-1]
                point = bits >> 48
                if point >= clear:
                    token = GAP if point < gap else tokens[bisect_right(steps, point - gap)]
            shown.append(Evidence(channel, service, slot, start, token))
        return shown

    def changed(self, cell: Cell, condition: Condition, begin: int) -> str:
        """The token of a service's cell under a condition that began with a remedy."""
        channel, service, slot, start = cell
        source = self._sources.get(channel) or self._source(channel)
        if source.blind is not None and self._is_down(service, source.blind):
            return DOWN
        at = slot if len(source.tables) > 1 else 0
        table = source.tables[at]
        hidden = start < table.silent and is_root(self._setting.world, condition)
        sign = table.sign(source.keys[at], service, condition, begin, hidden)
        point = draw(source.key, service << 16 | slot, start) >> 48
        return table.readings[service].token(start, sign, point)

    def _is_down(self, service: int, part: Channel) -> bool:
        down = self._down.get((service, part))
        if down is None:
            down = is_down(self._setting, self._seed, service, part)
            self._down[service, part] = down
        return down

    def edge(self, severity: int, errors_first: bool | None, begin: int, start: int) -> str:
        """The token that the edge panel keeps from tick ``begin`` on."""
        sign = self._edges.get((severity, begin))
        if sign is None:
            sign = drawn_edge_sign(self._setting, self._seed, severity, errors_first, begin)
            self._edges[severity, begin] = sign
        point = draw(channel_key(self._seed, Channel.EDGE), 0, start) >> 48
        return read_edge(self._setting, severity, sign, start, point)
